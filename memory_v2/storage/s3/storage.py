"""Pages as objects of a bucket: `projects/silica` is the object `<prefix>/projects/silica.md`, as on a disk.

A page's version is the hash of its bytes, as in every store. Conditional requests need an entity tag instead, so the
storage remembers the tag of each version that it has read or written. A page that somebody else has changed is never
overwritten, even if the cache is stale or the lock was lost.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from memory_v2.errors import PageNotFound, StorageError
from memory_v2.settings import DEFAULT_CACHE_TTL
from memory_v2.storage.base import ABSENT, ANY, Expected, Leftover, Stamp, StateFiles, Stored, conflict, version_of
from memory_v2.storage.s3.bucket import Bucket, Info, Object, PreconditionFailed
from memory_v2.storage.s3.cache import CachedPage, PageCache
from memory_v2.storage.s3.lease import Lease
from memory_v2.storage.s3.leftovers import find_leftovers, find_others, remove_leftovers
from memory_v2.storage.s3.state_files import S3State
from memory_v2.storage.versioned import VersionedStorage
from memory_v2.tree.path import ENTRIES, SUFFIX, file_problem, is_markdown, name_problem, page_path, part_clashes

if TYPE_CHECKING:
    from memory_v2.storage.s3.history import S3History

METADATA = ".metadata"
LOCK = f"{METADATA}/s3.lock"
"""Not the name of the lock file on a disk: if a folder is copied to a bucket, its lock file must not look held."""

_TRIES = 3
"""How often a conditional request is sent if the object was stored again with the same bytes, which changes its tag."""
_NO_TAG = "0" * 32

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _Known:
    """The tag of a page's object, and the version of its bytes."""

    etag: str
    version: str


@dataclass(frozen=True, slots=True)
class _Listing:
    """A listing of the pages, and the time of its request in nanoseconds."""

    asked: int
    pages: dict[str, Info]


