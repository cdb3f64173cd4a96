"""The records of a history in a bucket: each names the one before it, so a lost or changed record is detected.

They are the objects `0000000001.json`, `0000000002.json`, …, without a gap. A record is created by a conditional
request that fails if its number is taken: if several machines append at once, one succeeds and the others get a
conflict. Records are never changed or removed, so each machine fetches a record once. A record that names none before
it begins a new history, and older ones are ignored. A record of the kind `TAKEN_BACK` cancels the one before it.

The object `checked-out`, which a listing shows after the records, holds the id of the record that was last written to
the pages completely.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints, ValidationError

from memory_v2.errors import StorageConflict, StorageError
from memory_v2.storage.history import HistoryDamaged, Revision
from memory_v2.storage.s3.bucket import Bucket, Object
from memory_v2.storage.s3.cache import CachedRecord, RecordCache
from memory_v2.storage.s3.errors import PreconditionFailed
from memory_v2.storage.s3.lease import Lease

WORKERS = 16
"""How many requests are sent at once: half of the connections in a client's pool."""
CHECKED_OUT = "checked-out"
TAKEN_BACK = "taken back"

Item = TypeVar("Item")
Result = TypeVar("Result")

_NAME = re.compile("([0-9]{10})[.]json")
_MAX_NUMBER = 9_999_999_999


BytesVersion: TypeAlias = Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]
"""The version of a page's bytes, which is also the name of the object that stores them."""


class Body(BaseModel):
    """The content of a record: the id of the one before, the fields of a `Revision`, and the changed pages (`None` if
    removed)."""

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
    pages: dict[str, BytesVersion | None]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A record in the bucket, with the tag of its object."""

    number: int
    id: str
    etag: str
    body: Body


@dataclass(frozen=True, slots=True)
class Past:
    """The records that were not taken back, oldest first. If older ones cannot be read, `damage` says why. `last` is
    the newest record, taken back or not."""

    records: tuple[Record, ...] = ()
    damage: str = ""
    last: Record | None = None

    def until(self, revision: str) -> tuple[Record, ...]:
        """The records up to the one with this id; empty if there is none."""
        place = next((place for place, record in enumerate(self.records, 1) if record.id == revision), 0)
        return self.records[:place]

    def whole(self) -> tuple[Record, ...]:
        """All records. Raises `HistoryDamaged` if older ones cannot be read."""
        if self.damage:
            raise HistoryDamaged(self.damage)
        return self.records


class Chain:
    """The records below `prefix`. They are listed once per turn of the `lease`, since nobody else appends meanwhile."""

    def __init__(self, bucket: Bucket, prefix: str, cache: RecordCache, lease: Lease) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._cache = cache
        self._lease = lease
        self._lock = threading.RLock()
        self._seen: dict[int, Record] = {}
        self._is_loaded = False
        self._looked = 0
        self._newest = 0
        self._aside = 0
        self._marker = ""
        self._checked_out = Object("", b"")
        self.known = Past()
        """The records as of the last listing."""

    def look(self) -> Past:
        """The current records."""
        with self._lock:
            turn = self._lease.turn
            if not turn or turn != self._looked:
                self.known = self._look()
                self._looked = turn or self._looked
            return self.known

    def append(self, make: Callable[[str], Body]) -> str:
        """Appends a record and returns its id; `make` gets the id of the one before. Raises `HistoryDamaged`, and
        `StorageConflict` if somebody else appended first."""
        with self._lock:
            past = self.look()
            past.whole()
            number = self._newest + 1
            data = make(past.last.id if past.last else "").model_dump_json().encode()
            if number > _MAX_NUMBER:
                raise StorageError(
                    f"no record can follow {self._where(_MAX_NUMBER)}; remove it if it is not a record of this history"
                )
            try:
                with self._lease.changing():
                    etag = self._bucket.create(self._key(number), data)
            except PreconditionFailed as error:
                self._looked = 0
                self.look()
                if self._newest < number:
                    raise StorageError(
                        f"{self._where(number)} cannot be created, though it does not exist; try again later"
                    ) from error
                raise StorageConflict("another change was recorded first; try again") from error
            self._see([CachedRecord(number, etag, data)])
            self._newest = number
            self.known = self._linked()
            return self._seen[number].id

    def quarantine(self) -> str:
        """Makes the next record the first of a new history; returns the place of the newest old one."""
        with self._lock:
            self._list()
            self._aside, self.known, self._looked = self._newest, Past(), self._lease.turn
            return self._where(self._aside)

    def start_over(self, checked_out: str) -> None:
        """Forgets all records, which were rewritten, and marks the newest as checked out."""
        with self._lock:
            self._cache.clear()
            self._seen, self.known, self._looked, self._aside = {}, Past(), 0, 0
            self._checked_out = Object("", checked_out.encode())
            self._mark()

    @property
    def checked_out(self) -> str:
        """The id of the record that was last written to the pages; empty if there is none or it was taken back."""
        with self._lock:
            past = self.look()
            if self._marker != self._checked_out.etag:
                found = self._bucket.get(f"{self._prefix}{CHECKED_OUT}") if self._marker else None
                self._checked_out = found or Object(self._marker, b"")
            revision = self._checked_out.data.decode("ascii", "replace")
            return revision if past.until(revision) else ""

    @checked_out.setter
    def checked_out(self, revision: str) -> None:
        with self._lock:
            self._lease.before_change()
            self._checked_out = Object(self._marker, revision.encode())
            if self._lease.is_mine:  # until then the process that may die is this one, and it marks the newest once
                self._lease.at_end_of_turn(self._mark)
            else:
                self._mark()

    def _mark(self) -> None:
        data = self._checked_out.data
        self._marker = self._bucket.put(f"{self._prefix}{CHECKED_OUT}", data)
        self._checked_out = Object(self._marker, data)

    @property
    def stamp(self) -> str:
        """The tag of the object `checked-out`: the current one under the lease, otherwise that of the last listing."""
        if self._lease.is_mine:
            self.look()
        return self._marker

    def _look(self) -> Past:
        if not self._is_loaded:
            self._is_loaded = True
            self._see(self._cache.load().values(), is_new=False)
        last = max(self._seen, default=0)
        listed = self._list(last - 1)
        if not last or listed.get(last) == self._seen[last].etag:
            past = self._fetched(listed)
            if not past.damage or not last:
                return past
        if last and listed.get(last) != self._seen[last].etag:  # rewritten, so that something was never in it
            self._cache.clear()
            self._seen = {}
        listed = self._list()
        self._seen = {number: one for number, one in self._seen.items() if listed.get(number) == one.etag}
        if self._newest < self._aside:
            self._aside = 0  # another history began meanwhile
        return self._fetched(listed)

    def _list(self, after: int = 0) -> dict[int, str]:
        """The records after number `after`: number → tag of the object."""
        behind = self._key(after) if after > 0 else ""
        found = {
            key.removeprefix(self._prefix): info.etag
            for key, info in self._bucket.list(self._prefix, after=behind, flat=True)
        }
        self._marker = found.get(CHECKED_OUT, "")
        listed = {number: etag for name, etag in found.items() if (number := record_number(name))}
        self._newest = max(listed, default=0)
        return listed

    def _fetched(self, listed: Iterable[int]) -> Past:
        """Fetches the records that this machine has not seen, and returns all."""
        numbers = [number for number in sorted(listed) if number not in self._seen and number > self._aside]
        found = side_by_side(self._bucket.get, map(self._key, numbers), self._lease)
        self._see(CachedRecord(n, one.etag, one.data) for n, one in zip(numbers, found, strict=True) if one)
        return self._linked()

    def _linked(self) -> Past:
        """Follows the chain from the newest record to the first: each must have the id that its successor names."""
        found: list[Record] = []
        wanted = ""
        for number in range(self._newest, self._aside, -1):
            record = self._seen.get(number)
            if record is None or wanted not in ("", record.id):
                break
            found.append(record)
            wanted = record.body.before
            if not wanted:
                break
        damage = ""
        if wanted or (self._newest > self._aside and not found):
            lost = self._where(self._newest - len(found))
            damage = (
                f"the history is damaged: {lost} is missing or was changed; restore it if you can, "
                "or the next change begins a new history"
            )
        return Past(_counting(found[::-1]), damage, found[0] if found else None)

    def _see(self, records: Iterable[CachedRecord], is_new: bool = True) -> None:
        """Remembers the records that can be parsed."""
        read = [(record, body) for record in records if (body := read_body(record.data))]
        self._seen |= {one.number: Record(one.number, id_of(one.data), one.etag, body) for one, body in read}
        if is_new:
            self._cache.add(record for record, _ in read)

    def _key(self, number: int) -> str:
        return f"{self._prefix}{number:010}.json"

    def _where(self, number: int) -> str:
        return f"s3://{self._bucket.name}/{self._key(number)}"


def record_number(name: str) -> int:
    """The number of the record that an object of this name is; 0 if it is none."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else 0


