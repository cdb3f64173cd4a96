"""Finding pages and entries in the trees of a git repository: they have the names there that they have on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from memory_v2.storage.names import SUFFIX

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
