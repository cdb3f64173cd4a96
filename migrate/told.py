"""Reports and verifications as Markdown for people: short, the most important first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from memory_v2.files.left_out import LeftOut
from memory_v2.migrate.outcome import Outcome
from memory_v2.migrate.report import STATUSES, Duplicate, Remark, Report
from memory_v2.migrate.verify import Passage, State, Verification
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
    counts = report.totals
    lines = [
        f"# Import of {_one_line(report.source)}",
        "",
        f"- **{counted(counts['documents'], 'document')}** ({report.format}): "
        f"{_sum((counts[status], status) for status in STATUSES)}",
        f"- **{counted(counts['files'], 'file')}**: {counts['documents']:,} documents, {counts['left_out']:,} left out",
    ]
    if report.verification:
        lines.append(f"- {of_blocks(report.verification, '**')}")
    by_status = {status: [one for one in report.outcomes if one.status == status] for status in STATUSES}
    moved = [one for one in report.outcomes if one.status not in ("failed", "skipped", "unchanged")]
    unexpected = [one for one in report.left_out if not one.is_expected]
    expected = [one for one in report.left_out if one.is_expected]
    passages = report.verification.passages if report.verification else ()
    lines += _section("Failed", _by_reason(by_status["failed"]), len(by_status["failed"]))
    lines += _section("Missing in the tree", (_passage(one) for one in passages if one.state == "missing"))
    lines += _section("Likely secrets, kept as they are", map(_remark, report.secrets))
    lines += _section("Contradictions, newest first", map(_contradiction, report.contradictions))
    lines += _section("Duplicates", map(_duplicate, report.duplicates))
    lines += _section("References that lead nowhere", map(_remark, report.dead))
    lines += _section("To look at", map(_remark, report.remarks))
    lines += _section("Skipped", _by_reason(by_status["skipped"]), len(by_status["skipped"]))
    lines += _section("No longer in the source; the pages stay", map(_outcome, report.gone))
    lines += _section("Changed here since", (_passage(one) for one in passages if one.state == "changed"))
    lines += _section("Files left out", _by_reason(unexpected), len(unexpected))
    lines += _section("Files with nothing of yours", _by_reason(expected), len(expected))
    lines += _section("What went where", map(_outcome, moved))
    return "\n".join(lines) + "\n"


def verification_markdown(found: Verification) -> str:
    """The verification: the totals, then what is missing, then the rest, then which lines are where."""
    whole = "Nothing is missing." if found.is_complete else "**Some of the source is missing in the tree.**"
    lines = ["# Verification", "", whole, "", f"- {of_blocks(found, '**')} · {counted(found.documents, 'document')}"]
    by_state = {state: [one for one in found.passages if one.state == state] for state in _STATES}
    lines += _section("Missing", map(_passage, by_state["missing"]))
    lines += _section("Pages that cannot be read", map(_code, found.unreadable))
    lines += _section("Changed here since", map(_passage, by_state["changed"]))
    lines += _section("Left out", map(_passage, by_state["left out"]))
    lines += _section("Files left out", _by_reason(found.left_out), len(found.left_out))
    lines += _section("In the tree", map(_passage, by_state["there"]))
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


def _outcome(one: Outcome) -> str:
    return f"{_code(one.name)}{_page_of(one)} ({one.status})"


def _page_of(one: Outcome | LeftOut) -> str:
    return f" → {_code(one.page)}" if isinstance(one, Outcome) and one.page else ""


def _by_reason(left: Sequence[Outcome] | Sequence[LeftOut]) -> list[str]:
    """What was not brought in, those with the same reason on one line."""
    names: dict[str, list[str]] = {}
    for one in left:
        names.setdefault(one.reason, []).append(_code(one.name) + _page_of(one))
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
