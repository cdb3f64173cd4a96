"""The errors of S3, each in one sentence that says what to do.

StorageError
├── UnknownOutcome                 no answer came: the change may have been made, or may still be made
└── StorageConflict
    └── PreconditionFailed         the condition of a request did not hold
"""

from __future__ import annotations

from botocore import exceptions
from botocore.exceptions import BotoCoreError, ClientError

from memory_v2.errors import StorageConflict, StorageError


class UnknownOutcome(StorageError):
    """No answer came: the requested change may have been made, or may still be made."""


class PreconditionFailed(StorageConflict):
    """The object is not as the request expected. Nothing was changed."""


_REGION = (
    "the bucket is in another region{region}; set SILICA_MEMORY_S3_REGION, or SILICA_MEMORY_S3_ENDPOINT if it is "
    "another server's"
)
_DENIED = (
    "permission is denied; these credentials must be allowed to list the bucket and to get, put and delete in it, and "
    "to get old versions if it keeps them"
)
_EXPIRED = "the session of these credentials has expired; sign in again"
_OUT_OF_ORDER = "the server is out of order or has too much to do; try again later"
_NO_CREDENTIALS = (
    "there are no credentials that can be used; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
)
_CODES = {
    "NoSuchBucket": "there is no such bucket; make it, or name another in SILICA_MEMORY_S3_BUCKET",
    "InvalidBucketName": "a bucket cannot have this name; name another in SILICA_MEMORY_S3_BUCKET",
    "AccessDenied": _DENIED,
    "AllAccessDisabled": _DENIED,
    "AccountProblem": _DENIED,
    "403": _DENIED,
    "InvalidAccessKeyId": "the access key is not known there; see AWS_ACCESS_KEY_ID, or the profile in AWS_PROFILE",
    "SignatureDoesNotMatch": "the secret key is wrong; see AWS_SECRET_ACCESS_KEY, or the profile in AWS_PROFILE",
    "ExpiredToken": _EXPIRED,
    "InvalidToken": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "AuthorizationHeaderMalformed": _REGION,
    "PermanentRedirect": _REGION,
    "TemporaryRedirect": _REGION,
    "IllegalLocationConstraintException": _REGION,
    "301": _REGION,
    "RequestTimeTooSkewed": "the clock of this machine is wrong; set it",
    "InvalidObjectState": "the object is archived; restore it, or keep the memory out of the archive",
    "NotImplemented": "the server does not know conditional requests, without which changes get lost; use another",
}
_EXCEPTIONS: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((exceptions.ProfileNotFound,), "the profile in AWS_PROFILE is not in the configuration; name another"),
    (
        (exceptions.UnauthorizedSSOTokenError, exceptions.SSOTokenLoadError, exceptions.TokenRetrievalError),
        _EXPIRED,
    ),
    (
        (exceptions.NoCredentialsError, exceptions.PartialCredentialsError, exceptions.CredentialRetrievalError),
        _NO_CREDENTIALS,
    ),
    (
        (exceptions.ParamValidationError,),
        "a bucket cannot have this name, or an object this key; see SILICA_MEMORY_S3_BUCKET and _S3_PREFIX",
    ),
    ((exceptions.InvalidRegionError, exceptions.NoRegionError), "there is no such region; see SILICA_MEMORY_S3_REGION"),
    ((exceptions.SSLError,), "no secure connection can be made; see the endpoint and the certificates of this machine"),
    (
        (exceptions.ReadTimeoutError, exceptions.ConnectTimeoutError),
        "the server does not answer in time; see the network, and try again later",
    ),
    (
        (exceptions.ConnectionError, exceptions.HTTPClientError, exceptions.IncompleteReadError),
        "the server cannot be reached, or hangs up; see the network, SILICA_MEMORY_S3_REGION and _S3_ENDPOINT",
    ),
    ((ValueError,), "the endpoint is no address of a server; see SILICA_MEMORY_S3_ENDPOINT"),
)


def explain(error: Exception, action: str, place: str) -> StorageError:
    """The error to raise: what failed, where, and what to do."""
    return StorageError(f"cannot {action} {place}: {_advice(error)}")


def code_of(error: ClientError) -> str:
    """S3's code of the error; the HTTP status as text if the answer had no body."""
    return str(error.response.get("Error", {}).get("Code", ""))


def status_of(error: ClientError) -> int:
    """The HTTP status of the answer."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def was_retried(error: ClientError) -> bool:
    """Whether the request was sent more than once, so that an earlier attempt may have succeeded."""
    return int(error.response.get("ResponseMetadata", {}).get("RetryAttempts", 0)) > 0


def _advice(error: Exception) -> str:
    if isinstance(error, ClientError):
        return _advice_on_answer(error)
    for kinds, advice in _EXCEPTIONS:
        if isinstance(error, kinds):
            return advice
    words = " ".join(str(error).split()) if isinstance(error, BotoCoreError) else "it gave no answer that can be read"
    return f"{words[:200]}; see the configuration of this machine and of the server"


def _advice_on_answer(error: ClientError) -> str:
    code, details = code_of(error), error.response.get("Error", {})
    if advice := _CODES.get(code):
        region = details.get("Region")
        return advice.replace("{region}", f" ({region})" if isinstance(region, str) else "")
    if status_of(error) >= 500:
        return _OUT_OF_ORDER
    words = " ".join(str(details.get("Message", "")).split())[:200]
    return f"the server refuses it ({code or status_of(error)}: {words}); see the configuration of the bucket"
