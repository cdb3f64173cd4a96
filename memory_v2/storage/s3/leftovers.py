"""Old versions in a bucket that keeps them, and objects that are not the memory's."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memory_v2.storage.base import Leftover
from memory_v2.storage.s3.bucket import Bucket, Version
from memory_v2.storage.s3.lease import Lease, side_by_side
from memory_v2.tree.path import file_problem, is_entry, is_markdown, name_problem

_OWN = ".metadata/"
_UNVERSIONED = "null"


def find_leftovers(bucket: Bucket, prefix: str, lease: Lease, holds: Callable[[bytes], bool]) -> list[Leftover]:
    """The versions of pages and of the program's own objects that hold something in their bytes or in their key. The
    latest are among them, since they become old ones. A bucket that keeps no versions has none."""

    def is_held(version: Version) -> bool:
        if holds(version.key.removeprefix(prefix).encode()):
            return True
        found = None if version.is_deletion else bucket.get(version.key, version_id=version.id)
        return found is not None and holds(found.data)

    kept = [version for version in bucket.versions(prefix) if version.id != _UNVERSIONED or not version.is_latest]
    versions = [one for one in kept if _is_own(one.key.removeprefix(prefix))]
    held = side_by_side(is_held, versions, lease)
    return [Leftover(one.key, one.id) for one, is_so in zip(versions, held, strict=True) if is_so]


def remove_leftovers(bucket: Bucket, prefix: str, leftovers: Iterable[Leftover]) -> None:
    """Removes these versions, unless they are the latest; and deletions of keys of which nothing else is left. Only
    what `find_leftovers` can find is removed: a note may have come with the memory from a stranger."""
    own = (leftover for leftover in leftovers if leftover.name.startswith(prefix))
    wanted = {one for one in own if _is_own(one.name.removeprefix(prefix))}
    for key in {name for name, _ in wanted}:
        versions = [one for one in bucket.versions(key) if one.key == key]
        old = [one for one in versions if (key, one.id) in wanted and (one.is_deletion or not one.is_latest)]
        if all(one.is_deletion or one in old for one in versions):
            old = versions
        for version in old:
            bucket.delete_version(version)


def find_others(bucket: Bucket, prefix: str, lease: Lease, holds: Callable[[bytes], bool]) -> list[str]:
    """The objects below the prefix that are not the memory's and hold something."""
    names = [
        name
        for key, _ in bucket.list(prefix, besides=(prefix + _OWN,))
        if not _is_own(name := key.removeprefix(prefix))
    ]
    found = side_by_side(lambda name: bucket.get(prefix + name), names, lease)
    return [name for name, one in zip(names, found, strict=True) if one and (holds(one.data) or holds(name.encode()))]


def _is_own(name: str) -> bool:
    rule = file_problem if is_entry(name) else name_problem
    return name.startswith(_OWN) or (is_markdown(name) and rule(name) is None)
