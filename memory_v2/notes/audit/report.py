"""An audit for people to read, in lines or as Markdown, and as SARIF 2.1.0, which code hosts and editors show beside
the lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from memory_v2.notes.audit.audit import Audit
from memory_v2.notes.audit.findings import CODES, TABLE, Code, NoteFinding, Severity
from memory_v2.notes.parsing import MARK
from memory_v2.text.amounts import counted

MOST = 10
"""How many findings of a code are shown where nobody asked for that code."""
_SIGNS: Mapping[Severity, str] = {"error": "🔴", "warning": "🟡", "notice": "🟢"}


def audit_lines(audit: Audit, most: int | None = MOST) -> Iterator[str]:
    """The findings by code, the gravest first: at most so many of each."""
    for code, findings in _by_code(audit):
        yield f"{code.severity} {code.name} ({len(findings)}): {code.meaning} → {code.advice}"
        for finding in findings[:most]:
            yield f"  {finding.place}  {finding.message}"
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


def _by_code(audit: Audit) -> Iterator[tuple[Code, Sequence[NoteFinding]]]:
    for name in audit.counts:
        yield CODES[name], [finding for finding in audit.findings if finding.code == name]


def _summary(audit: Audit) -> str:
    found = counted(len(audit.findings), "finding") if audit.findings else "nothing was found"
    known = f"; {audit.known} more are in the baseline" if audit.known else ""
    ignored = f"; {audit.ignored} more are ignored in the notes" if audit.ignored else ""
    return f"{found} in {counted(audit.notes, 'note')}{known}{ignored}"


def _escaped(text: str) -> str:
    """The words of a note in a report: no heading, link or markup of the report's own."""
    return "".join(f"\\{character}" if character in "\\`*_[]<>|" else character for character in text)


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
"""What all addresses are relative to: the folder of notes. Code hosts know this name."""
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "notice": "note"}


def audit_sarif(audit: Audit, version: str) -> dict[str, Any]:
    """The audit as one run of this program."""
    driver = {"name": "silica notes audit", "semanticVersion": version, "rules": [_rule(code) for code in TABLE]}
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder of notes."}}},
        "results": [_result(finding) for finding in audit.findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: Code) -> dict[str, Any]:
    meaning, advice = _sentence(code.meaning), _sentence(code.advice)
    comment = f"<!-- silica: ignore {code.name} -->"
    return {
        "id": code.name,
        "name": code.name.title().replace("-", ""),
        "shortDescription": {"text": meaning},
        "fullDescription": {"text": f"{meaning} What to do: {advice}"},
        "help": {
            "text": f"{meaning} What to do: {advice} To ignore one, write {comment} on its line.",
            "markdown": f"{meaning}\n\n**What to do:** {advice}\n\nTo ignore one, write `{comment}` on its line.",
        },
        "defaultConfiguration": {"level": _LEVELS[code.severity]},
        "properties": {"tags": ["notes"]},
    }


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _result(one: NoteFinding) -> dict[str, Any]:
    places = [place.rpartition(":") for place in one.also]
    related = [_place(name, int(line)) for name, _, line in places if name and line.isdigit()]
    message = f"{one.message}. {_sentence(one.advice)}"
    return {
        "ruleId": one.code,
        "ruleIndex": list(CODES).index(one.code),
        "level": _LEVELS[one.severity],
        "message": {"text": message.replace("{", "{{").replace("}", "}}")},
        "locations": [_place(one.path, one.line)],
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {"silica/v1": one.fingerprint},
    }


def _place(path: str, line: int) -> dict[str, Any]:
    where = {"uri": quote(path, safe="/"), "uriBaseId": ROOT}
    return {"physicalLocation": {"artifactLocation": where, "region": {"startLine": line}}}