class S3Storage(VersionedStorage):
    """Pages in a bucket. `endpoint` is the address of another server with S3's API. boto3 finds the credentials.

    `cache` is a local folder for pages and derived data, with a subfolder for each store. For `ttl` seconds a cached
    page is used without a request; with 0 every read asks the server whether it has changed. `clock` gives nanoseconds.
    Nothing is connected to before the first use.
    """

    def __init__(
        self,
        bucket: str,
        prefix: str = "",
        region: str | None = None,
        endpoint: str | None = None,
        cache: Path | None = None,
        ttl: float = DEFAULT_CACHE_TTL,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        prefix = prefix.strip("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self.where = f"s3://{bucket}/{prefix}".rstrip("/") + (f" at {endpoint}" if endpoint else "")
        self._bucket = Bucket(bucket, region, endpoint)
        identity = "\n".join((endpoint or "", bucket, prefix))
        own = f"s3-{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        self._cache = PageCache(cache and cache.absolute() / own)
        self._ttl = int(ttl * 1e9)
        self._clock = clock
        self._lease = Lease(self._bucket, self._prefix + LOCK)
        self.state: StateFiles = S3State(self._bucket, f"{self._prefix}{METADATA}/", self._lease, self._cache)
        self._known: dict[str, _Known] = {}
        self._confirmed: dict[str, int] = {}
        """For each page, the turn of the lease in which the server has last confirmed it."""
        self._listing = _Listing(0, {})
        self._is_pruned = False
        self._keeps_conditions = False

    @cached_property
    def history(self) -> S3History:
        """See `MemoryStorage`. Sends no request before it is used."""
        from memory_v2.storage.s3.history import S3History

        return S3History(self._bucket, self._prefix, self._cache, self._lease)

    @property
    def cache_folder(self) -> Path | None:
        return self._cache.folder

    def read(self, path: str) -> Stored:
        self._lease.renew()
        path = page_path(path)
        kept = self._cache.find(path)
        if kept and self._may_be_used(path, kept):
            self._known[path] = _Known(kept.found.etag, kept.version)
            return Stored(kept.found.data, kept.version)
        found = self._ask(path, kept.found if kept else None)
        return Stored(found.data, version_of(found.data))

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        path = page_path(path)
        key = self._key(path)
        with self._lease.changing():
            if expected == ABSENT:
                try:
                    etag = self._bucket.create(key, data)
                except PreconditionFailed as error:
                    self._forget(path)
                    raise conflict(path, expected) from error
            elif isinstance(expected, str):
                try:
                    etag = self._on(path, expected, lambda tag: self._bucket.replace(key, data, tag))
                except PageNotFound as error:
                    raise conflict(path, expected) from error
            else:
                etag = self._bucket.put(key, data)
        return self._remember(path, Object(etag, data), self._clock())

    def delete(self, path: str, expected: Expected = ANY) -> None:
        path = page_path(path)
        key = self._key(path)
        with self._lease.changing():
            if expected == ABSENT:
                if self._bucket.head(key):
                    raise conflict(path, expected)
            elif isinstance(expected, str):
                self._on(path, expected, lambda tag: self._bucket.delete(key, tag))
            else:
                self._bucket.delete(key)
        self._forget(path)

    def exists(self, path: str) -> bool:
        self._lease.renew()
        return self._bucket.head(self._key(page_path(path))) is not None

    def list_files(self) -> list[str]:
        return sorted(self._list()[0])

    def get_size(self, path: str) -> int:
        return self._info(path).size

    def get_modified_time(self, path: str) -> datetime:
        return self._info(path).modified

    def stamps(self, below: str = "") -> Iterator[Stamp]:
        for path, info in self._list(below)[0].items():
            yield Stamp(path, info.size, info.etag)

    def ignored_files(self, below: str = "") -> list[tuple[str, str]]:
        return sorted(self._list(below)[1])

    def leftovers(self, holds: Callable[[bytes], bool]) -> list[Leftover]:
        return find_leftovers(self._bucket, self._prefix, self._lease, holds)

    def remove_leftovers(self, leftovers: Iterable[Leftover]) -> None:
        remove_leftovers(self._bucket, self._prefix, leftovers)
        self._cache.prune(set())

    def other_files(self, holds: Callable[[bytes], bool]) -> list[str]:
        return find_others(self._bucket, self._prefix, self._lease, holds)

    @contextmanager
    def lock(self, wait: bool = True) -> Iterator[None]:
        """An object in the bucket, see `lease`. Raises `StorageError` if others hold it for too long."""
        with self._lease.held(wait):
            self._expect_conditions()
            yield

    def _key(self, path: str) -> str:
        return f"{self._prefix}{path}{SUFFIX}"

    def _may_be_used(self, path: str, kept: CachedPage) -> bool:
        """Whether a cached page may be used without asking the server. Under the lock it is asked once in a turn; if a
        person edits the page after that, its conditional write fails."""
        if turn := self._lease.turn:
            known = self._known.get(path)
            return self._confirmed.get(path) == turn and known is not None and known.etag == kept.found.etag
        listing, etag, as_of = self._listing, kept.found.etag, kept.as_of
        if listing.asked >= as_of:
            if path not in listing.pages or listing.pages[path].etag != etag:
                return False
            as_of = listing.asked
        return 0 <= self._clock() - as_of < self._ttl

    def _ask(self, path: str, kept: Object | None) -> Object:
        """Gets the page from the server; `kept` is the cached one. Raises `PageNotFound`."""
        asked = self._clock()
        found = self._bucket.get(self._key(path), kept)
        if found is None:
            self._known.pop(path, None)
            self._cache.drop(path, asked)
            raise PageNotFound(path)
        self._remember(path, found, asked)
        return found

    def _remember(self, path: str, found: Object, as_of: int) -> str:
        version = version_of(found.data)
        self._known[path] = _Known(found.etag, version)
        self._confirmed[path] = self._lease.turn
        self._cache.keep(path, found, as_of)
        return version

    def _forget(self, path: str) -> None:
        self._known.pop(path, None)
        self._confirmed.pop(path, None)
        self._cache.drop(path, self._clock())

    def _on(self, path: str, expected: str, request: Callable[[str], Answer]) -> Answer:
        """Sends a request with the tag of the expected version. If the object was stored again with the same bytes, it
        looks up the new tag and tries again."""
        known = self._known.get(path)
        for _ in range(_TRIES):
            if known is None or known.version != expected:
                known = self._look(path)
            if known.version != expected:
                break
            try:
                return request(known.etag)
            except PreconditionFailed:
                self._forget(path)
                known = None
        raise conflict(path, expected)

    def _look(self, path: str) -> _Known:
        """The page's current tag and version. Raises `PageNotFound`."""
        kept = self._cache.find(path)
        found = self._ask(path, kept.found if kept else None)
        return _Known(found.etag, version_of(found.data))

    def _info(self, path: str) -> Info:
        path = page_path(path)
        if found := self._bucket.head(self._key(path)):
            return found
        raise PageNotFound(path)

    def _list(self, below: str = "") -> tuple[dict[str, Info], list[tuple[str, str]]]:
        self._lease.renew()
        if below:
            return self._sorted_out(self._bucket.list(f"{self._prefix}{below}/"), file_problem)
        asked = self._clock()
        besides = (f"{self._prefix}{METADATA}/", f"{self._prefix}{ENTRIES}/")
        pages, ignored = self._sorted_out(self._bucket.list(self._prefix, besides=besides), name_problem)
        if asked > self._listing.asked:
            self._listing = _Listing(asked, pages.copy())
        if not self._is_pruned:
            self._is_pruned = True
            self._cache.prune(set(pages))
        return pages, ignored

    def _sorted_out(
        self, objects: Iterable[tuple[str, Info]], rule: Callable[[str], str | None]
    ) -> tuple[dict[str, Info], list[tuple[str, str]]]:
        """The Markdown files among these objects that keep the rule, by path, and those that do not."""
        files: dict[str, Info] = {}
        ignored = []
        for key, info in objects:
            name = key.removeprefix(self._prefix)
            if not is_markdown(name) or any(part.startswith(".") for part in name.split("/")):
                continue
            if problem := rule(name):
                ignored.append((name, problem))
            else:
                files[name.removesuffix(SUFFIX)] = info
        return files, ignored + part_clashes(files)

    def _expect_conditions(self) -> None:
        """Raises `StorageError` if the server ignores the conditions of a write. Checked once per machine."""
        folder = self._cache.folder
        known = folder and folder / "keeps-conditions"
        if self._keeps_conditions or (known and known.exists()):
            return
        key = self._prefix + LOCK
        with suppress(PreconditionFailed):
            self._bucket.create(key, b"")
            raise self._careless()
        with suppress(PreconditionFailed):
            self._bucket.replace(key, b"", _NO_TAG)
            raise self._careless()
        self._keeps_conditions = True
        with suppress(OSError):
            if known:
                known.touch(mode=0o600)

    def _careless(self) -> StorageError:
        self._bucket.delete(self._prefix + LOCK)  # the check has overwritten it
        return StorageError(
            f"the server of {self.where} ignores If-Match and If-None-Match, so concurrent changes would be lost; "
            "use one that supports conditional writes"
        )