def id_of(data: bytes) -> str:
    """The id of the record with these bytes."""
    return hashlib.sha256(data).hexdigest()[:40]


def body_of(before: str, revision: Revision, pages: dict[str, str | None]) -> Body:
    """The content of the record of a revision."""
    lines = revision.in_lines
    when = lines.when.astimezone(UTC).replace(microsecond=0)
    return Body(before=before, pages=pages, **shared_fields(replace(lines, when=when)))


def revision_in(body: Body) -> Revision:
    """The revision that a record tells of, without its id and paths."""
    return Revision(**shared_fields(body))


def shared_fields(source: Revision | Body) -> dict[str, Any]:
    """The fields that a revision has and the content of its record has too."""
    return {field.name: getattr(source, field.name) for field in fields(Revision) if field.name in Body.model_fields}


def _counting(records: Sequence[Record]) -> tuple[Record, ...]:
    """The records that were not taken back."""
    found: list[Record] = []
    for record in records:
        if record.body.kind != TAKEN_BACK:
            found.append(record)
        elif found:
            found.pop()
    return tuple(found)


def read_body(data: bytes) -> Body | None:
    """The content of a record; `None` if the bytes are no record."""
    try:
        return Body.model_validate_json(data.decode("utf-8"))
    except (ValidationError, UnicodeDecodeError):
        return None


def side_by_side(work: Callable[[Item], Result], items: Iterable[Item], lease: Lease) -> Iterator[Result]:
    """The results of `work` for the items, in order, computed by several threads. Renews the lease meanwhile."""
    several = list(items)
    with ThreadPoolExecutor(WORKERS) if len(several) > 1 else nullcontext() as pool:
        for result in (pool.map if pool else map)(work, several):
            with suppress(StorageError):  # a lost lease is reported at the next change of a page
                lease.renew()
            yield result
