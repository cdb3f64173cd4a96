"""The first memory of Silica: a tree of Markdown files, each with a `NAME.metadata.json` that holds its summary.

The times in a sidecar are those of a home folder, so a document's day is that of its file if nothing else says
one. A name with a dot lost what is behind it, so that `python3.11` and `python3.12` share `python3.md`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any, Final

from memory_v2.errors import UsageError
from memory_v2.files.listing import LeftOut, Listing, SourceFile, has_text_suffix, left_out_as_hidden, list_files
from memory_v2.migrate.folder import Text, scan_files
from memory_v2.migrate.scan import Scan, SourceDocument
from memory_v2.text.days import iso_day
from memory_v2.tree.path import ROOT

PLACEHOLDER: Final = "Global memory storage for critical information"
"""What an unused `global.md` says."""
_SIDECAR = ".metadata.json"
_GLOBAL = "global.md"
_PERSONA_LOG = "persona.log.jsonl"
_REFERENCE = re.compile(r"^[ \t]*@([\w/._-]+)[ \t]*\r?$", re.M)
_KNOWN = ("created", "updated", "version", "summary", "tags")


@dataclass(frozen=True)
class Sidecar:
    """What a file beside a note says about it. `written_as` is the path under which the note was written."""

    file: SourceFile
    written_as: str
    note: str
    said: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def summary(self) -> str:
        """One or two sentences about the note; may be empty."""
        return " ".join(_words(self.said.get("summary")).split())


def detect(folder: Path) -> str:
    """By the sidecars of its notes, or by a placeholder that only this version wrote."""
    listing = list_files(folder, _judge)
    names = set(listing.names())
    if sidecars := sum(1 for each in names if each.endswith(_SIDECAR) and _note_of(each, names)):
        return f"{sidecars} {_SIDECAR} file{'s' * (sidecars != 1)}"
    return next((file.name for file in listing.files if _is_placeholder(file)), "")


def scan(folder: Path) -> Scan:
    """Each note is a document, described by its summary. Raises `UsageError` if the folder holds several personas."""
    listing = list_files(folder, _judge)
    sidecars = _sidecars(listing)
    start = _start(folder, listing, sidecars)
    by_note: dict[str, list[Sidecar]] = {}
    for sidecar in sorted(sidecars.values(), key=lambda sidecar: (_modified(sidecar.file), sidecar.file.name)):
        by_note.setdefault(sidecar.note, []).append(sidecar)

    def address(note: str) -> str:
        written = by_note[note][-1].written_as if note in by_note else note
        return written.removeprefix(start)

    def leave_out(text: Text) -> LeftOut | None:
        if not text.name.startswith(start):
            return LeftOut(text.name, "it stands beside the memory: the prompt of the persona, or a copy of it")
        is_unused = _is_global(text.name) and text.text.strip() == PLACEHOLDER
        return LeftOut(text.name, "the placeholder of an unused note", is_expected=True) if is_unused else None

    scanned = scan_files(listing, address=address, leave_out=leave_out)
    files = {file.name: file for file in listing.files}
    names = {document.name for document in scanned.documents}
    documents = [
        _completed(document, files[document.name], by_note.get(document.name, []), names, start)
        for document in scanned.documents
    ]
    left_out = [_explained(left, sidecars.get(left.name), by_note, names) for left in scanned.left_out]
    return replace(scanned, documents=documents, left_out=left_out)


def _start(folder: Path, listing: Listing, sidecars: Mapping[str, Sidecar]) -> str:
    """Where in the folder the memory is: it may be the folder of a persona, of all personas, or of Silica. A memory
    has its global note at the top."""
    found = {sidecar.note.removesuffix(_GLOBAL) for sidecar in sidecars.values() if _is_global(sidecar.note)}
    if not found and "persona.md" in listing.names():
        found = {"memory/"}
    if all(sidecar.note.startswith(tuple(found)) for sidecar in sidecars.values() if sidecar.note) and "" not in found:
        return one_persona(folder, [*found])
    return ""


def one_persona(folder: Path, names: Sequence[str]) -> str:
    """The only one of the folders of personas within `folder`, each ending in `/`; empty if there is none. Raises
    `UsageError` if there are several: a migration brings along one of them."""
    if len(names) > 1:
        raise UsageError(f"{folder} holds the memories of several personas: choose one of {', '.join(sorted(names))}")
    return names[0] if names else ""


def _judge(name: str, path: Path) -> LeftOut | None:
    *_, last = name.rstrip("/").rpartition("/")
    if last.startswith(".sync-"):
        return LeftOut(name, "kept by the synchronisation of Silica", is_expected=True)
    if last == "history" and (path.parent / "persona.md").exists() and (path.parent / "memory").is_dir():
        return LeftOut(name, "the sessions of a persona, and no memory", is_expected=True)
    return left_out_as_hidden(name, path)


def _sidecars(listing: Listing) -> dict[str, Sidecar]:
    """The sidecars by their names, each with its note; without a note if that is gone."""
    names = set(listing.names())
    found = {}
    for file in listing.files:
        if file.name.endswith(_SIDECAR):
            written = file.name.removesuffix(_SIDECAR)
            said, problem = _read(file)
            written_as = written if has_text_suffix(written) else f"{written}.md"
            found[file.name] = Sidecar(file, written_as, _note_of(file.name, names), said, problem)
    return found


def _note_of(sidecar: str, names: set[str]) -> str:
    return next((name for name in _files_of(sidecar.removesuffix(_SIDECAR)) if name in names), "")


def _files_of(path: str) -> tuple[str, ...]:
    """The names that the file of a note may have, by its path: the first is that which was written."""
    pure = PurePosixPath(path)
    return (str(pure.with_suffix(".md")) if pure.name else "", f"{path}.md")


def _read(file: SourceFile) -> tuple[Mapping[str, Any], str]:
    try:
        said = json.loads(file.path.read_bytes())
    except OSError as error:
        return {}, f"it cannot be read: {error.strerror}"
    except (ValueError, RecursionError):
        return {}, "it is no valid JSON"
    return (said, "") if isinstance(said, dict) else ({}, "it is no JSON object")


def _explained(
    left: LeftOut, sidecar: Sidecar | None, by_note: Mapping[str, list[Sidecar]], names: set[str]
) -> LeftOut:
    """What is left out, with what is known about it here: whose summary a sidecar is, and what becomes of it."""
    if sidecar is None:
        is_log = PurePosixPath(left.name).name == _PERSONA_LOG
        return LeftOut(left.name, "the log of a persona", is_expected=True) if is_log else left
    last = by_note[sidecar.note][-1]
    quoted = f': "{sidecar.summary}"' if sidecar.summary else ""
    if sidecar.problem:
        return LeftOut(left.name, f"the summary of a note, but {sidecar.problem}")
    if not sidecar.note:
        return LeftOut(left.name, f"the summary of a note that is not there{quoted}")
    if sidecar is not last:
        return LeftOut(left.name, f"the summary of a note that was overwritten as {_stem(last.written_as)}{quoted}")
    if sidecar.note not in names:
        return LeftOut(left.name, f"the summary of {sidecar.note}, which is left out{quoted}", is_expected=not quoted)
    return LeftOut(left.name, "the summary of a note, which describes its page", is_expected=True)


def _completed(
    document: SourceDocument, file: SourceFile, sidecars: list[Sidecar], names: set[str], start: str
) -> SourceDocument:
    """A document with what its sidecars and its file say, and with V1's own references."""
    said = sidecars[-1].said if sidecars else {}
    links, dead = _references(document, names, start)
    return replace(
        document,
        place=ROOT if document.name == start + _GLOBAL else document.place,
        description=document.description or (sidecars[-1].summary if sidecars else ""),
        day=document.day or iso_day(_words(said.get("created"))[:10]) or _day_of(file),
        tags=(*document.tags, *(tag for tag in _tags(said.get("tags")) if tag not in document.tags)),
        links=(*document.links, *(link for link in links if link not in document.links)),
        dead=(*document.dead, *dead),
        notes=(*document.notes, *_notes(sidecars)),
    )


