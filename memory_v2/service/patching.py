"""Partial changes of a JSON document: JSON Patch (RFC 6902) and merge patch (RFC 7396)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import jsonpatch
import jsonpointer
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from memory_v2.service.models import MOST_BYTES
from memory_v2.service.problem import Problem

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
PATCH_BODY: dict[str, Any] = {
    "openapi_extra": {
        "requestBody": {
            "required": True,
            "content": {
                JSON_PATCH: {"schema": {"type": "array", "items": {"type": "object"}}},
                MERGE_PATCH: {"schema": {"type": "object"}},
            },
        }
    }
}
"""How the body of an operation with a patch is described."""
MOST_OPERATIONS = 100
MOST_DEPTH = 50
MOST_NESTED = 190
"""Levels of a document: a few less than a body may have."""
Model = TypeVar("Model", bound=BaseModel)


def read_patch(patch: Any, media_type: str) -> Callable[[Any], Any]:
    """What applies a patch to a document and returns the result; the document is not changed. Raises `Problem` if it is
    no patch, whatever the document; so does what is returned, if the patch does not fit the document."""
    kind = media_type.partition(";")[0].strip().lower()
    if _is_deeper(patch, MOST_DEPTH):
        raise Problem("VALIDATION_FAILED", f"the patch is nested deeper than {MOST_DEPTH}")
    if kind in (MERGE_PATCH, "application/json"):
        if not isinstance(patch, dict):
            raise Problem("VALIDATION_FAILED", "a merge patch is an object")
        return lambda document: _kept(merged(document, patch))
    if kind != JSON_PATCH:
        raise Problem("UNSUPPORTED_MEDIA_TYPE", accepted=[JSON_PATCH, MERGE_PATCH])
    if not isinstance(patch, list) or len(patch) > MOST_OPERATIONS:
        raise Problem("VALIDATION_FAILED", f"a JSON Patch is a list of at most {MOST_OPERATIONS} operations")
    with _telling():
        return partial(_applied, [jsonpatch.JsonPatch([step]) for step in patch])


def _applied(steps: Sequence[jsonpatch.JsonPatch], document: Any) -> Any:
    result = copy.deepcopy(document)
    with _telling():
        for step in steps:
            result = step.apply(result, in_place=True)
            if step.patch[0]["op"] == "copy":  # each can double the document
                _kept(result)
        return _kept(result)


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except (jsonpatch.JsonPatchConflict, jsonpatch.JsonPatchTestFailed, jsonpointer.JsonPointerException) as error:
        raise Problem("PATCH_CONFLICT", str(error)[:500]) from error
    except (jsonpatch.JsonPatchException, TypeError, ValueError, AttributeError, KeyError) as error:
        raise Problem("VALIDATION_FAILED", f"this is no JSON Patch: {error}"[:500]) from error


def _kept(document: Any) -> Any:
    """The document, if it is not larger or deeper than one that can be sent. Raises `Problem`."""
    if _is_deeper(document, MOST_NESTED):
        raise Problem("VALIDATION_FAILED", f"the result is nested deeper than {MOST_NESTED}")
    if len(to_json(document)) > MOST_BYTES:
        raise Problem("PAYLOAD_TOO_LARGE", "the result of the patch is too large", most_bytes=MOST_BYTES)
    return document


def merged(document: Any, patch: Any) -> Any:
    """A merge patch applied: null removes a member, an object changes members, all else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def checked(model: type[Model], document: Any) -> Model:
    """The document as its model. Raises `Problem`."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        errors = [{"loc": list(each["loc"]), "msg": each["msg"]} for each in error.errors()]
        raise Problem("VALIDATION_FAILED", "the result of the patch is not valid", errors=errors) from error


def _is_deeper(value: Any, most: int) -> bool:
    depth, layer = 0, [value]
    while layer and depth <= most:
        depth += 1
        layer = [
            inner
            for each in layer
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return depth > most
