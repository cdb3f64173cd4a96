"""The errors of the service: each code has one status, and one body is problem+json and the specification's."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticSerializationError
from redis import RedisError
from sqlalchemy.exc import DataError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from memory_v2.errors import (
    EntryNotFound,
    ModelError,
    PageExists,
    PageNotFound,
    SilicaError,
    StorageConflict,
    StorageError,
    UsageError,
)

STATUSES = {
    "VALIDATION_FAILED": (422, "The request is not valid"),
    "UNAUTHENTICATED": (401, "A valid API key is needed"),
    "PERMISSION_DENIED": (403, "Insufficient access rights"),
    "MEMORY_LIMIT_EXCEEDED": (403, "Storage quota exceeded"),
    "NOT_FOUND": (404, "There is no such resource"),
    "METHOD_NOT_ALLOWED": (405, "This resource does not have this method"),
    "CONTEXT_NOT_FOUND": (404, "Context for session not found"),
    "ENTRY_NOT_FOUND": (404, "There is no such entry"),
    "PAGE_NOT_FOUND": (404, "There is no such page"),
    "HANDOFF_NOT_FOUND": (404, "There is no such handoff"),
    "AGENT_NOT_FOUND": (404, "The agent has no state"),
    "SUBSCRIPTION_NOT_FOUND": (404, "There is no such subscription"),
    "KEY_NOT_FOUND": (404, "There is no such key"),
    "CONTEXT_EXISTS": (409, "The session has a context already"),
    "PAGE_EXISTS": (409, "The page exists already"),
    "PATCH_CONFLICT": (409, "The patch does not fit the present state"),
    "IDEMPOTENCY_KEY_IN_PROGRESS": (409, "A request with this Idempotency-Key is being carried out"),
    "IDEMPOTENCY_KEY_REUSED": (422, "The Idempotency-Key was used for another request"),
    "VERSION_CONFLICT": (412, "The resource has changed since it was read"),
    "PRECONDITION_REQUIRED": (428, "If-Match is required"),
    "INVALID_HANDOFF": (422, "Handoff validation failed"),
    "HANDOFF_ALREADY_CLAIMED": (409, "Another agent has claimed the handoff"),
    "HANDOFF_EXPIRED": (410, "The handoff has expired"),
    "HANDOFF_STATE": (409, "The handoff's state does not allow this"),
    "CURSOR_EXPIRED": (410, "Events after this cursor are no longer kept: load the state again"),
    "PAYLOAD_TOO_LARGE": (413, "The request's body is too large"),
    "UNSUPPORTED_MEDIA_TYPE": (415, "This media type is not supported"),
    "RATE_LIMIT_EXCEEDED": (429, "Too many requests"),
    "INTERNAL_ERROR": (500, "The service has failed"),
    "BACKEND_UNAVAILABLE": (503, "A store is not available"),
}
"""Every code, with its HTTP status and its title."""

_CORE: tuple[tuple[type[SilicaError], str], ...] = (
    (PageNotFound, "PAGE_NOT_FOUND"),
    (EntryNotFound, "ENTRY_NOT_FOUND"),
    (PageExists, "PAGE_EXISTS"),
    (StorageConflict, "VERSION_CONFLICT"),
    (StorageError, "BACKEND_UNAVAILABLE"),
    (ModelError, "BACKEND_UNAVAILABLE"),
    (UsageError, "VALIDATION_FAILED"),
)
"""The first match counts: a conflict is a storage error too."""


class Problem(Exception):
    """A request that is refused, by a code of `STATUSES`; `details` are for the client."""

    def __init__(self, code: str, message: str = "", *, headers: dict[str, str] | None = None, **details: Any) -> None:
        self.code, self.details = code, details
        self.status, self.title = STATUSES[code]
        self.message = message or self.title
        self.headers = {"Retry-After": "1", **(headers or {})} if self.status == 503 else headers or {}
        super().__init__(self.message)

    def document(self, request_id: str) -> dict[str, Any]:
        """The body of the answer."""
        return {
            "type": f"urn:silica:problem:{self.code.lower().replace('_', '-')}",
            "title": self.title,
            "status": self.status,
            "detail": self.message,
            "error": {"code": self.code, "message": self.message, "details": self.details},
            "request_id": request_id,
        }


def problem_of(error: Exception) -> Problem | None:
    """The problem that an error of the core, of a database or of Redis is; `None` for a fault of the program."""
    if isinstance(error, Problem):
        return error
    for kind, code in _CORE:
        if isinstance(error, kind):
            hidden = code == "BACKEND_UNAVAILABLE"  # its words name files and hosts
            return Problem(code, "" if hidden else str(error))
    if isinstance(error, (DataError, UnicodeEncodeError, PydanticSerializationError)):
        return Problem("VALIDATION_FAILED", "a text contains characters that cannot be stored")
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    if lost or isinstance(
        error, (OperationalError, InterfaceError, PoolTimeout, RedisError, ConnectionError, TimeoutError)
    ):
        return Problem("BACKEND_UNAVAILABLE")
    return None
