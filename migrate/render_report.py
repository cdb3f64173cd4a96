"""Reports and verifications as Markdown for people: short, the most important first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from memory_v2.files.left_out import LeftOut
from memory_v2.migrate.ledger import STATUSES, status_of
from memory_v2.migrate.report import Report, place_in
from memory_v2.migrate.verify import Passage, State, Verification
from memory_v2.plan import Step
from memory_v2.serialize import document
from memory_v2.storage.local.disk import explained, replace_bytes
from memory_v2.text.amounts import counted
from memory_v2.tree.block import readable
from memory_v2.tree.finding import Finding

MOST = 10
"""How many lines of a list are shown; JSON documents have all."""
MOST_ALIKE = 4
"""How many names are shown in one line: of what is a duplicate, or has the same reason."""
_WARNINGS = {
    "secret": "Likely secrets, kept as they are",
    "contradiction": "Contradictions, newest first",
    "duplicate": "Duplicates",
    "dead-reference": "References that lead nowhere",
    "remark": "To look at",
    "gone": "No longer in the source; the pages stay",
}
_STATES: Mapping[State, str] = {
    "there": "in the tree",
    "changed": "changed here since",
    "left out": "left out",
    "missing": "missing",
}


def write_reports(reports: Sequence[Report], file: Path) -> None:
    """Writes the reports: as JSON if the name of the file ends in `.json`, else as Markdown. Raises `StorageError`."""
    if file.suffix.lower() == ".json":
        text = json.dumps({"reports": document(reports)}, ensure_ascii=False, indent=1) + "\n"
    else:
        text = "\n".join(map(report_markdown, reports))
    with explained("write", file):
        replace_bytes(file, text.encode("utf-8", "backslashreplace"))


def report_markdown(report: Report) -> str:
    """The report: the totals, then what has gone wrong, then what a person should look at, then what went where."""
    counts, plan = report.totals, report.plan
    lines = [
        f"# Import of {_one_line(plan.facts['source'])}",
        "",
        f"- **{counted(counts['documents'], 'document')}** ({plan.facts['read_as']}): "
        f"{_sum((counts[status], status) for status in STATUSES)}",
        f"- **{counted(counts['files'], 'file')}**: {counts['documents']:,} documents, {counts['left_out']:,} left out",
    ]
    if report.verification:
        lines.append(f"- {of_blocks(report.verification, '**')}")
    failed, skipped = ([step for step in plan.steps if status_of(step) == one] for one in ("failed", "skipped"))
    passages = report.verification.passages if report.verification else ()
    unexpected = [one for one in report.left_out if not one.is_expected]
    expected = [one for one in report.left_out if one.is_expected]
    sections = {
        "Failed": _by_reason(failed),
        "Missing in the tree": [_passage(passage) for passage in passages if passage.state == "missing"],
        **{
            title: [_warning(warning) for warning in plan.warnings if warning.kind == kind]
            for kind, title in _WARNINGS.items()
        },
        "Skipped": _by_reason(skipped),
        "Changed here since": [_passage(passage) for passage in passages if passage.state == "changed"],
        "Files left out": _by_reason(unexpected),
        "Files with nothing of yours": _by_reason(expected),
        "What went where": [f"{_went(step)} ({status_of(step)})" for step in plan.steps if step.applied],
    }
    by_reason: Mapping[str, Sequence[object]] = {
        "Failed": failed,
        "Skipped": skipped,
        "Files left out": unexpected,
        "Files with nothing of yours": expected,
    }
    for title, items in sections.items():
        if items:
            shown = (f"- {item}" for item in items[:MOST])
            more = [f"- and {len(items) - MOST:,} more (--json has all)"] if len(items) > MOST else []
            lines += ["", f"## {title} ({len(by_reason.get(title, items)):,})", "", *shown, *more]
    return "\n".join(lines) + "\n"


def _sum(counts: Iterable[tuple[int, str]]) -> str:
    return ", ".join(f"{count:,} {word}" for count, word in counts if count) or "nothing"


def missing_lines(found: Verification) -> Iterator[str]:
    """Each passage that is missing: where it is in the source, how it begins, and the reason."""
    return (_passage(passage, str) for passage in found.passages if passage.state == "missing")


def of_blocks(found: Verification, mark: str = "") -> str:
    """`214 blocks: 210 in the tree, 4 changed here since`, with a mark around the number of all."""
    states = _sum((found.count(state), word) for state, word in _STATES.items())
    return f"{mark}{counted(found.blocks, 'block')}{mark}: {states}"


def _went(one: Step | LeftOut) -> str:
    """The name of a document, and the page that has it."""
    return _code(one.name) + (f" → {_code(one.target)}" if isinstance(one, Step) and one.target else "")


def _by_reason(left: Sequence[Step] | Sequence[LeftOut]) -> list[str]:
    """What was not brought in, those with the same reason on one line."""
    names: dict[str, list[str]] = {}
    for one in left:
        names.setdefault(one.reason, []).append(_went(one))
    return [f"{_named(group)}: {_one_line(reason)}" for reason, group in names.items()]


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_ALIKE:,} more" if len(names) > MOST_ALIKE else ""
    return ", ".join(names[:MOST_ALIKE]) + more


def _warning(one: Finding) -> str:
    return f"{_code(place_in(one.path, (one.line, one.line) if one.line else None))}: {_one_line(one.message)}"


def _passage(one: Passage, named: Callable[[str], str] | None = None) -> str:
    code = named or _code
    there = f" → {code(one.page)}" if one.page else ""
    said = f" “{_one_line(one.opening)}”" if one.opening else ""
    reason = f": {_one_line(one.reason)}" if one.reason else ""
    return f"{code(place_in(one.name, one.lines))}{there}{said}{reason}"


def _code(text: str) -> str:
    """A name in Markdown, to the letter."""
    shown = _one_line(text)
    return f"`{shown}`" if "`" not in shown else f"`` {shown} ``"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in readable(text)).split())
