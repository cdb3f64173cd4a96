"""The records of a history in a bucket: each names the one before, so that one that was lost or changed is noticed.

They are the objects `0000000001.json`, `0000000002.json`, …, without a gap. A record is made by a request that is
refused if there is one of this number: of several who append at once one is first, and the others go on from there.
None is ever changed, so what this machine has seen is not fetched again. One that names none before is a beginning:
what lies before it is not looked at.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints, ValidationError

from memory_v2.errors import StorageError
from memory_v2.storage.history import HistoryDamaged
from memory_v2.storage.s3.bucket import Bucket
from memory_v2.storage.s3.cache import CachedRecord, RecordCache
from memory_v2.storage.s3.errors import PreconditionFailed

WORKERS = 16
"""Requests that are under way at once."""
BLOCK = 512
"""Records that are fetched at once: what lies before the beginning is mostly left where it is."""

Item = TypeVar("Item")
Result = TypeVar("Result")

_NAME = re.compile("([0-9]{10})[.]json")
_MOST = 9_999_999_999


class PageBytes(BaseModel):
    """What a page was: the version of its bytes, and the id under which the bucket keeps them as an old version of the
    page; without one they are kept as an object of their own."""

    model_config = ConfigDict(frozen=True)

    sha: Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]
    version_id: str = ""


class Body(BaseModel):
    """What a record holds: the id of the one before, what an `Revision` tells, the changed pages (`None`: removed)."""

    model_config = ConfigDict(frozen=True)

    before: str
    kind: str
    summary: str
    operation: str
    decided_by: str
    degraded: str
    undoes: str
    why: tuple[str, ...]
    when: AwareDatetime
    pages: dict[str, PageBytes | None]


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it stands in the bucket, with the tag of its object."""

    number: int
    id: str
    etag: str
    body: Body


@dataclass(frozen=True, slots=True)
class Past:
    """Records, oldest first. They go back to the beginning, or `damage` says what keeps older ones from being read."""

    records: tuple[Record, ...] = ()
    damage: str = ""

    @property
    def newest(self) -> int:
        """The number of the newest."""
        return self.records[-1].number if self.records else 0

    def until(self, revision: str) -> Past | None:
        """The same up to the record of this id, if it is there."""
        ids = [record.id for record in self.records]
        return replace(self, records=self.records[: ids.index(revision) + 1]) if revision in ids else None

    def whole(self) -> tuple[Record, ...]:
        """The records from the beginning on. Raises `HistoryDamaged`."""
        if self.damage:
            raise HistoryDamaged(self.damage)
        return self.records


