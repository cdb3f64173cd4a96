"""The git repository of a history: its objects, which survive a power cut, its commits and their messages, and its
folder, made whole and swept of what a killed process left in it.

The objects of a revision have a file each, as git expects, and are also written together to one file in the folder
`unflushed`. Only that file is flushed: a power cut may take the others, and `restore` writes them again. After
`MAX_UNFLUSHED` revisions all of them become a pack.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from memory_v2.errors import StorageError
from memory_v2.storage.history import EXTERNAL, HistoryDamaged, Revision
from memory_v2.storage.local import disk
from memory_v2.tree.path import SUFFIX

UNFLUSHED = "unflushed"
MAX_UNFLUSHED = 256
"""How many revisions are recorded before their objects become a pack: that takes a tenth of a second."""
MANY = 100
"""How many objects of one revision are written as a pack at once."""

_LEADING_AWAY = (".git", "commondir", "objects/info/alternates", "objects/info/http-alternates")
"""Where git looks for the name of another repository: for the whole, for refs and objects, or for more objects."""
_is_id = re.compile("[0-9a-f]{40}").fullmatch


class ObjectWriter:
    """Writes objects to a repository durably. Temporary files are made where `sweep` finds them: among the packs, and
    in `objects/` itself, without listing its 256 subfolders."""

    def __init__(self, store: Any, place: Path) -> None:
        self._store = store
        self._folder = place / "objects"
        self._unflushed = place / UNFLUSHED
        self._added: dict[bytes, Any] = {}

    def __getitem__(self, object_id: bytes) -> Any:
        return self._added[object_id] if object_id in self._added else self._store[object_id]

    def add_object(self, added: Any) -> None:
        """Adds an object, which `flush` writes."""
        self._added[added.id] = added

    @property
    def new(self) -> list[Any]:
        """The added objects that are not there yet."""
        return [one for one in self._added.values() if one.id not in self._store]

    def flush(self) -> None:
        """Writes all added objects that are not there yet, durably."""
        added = list(self._added.values())
        if len(added) >= MANY:
            added = self.new
        if len(added) >= MANY:
            self.write_pack(added)
            return
        written = [(one.id.decode(), one.as_legacy_object()) for one in added]
        joined = b"".join(b"%s %d\n%s" % (name.encode(), len(data), data) for name, data in written)
        disk.replace_bytes(self._unflushed / written[-1][0], joined, temporary_in=self._folder)
        for name, data in written:
            write_loose(self._folder, name, data, is_flushed=False)

    @property
    def has_many_unflushed(self) -> bool:
        """Whether it is time for `pack_loose`."""
        return len(_files(self._unflushed)) >= MAX_UNFLUSHED

    def pack_loose(self) -> int:
        """Writes all objects that have a file of their own as a pack, and removes those files once it is durable.
        Returns their number."""
        for name, data in _objects_unflushed(self._unflushed):
            if name.encode() not in self._store:  # a power cut has taken it, and nobody has asked for it since
                write_loose(self._folder, name, data, is_flushed=False)
        names = ["".join(file.parts[-2:]) for file in self._folder.glob("[0-9a-f][0-9a-f]/*")]
        loose = [self._store[name.encode()] for name in names if _is_id(name)]
        if loose:
            self.write_pack(loose)
        for one in loose:
            self._store.delete_loose_object(one.id)
        for file in _files(self._unflushed):
            file.unlink(missing_ok=True)
        return len(loose)

    def write_pack(self, objects: Sequence[Any]) -> None:
        """Writes these objects as a pack, durably."""
        self._store.fsync_object_files = True
        pack = self._store.add_objects([(added, None) for added in objects])
        packs = self._folder / "pack"
        for kind in ("pack", "idx"):
            disk.leave_to_owner_above(packs / f"pack-{pack.name().decode()}.{kind}")
        disk.sync_folder(packs)


def restore(place: Path) -> None:
    """Writes the objects of the newest revisions again that a power cut has taken. What cannot be written, as on a disk
    that is read-only, is passed over."""
    for name, data in _objects_unflushed(place / UNFLUSHED):
        with suppress(OSError):
            write_loose(place / "objects", name, data, is_flushed=True)


def _objects_unflushed(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The names and the bytes of the objects of the newest revisions, as far as they are whole."""
    for file in _files(folder):
        with suppress(OSError, ValueError, zlib.error):
            yield from _objects_in(disk.read_bytes(file))


