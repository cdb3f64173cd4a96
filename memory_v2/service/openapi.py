"""The OpenAPI document: what every operation has in common is added here, so that no request pays for it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from memory_v2.service.models import NAME_PATTERN
from memory_v2.service.problem import STATUSES

_VERSIONED = ("/context/", "/entries/{", "/pages/", "/handoff/", "/state", "/update")
"""In the paths of what has an ETag."""
_HEADERS = {
    "If-Match": "The ETag of the version that is changed, or *.",
    "If-None-Match": "The ETag of the version that is known, or * to change nothing that is there.",
    "Idempotency-Key": "Makes a repeated write one.",
    "X-Memory-Source": "For whom the key speaks.",
}
_KEY = {"type": "http", "scheme": "bearer", "description": "An API key: dm_<id>_<secret>"}
_STRING = {"type": "string"}
PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "error", "request_id"],
    "properties": {
        "type": _STRING,
        "title": _STRING,
        "status": {"type": "integer"},
        "detail": _STRING,
        "error": {
            "type": "object",
            "required": ["code", "message", "details"],
            "properties": {
                "code": {"type": "string", "enum": sorted(STATUSES)},
                "message": _STRING,
                "details": {"type": "object"},
            },
        },
        "request_id": {"type": "string", "format": "uuid"},
    },
}
"""The one form of every error."""


def described(app: FastAPI, base: str) -> dict[str, Any]:
    """The document of an application, whose operations under `base` need a key."""
    document = FastAPI.openapi(app)
    components = document.setdefault("components", {})
    components["securitySchemes"] = {"key": _KEY}
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    for path, operations in document["paths"].items():
        if path.startswith(base):
            for method, operation in operations.items():
                _describe(method, path, operation)
    return document


def _describe(method: str, path: str, operation: dict[str, Any]) -> None:
    operation["security"] = [{"key": []}]
    names = [] if method == "get" else ["Idempotency-Key"]
    if any(part in path for part in _VERSIONED):
        names += ["If-None-Match"] if method == "get" else ["If-Match", "If-None-Match"]
        if method == "get":
            operation["responses"]["304"] = {"description": "The version is the one that is known."}
    parameters = operation.setdefault("parameters", [])
    for name in (*names, "X-Memory-Source"):
        schema = _STRING | ({"pattern": NAME_PATTERN, "maxLength": 255} if name == "X-Memory-Source" else {})
        parameters.append({"name": name, "in": "header", "description": _HEADERS[name], "schema": schema})
    operation["responses"].update(_errors())


def _errors() -> dict[str, Any]:
    """Every error, by its status."""
    by_status: dict[int, list[str]] = {}
    for code, (status, _) in STATUSES.items():
        by_status.setdefault(status, []).append(code)
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    content = {"application/problem+json": schema, "application/json": schema}
    listed = sorted(by_status.items())
    return {str(status): {"description": ", ".join(codes), "content": content} for status, codes in listed}
