"""The objects of a bucket: reading, listing, and conditional writes.

If an answer is lost, the request is sent again, usually by boto3. The repeated request may then fail because the first
one succeeded. So each write puts a unique mark on the object, and a failed write looks for its own mark.

Each error is one sentence that says what to do:

StorageError
├── UnknownOutcome                 no answer came: the change may have been made, or may still be made
└── StorageConflict
    └── PreconditionFailed         the condition of a request did not hold
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
from botocore import exceptions
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from memory_v2.errors import StorageConflict, StorageError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ATTEMPTS = 3
"""How often a request is sent before it fails: boto3's own default."""
CONNECT_SECONDS = 5
READ_SECONDS = 10
CONFLICT_SECONDS = (0.05, 0.2, 0.5)
"""The pauses, in seconds, before a request that collided with another one on the same object is sent again, as S3
advises."""
MARK = "silica-write"
_TYPES = {".md": "text/markdown; charset=utf-8", ".json": "application/json"}
_BYTES = "application/octet-stream"
FIRST_KEYS, MAX_KEYS = 50, 1_000
"""How many keys a listing requests: at first, if it skips a folder that comes early; and at most, S3's own limit."""

_NO_VERSION = ("NoSuchVersion", "MethodNotAllowed", "InvalidArgument")
"""S3's error codes for a version id that is gone, that is a deletion, or that is not valid."""
_CUT_OFF = (
    exceptions.ResponseStreamingError,
    exceptions.IncompleteReadError,
    exceptions.ReadTimeoutError,
    exceptions.FlexibleChecksumError,
)
_NO_CREDENTIALS = (
    exceptions.NoCredentialsError,
    exceptions.PartialCredentialsError,
    exceptions.CredentialRetrievalError,
)
_NEVER_SENT = (*_NO_CREDENTIALS, exceptions.ParamValidationError)