def _objects_in(data: bytes) -> Iterator[tuple[str, bytes]]:
    while data:
        head, _, rest = data.partition(b"\n")
        name, size = head.decode("ascii").split(" ")
        written, data = rest[: int(size)], rest[int(size) :]
        if hashlib.sha1(zlib.decompress(written), usedforsecurity=False).hexdigest() != name:
            raise ValueError("this is not the object of that name")
        yield name, written


def write_loose(folder: Path, name: str, data: bytes, is_flushed: bool) -> None:
    """Gives an object a file of its own, unless it has one."""
    file = folder / name[:2] / name[2:]
    if not file.exists() or (is_flushed and disk.read_bytes(file) != data):
        disk.replace_bytes(file, data, is_flushed, temporary_in=folder)


def _files(folder: Path) -> list[Path]:
    with suppress(FileNotFoundError, NotADirectoryError):
        return sorted(folder.iterdir())
    return []


_HASH = 20
"""The length of a SHA-1, in bytes. A pack ends with its own; its index ends with that of the pack and its own."""


def damaged_pack(folder: Path) -> str:
    """The name of a pack that was cut off or whose index is damaged; empty if there is none. The objects in a pack are
    not read: that would take long."""
    for index in sorted(folder.glob("*.idx")):
        pack = index.with_suffix(".pack")
        is_whole = _ends_with(pack, _hash_of_pack(index, index.stat().st_mtime_ns))
        if not is_whole and disk.lstat(index):  # else just replaced
            return pack.name
    return ""


@lru_cache(maxsize=64)
def _hash_of_pack(index: Path, _: int) -> bytes:
    """The hash of its pack that an index names; empty if the index is damaged."""
    data = index.read_bytes()
    is_whole = hashlib.sha1(data[:-_HASH], usedforsecurity=False).digest() == data[-_HASH:]
    return data[-2 * _HASH : -_HASH] if is_whole else b""


def _ends_with(pack: Path, ending: bytes) -> bool:
    try:
        with pack.open("rb") as stream:
            stream.seek(-_HASH, os.SEEK_END)
            return stream.read() == ending
    except OSError:  # it is gone, or shorter than that
        return False


FILE, FOLDER = 0o100644, 0o040000

ReadTree = Callable[[bytes], Any]
"""Gives the tree of an id; raises `KeyError` if there is none."""


def find_blob(tree_id: bytes, path: str, read: ReadTree) -> bytes | None:
    """The id of a file's blob; `None` if it is not in the tree."""
    folder_id, _, name = _folder_of(tree_id, file_of(path), read)
    tree = read(folder_id) if folder_id else {}
    return tree[name][1] if name in tree and tree[name][0] == FILE else None


def files_below(tree_id: bytes, below: str, read: ReadTree) -> Iterator[tuple[str, bytes]]:
    """The path and the blob of each file below a folder."""
    folder_id, above, _ = _folder_of(tree_id, f"{below}/".encode(), read)
    return files_in(folder_id, read, above) if folder_id else iter(())


def files_in(tree_id: bytes, read: ReadTree, above: bytes = b"", besides: bytes = b"") -> Iterator[tuple[str, bytes]]:
    """The path and the blob of each file in a tree, except in the folder `besides`."""
    for name, mode, object_id in read(tree_id).items():
        if mode == FOLDER and above + name != besides:
            yield from files_in(object_id, read, above + name + b"/")
        elif is_kept(name, mode):
            yield path_of(above + name), object_id