class Chain:
    """The records below `prefix`. `keep` is called every now and then while many requests are made."""

    def __init__(self, bucket: Bucket, prefix: str, cache: RecordCache, keep: Callable[[], object]) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._cache = cache
        self._keep = keep
        self._lock = threading.RLock()
        self._past = Past()
        self._seen: dict[int, Record] = {}
        self._newest = 0
        self._aside = 0
        self._is_loaded = False

    @property
    def has_begun(self) -> bool:
        """Whether there are records; the server is asked until there are."""
        with self._lock:
            if self._newest <= self._aside:
                self._list()
            return self._newest > self._aside

    def known(self) -> Past:
        """The records as they were when they were last looked for."""
        with self._lock:
            return self._past if self._past.newest == self._newest > 0 else self.look()

    def look(self) -> Past:
        """The records as they are."""
        with self._lock:
            self._list()
            if self._newest <= self._aside:
                self._past = Past()
            elif self._past.newest != self._newest or self._past.damage:
                self._past = self._linked()
            return self._past

    def append(self, make: Callable[[str], Body]) -> str:
        """Adds the record that `make` makes for the id of the one before, and gives its id. Raises `HistoryDamaged`."""
        with self._lock:
            records = self.known().whole()
            while True:
                number = self._newest + 1
                data = make(records[-1].id if records else "").model_dump_json().encode()
                if number > _MOST:
                    raise StorageError(f"no record can follow {self._where(_MOST)}; remove it if it is none")
                try:
                    etag = self._bucket.create(self._key(number), data).etag
                    break
                except PreconditionFailed as error:
                    records = self.look().whole()
                    if self._newest < number:
                        place = self._where(number)
                        raise StorageError(
                            f"{place} cannot be made, though it is not there; try again later"
                        ) from error
            self._see([CachedRecord(number, etag, data)])
            self._past, self._newest = Past((*records, self._seen[number])), number
            return self._seen[number].id

    def quarantine(self) -> str:
        """Lets the next record be a beginning; gives the name of the newest that lies before it."""
        with self._lock:
            self._list()
            self._aside, self._past = self._newest, Past()
            return self._where(self._aside)

    def _list(self) -> None:
        """Finds out which is the newest. What this machine has seen of another history is forgotten."""
        if not self._is_loaded:
            self._is_loaded = True
            self._see(self._cache.load().values(), is_new=False)
        last = max(self._seen, default=0)
        listed = self._listed(last - 1)
        if last and not self._is_still(last, listed.get(last)):
            self._seen.clear()
            self._cache.forget()
            self._past, self._aside = Past(), 0
            listed = self._listed(0)
        self._newest = max(listed, default=0)

    def _listed(self, after: int) -> dict[int, str]:
        """The numbers of the records behind that one, with the tags of their objects."""
        behind = self._key(after) if after > 0 else ""
        keys = self._bucket.list(self._prefix, after=behind, flat=True)
        names = ((_NAME.fullmatch(key.removeprefix(self._prefix)), info.etag) for key, info in keys)
        return {int(name[1]): etag for name, etag in names if name and int(name[1])}

    def _is_still(self, number: int, etag: str | None) -> bool:
        """Whether a record is what it was: its object has the tag that it had, or else the bytes."""
        record = self._seen[number]
        if etag is None or etag == record.etag:
            return etag is not None
        found = self._bucket.get(self._key(number))
        self._seen[number] = replace(record, etag=etag)
        return found is not None and id_of(found.data) == record.id

    def _linked(self) -> Past:
        """The records from the newest back to the beginning; each has to be the one that the next one names."""
        known = () if self._past.damage else self._past.records
        found: list[Record] = []
        number, wanted = self._newest, ""
        while number > self._aside:
            if known and (known[-1].number, known[-1].id) == (number, wanted):
                return Past((*known, *reversed(found)))
            record = self._find(number, wanted)
            if record is None:
                break
            found.append(record)
            if not record.body.before:
                return Past(tuple(reversed(found)))
            number, wanted = number - 1, record.body.before
        damage = (
            f"the history is damaged: {self._where(number)} is missing, or is not what was recorded; bring it back if "
            "you can, else the next change begins a new history"
        )
        return Past(tuple(reversed(found)), damage)

    def _find(self, number: int, wanted: str) -> Record | None:
        """The record, if it can be read; with `wanted`, it has to have this id."""
        record = self._seen.get(number)
        if record is None or wanted not in ("", record.id):
            record = self._fetch(number)
        return record if record and wanted in ("", record.id) else None

    def _fetch(self, number: int) -> Record | None:
        """Fetches a record, and those before it that this machine has not seen; `None` if it cannot be read."""
        floor = max(self._aside, 0 if self._past.damage else self._past.newest, number - BLOCK)
        numbers = [*(n for n in range(floor + 1, number) if n not in self._seen), number]
        self._seen.pop(number, None)
        found = side_by_side(self._bucket.get, map(self._key, numbers), self._keep)
        self._see(CachedRecord(n, one.etag, one.data) for n, one in zip(numbers, found, strict=True) if one)
        return self._seen.get(number)

    def _see(self, records: Iterable[CachedRecord], is_new: bool = True) -> None:
        """Takes in those that can be read."""
        read = [(record, body) for record in records if (body := _read(record.data))]
        self._seen |= {one.number: Record(one.number, id_of(one.data), one.etag, body) for one, body in read}
        if is_new:
            self._cache.add(record for record, _ in read)

    def _key(self, number: int) -> str:
        return f"{self._prefix}{number:010}.json"

    def _where(self, number: int) -> str:
        return f"s3://{self._bucket.name}/{self._key(number)}"


def id_of(data: bytes) -> str:
    """The id of the record that these bytes are."""
    return hashlib.sha256(data).hexdigest()[:40]


def _read(data: bytes) -> Body | None:
    try:
        return Body.model_validate_json(data.decode("utf-8"))
    except (ValidationError, UnicodeDecodeError):
        return None


def side_by_side(work: Callable[[Item], Result], items: Iterable[Item], keep: Callable[[], object]) -> Iterator[Result]:
    """What `work` returns for each item, in their order, done by several threads; `keep` is called after each."""
    with ThreadPoolExecutor(WORKERS) as pool:
        for result in pool.map(work, items):
            with suppress(StorageError):  # who has lost the lock by now is told at the next change of a page
                keep()
            yield result
