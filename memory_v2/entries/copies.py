"""Shared copies: which entry each was promoted from, and whether that has changed since.

A change is told, never mended: somebody may have corrected the copy.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from memory_v2.entries.entry import SHARED, Entry
from memory_v2.operations.results import Finding

_COMPARED = ("text", "observed_at", "kind", "tags", "source", "confidence", "importance", "decay", "verified", "status")


class Copies:
    """The shared entries among these, each with its original as far as that is known."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        everything = list(entries)
        self.names = {entry.name for entry in everything if entry.space == SHARED}
        self._originals = {entry.id: entry for entry in everything if entry.space != SHARED}
        self._pairs = [(entry, self._original_of(entry)) for entry in everything if entry.space == SHARED]
        self._of = {original.id: copy for copy, original in self._pairs if original}
        self._by_text = {_text(copy): copy for copy, _ in self._pairs}

    def of(self, entry: Entry) -> Entry | None:
        """The copy of an entry; or what is shared already with the same text, whoever has said it."""
        return self._of.get(entry.id) or self._by_text.get(_text(entry))

    def findings(self) -> Iterator[Finding]:
        """The copies whose original has changed since, or is not known."""
        alike: dict[str, list[Entry]] = defaultdict(list)
        for entry in self._originals.values() if self._pairs else ():
            alike[_text(entry)].append(entry)
        for copy, original in self._pairs:
            if original is not None:
                if (changed := _changed(original, copy)) is not None:
                    yield _finding("outdated-copy", copy, f"{original.id} has changed since it was promoted{changed}")
            elif alike[_text(copy)] or copy.promoted_from is not None:  # else it was captured where it stands
                yield _finding("lost-original", copy, _lost(copy, alike[_text(copy)]))

    def _original_of(self, copy: Entry) -> Entry | None:
        """The entry that a copy says it was promoted from: by its id, or by the agent (`captain`, if the copy is named
        `captain-obs-2026-02-15-001`)."""
        said = copy.promoted_from or ""
        by_agent = f"{said}/{copy.name.removeprefix(f'{said}-')}"
        return self._originals.get(said) or self._originals.get(by_agent)


def version(entry: Entry) -> str:
    """A digest of what an entry says and how sure it is; where it stands and what became of it is no part of it."""
    fields = asdict(entry)
    said = json.dumps([fields[name] for name in _COMPARED], default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _text(entry: Entry) -> str:
    """What is compared of a text: tools add and drop line ends around it."""
    return entry.text.strip()


def _changed(original: Entry, copy: Entry) -> str | None:
    """What is told of a change of the original since it was promoted; `None` if there was none."""
    if copy.promoted_version == version(original):
        return None
    differences = _differences(original, copy)
    if copy.promoted_version is None and not differences:
        return None
    return _told(differences, original, copy)


def _lost(copy: Entry, alike: Iterable[Entry]) -> str:
    """What is told of a copy whose original is not known: which entries have its text, and how else they differ."""
    start = "it does not say where it was promoted from"
    if copy.promoted_from is not None:
        start = f"it was promoted from {copy.promoted_from!r}, which is not there"
    told = [f"{one.id} has the same text{_told(_differences(one, copy), one, copy)}" for one in alike]
    return "; ".join([start, *told])


def _differences(original: Entry, copy: Entry) -> Sequence[str]:
    others = [name for name in _COMPARED[1:] if getattr(original, name) != getattr(copy, name)]
    return others if _text(original) == _text(copy) else [_COMPARED[0], *others]


def _told(names: Iterable[str], original: Entry, copy: Entry) -> str:
    told = [
        "the text" if name == "text" else f"{name} {_short(original, name)} there, {_short(copy, name)} here"
        for name in names
    ]
    return f" ({'; '.join(told)})" if told else ""


def _short(entry: Entry, name: str) -> str:
    value = getattr(entry, name)
    return repr(value.author or value.channel or "") if name == "source" else repr(value)


def _finding(kind: str, copy: Entry, message: str) -> Finding:
    return Finding(kind, "notice", copy.id, 0, message)