def _folder_of(tree_id: bytes, file: bytes, read: ReadTree) -> tuple[bytes, bytes, bytes]:
    """The tree that a file is in, empty if there is none; the folders above the file, and its name."""
    *folders, name = file.split(b"/")
    for folder in folders:
        tree = read(tree_id)
        if folder not in tree or tree[folder][0] != FOLDER:
            return b"", b"", name
        tree_id = tree[folder][1]
    return tree_id, file.removesuffix(name), name


def is_kept(file: bytes, mode: int | None) -> bool:
    """Whether a file is a page or an entry. Somebody may have committed other files with plain git."""
    return mode == FILE and file.endswith(SUFFIX.encode())


def file_of(path: str) -> bytes:
    """The name of a path's file."""
    return f"{path}{SUFFIX}".encode()


def path_of(file: bytes) -> str:
    """The path of a file."""
    return file.decode("utf-8", "surrogateescape").removesuffix(SUFFIX)


TEXT = "Text:"
"""The line before the text of a write, each line of which is marked as quoted."""
TEXT_AS_JSON = "Text as JSON:"
"""The same for a text with a null character, at which git would end the message."""
QUOTED = "> "

_TRAILERS = {
    "Operation": "operation",
    "Agent": "agent",
    "Decided-by": "decided_by",
    "Degraded": "degraded",
    "Undoes": "undoes",
}
"""The fields of a revision that have a line each at the end of the message, by the name there."""
_TRAILER = re.compile(f"^({'|'.join(_TRAILERS)}): (.*)$")


def message_of(revision: Revision) -> str:
    """The commit's message, as git shows it."""
    lines = revision.in_lines
    why = "\n".join(f"- {why}" for why in lines.why)
    named = "\n".join(f"{name}: {value}" for name, field in _TRAILERS.items() if (value := getattr(lines, field)))
    return "\n\n".join(filter(None, [f"{lines.kind}: {lines.summary}", why, _quoted(lines.text), named])) + "\n"


def read_message(message: str) -> Revision:
    """The revision whose message `message_of` wrote; a commit that somebody else made has its first line only."""
    first, _, rest = message.partition("\n")
    kind, colon, summary = first.partition(": ")
    parts = [part for part in rest.strip("\n").split("\n\n") if part]
    text = next((part for part in parts if part.startswith((f"{TEXT}\n", f"{TEXT_AS_JSON}\n"))), "")
    paragraphs = [part.strip().splitlines() for part in parts if part != text]
    named: dict[str, Any] = {}
    if paragraphs and all(_TRAILER.match(line) for line in paragraphs[-1]):
        named = {_TRAILERS[match[1]]: match[2] for line in paragraphs.pop() if (match := _TRAILER.match(line))}
    return Revision(
        kind=kind if colon else EXTERNAL,
        summary=summary if colon else first,
        why=tuple(line.removeprefix("- ") for part in paragraphs for line in part),
        text=_unquoted(text),
        **named,
    )


def _quoted(text: str) -> str:
    """A text as one paragraph of a message."""
    if not text:
        return ""
    if "\0" in text:
        return f"{TEXT_AS_JSON}\n{json.dumps(text, ensure_ascii=False)}"
    return "\n".join([TEXT, *(f"{QUOTED}{line}" for line in text.split("\n"))])


def _unquoted(paragraph: str) -> str:
    """The text that `_quoted` made a paragraph of."""
    first, _, rest = paragraph.partition("\n")
    if first == TEXT_AS_JSON:
        try:
            return str(json.loads(rest))
        except (ValueError, RecursionError):  # somebody has edited the message
            return rest
    return "\n".join(line.removeprefix(QUOTED) for line in rest.split("\n"))


