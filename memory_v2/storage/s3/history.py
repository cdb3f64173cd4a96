"""The history of a bucket: one small record for each revision, and the bytes of the pages.

The record `<prefix>/.metadata/history/0000000042.json` says what was done and names the new version of each changed
page. The bytes of a version are stored once, as `<prefix>/.metadata/history/pages/<version>`, before the record. A
change has happened once its record is created.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from memory_v2.errors import StorageConflict, StorageError
from memory_v2.storage.base import version_of
from memory_v2.storage.history import History, HistoryDamaged, PageChange, Revision, Rules
from memory_v2.storage.s3.bucket import Bucket
from memory_v2.storage.s3.cache import PageCache, RecordCache
from memory_v2.storage.s3.chain import (
    TAKEN_BACK,
    Body,
    Chain,
    Past,
    Record,
    body_of,
    shared_fields,
    side_by_side,
)
from memory_v2.storage.s3.errors import PreconditionFailed, UnknownOutcome
from memory_v2.storage.s3.lease import Lease
from memory_v2.storage.s3.rewrite import S3Rewrite, adopt
from memory_v2.tree.path import is_entry

FOLDER = ".metadata/history"
RECENT = 128
"""How many old page versions are cached in memory: a few megabytes at most."""

logger = logging.getLogger(__name__)


class S3History:
    """The history below a prefix of a bucket. The `cache` saves requests; each change is made under the `lease`."""

    def __init__(self, bucket: Bucket, prefix: str, cache: PageCache, lease: Lease) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._cache = cache
        self._lease = lease
        self._bytes = lru_cache(RECENT)(self._fetched)
        self._chain = Chain(bucket, f"{prefix}{FOLDER}/", RecordCache(lambda: cache.folder), lease)

    @property
    def begun(self) -> bool:
        """See `History`."""
        past = self._past
        return bool(past.records or past.damage)

    @property
    def problem(self) -> str:
        """See `History`."""
        return ""

    @property
    def head(self) -> str:
        """See `History`."""
        past = self._past
        records = past.records or past.whole()
        return records[-1].id if records else ""

    @property
    def checked_out(self) -> str:
        """See `History`."""
        return self._chain.checked_out

    @property
    def stamp(self) -> str:
        """See `History`."""
        return self._chain.stamp

    def changed_since(self, stamp: str) -> frozenset[str] | None:
        """See `History`. The tag of an object names no revision."""
        return None

    def mark_checked_out(self, revision: str) -> None:
        """See `History`."""
        self._chain.checked_out = revision

    def record(self, changes: Mapping[str, bytes | None], revision: Revision) -> str:
        """See `History`. Raises `StorageConflict` if somebody else has recorded a change since the lease was taken."""
        pages = {path: None if data is None else version_of(data) for path, data in sorted(changes.items())}
        kept = {version_of(data): data for data in changes.values() if data is not None}
        list(side_by_side(lambda version: self._keep(version, kept[version]), kept, self._lease))
        try:
            return self._chain.append(lambda before: body_of(before, revision, pages))
        except UnknownOutcome as error:
            raise StorageError(
                f"{error}; the change may have been recorded, and will then be completed when the memory is next used: "
                "check the history before you make it again"
            ) from error

    def take_back(self, revision: str) -> None:
        """See `History`. Appends a record of the kind `TAKEN_BACK`, so that machines that have read the revision learn
        of it. Raises `StorageConflict` if another revision follows it already."""

        def body(before: str) -> Body:
            if before != revision:
                raise StorageConflict("another change was recorded after this revision, which cannot be taken back")
            return body_of(before, Revision(TAKEN_BACK, ""), {})

        self._chain.append(body)

    def quarantine(self) -> None:
        """Makes the next record the first of a new history, for all machines. The old records stay where they are."""
        newest = self._chain.quarantine()
        logger.warning("the history is damaged; it is kept up to %s, and a new one begins after it", newest)

    def revisions(self, path: str | None = None) -> Iterator[Revision]:
        """See `History`."""
        revisions = list(_revisions(self._readable()))
        return (revision for revision in reversed(revisions) if path is None or path in revision.paths)

    def read(self, revision: str, path: str) -> bytes | None:
        """See `History`."""
        for record in reversed(self._until(revision)):
            if path in record.body.pages:
                return self._bytes(path, record.body.pages[path])
        self._chain.known.whole()
        return None

    def states(self, path: str) -> Iterator[tuple[Revision, bytes | None]]:
        """See `History`."""
        records = self._readable()
        changed = [
            (revision, record.body.pages[path])
            for record, revision in zip(records, _revisions(records), strict=True)
            if path in revision.paths
        ]
        data = side_by_side(lambda one: self._bytes(path, one[1]), changed, self._lease)
        return ((revision, after) for (revision, _), after in zip(changed, data, strict=True))

    def pages(self, revision: str) -> dict[str, bytes]:
        """See `History`."""
        then = {path: page for path, page in _state(self._until(revision)).items() if not is_entry(path)}
        self._chain.known.whole()
        data = side_by_side(lambda path: self._bytes(path, then[path]), then, self._lease)
        return {path: found for path, found in zip(then, data, strict=True) if found is not None}

    def paths(self, revision: str, below: str) -> set[str]:
        """See `History`."""
        then = _state(self._until(revision))
        self._chain.known.whole()
        return {path for path, page in then.items() if page is not None and path.startswith(f"{below}/")}

    def before(self, revision: str) -> str:
        """See `History`."""
        records = self._until(revision)
        if len(records) > 1:
            return records[-2].id
        return records[-1].body.before if self._chain.known.damage else ""

    def difference(self, old: str, new: str) -> tuple[PageChange, ...]:
        """See `History`."""
        before, after = (_state(self._until(one)) if one else {} for one in (old, new))
        paths = sorted(path for path in before | after if before.get(path) != after.get(path))
        if not all(path in after and (path in before or not old) for path in paths):
            self._chain.known.whole()  # if older records are lost, they may have been the ones with this page
        states = [(path, state.get(path)) for path in paths for state in (before, after)]
        data = list(side_by_side(lambda one: self._bytes(*one), states, self._lease))
        return tuple(PageChange(*change) for change in zip(paths, data[::2], data[1::2], strict=True))

    def changed_by(self, revisions: Sequence[Revision]) -> Iterator[tuple[PageChange, ...]]:
        """See `History`."""
        records = self._until(revisions[-1].id) if revisions else ()
        if len(records) < len(revisions):  # the older ones are lost
            self._chain.known.whole()
        first = len(records) - len(revisions)
        state = _state(records[:first])
        changed = []
        for revision, record in zip(revisions, records[first:], strict=True):
            paths = (path for path in revision.paths if not is_entry(path))
            changed.append([(path, state.get(path), record.body.pages.get(path)) for path in paths])
            state |= record.body.pages
        wanted = list({(path, one) for pages in changed for path, *both in pages for one in both})
        data = dict(zip(wanted, side_by_side(lambda one: self._bytes(*one), wanted, self._lease), strict=True))
        for pages in changed:
            yield tuple(PageChange(path, data[path, before], data[path, after]) for path, before, after in pages)

    def unrecorded(self, pages: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """See `History`. Includes what others have recorded in the meantime."""
        known = _state(self._chain.look().whole())
        now = {path: None if data is None else version_of(data) for path, data in pages.items()}
        return {path: data for path, data in pages.items() if known.get(path) != now[path]}

    def rewriting(self, rules: Rules) -> S3Rewrite:
        """See `History`."""
        return S3Rewrite(self._bucket, f"{self._prefix}{FOLDER}/", self._lease, rules)

    def adopt(self, staged: Mapping[str, Any]) -> None:
        """See `History`."""
        adopt(self._bucket, f"{self._prefix}{FOLDER}/", self._lease, staged)
        self._chain.start_over(staged["head"])

    @property
    def _past(self) -> Past:
        """The records as of the last request; asks the server until there are any, and under the lease."""
        known = self._chain.known
        return self._chain.look() if not known.records or self._lease.is_mine else known

    def _readable(self) -> tuple[Record, ...]:
        """The records as far back as they can be read. Raises `HistoryDamaged` if not even the newest can."""
        past = self._chain.look()
        if past.damage and past.records:
            logger.warning("revisions before %s cannot be read: %s", past.records[0].id[:12], past.damage)
            return past.records
        return past.whole()

    def _until(self, revision: str) -> tuple[Record, ...]:
        """The records up to this revision. Raises `HistoryDamaged` if it is not there."""
        records = self._chain.known.until(revision) or self._chain.look().until(revision)
        if not records:
            self._chain.known.whole()
            raise HistoryDamaged(f"the history in {self._where} has no record {revision[:12]!r}; list it again")
        return records

    def _keep(self, version: str, data: bytes) -> None:
        """Stores the bytes of a version, unless they are stored already."""
        self._lease.before_change()
        with suppress(PreconditionFailed):  # they are stored already
            self._bucket.create(self._key(version), data)

    def _fetched(self, path: str, version: str | None) -> bytes | None:
        """The recorded bytes of a page. Raises `HistoryDamaged` if they are gone."""
        if version is None:
            return None
        cached = self._cache.find(path)
        if cached and cached.version == version:
            return cached.found.data
        found = self._bucket.get(self._key(version))
        if found and version_of(found.data) == version:
            return found.data
        raise HistoryDamaged(
            f"the page {path!r} cannot be read as it was: the object {self._key(version)!r} is no longer in "
            f"{self._where}, or has changed; check whether a lifecycle rule of the bucket removes it, and restore it "
            "if there is a backup"
        )

    def _key(self, version: str) -> str:
        return f"{self._prefix}{FOLDER}/pages/{version}"

    @property
    def _where(self) -> str:
        return f"s3://{self._bucket.name}/{self._prefix}".rstrip("/")


def _state(records: Iterable[Record]) -> dict[str, str | None]:
    """The pages after the last of these records; `None` for one that was removed."""
    state: dict[str, str | None] = {}
    for record in records:
        state |= record.body.pages
    return state


def _revisions(records: Sequence[Record]) -> Iterator[Revision]:
    """The revisions in these records, in the same order."""
    state: dict[str, str | None] = {}
    for record in records:
        body = record.body
        paths = sorted(path for path, page in body.pages.items() if state.get(path) != page)
        state |= body.pages
        yield Revision(id=record.id, paths=tuple(paths), is_first=not body.before, **shared_fields(body))


_: type[History] = S3History
