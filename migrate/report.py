"""The report of an import: totals that add up, what went where, and what a person should look at; as JSON and as
Markdown, short and the most important first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from memory_v2.files.listing import LeftOut
from memory_v2.migrate.ledger import STATUSES, status_of, totals_of
from memory_v2.migrate.scan import Scan, SourceDocument
from memory_v2.migrate.verify import BlockOutcome, State, Verification
from memory_v2.notes.audit.audit import audit_texts
from memory_v2.plan import Plan, Step
from memory_v2.serialize import document as as_document
from memory_v2.storage.local.disk import explained, replace_bytes
from memory_v2.text.amounts import counted
from memory_v2.text.secrets import masked
from memory_v2.tree.block import readable
from memory_v2.tree.finding import Finding

MOST = 10
"""How many lines of a list are shown; JSON documents have all."""
MOST_NAMES = 4
"""How many names are shown in one line of what has the same reason."""
_AUDITED = ("secret", "contradiction", "duplicate")
"""The checks of an audit of notes that are made of the documents."""
_WARNINGS = {
    "secret": "Likely secrets, kept as they are",
    "contradiction": "Contradictions",
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


@dataclass(frozen=True)
class Report:
    """What came of an import: its plan after it was carried out, whose warnings are what a person should look at, and
    where each block is."""

    plan: Plan
    verification: Verification | None = None

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The files of the source that are no documents."""
        return tuple(self.plan.facts["left_out"])

    @property
    def totals(self) -> dict[str, int]:
        """How many documents there are, and how many of each status, which is the same; and how many files, which are
        the documents and what was left out. With a verification the same of blocks."""
        documents = len(self.plan.steps)
        totals: dict[str, int] = {"documents": documents, **totals_of(self.plan.steps)}
        totals |= {"files": documents + len(self.left_out), "left_out": len(self.left_out)}
        return totals | (self.verification.totals if self.verification else {})

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the totals first."""
        return {"totals": self.totals, "plan": self.plan, "verification": self.verification}


def make_report(scan: Scan, plan: Plan, today: date, verification: Verification | None = None) -> Report:
    """The report on a scan of a folder and the plan that was carried out for it. Nothing is read but the documents."""
    left_out = tuple(replace(one, reason=masked(one.reason)) for one in scan.left_out)
    warnings = (*plan.warnings, *_to_look_at(scan.documents, today))
    return Report(replace(plan, facts={**plan.facts, "left_out": left_out}, warnings=warnings), verification)


def _to_look_at(documents: Sequence[SourceDocument], today: date) -> Iterator[Finding]:
    """What a person should look at in documents; no secret is told."""
    for one in audit_texts({document.name: document.text for document in documents}, today, _AUDITED).findings:
        yield Finding(one.code, "notice", one.path, one.line, one.message)
    for document in documents:
        yield from (Finding("dead-reference", "notice", document.name, 0, masked(dead)) for dead in document.dead)
        yield from (Finding("remark", "notice", document.name, 0, masked(note)) for note in document.notes)


# for people


def write_reports(reports: Sequence[Report], file: Path) -> None:
    """Writes the reports: as JSON if the name of the file ends in `.json`, else as Markdown. Raises `StorageError`."""
    if file.suffix.lower() == ".json":
        text = json.dumps({"reports": as_document(reports)}, ensure_ascii=False, indent=1) + "\n"
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
    found = report.verification or Verification()
    unexpected = [one for one in report.left_out if not one.is_expected]
    expected = [one for one in report.left_out if one.is_expected]
    sections: dict[str, tuple[int, list[str]]] = {
        "Failed": _by_reason(failed),
        "Missing in the tree": _counted(_passage(one) for one in found.passages if one.state == "missing"),
        **{
            title: _counted(_warning(warning) for warning in plan.warnings if warning.kind == kind)
            for kind, title in _WARNINGS.items()
        },
        "Skipped": _by_reason(skipped),
        "Changed here since": _counted(_passage(one) for one in found.passages if one.state == "changed"),
        "Files left out": _by_reason(unexpected),
        "Files with nothing of yours": _by_reason(expected),
        "What went where": _counted(f"{_went(step)} ({status_of(step)})" for step in plan.steps if step.applied),
    }
    for title, (count, items) in sections.items():
        if items:
            shown = (f"- {item}" for item in items[:MOST])
            more = [f"- and {len(items) - MOST:,} more (--json has all)"] if len(items) > MOST else []
            lines += ["", f"## {title} ({count:,})", "", *shown, *more]
    return "\n".join(lines) + "\n"


def _counted(items: Iterable[str]) -> tuple[int, list[str]]:
    lines = [*items]
    return len(lines), lines


def _by_reason(left: Sequence[Step] | Sequence[LeftOut]) -> tuple[int, list[str]]:
    """What was not brought in, those with the same reason on one line."""
    names: dict[str, list[str]] = {}
    for one in left:
        names.setdefault(one.reason, []).append(_went(one))
    lines = []
    for reason, group in names.items():
        more = f" and {len(group) - MOST_NAMES:,} more" if len(group) > MOST_NAMES else ""
        lines.append(f"{', '.join(group[:MOST_NAMES])}{more}: {_one_line(reason)}")
    return len(left), lines


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


def _warning(one: Finding) -> str:
    return f"{_code(_place(one.path, one.line, one.line))}: {_one_line(one.message)}"


def _passage(one: BlockOutcome, named: Callable[[str], str] | None = None) -> str:
    code = named or _code
    there = f" → {code(one.page)}" if one.page else ""
    said = f" “{_one_line(one.opening)}”" if one.opening else ""
    reason = f": {_one_line(one.reason)}" if one.reason else ""
    return f"{code(_place(one.name, *one.lines))}{there}{said}{reason}"


def _place(name: str, first: int, last: int) -> str:
    """Lines of a document: `notes/a.md:3-5`."""
    return name + (f":{first}" if first else "") + (f"-{last}" if last > first else "")


def _code(text: str) -> str:
    """A name in Markdown, to the letter."""
    shown = _one_line(text)
    return f"`{shown}`" if "`" not in shown else f"`` {shown} ``"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in readable(text)).split())
