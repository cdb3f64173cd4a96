"""An audit as SARIF 2.1.0, which code hosts and editors show beside the lines."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from memory_v2.notes.audit.auditing import Audit
from memory_v2.notes.audit.codes import CODES, TABLE, Code, Severity
from memory_v2.notes.audit.finding import Finding

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
        "results": [_result(one) for one in audit.findings],
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


def _result(one: Finding) -> dict[str, Any]:
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