BRANCH = b"refs/heads/main"
CHECKED_OUT = b"refs/silica/checked-out"
AUTHOR = b"Silica Memory <silica@localhost>"
MAKING = "history-making-"
"""The name of a new repository's folder begins with this until the repository is complete."""
TORN_SECONDS = 60.0
"""The age, in seconds, at which a temporary file is taken for one of a dead process. Writing one takes milliseconds."""


def new_commit(revision: Revision, tree: bytes, parents: list[bytes]) -> Any:
    """The commit that records a revision."""
    from dulwich.objects import Commit

    commit: Any = Commit()
    commit.tree, commit.parents = tree, parents
    commit.author = commit.committer = AUTHOR
    # git knows no time before 1970
    commit.author_time = commit.commit_time = max(int(revision.when.timestamp()), 0)
    commit.author_timezone = commit.commit_timezone = 0
    commit.encoding = b"UTF-8"
    commit.message = message_of(revision).encode()
    return commit


def make_repository(place: Path) -> None:
    """Creates the repository under another name and renames it when it is complete, so that a crash leaves no
    incomplete one."""
    from dulwich.repo import Repo

    disk.make_folder(place.parent)
    for half in place.parent.glob(f"{MAKING}*"):
        shutil.rmtree(half, ignore_errors=True)
    made = place.with_name(f"{MAKING}{os.urandom(4).hex()}.git")
    made.mkdir(mode=0o700)
    try:
        Repo.init_bare(str(made), default_branch=b"main").close()
        for inside in (made, *made.rglob("*")):
            disk.leave_to_owner_above(inside)
        disk.sync_folder(made / "refs")
        made.rename(place)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    disk.sync_folder(place.parent)


def check_files(place: Path) -> None:
    """Raises `StorageError` if a folder of the repository is a symbolic link or a file names another repository, which
    may be of others, and `HistoryDamaged` if a pipe or a device is where git has a file: to open it may
    take for ever."""
    folders = (place / name for name in ("refs", "refs/heads", "refs/silica", "objects", UNFLUSHED))
    links = [folder for folder in (place, *folders) if folder.is_symlink()]
    with suppress(FileNotFoundError), os.scandir(place / "objects") as inside:
        links += [place / "objects" / entry.name for entry in inside if entry.is_symlink()]
    if links:
        raise StorageError(f"{links[0]} is a symbolic link; a memory keeps its history inside its own folder")
    if leading := next((place / name for name in _LEADING_AWAY if disk.lstat(place / name) is not None), None):
        raise StorageError(f"{leading} names another repository; a memory keeps its history inside its own folder")
    files = (place / name for name in ("HEAD", "config", "packed-refs", BRANCH.decode(), CHECKED_OUT.decode()))
    for file in (*files, *place.glob("objects/info/*"), *place.glob("objects/pack/*")):
        check_file(place, file)


def check_file(place: Path, file: Path) -> None:
    """Raises `HistoryDamaged` if something else than a regular file is there."""
    try:
        disk.expect_regular(file, disk.lstat(file))
    except OSError as error:
        raise HistoryDamaged(f"the history in {place} is damaged: {file.name}: {error.strerror}") from error


def sweep(place: Path) -> None:
    """Removes temporary files of processes that were killed while they recorded or packed."""
    for file in (*place.glob("objects/.*"), *place.glob("objects/pack/*")):
        with suppress(OSError):
            is_torn = disk.is_temporary(file.name) or file.suffix == ".lock" or file.name.startswith("tmp")
            if is_torn and time.time() - file.stat().st_mtime > TORN_SECONDS:
                file.unlink()


def unlock(place: Path) -> None:
    """Removes the locks of a process that died while it recorded or packed. Call it under the storage's lock, so that
    they are not ours, and after some milliseconds: for as long plain git holds them."""
    for name in ("refs/heads/*.lock", "objects/pack/*.idx.lock"):
        for lock in place.glob(name):
            with suppress(OSError):
                lock.unlink()
