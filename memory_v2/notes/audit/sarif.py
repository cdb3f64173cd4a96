"""An audit as SARIF 2.1.0, which code hosts and editors show beside the lines."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from memory_v2.notes.audit.auditing import Audit
from memory_v2.notes.audit.codes import TABLE, Code, Severity
from memory_v2.notes.audit.finding import Finding

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "notice": "note"}


def audit_sarif(audit: Audit, version: str) -> dict[str, Any]:
    """The audit as one run of this program."""
    driver = {"name": "silica notes audit", "semanticVersion": version, "rules": [_rule(code) for code in TABLE]}
    results = [_result(one) for one in audit.findings]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _rule(code: Code) -> dict[str, Any]:
    return {
        "id": code.name,
        "shortDescription": {"text": code.meaning},
        "help": {"text": code.advice},
        "defaultConfiguration": {"level": _LEVELS[code.severity]},
    }


def _result(one: Finding) -> dict[str, Any]:
    places = [place.rpartition(":") for place in one.also]
    related = [_place(name, int(line)) for name, _, line in places if name and line.isdigit()]
    return {
        "ruleId": one.code,
        "level": _LEVELS[one.severity],
        "message": {"text": f"{one.message}. {one.advice}"},
        "locations": [_place(one.path, one.line)],
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {"silica/v1": one.fingerprint},
    }


def _place(path: str, line: int) -> dict[str, Any]:
    where = {"uri": quote(path, safe="/"), "uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": where, "region": {"startLine": line}}}
