"""An audit for people to read: in lines, or as a Markdown report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memory_v2.notes.audit.auditing import Audit
from memory_v2.notes.audit.codes import CODES, Code, Severity
from memory_v2.notes.audit.finding import Finding
from memory_v2.notes.reading import MARK
from memory_v2.text.amounts import counted

MOST = 10
"""How many findings of a code are shown where nobody asked for that code."""
_SIGNS: Mapping[Severity, str] = {"error": "🔴", "warning": "🟡", "notice": "🟢"}


def audit_lines(audit: Audit, most: int | None = MOST) -> Iterator[str]:
    """The findings by code, the gravest first: at most so many of each."""
    for code, findings in _by_code(audit):
        yield f"{code.severity} {code.name} ({len(findings)}): {code.meaning} → {code.advice}"
        for one in findings[:most]:
            yield f"  {one.place}  {one.message}"
        if most is not None and len(findings) > most:
            yield f"  … and {len(findings) - most} more: --select {code.name} shows all"
    yield _summary(audit)


def audit_report(audit: Audit) -> str:
    """The audit as Markdown. It bears the mark of what this program makes, so that it is never read as a note."""
    lines = [f"{MARK} by silica notes audit -->", f"# Memory audit report — {audit.day}", ""]
    for code, findings in _by_code(audit):
        title = code.name.replace("-", " ").capitalize()
        lines += [f"## {_SIGNS[code.severity]} {title} ({counted(len(findings), 'item')})", ""]
        lines += [f"{number}. `{one.place}` {_escaped(one.message)}" for number, one in enumerate(findings, 1)]
        lines += ["", f"→ {code.advice[0].upper()}{code.advice[1:]}.", ""]
    return "\n".join([*lines, f"{_summary(audit)}.", ""])


def _by_code(audit: Audit) -> Iterator[tuple[Code, Sequence[Finding]]]:
    for name in audit.counts:
        yield CODES[name], [one for one in audit.findings if one.code == name]


def _summary(audit: Audit) -> str:
    found = counted(len(audit.findings), "finding") if audit.findings else "nothing was found"
    known = f"; {audit.known} more are in the baseline" if audit.known else ""
    ignored = f"; {audit.ignored} more are ignored in the notes" if audit.ignored else ""
    return f"{found} in {counted(audit.notes, 'note')}{known}{ignored}"


def _escaped(text: str) -> str:
    """The words of a note in a report: no heading, link or markup of the report's own."""
    return "".join(f"\\{character}" if character in "\\`*_[]<>|" else character for character in text)
