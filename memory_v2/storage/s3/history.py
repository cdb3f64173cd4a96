"""What happened to the pages of a bucket: a small record for each operation, beside the versions that a bucket keeps.

`<prefix>/.metadata/history/0000000042.json` says what was done, and which version of which object each changed page
became. So where versioning is turned on nothing is stored twice. Where it is not, and for bytes that are no longer in
the bucket when they are recorded, they are kept as `<prefix>/.metadata/history/pages/<version of the bytes>`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC
from functools import lru_cache

from memory_v2.storage.base import version_of
from memory_v2.storage.history import History, HistoryDamaged, Revision
from memory_v2.storage.s3.bucket import Bucket
from memory_v2.storage.s3.cache import PageCache, RecordCache
from memory_v2.storage.s3.chain import Body, Chain, PageBytes, Past, Record, side_by_side
from memory_v2.storage.s3.errors import PreconditionFailed
from memory_v2.storage.walk import SUFFIX

FOLDER = ".metadata/history"
RECENT = 128
"""Pages of the past that are not asked for again."""

logger = logging.getLogger(__name__)


class S3History:
    """The history below a prefix of a bucket. `version_id` gives the id under which the bucket keeps these bytes (their
    version) of a page, empty if it does not; `keep` is called every now and then while many requests are made."""

    def __init__(
        self,
        bucket: Bucket,
        prefix: str,
        cache: PageCache,
        version_id: Callable[[str, str], str],
        keep: Callable[[], object],
    ) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._cache = cache
        self._version_id = version_id
        self._keep = keep
        self._bytes = lru_cache(RECENT)(self._fetched)
        self._chain = Chain(bucket, f"{prefix}{FOLDER}/", RecordCache(lambda: cache.folder), keep)

    @property
    def begun(self) -> bool:
        """See `History`."""
        return self._chain.has_begun

    def quarantine(self) -> None:
        """Lets the next record be a beginning, for all machines; what lies before it stays where it is."""
        newest = self._chain.quarantine()
        logger.warning("the history could not be read; it is kept up to %s, and a new one begins behind it", newest)

    def record(self, changes: Mapping[str, bytes | None], entry: Revision) -> str:
        """See `History`."""
        paths = sorted(changes)
        kept = side_by_side(lambda path: self._kept(path, changes[path]), paths, self._keep)
        pages, told = dict(zip(paths, kept, strict=True)), entry.in_lines
        return self._chain.append(
            lambda before: Body(
                before=before,
                kind=told.kind,
                summary=told.summary,
                operation=told.operation,
                decided_by=told.decided_by,
                degraded=told.degraded,
                undoes=told.undoes,
                why=told.why,
                when=told.when.astimezone(UTC).replace(microsecond=0),
                pages=pages,
            )
        )

    def revisions(self, path: str | None = None) -> Iterator[Revision]:
        """See `History`."""
        told = list(_told(self._readable()))
        return (entry for entry in reversed(told) if path is None or path in entry.paths)

    def read(self, revision: str, path: str) -> bytes | None:
        """See `History`."""
        past = self._until(revision)
        for record in reversed(past.records):
            if path in record.body.pages:
                return self._bytes(path, record.body.pages[path])
        past.whole()
        return None

    def states(self, path: str) -> Iterator[tuple[Revision, bytes | None]]:
        """See `History`."""
        records = self._readable()
        changed = [
            (entry, record.body.pages[path])
            for record, entry in zip(records, _told(records), strict=True)
            if path in entry.paths
        ]
        data = side_by_side(lambda one: self._bytes(path, one[1]), changed, self._keep)
        return ((entry, after) for (entry, _), after in zip(changed, data, strict=True))

    def pages(self, revision: str) -> dict[str, bytes]:
        """See `History`."""
        then = _state(self._until(revision).whole())
        data = side_by_side(lambda path: self._bytes(path, then[path]), then, self._keep)
        return {path: found for path, found in zip(then, data, strict=True) if found is not None}

    def before(self, revision: str) -> str:
        """See `History`."""
        return self._until(revision).records[-1].body.before

    def stale(self, pages: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """See `History`. What others have recorded meanwhile is looked for."""
        known = _state(self._chain.look().whole())
        now = {path: None if data is None else version_of(data) for path, data in pages.items()}
        return {path: data for path, data in pages.items() if _sha(known.get(path)) != now[path]}

    def _readable(self) -> tuple[Record, ...]:
        """The records as far back as they can be read. Raises `HistoryDamaged` if not even the newest can."""
        past = self._chain.look()
        if past.damage and past.records:
            logger.warning("what was done before %s cannot be read any more: %s", past.records[0].id[:12], past.damage)
            return past.records
        return past.whole()

    def _until(self, revision: str) -> Past:
        """The records up to this one."""
        past = self._chain.known().until(revision) or self._chain.look().until(revision)
        if past is None:
            self._chain.known().whole()
            raise HistoryDamaged(f"the history in {self._where} has no record {revision[:12]!r}; list it again")
        return past

    def _kept(self, path: str, data: bytes | None) -> PageBytes | None:
        """Where the bytes of a page are kept from now on."""
        if data is None:
            return None
        sha = version_of(data)
        found = self._version_id(path, sha)
        if not found:
            with suppress(PreconditionFailed):  # the same bytes were kept before
                self._bucket.create(self._key(sha), data)
        return PageBytes(sha=sha, version_id=found)

    def _fetched(self, path: str, page: PageBytes | None) -> bytes | None:
        """The bytes of a page as they were recorded. Raises `HistoryDamaged` if they are gone."""
        if page is None:
            return None
        cached = self._cache.find(path)
        if cached and cached.version == page.sha:
            return cached.found.data
        places = [(self._key(page.sha), "")]
        if page.version_id:
            places.insert(0, (f"{self._prefix}{path}{SUFFIX}", page.version_id))
        for key, version_id in places:
            found = self._bucket.get(key, version_id=version_id)
            if found and version_of(found.data) == page.sha:
                return found.data
        gone = f"version {page.version_id!r} of its object" if page.version_id else f"the object {places[0][0]!r}"
        raise HistoryDamaged(
            f"the page {path!r} cannot be read as it was: {gone} is no longer in {self._where}, or is not what it was; "
            "see whether a lifecycle rule of the bucket removes old versions, and bring it back if there is a backup"
        )

    def _key(self, sha: str) -> str:
        return f"{self._prefix}{FOLDER}/pages/{sha}"

    @property
    def _where(self) -> str:
        return f"s3://{self._bucket.name}/{self._prefix}".rstrip("/")


def _sha(page: PageBytes | None) -> str | None:
    return page.sha if page else None


def _state(records: Iterable[Record]) -> dict[str, PageBytes]:
    """The pages after the last of these records."""
    state: dict[str, PageBytes | None] = {}
    for record in records:
        state |= record.body.pages
    return {path: page for path, page in state.items() if page is not None}


def _told(records: Iterable[Record]) -> Iterator[Revision]:
    """What the records tell, in their order."""
    state: dict[str, PageBytes | None] = {}
    for record in records:
        body = record.body
        paths = sorted(path for path, page in body.pages.items() if _sha(state.get(path)) != _sha(page))
        state |= body.pages
        yield Revision(
            kind=body.kind,
            summary=body.summary,
            operation=body.operation,
            decided_by=body.decided_by,
            degraded=body.degraded,
            undoes=body.undoes,
            why=body.why,
            when=body.when,
            id=record.id,
            paths=tuple(paths),
            is_first=not body.before,
        )


_: type[History] = S3History
