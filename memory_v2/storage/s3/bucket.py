"""The objects of a bucket: asked for, listed and changed by requests whose conditions hold, or which change nothing.

A request whose answer got lost is sent again, by boto3 as a rule. A change may then meet what it has done itself: so
each write leaves a mark of its own on the object, and whether a refused write was carried out after all is looked up.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
from botocore import exceptions
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from memory_v2.errors import StorageError
from memory_v2.storage.s3.errors import PreconditionFailed, UnknownOutcome, code_of, explain, status_of, was_retried

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ATTEMPTS = 3
"""How often a request is sent before its failure is told."""
CONNECT_SECONDS = 5
READ_SECONDS = 10
CONFLICT_SECONDS = (0.05, 0.2, 0.5)
"""The pauses before a request is sent again that met another one on the same object: what S3 asks for then."""
MARK = "silica-write"
FIRST_KEYS, MAX_KEYS = 50, 1_000
"""How many keys a listing asks for at first, where there are some to pass over, and how many S3 gives at most."""

_NO_VERSION = ("NoSuchVersion", "MethodNotAllowed", "InvalidArgument")
"""What S3 says to the id of a version that is gone, of a version that is a deletion, and of none that can be."""
_CUT_OFF = (
    exceptions.ResponseStreamingError,
    exceptions.IncompleteReadError,
    exceptions.ReadTimeoutError,
    exceptions.FlexibleChecksumError,
)


@dataclass(frozen=True, slots=True)
class Object:
    """The bytes of an object, and its entity tag: of one object, equal tags mean equal bytes."""

    etag: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Info:
    """What is known of an object without reading it; a listing tells no mark."""

    etag: str
    size: int
    modified: datetime
    mark: str = ""


class Bucket:
    """A bucket of S3, or of a server that speaks like it. Nothing is connected to before the first request."""

    def __init__(self, name: str, region: str | None = None, endpoint: str | None = None) -> None:
        self.name = name
        self._region = region
        self._endpoint = endpoint
        self._making = threading.Lock()
        self._made: tuple[int, S3Client] | None = None
        self._is_there = False

    def get(self, key: str, kept: Object | None = None, version_id: str = "") -> Object | None:
        """The object, `kept` if its bytes are what they were; with `version_id`, that version of it. `None` if there is
        none."""
        more: dict[str, Any] = {"IfNoneMatch": f'"{kept.etag}"'} if kept else {}
        if version_id:
            more["VersionId"] = version_id
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = self._client().get_object(Bucket=self.name, Key=key, **more)
                return Object(_bare(answer["ETag"]), answer["Body"].read())
            except ClientError as error:
                if kept and status_of(error) == 304:
                    return kept
                if code_of(error) == "NoSuchKey" or (version_id and code_of(error) in _NO_VERSION):
                    return None
                raise explain(error, "read", self._place(key)) from error
            except (BotoCoreError, ResponseParserError) as error:
                # boto3 sends a request again that gets no answer, but not one whose answer breaks off.
                if attempt == ATTEMPTS or not isinstance(error, _CUT_OFF):
                    raise explain(error, "read", self._place(key)) from error
        raise AssertionError("the last attempt returns or raises")

    def head(self, key: str) -> Info | None:
        """What is known of the object; `None` if there is none."""
        try:
            answer = self._client().head_object(Bucket=self.name, Key=key)
        except ClientError as error:
            if status_of(error) == 404:
                self._expect_bucket()
                return None
            raise explain(error, "look at", self._place(key)) from error
        except (BotoCoreError, ResponseParserError) as error:
            raise explain(error, "look at", self._place(key)) from error
        modified, mark = answer["LastModified"].astimezone(UTC), answer.get("Metadata", {}).get(MARK, "")
        return Info(_bare(answer["ETag"]), answer["ContentLength"], modified, mark)

    def list(
        self, prefix: str, *, after: str = "", besides: str = "", flat: bool = False
    ) -> Iterator[tuple[str, Info]]:
        """The objects whose keys begin so, sorted, however many there are. `after`: only those behind this key;
        `besides`: what is in this folder is passed over, not walked through; `flat`: nor is what is in any folder."""
        more: dict[str, Any] = {"Delimiter": "/"} if flat else {}
        start: dict[str, Any] = {"StartAfter": after} if after else {}
        most, key = FIRST_KEYS if besides else MAX_KEYS, ""
        while True:
            try:
                answer = self._client().list_objects_v2(Bucket=self.name, Prefix=prefix, MaxKeys=most, **more, **start)
            except (ClientError, BotoCoreError, ResponseParserError) as error:
                raise explain(error, "list", self._place(prefix)) from error
            for found in answer.get("Contents", ()):
                key = found["Key"]
                if not besides or not key.startswith(besides):
                    yield key, Info(_bare(found["ETag"]), found["Size"], found["LastModified"].astimezone(UTC))
            if not answer["IsTruncated"]:
                return
            if besides and key.startswith(besides):
                start = {"StartAfter": besides.removesuffix("/") + "0"}  # the character behind the slash
            else:
                start = {"ContinuationToken": answer["NextContinuationToken"]}
            most = MAX_KEYS

    def create(self, key: str, data: bytes) -> str:
        """Makes the object and returns its tag; `PreconditionFailed` if one is there."""
        return self._put(key, data, {"IfNoneMatch": "*"})

    def replace(self, key: str, data: bytes, etag: str) -> str:
        """Replaces the object with this tag and returns the new tag; `PreconditionFailed` if there is none with it."""
        return self._put(key, data, {"IfMatch": f'"{etag}"'})

    def put(self, key: str, data: bytes) -> str:
        """Makes the object what it should be, whatever it was; returns its tag."""
        return self._put(key, data, {})

    def delete(self, key: str, etag: str | None = None) -> None:
        """Removes the object, if it is there; with a tag, `PreconditionFailed` if there is none with this tag."""
        condition: dict[str, Any] = {} if etag is None else {"IfMatch": f'"{etag}"'}
        place = self._place(key)
        for pause in (*CONFLICT_SECONDS, None):
            try:
                self._client().delete_object(Bucket=self.name, Key=key, **condition)
                return
            except ClientError as error:
                if status_of(error) == 409 and pause:
                    time.sleep(pause)
                    continue
                if was_retried(error) or status_of(error) >= 500:
                    if self._settled(key, error) is None:
                        return
                    if not _is_refusal(error):
                        raise UnknownOutcome(str(explain(error, "delete", place))) from error
                raise _refused(error, place) if _is_refusal(error) else explain(error, "delete", place) from error
            except (BotoCoreError, ResponseParserError) as error:
                if _was_sent(error) and self._settled(key, error) is None:
                    return
                raise _failed(error, "delete", place) from error

    def _put(self, key: str, data: bytes, condition: dict[str, Any]) -> str:
        mark, place = uuid.uuid4().hex, self._place(key)
        for pause in (*CONFLICT_SECONDS, None):
            try:
                answer = self._client().put_object(
                    Bucket=self.name,
                    Key=key,
                    Body=data,
                    ContentType="application/json" if key.endswith(".json") else "text/markdown; charset=utf-8",
                    Metadata={MARK: mark},
                    **condition,
                )
                return _bare(answer["ETag"])
            except ClientError as error:
                if status_of(error) == 409 and pause:
                    time.sleep(pause)
                    continue
                if was_retried(error) or status_of(error) >= 500:
                    found = self._settled(key, error)
                    if found and found.mark == mark:
                        return found.etag
                    if not _is_refusal(error):
                        raise UnknownOutcome(str(explain(error, "write", place))) from error
                raise _refused(error, place) if _is_refusal(error) else explain(error, "write", place) from error
            except (BotoCoreError, ResponseParserError) as error:
                found = self._settled(key, error) if _was_sent(error) else None
                if found and found.mark == mark:
                    return found.etag
                raise _failed(error, "write", place) from error
        raise AssertionError("the last attempt returns or raises")

    def _settled(self, key: str, error: Exception) -> Info | None:
        """What is there after a change without an answer; `UnknownOutcome` if that cannot be told either."""
        try:
            return self.head(key)
        except StorageError:
            raise UnknownOutcome(str(explain(error, "change", self._place(key)))) from error

    def _expect_bucket(self) -> None:
        """Raises `StorageError` if there is no bucket: an object that is not there looks the same from outside."""
        if self._is_there:
            return
        try:
            self._client().head_bucket(Bucket=self.name)
        except ClientError as error:
            if status_of(error) == 404:
                error.response["Error"]["Code"] = "NoSuchBucket"
                raise explain(error, "open", self._place("")) from error
        except (BotoCoreError, ResponseParserError) as error:
            raise explain(error, "open", self._place("")) from error
        self._is_there = True

    def _place(self, key: str) -> str:
        return f"s3://{self.name}/{key}"

    def _client(self) -> S3Client:
        with self._making:
            if self._made is None or self._made[0] != os.getpid():  # connections do not survive a fork
                try:
                    self._made = (os.getpid(), self._new_client())
                except (BotoCoreError, ValueError) as error:
                    raise explain(error, "open", self._place("")) from error
            return self._made[1]

    def _new_client(self) -> S3Client:
        session = boto3.session.Session(region_name=self._region)
        # Other servers have neither a name for each bucket, nor regions, nor every checksum that S3 has.
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
    return status_of(error) in (409, 412) or code_of(error) == "NoSuchKey"


def _refused(error: ClientError, place: str) -> PreconditionFailed:
    return PreconditionFailed(f"{place} is not as it was ({code_of(error)}); read it and try again")


def _was_sent(error: Exception) -> bool:
    never = (
        exceptions.NoCredentialsError,
        exceptions.PartialCredentialsError,
        exceptions.CredentialRetrievalError,
        exceptions.ParamValidationError,
    )
    return not isinstance(error, never)


def _failed(error: Exception, action: str, place: str) -> StorageError:
    failure = explain(error, action, place)
    return UnknownOutcome(str(failure)) if _was_sent(error) else failure
