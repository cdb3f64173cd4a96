"""What SARIF 2.1.0 asks of the parts that an audit writes, as a JSON schema of our own. It allows no other part."""

from __future__ import annotations

from typing import Any

NAME = {"type": "string", "minLength": 1}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "additionalProperties": False, "properties": properties}


MESSAGE = _object(["text"], text=NAME, markdown=NAME)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
WHERE = _object(
    ["uri", "uriBaseId"],
    uri={"type": "string", "format": "uri-reference", "pattern": r"\A(?!/|[A-Za-z][A-Za-z0-9+.-]*:)[!-~]+\Z"},
    uriBaseId={"const": "%SRCROOT%"},
)
REGION = _object(["startLine"], startLine={"type": "integer", "minimum": 1})
LOCATION = _object(
    ["physicalLocation"], physicalLocation=_object(["artifactLocation"], artifactLocation=WHERE, region=REGION)
)
RULE = _object(
    ["id", "shortDescription", "help"],
    id=NAME,
    name={"type": "string", "pattern": "^([A-Z][a-z0-9]*)+$"},
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=_object([], level=LEVEL),
    properties=_object([], tags={"type": "array", "items": NAME, "uniqueItems": True}),
)
RESULT = _object(
    ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
    ruleId=NAME,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations={"type": "array", "items": LOCATION, "minItems": 1, "maxItems": 1},
    relatedLocations={"type": "array", "items": LOCATION, "uniqueItems": True},
    partialFingerprints={"type": "object", "minProperties": 1, "additionalProperties": NAME},
)
DRIVER = _object(
    ["name", "rules"],
    name=NAME,
    semanticVersion={"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
    rules={"type": "array", "items": RULE, "uniqueItems": True},
)
RUN = _object(
    ["tool", "results"],
    tool=_object(["driver"], driver=DRIVER),
    originalUriBaseIds={"type": "object", "additionalProperties": _object([], description=MESSAGE)},
    results={"type": "array", "items": RESULT},
)
SARIF = _object(
    ["version", "runs"],
    **{"$schema": {"type": "string", "format": "uri"}},
    version={"const": "2.1.0"},
    runs={"type": "array", "items": RUN},
)