def _references(document: SourceDocument, names: set[str], start: str) -> tuple[list[str], list[str]]:
    """The documents to which lines such as `@projects/silica` refer, and what leads nowhere."""
    links: dict[str, None] = {}
    dead: dict[str, None] = {}
    for path in _REFERENCE.findall(document.text):
        files = (start + file for file in _files_of(path.strip("/")))
        if (found := next((file for file in files if file in names), None)) is None:
            dead[f"@{path}"] = None
        elif found != document.name:
            links[found] = None
    return [*links], [*dead]


def _notes(sidecars: list[Sidecar]) -> Iterator[str]:
    if len(sidecars) > 1:
        older = ", ".join(_stem(sidecar.written_as) for sidecar in sidecars[:-1])
        yield f"the old memory kept {older} in this file too, and overwrote it"
    for sidecar in sidecars[-1:]:
        more = {key: value for key, value in sidecar.said.items() if key not in _KNOWN}
        if more:
            yield f"{sidecar.file.name} also says: {json.dumps(more, ensure_ascii=False)}"


def _stem(name: str) -> str:
    return PurePosixPath(name).stem


def _tags(value: object) -> list[str]:
    listed = value if isinstance(value, list) else _words(value).split(",")
    return [tag for each in listed if (tag := _words(each).strip().lstrip("#"))]


def _words(value: object) -> str:
    """The value if it is a text; half of a character, which JSON can hold, becomes a question mark."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _modified(file: SourceFile) -> float:
    try:
        return file.path.stat().st_mtime
    except OSError:
        return 0.0


def _day_of(file: SourceFile) -> date | None:
    try:
        return date.fromtimestamp(_modified(file) or math.nan)
    except (ValueError, OverflowError, OSError):  # no file, or a time that is no day
        return None


def _is_global(note: str) -> bool:
    return PurePosixPath(note).name == _GLOBAL


def _is_placeholder(file: SourceFile) -> bool:
    try:
        return _is_global(file.name) and file.path.read_text("utf-8", "replace").strip() == PLACEHOLDER
    except OSError:
        return False
