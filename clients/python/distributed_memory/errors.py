"""What can go wrong, by what the caller can do about it.

MemoryClientError
├── ServiceError             the service refused the request: code, status, details, request_id
│   ├── InvalidRequest       mend the request
│   ├── AuthenticationFailed the key is missing, unknown, revoked or expired
│   ├── PermissionDenied     the key may not do this
│   │   └── QuotaExceeded    the tenant's storage or number of sessions is used up
│   ├── NotFound             also a LookupError
│   ├── Conflict             the present state does not allow this: read it and decide again
│   │   └── VersionConflict  it has changed since it was read; `etag` is that of the present version
│   ├── PreconditionRequired read the document first, or pass if_match="*" to overwrite
│   ├── RateLimited          too many requests; `retry_after` in seconds
│   ├── ServiceUnavailable   an outage, after all retries
│   └── ServiceFault         a fault of the service, after all retries
├── NotConnected             no answer, after all retries; also a ConnectionError
└── OutcomeUnknown           a write may have been carried out, and it is too late to repeat it safely
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class MemoryClientError(Exception):
    """Anything that this package raises."""

    uncertain = False
    """Whether a write may have been carried out all the same."""


class NotConnected(MemoryClientError, ConnectionError):
    """No answer."""


class OutcomeUnknown(MemoryClientError):
    """A write may have been carried out, and it is too late to repeat it safely: look, then decide."""


class ServiceError(MemoryClientError):
    """The service refused the request."""

    def __init__(self, status: int, code: str, message: str, details: Mapping[str, Any], request_id: str) -> None:
        super().__init__(f"{code}: {message}")
        self.status, self.code, self.message, self.details = status, code, message, details
        self.request_id = request_id


class InvalidRequest(ServiceError):
    """The request is not valid."""


class AuthenticationFailed(ServiceError):
    """The key is missing, unknown, revoked or expired."""


class PermissionDenied(ServiceError):
    """The key may not do this."""


class QuotaExceeded(PermissionDenied):
    """The tenant's storage or number of sessions is used up."""


class NotFound(ServiceError, LookupError):
    """It does not exist, or the key may not read it."""


class Conflict(ServiceError):
    """The present state does not allow this."""


class VersionConflict(Conflict):
    """The document has changed since it was read; `etag` is that of the present version."""

    @property
    def etag(self) -> str:
        """The ETag of the present version; empty if the service does not say."""
        return str(self.details.get("etag", ""))


class PreconditionRequired(ServiceError):
    """An ETag is needed: that of a document that was read, or `*`."""


class RateLimited(ServiceError):
    """Too many requests."""

    retry_after = 0.0
    """Seconds to wait."""


class ServiceUnavailable(ServiceError):
    """A store of the service is not available."""


class ServiceFault(ServiceError):
    """The service has failed."""


_BY_CODE = {"MEMORY_LIMIT_EXCEEDED": QuotaExceeded}
_BY_STATUS = {
    401: AuthenticationFailed,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    410: Conflict,
    412: VersionConflict,
    428: PreconditionRequired,
    429: RateLimited,
    502: ServiceUnavailable,
    503: ServiceUnavailable,
    504: ServiceUnavailable,
}


def service_error(status: int, document: Any, reason: str = "") -> ServiceError:
    """The error that an answer tells; `document` is its body, which may be no JSON if a proxy answered."""
    body = document if isinstance(document, dict) else {}
    told = body.get("error")
    error = told if isinstance(told, dict) else {}
    code = str(error.get("code") or f"HTTP_{status}")
    default = InvalidRequest if status < 500 else ServiceFault
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status, default)
    message = str(error.get("message") or reason or "no reason was given")
    return kind(status, code, message, error.get("details") or {}, str(body.get("request_id", "")))
