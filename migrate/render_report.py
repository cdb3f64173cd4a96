"""Reports and verifications as Markdown for people: short, the most important first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from memory_v2.files.left_out import LeftOut
from memory_v2.migrate.ledger import STATUSES, status_of
from memory_v2.migrate.report import Duplicate, Remark, Report
from memory_v2.migrate.verify import Passage, State, Verification
from memory_v2.plan import Step
from memory_v2.text.amounts import counted
from memory_v2.text.contradictions import Contradiction
from memory_v2.tree.block import readable

MOST = 10
"""How many lines of a list are shown; JSON documents have all."""
MOST_ALIKE = 4
"""How many names are shown in one line: of what is a duplicate, or has the same reason."""
_STATES: Mapping[State, str] = {
    "there": "in the tree",
    "changed": "changed here since",
    "left out": "left out",
    "missing": "missing",
}


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
    unexpected = [one for one in report.left_out if not one.is_expected]
    expected = [one for one in report.left_out if one.is_expected]
    passages = report.verification.passages if report.verification else ()
    gone = (f"{_code(one.path)}: {_one_line(one.message)}" for one in plan.warnings)
    lines += _section("Failed", _by_reason(failed), len(failed))
    lines += _section("Missing in the tree", (_passage(one) for one in passages if one.state == "missing"))
    lines += _section("Likely secrets, kept as they are", map(_remark, report.secrets))
    lines += _section("Contradictions, newest first", map(_contradiction, report.contradictions))
    lines += _section("Duplicates", map(_duplicate, report.duplicates))
    lines += _section("References that lead nowhere", map(_remark, report.dead))
    lines += _section("To look at", map(_remark, report.remarks))
    lines += _section("Skipped", _by_reason(skipped), len(skipped))
    lines += _section("No longer in the source; the pages stay", gone)
    lines += _section("Changed here since", (_passage(one) for one in passages if one.state == "changed"))
    lines += _section("Files left out", _by_reason(unexpected), len(unexpected))
    lines += _section("Files with nothing of yours", _by_reason(expected), len(expected))
    lines += _section("What went where", (f"{_went(step)} ({status_of(step)})" for step in plan.steps if step.applied))
    return "\n".join(lines) + "\n"


def _section(title: str, items: Iterable[str], count: int = 0) -> Iterator[str]:
    """A heading with a `count`, or else the number of its items, and the first of them; nothing if there are none."""
    listed = list(items)
    if listed:
        yield from ("", f"## {title} ({count or len(listed):,})", "")
        yield from (f"- {item}" for item in islice(listed, MOST))
        if len(listed) > MOST:
            yield f"- and {len(listed) - MOST:,} more (--json has all)"


def _sum(counts: Iterable[tuple[int, str]]) -> str:
    return ", ".join(f"{count:,} {word}" for count, word in counts if count) or "nothing"


def missing_lines(found: Verification) -> Iterator[str]:
    """Each passage that is missing: where it stands in the source, how it begins, and the reason."""
    return (_passage(one, str) for one in found.passages if one.state == "missing")


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


def _remark(one: Remark) -> str:
    return f"{_code(_place(one.name, (one.line, one.line) if one.line else None))}: {_one_line(one.text)}"


def _passage(one: Passage, named: Callable[[str], str] | None = None) -> str:
    code = named or _code
    there = f" → {code(_place(one.page, one.page_lines))}" if one.page else ""
    said = f" “{_one_line(one.opening)}”" if one.opening else ""
    reason = f": {_one_line(one.reason)}" if one.reason else ""
    return f"{code(_place(one.name, one.lines))}{there}{said}{reason}"


def _duplicate(one: Duplicate) -> str:
    places = _named([_code(_place(*place)) for place in one.places])
    share = "the same" if one.share == 1 else f"{one.share:.0%} the same"
    said = f": “{_one_line(one.opening)}”" if one.opening else ""
    return f"{places} ({share}){said}"


def _contradiction(one: Contradiction) -> str:
    values = " · ".join(
        f"{_code(each.value)} ({f'{each.day}, ' if each.day else ''}{_one_line(each.name)}:{each.line})"
        for each in one.statements
    )
    return f"{_one_line(one.subject)}, {_one_line(one.label)}: {values}"


def _place(name: str, lines: Sequence[int] | None) -> str:
    """`notes/a.md:3-5`."""
    if not lines:
        return name
    first, last = lines
    return f"{name}:{first}" if first == last else f"{name}:{first}-{last}"


def _code(text: str) -> str:
    """A name in Markdown, to the letter."""
    shown = _one_line(text)
    return f"`{shown}`" if "`" not in shown else f"`` {shown} ``"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in readable(text)).split())