@dataclass(frozen=True, slots=True)
class Object:
    """The bytes of an object and its entity tag. For one key, equal tags mean equal bytes."""

    etag: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Info:
    """The metadata of an object. A listing does not include the mark."""

    etag: str
    size: int
    modified: datetime
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of an object, the latest or an old one; or a deletion, after which the object does not exist."""

    key: str
    id: str
    is_latest: bool
    is_deletion: bool


class Bucket:
    """A bucket of S3, or of another server with its API. Nothing is connected to before the first request."""

    def __init__(self, name: str, region: str | None = None, endpoint: str | None = None) -> None:
        self.name = name
        self._region = region
        self._endpoint = endpoint
        self._making = threading.Lock()
        self._made: tuple[int, S3Client] | None = None
        self._is_there = False

    def get(self, key: str, kept: Object | None = None, version_id: str = "") -> Object | None:
        """The object; `kept` if it has not changed since; with `version_id`, that version of it. `None` if it does not
        exist."""
        more: dict[str, Any] = {"IfNoneMatch": f'"{kept.etag}"'} if kept else {}
        if version_id:
            more["VersionId"] = version_id
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = self._client().get_object(Bucket=self.name, Key=key, **more)
                return Object(_bare(answer["ETag"]), answer["Body"].read())
            except ClientError as error:
                if kept and _status(error) == 304:
                    return kept
                if _code(error) == "NoSuchKey" or (version_id and _code(error) in _NO_VERSION):
                    return None
                raise _explain(error, "read", self._place(key)) from error
            except (BotoCoreError, ResponseParserError) as error:
                # boto3 repeats a request without an answer, but not one whose answer breaks off.
                if attempt == ATTEMPTS or not isinstance(error, _CUT_OFF):
                    raise _explain(error, "read", self._place(key)) from error
        raise AssertionError("the last attempt returns or raises")

    def head(self, key: str) -> Info | None:
        """The metadata of the object; `None` if it does not exist."""
        with self._explained("look at", key):
            try:
                answer = self._client().head_object(Bucket=self.name, Key=key)
            except ClientError as error:
                if _status(error) != 404:
                    raise
                self._expect_bucket()
                return None
        modified, mark = answer["LastModified"].astimezone(UTC), answer.get("Metadata", {}).get(MARK, "")
        return Info(_bare(answer["ETag"]), answer["ContentLength"], modified, mark)

    def list(
        self, prefix: str, *, after: str = "", besides: tuple[str, ...] = (), flat: bool = False
    ) -> Iterator[tuple[str, Info]]:
        """All objects whose keys begin with `prefix`, sorted by key. `after` starts behind this key; `besides` skips
        these folders without listing them; `flat` skips all folders."""
        more: dict[str, Any] = {"Delimiter": "/"} if flat else {}
        start: dict[str, Any] = {"StartAfter": after} if after else {}
        most, key = FIRST_KEYS if besides else MAX_KEYS, ""
        while True:
            with self._explained("list", prefix):
                answer = self._client().list_objects_v2(Bucket=self.name, Prefix=prefix, MaxKeys=most, **more, **start)
            for found in answer.get("Contents", ()):
                key = found["Key"]
                if not key.startswith(besides):
                    yield key, Info(_bare(found["ETag"]), found["Size"], found["LastModified"].astimezone(UTC))
            if not answer["IsTruncated"]:
                return
            if skipped := next((folder for folder in besides if key.startswith(folder)), ""):
                start = {"StartAfter": skipped.removesuffix("/") + "0"}  # the character behind the slash
            else:
                start = {"ContinuationToken": answer["NextContinuationToken"]}
            most = MAX_KEYS

    def versions(self, prefix: str) -> Iterator[Version]:
        """All versions of all objects whose keys begin with `prefix`, deletions among them."""
        with self._explained("list the old versions of", prefix):
            pages = self._client().get_paginator("list_object_versions").paginate(Bucket=self.name, Prefix=prefix)
            for answer in pages:
                for one in answer.get("Versions", ()):
                    yield Version(one["Key"], one["VersionId"], one["IsLatest"], False)
                for gone in answer.get("DeleteMarkers", ()):
                    yield Version(gone["Key"], gone["VersionId"], gone["IsLatest"], True)

    def delete_version(self, version: Version) -> None:
        """Removes one version of an object for good."""
        with self._explained("delete an old version of", version.key):
            self._client().delete_object(Bucket=self.name, Key=version.key, VersionId=version.id)

    def create(self, key: str, data: bytes) -> str:
        """Creates the object and returns its tag. Raises `PreconditionFailed` if it exists."""
        return self._put(key, data, {"IfNoneMatch": "*"})

    def replace(self, key: str, data: bytes, etag: str) -> str:
        """Replaces the object and returns the new tag. Raises `PreconditionFailed` if it does not have this tag."""
        return self._put(key, data, {"IfMatch": f'"{etag}"'})

    def put(self, key: str, data: bytes) -> str:
        """Creates or replaces the object and returns its tag."""
        return self._put(key, data, {})

    def delete(self, key: str, etag: str | None = None) -> None:
        """Removes the object if it exists. With a tag, raises `PreconditionFailed` if it does not have this tag."""
        condition: dict[str, Any] = {} if etag is None else {"IfMatch": f'"{etag}"'}

        def request() -> str:
            self._client().delete_object(Bucket=self.name, Key=key, **condition)
            return ""

        self._change("delete", key, request, lambda found: found is None)

    def _put(self, key: str, data: bytes, condition: dict[str, Any]) -> str:
        mark = uuid.uuid4().hex

        def request() -> str:
            answer = self._client().put_object(
                Bucket=self.name,
                Key=key,
                Body=data,
                ContentType=next((kind for end, kind in _TYPES.items() if key.endswith(end)), _BYTES),
                Metadata={MARK: mark},
                **condition,
            )
            return _bare(answer["ETag"])

        return self._change("write", key, request, lambda found: found is not None and found.mark == mark)

    def _change(self, action: str, key: str, request: Callable[[], str], is_made: Callable[[Info | None], bool]) -> str:
        """Sends a request that changes an object, and returns its new tag. If an answer is lost, the object tells
        whether the change was made."""
        place = self._place(key)
        for pause in (*CONFLICT_SECONDS, None):
            try:
                return request()
            except ClientError as error:
                if _status(error) == 409 and pause:
                    time.sleep(pause)
                    continue
                # Sent more than once, an earlier attempt may have succeeded.
                if error.response.get("ResponseMetadata", {}).get("RetryAttempts", 0) or _status(error) >= 500:
                    if is_made(found := self._settled(key, error)):
                        return found.etag if found else ""
                    if not _is_refusal(error):
                        raise UnknownOutcome(str(_explain(error, action, place))) from error
                if not _is_refusal(error):
                    raise _explain(error, action, place) from error
                words = f"{place} is not as it was ({_code(error)}); read it and try again"
                raise PreconditionFailed(words) from error
            except (BotoCoreError, ResponseParserError) as error:
                if isinstance(error, _NEVER_SENT):
                    raise _explain(error, action, place) from error
                if is_made(found := self._settled(key, error)):
                    return found.etag if found else ""
                raise UnknownOutcome(str(_explain(error, action, place))) from error
        raise AssertionError("the last attempt returns or raises")

    def _settled(self, key: str, error: Exception) -> Info | None:
        """The metadata after a change that got no answer. Raises `UnknownOutcome` if this request fails too."""
        try:
            return self.head(key)
        except StorageError:
            raise UnknownOutcome(str(_explain(error, "change", self._place(key)))) from error

    def _expect_bucket(self) -> None:
        """Raises `StorageError` if the bucket does not exist: S3 answers 404 to that as to a missing object."""
        if self._is_there:
            return
        with self._explained("open", ""):
            try:
                self._client().head_bucket(Bucket=self.name)
            except ClientError as error:
                if _status(error) == 404:
                    error.response["Error"]["Code"] = "NoSuchBucket"
                    raise
        self._is_there = True

    @contextmanager
    def _explained(self, action: str, key: str) -> Iterator[None]:
        try:
            yield
        except (ClientError, BotoCoreError, ResponseParserError) as error:
            raise _explain(error, action, self._place(key)) from error

    def _place(self, key: str) -> str:
        return f"s3://{self.name}/{key}"

    def _client(self) -> S3Client:
        with self._making:
            if self._made is None or self._made[0] != os.getpid():  # connections do not survive a fork
                try:
                    self._made = (os.getpid(), self._new_client())
                except (BotoCoreError, ValueError) as error:
                    raise _explain(error, "open", self._place("")) from error
            return self._made[1]

    def _new_client(self) -> S3Client:
        session = boto3.session.Session(region_name=self._region)
        # Other servers may lack a host name for each bucket, regions, and some of S3's checksums.
        other: dict[str, Any] = {
            "s3": {"addressing_style": "path"},
            "request_checksum_calculation": "when_required",
            "response_checksum_validation": "when_required",
        }
        config = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
            max_pool_connections=32,
            user_agent_extra="silica-memory",
            **(other if self._endpoint else {}),
        )
        region = session.region_name or ("us-east-1" if self._endpoint else None)
        return session.client("s3", region_name=region, endpoint_url=self._endpoint, config=config)


def _bare(etag: str) -> str:
    return etag.strip('"')  # some servers quote it in one answer and not in another


def _is_refusal(error: ClientError) -> bool:
    return _status(error) in (409, 412) or _code(error) == "NoSuchKey"


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
        _NO_CREDENTIALS,
        "there are no credentials that can be used; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
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


def _explain(error: Exception, action: str, place: str) -> StorageError:
    """The error to raise: what failed, where, and what to do."""
    return StorageError(f"cannot {action} {place}: {_advice(error)}")


def _code(error: ClientError) -> str:
    """S3's code of the error; the HTTP status as text if the answer had no body."""
    return str(error.response.get("Error", {}).get("Code", ""))


def _status(error: ClientError) -> int:
    """The HTTP status of the answer."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _advice(error: Exception) -> str:
    if isinstance(error, ClientError):
        return _advice_on_answer(error)
    for kinds, advice in _EXCEPTIONS:
        if isinstance(error, kinds):
            return advice
    words = " ".join(str(error).split()) if isinstance(error, BotoCoreError) else "it gave no answer that can be read"
    return f"{words[:200]}; see the configuration of this machine and of the server"


def _advice_on_answer(error: ClientError) -> str:
    code, details = _code(error), error.response.get("Error", {})
    if advice := _CODES.get(code):
        region = details.get("Region")
        return advice.replace("{region}", f" ({region})" if isinstance(region, str) else "")
    if _status(error) >= 500:
        return _OUT_OF_ORDER
    words = " ".join(str(details.get("Message", "")).split())[:200]
    return f"the server refuses it ({code or _status(error)}: {words}); see the configuration of the bucket"
