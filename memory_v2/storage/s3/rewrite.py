"""Rewriting the history of a bucket: each record that holds something is replaced by one without it, as are those that
follow, since each names the one before it.

The new records are staged as `<prefix>/.metadata/history/rewritten/<number>.json`, and new bytes of pages beside the
old ones. Adopting copies the records over the old ones and removes the bytes that hold something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from memory_v2.storage.base import version_of
from memory_v2.storage.history import Extent, Revision, Rules
from memory_v2.storage.s3.bucket import Bucket, Object
from memory_v2.storage.s3.chain import (
    Body,
    body_of,
    id_of,
    read_body,
    record_number,
    revision_in,
    side_by_side,
)
from memory_v2.storage.s3.errors import PreconditionFailed
from memory_v2.storage.s3.lease import Lease

STAGED = "rewritten/"
PAGES = "pages/"


class S3Rewrite:
    """The `Rewrite` of the records below `prefix`. Each object is read once."""

    def __init__(self, bucket: Bucket, prefix: str, lease: Lease, rules: Rules) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._lease = lease
        self._rules = rules
        self._read: dict[str, Object] = {}
        self._bytes: dict[str, bytes] = {}
        """For the version of each page that changes, the new bytes."""
        self._revisions = 0
        self._head = ""

    def extent(self) -> Extent:
        """See `Rewrite`."""
        self._rewritten()
        return Extent(self._revisions, len(self._bytes))

    def stage(self, record: Revision) -> dict[str, Any]:
        """See `Rewrite`."""
        records = self._rewritten()
        number = max(map(record_number, self._objects("", flat=True)), default=0) + 1
        records[number] = body_of(self._head, record, {}).model_dump_json().encode()
        pages = {f"{PAGES}{version_of(data)}": data for data in self._bytes.values()}
        staged = {f"{STAGED}{number:010}.json": data for number, data in records.items()}
        self._put_all(pages | staged)
        removed = [f"{PAGES}{version}" for version in self._bytes]
        return {"records": sorted(records), "removed": removed, "head": id_of(records[number])}

    def _put_all(self, objects: Mapping[str, bytes]) -> None:
        def put(name: str) -> None:
            self._lease.before_change()
            self._bucket.put(self._prefix + name, objects[name])

        list(side_by_side(put, objects, self._lease))

    def _rewritten(self) -> dict[int, bytes]:
        """The records that change, by number."""
        pages = self._objects(PAGES)
        self._bytes = {
            name.removeprefix(PAGES): new
            for name, one in pages.items()
            if (new := self._rules.page(one.data)) != one.data
        }
        self._revisions, self._head = 0, ""
        ids: dict[str, str] = {}
        changed = {}
        for name, one in sorted(self._objects("", flat=True).items()):
            if not (number := record_number(name)):
                continue
            data = self._record(one.data, ids)
            ids[id_of(one.data)] = self._head = id_of(data)
            if data != one.data:
                changed[number] = data
        return changed

    def _record(self, data: bytes, ids: Mapping[str, str]) -> bytes:
        body = read_body(data)
        if body is None:  # nobody can read it as a record, but as a text
            self._revisions += (new := self._rules.page(data)) != data
            return new
        revision = revision_in(body)
        rewritten = self._rules.revision(revision)
        pages = dict(self._pages(body))
        self._revisions += rewritten != revision or pages != body.pages
        rewritten = replace(rewritten, undoes=ids.get(revision.undoes, rewritten.undoes))
        before = ids.get(body.before, body.before)
        if (rewritten, pages, before) == (revision, body.pages, body.before):
            return data
        return body_of(before, rewritten, pages).model_dump_json().encode()

    def _pages(self, body: Body) -> Iterable[tuple[str, str | None]]:
        for path, version in body.pages.items():
            if (new_path := self._rules.path(path)) is not None:
                new = self._bytes.get(version or "")
                yield new_path, version if new is None else version_of(new)

    def _objects(self, below: str, flat: bool = False) -> dict[str, Object]:
        """The objects of the history in a folder, by name."""
        listed = dict(self._bucket.list(self._prefix + below, flat=flat))
        new = [key for key, info in listed.items() if key not in self._read or self._read[key].etag != info.etag]
        found = side_by_side(self._bucket.get, new, self._lease)
        self._read |= {key: one for key, one in zip(new, found, strict=True) if one}
        return {key.removeprefix(self._prefix): self._read[key] for key in listed if key in self._read}


def adopt(bucket: Bucket, prefix: str, lease: Lease, staged: Mapping[str, Any]) -> None:
    """Copies the staged records over the old ones, and removes what was staged and the bytes that hold something."""
    names = [f"{number:010}.json" for number in staged["records"]]

    def copy(name: str) -> None:
        lease.before_change()
        if found := bucket.get(f"{prefix}{STAGED}{name}"):  # else it was copied before an interruption
            bucket.put(prefix + name, found.data)

    def remove(name: str) -> None:
        lease.before_change()
        with suppress(PreconditionFailed):
            bucket.delete(prefix + name)

    list(side_by_side(copy, names, lease))
    list(side_by_side(remove, staged["removed"], lease))
    list(side_by_side(remove, [STAGED + name for name in names], lease))
