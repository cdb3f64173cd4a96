"""A checkpoint, and the file that it is exported to: a line of JSON that says what it is, then one for each page and
entry. A checksum in the first line tells whether the others are what was written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memory_v2.entries.domains import DOMAINS_PAGE
from memory_v2.entries.places import is_stored_place
from memory_v2.errors import InvalidText
from memory_v2.text.amounts import counted
from memory_v2.tree.block import decode, encode
from memory_v2.tree.path import TakenPaths, fold, is_entry, is_page_path, is_reserved

VERSION = 1
"""The version of the file's format. A newer one is refused."""
_KEY = "silica_checkpoint"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A named point of the history: the id of its revision, and when it was made."""

    name: str
    revision: str
    when: datetime


@dataclass(frozen=True, slots=True)
class CheckpointContents:
    """What a checkpoint holds: how many pages, entries and bytes; and the pages and entries that differ from it now."""

    checkpoint: Checkpoint
    pages: int
    entries: int
    size_bytes: int
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExportedCheckpoint:
    """A checkpoint in a file: how many pages and entries, the size of the file, and the checksum in it."""

    checkpoint: Checkpoint
    file: str
    pages: int
    entries: int
    size_bytes: int
    sha256: str


def checkpoint_lines(checkpoint: Checkpoint, files: Mapping[str, bytes]) -> tuple[bytes, str]:
    """The bytes of a checkpoint's file, and their checksum. `files` are its pages and entries by path."""
    lines = b"".join(_line({"path": path, "text": decode(files[path])}) for path in sorted(files))
    checksum = hashlib.sha256(lines).hexdigest()
    when = checkpoint.when.astimezone(UTC).isoformat(timespec="seconds")
    first = {_KEY: VERSION, "name": checkpoint.name, "when": when, "files": len(files), "sha256": checksum}
    return _line(first) + lines, checksum


def read_checkpoint(data: bytes, file: str) -> dict[str, bytes]:
    """The pages and entries in a checkpoint's file, by path. Raises `InvalidText` if it is none, of a newer version, or
    not as it was written."""
    head, _, lines = data.partition(b"\n")
    first = _object(head)
    version = first.get(_KEY)
    if not isinstance(version, int):
        raise InvalidText(f"{file} is no checkpoint: its first line does not say so")
    if version > VERSION:
        raise InvalidText(f"{file} is a checkpoint of version {version}, and this program reads {VERSION}: update it")
    if hashlib.sha256(lines).hexdigest() != first.get("sha256"):
        raise InvalidText(f"{file} is damaged: its checksum is not that of its lines. Get it or export it again")
    files = dict(_files(lines, file))
    if len(files) != first.get("files"):
        told = f"its first line says {first.get('files')}"
        raise InvalidText(f"{file} is damaged: it holds {counted(len(files), 'file')}, and {told}")
    return files


def _files(lines: bytes, file: str) -> Iterator[tuple[str, bytes]]:
    pages, entries = TakenPaths(()), set[str]()
    for number, line in enumerate(lines.splitlines(), 2):
        told = _object(line)
        path, text = told.get("path"), told.get("text")
        if not isinstance(path, str) or not isinstance(text, str) or not _is_storable(path):
            raise InvalidText(f"{file}:{number}: this is no page and no entry")
        if fold(path) in entries if is_entry(path) else path in pages:
            raise InvalidText(f"{file}:{number}: {path!r} is there twice, or differs from another one only in case")
        if is_entry(path):
            entries.add(fold(path))
        else:
            pages.add(path)
        yield path, encode(text)


def _is_storable(path: str) -> bool:
    if not is_page_path(path):
        return False
    return is_stored_place(path) or path == DOMAINS_PAGE if is_entry(path) else not is_reserved(path)


def _line(value: Mapping[str, Any]) -> bytes:
    """A line of JSON: readable, unless a file has bytes that are not UTF-8."""
    try:
        return f"{json.dumps(value, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(value)}\n".encode()


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
