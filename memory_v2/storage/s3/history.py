"""The history of a bucket: a git repository as that of a folder, of which each machine keeps a copy.

Each revision is one object, `<prefix>/.metadata/history/0000000042.git`: a line of JSON that names the commit before it
and its own, and then the git objects that it adds, each as git hashes it below a line with its id and its length. A
change has happened once this object is created, by a conditional request that fails if its number is taken: if several
machines record at once, one succeeds and the others get a conflict. Each machine fetches an object once, and notices
one that is lost or was changed. One that names an older commit as its own takes back what is newer; one that names none
before it begins a new history.

The object `checked-out` holds the id of the revision that was last written to the pages completely. A history that is
rewritten, so that something was never in it, is staged as the object `rewritten` and becomes the newest record, which
begins it; the older ones are removed then.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from memory_v2.errors import StorageConflict, StorageError
from memory_v2.storage.history import HistoryDamaged, Revision, Rules
from memory_v2.storage.local.disk import explained, replace_bytes
from memory_v2.storage.local.git_history import GitHistory
from memory_v2.storage.local.git_objects import BRANCH, write_loose
from memory_v2.storage.local.git_rewrite import GitRewrite
from memory_v2.storage.s3.bucket import Bucket, Object, PreconditionFailed, UnknownOutcome
from memory_v2.storage.s3.cache import PageCache
from memory_v2.storage.s3.lease import Lease, side_by_side
from memory_v2.storage.volatile import temporary_folder

FOLDER = ".metadata/history"
CHECKED_OUT = "checked-out"
STAGED = "rewritten"
_NAME = re.compile("([0-9]{10})[.]git")
_MAX_NUMBER = 9_999_999_999

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _CopyState:
    """How far the copy on this machine has come: the number and the tag of the newest record, the head then, and what
    is wrong with older ones."""

    number: int = 0
    etag: str = ""
    head: str = ""
    damage: str = ""


class S3History(GitHistory):
    """The history below a prefix of a bucket. The `cache` has the copy of this machine; each change is made under the
    `lease`, and records are listed once per turn of it, since nobody else records meanwhile."""

    problem = ""

    def __init__(self, bucket: Bucket, prefix: str, cache: PageCache, lease: Lease) -> None:
        super().__init__(cache.folder or temporary_folder(self))
        self._bucket = bucket
        self._prefix = f"{prefix}{FOLDER}/"
        self._lease = lease
        self._name = f"s3://{bucket.name}/{prefix}".rstrip("/")
        self._advice = "check whether a lifecycle rule of the bucket removes objects, and restore them if you can"
        self._mend = self._fetch_again
        self._at = _CopyState()
        self._is_loaded = False
        self._looked = 0
        self._marker = ""
        self._checked_out = Object("", b"")

    @property
    def begun(self) -> bool:
        at = self._known
        return bool(at.head or at.damage)

    @property
    def head(self) -> str:
        at = self._known
        return at.head or self._whole(at).head

    @property
    def checked_out(self) -> str:
        """Always asks the server, but once in a turn."""
        with self._lock:
            self._look()
            if self._marker != self._checked_out.etag:
                found = self._bucket.get(f"{self._prefix}{CHECKED_OUT}") if self._marker else None
                self._checked_out = found or Object(self._marker, b"")
            revision = self._checked_out.data.decode("ascii", "replace")
            if revision in ("", self._at.head):
                return revision
            return revision if self._ask(lambda: revision.encode() in self._repo.object_store) else ""

    @property
    def stamp(self) -> str:
        """See `History`: the tag of the object `checked-out`."""
        if self._lease.is_mine:
            self._look()
        return self._marker

    def changed_since(self, stamp: str) -> frozenset[str] | None:
        """The tag of an object names no revision."""
        return None

    def mark_checked_out(self, revision: str) -> None:
        with self._lock:
            self._lease.before_change()
            self._checked_out = Object(self._marker, revision.encode())
            if self._lease.is_mine:  # until then the process that may die is this one, and it marks the newest once
                self._lease.at_end_of_turn(self._mark)
            else:
                self._mark()

    def record(self, changes: Mapping[str, bytes | None], revision: Revision) -> str:
        """Raises `StorageConflict` if somebody else has recorded a change since the lease was taken."""
        with self._lock:
            before = self._whole(self._look()).head

            def make() -> tuple[str, list[Any]]:
                objects, commit = self._made(changes, revision, before.encode() or None)
                return commit.id.decode(), objects.new

            head, added = self._ask(make)
            self._append(before, head, added)
            return head

    def take_back(self, revision: str) -> None:
        """Raises `StorageConflict` if another revision follows it already."""
        with self._lock:
            if self._whole(self._look()).head != revision:
                raise StorageConflict("another change was recorded after this revision, which cannot be taken back")
            self._append(revision, self.before(revision), [])

    def quarantine(self) -> None:
        """Makes the next record the first of a new history, for all machines. The old records stay where they are."""
        with self._lock:
            listed = self._list()
            self._start_over()
            newest = max(listed, default=0)
            self._at, self._looked = _CopyState(newest, listed.get(newest, "")), self._lease.turn
            where = self._where(newest)
        logger.warning("the history is damaged; it is kept up to %s, and a new one begins after it", where)

    def revisions(self, path: str | None = None) -> Iterator[Revision]:
        self._look()
        return super().revisions(path)

    def unrecorded(self, pages: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """Includes what others have recorded in the meantime."""
        self._whole(self._look())
        return super().unrecorded(pages)

    def rewriting(self, rules: Rules) -> GitRewrite:
        def work(act: Callable[[Any], Any]) -> Any:
            self._whole(self._look())
            return self._ask(lambda: act(self._repo))

        return GitRewrite(self._place, rules, work, self._stage)

    def adopt(self, staged: Mapping[str, Any]) -> None:
        number, name = int(staged["number"]), f"{self._prefix}{STAGED}"
        with self._lock:
            self._lease.before_change()
            if found := self._bucket.get(name):
                self._bucket.put(self._key(number), found.data)
            elif number not in self._list():
                raise HistoryDamaged(f"the history in {self._name} cannot become what was staged, which is gone")

            def remove(key: str) -> None:
                self._lease.before_change()
                with suppress(PreconditionFailed):
                    self._bucket.delete(key)

            old = [self._key(one) for one in self._list() if one < number]
            list(side_by_side(remove, [*old, name], self._lease))
            self._start_over()
            self._checked_out = Object("", str(staged["head"]).encode())
            self._mark()

    def _stage(self, refs: dict[str, str]) -> dict[str, Any]:
        """Stores the history that leads to the newest commit of the copy, where nothing reads it."""
        head = refs[BRANCH.decode()]
        objects = list(_reachable(self._repo.object_store, head.encode()))
        self._lease.before_change()
        self._bucket.put(f"{self._prefix}{STAGED}", _record("", head, objects))
        return {"number": self._at.number + 1, "head": head}

    @property
    def _known(self) -> _CopyState:
        """The copy as of the last request; asks the server until there is anything, and under the lease."""
        return self._look() if not self._at.head or self._lease.is_mine else self._at

    @property
    def _head(self) -> bytes | None:
        return self.head.encode() or None

    def _whole(self, at: _CopyState) -> _CopyState:
        if at.damage:
            raise HistoryDamaged(at.damage)
        return at

    def _look(self) -> _CopyState:
        """Brings the copy up to date."""
        with self._lock:
            turn = self._lease.turn
            if not turn or turn != self._looked:
                self._follow()
                self._looked = turn or self._looked
            return self._at

    def _follow(self) -> None:
        if not self._is_loaded:
            self._is_loaded = True
            self._at = self._loaded()
        listed = self._list(self._at.number - 1)
        if self._at.damage or listed.get(self._at.number, "") != self._at.etag:  # mended, or rewritten by others
            self._start_over()
            listed = self._list()
        numbers = [number for number in sorted(listed) if number > self._at.number]
        found = side_by_side(self._bucket.get, map(self._key, numbers), self._lease)
        with explained("write", self._place):
            for number, one in zip(numbers, found, strict=True):
                self._take_in(number, listed[number], one.data if one else b"")
        if numbers:
            self._save()

    def _take_in(self, number: int, etag: str, data: bytes) -> None:
        """Adds a record to the copy. One that begins another history leaves nothing of the old one."""
        record, at = _read(data), self._at
        if record and not record.before and at.head:
            self._start_over()
        lost = "" if record else self._where(number)
        if record and record.before and record.before != at.head:
            lost = self._where(number - 1)
        damage = at.damage if record is None or record.before else ""
        if lost:
            damage = (
                f"the history is damaged: {lost} is missing or was changed; restore it if you can, "
                "or the next change begins a new history"
            )
        for name, raw in record.objects.items() if record else ():
            write_loose(self._place / "objects", name, zlib.compress(raw, 1), is_flushed=False)
        self._at = _CopyState(number, etag, record.head if record else "", damage)

    def _append(self, before: str, head: str, objects: Iterable[Any]) -> None:
        """Creates the next record."""
        number = self._at.number + 1
        if number > _MAX_NUMBER:
            where = self._where(_MAX_NUMBER)
            raise StorageError(f"no record can follow {where}; remove it if it is not a record of this history")
        data = _record(before, head, objects)
        try:
            with self._lease.changing():
                etag = self._bucket.create(self._key(number), data)
        except PreconditionFailed as error:
            self._looked = 0
            if self._look().number < number:
                where = self._where(number)
                raise StorageError(f"{where} cannot be created, though it does not exist; try again later") from error
            raise StorageConflict("another change was recorded first; try again") from error
        except UnknownOutcome as error:
            raise StorageError(
                f"{error}; the change may have been recorded, and will then be completed when the memory is next used: "
                "check the history before you make it again"
            ) from error
        try:
            self._take_in(number, etag, data)
            self._save()
        except OSError as error:  # the record is made; the copy is brought up to date by the next look
            logger.info("the copy of the history in %s could not be written: %s", self._place, error)
            self._looked = 0

    def _list(self, after: int = 0) -> dict[int, str]:
        """The records after number `after`: number → tag of the object. Notes the tag of `checked-out`."""
        behind = self._key(after) if after > 0 else ""
        listed = self._bucket.list(self._prefix, after=behind, flat=True)
        found = {key.removeprefix(self._prefix): info.etag for key, info in listed}
        self._marker = found.get(CHECKED_OUT, "")
        return {int(name[1]): etag for key, etag in found.items() if (name := _NAME.fullmatch(key)) and int(name[1])}

    def _mark(self) -> None:
        data = self._checked_out.data
        self._marker = self._bucket.put(f"{self._prefix}{CHECKED_OUT}", data)
        self._checked_out = Object(self._marker, data)

    def _fetch_again(self) -> None:
        """The copy may have been spoiled or removed, or others have recorded what was asked for."""
        at, self._looked = self._at, 0
        if self._look() == at:
            self._start_over()
            self._look()

    def _start_over(self) -> None:
        """Removes the copy."""
        self._close()
        shutil.rmtree(self._place, ignore_errors=True)
        self._walked.clear()
        self._is_loaded = True
        self._at, self._looked, self._recorded_last = _CopyState(), 0, ("", "")

    def _loaded(self) -> _CopyState:
        """How far the copy came that another process has left; from the beginning if that cannot be read."""
        with suppress(OSError, ValueError, TypeError):
            place = _CopyState(**json.loads((self._place / "place.json").read_bytes()))
            if place.etag and (self._place / "objects").is_dir():
                return place
        return _CopyState()

    def _save(self) -> None:
        """Notes how far the copy has come, for this machine and for plain git. Losing it costs requests."""
        with suppress(OSError):
            for name, text in ((BRANCH.decode(), f"{self._at.head}\n"), ("place.json", json.dumps(asdict(self._at)))):
                replace_bytes(self._place / name, text.encode(), is_flushed=False)

    def _key(self, number: int) -> str:
        return f"{self._prefix}{number:010}.git"

    def _where(self, number: int) -> str:
        return f"s3://{self._bucket.name}/{self._key(number)}"


@dataclass(frozen=True, slots=True)
class _Record:
    """The commit before a record, its own, and the objects that it adds, by id, as git hashes them."""

    before: str
    head: str
    objects: dict[str, bytes]


def _record(before: str, head: str, objects: Iterable[Any]) -> bytes:
    """The bytes of a record."""
    parts = [json.dumps({"before": before, "head": head}).encode(), b"\n"]
    for one in objects:
        raw = zlib.decompress(one.as_legacy_object())
        parts += [b"%s %d\n" % (one.id, len(raw)), raw, b"\n"]
    return b"".join(parts)


def _read(data: bytes) -> _Record | None:
    """The record with these bytes; `None` if it was cut off or changed."""
    try:
        at = data.index(b"\n") + 1
        known = json.loads(data[:at])
        objects: dict[str, bytes] = {}
        while at < len(data):
            end = data.index(b"\n", at)
            name, size = data[at:end].decode("ascii").split(" ")
            raw, at = data[end + 1 : end + 1 + int(size)], end + 2 + int(size)
            if hashlib.sha1(raw, usedforsecurity=False).hexdigest() != name or data[at - 1 : at] != b"\n":
                return None
            objects[name] = raw
        return _Record(str(known["before"]), str(known["head"]), objects)
    except (ValueError, TypeError, LookupError):
        return None


def _reachable(store: Any, head: bytes) -> Iterator[Any]:
    """A commit, those before it, and all that they hold."""
    waiting, seen = [head], set[bytes]()
    while waiting:
        if (object_id := waiting.pop()) in seen:
            continue
        seen.add(object_id)
        found = store[object_id]
        yield found
        if found.type_name == b"commit":
            waiting += [found.tree, *found.parents]
        elif found.type_name == b"tree":
            waiting += [entry.sha for entry in found.items()]
