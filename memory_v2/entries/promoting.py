"""Promoting: which entries are sure enough to be shared with every agent. The plan that is shown is carried out.

A promoted entry stays where it is. Its copy in `shared/` knows where it came from, and what the original said then; if
the original has changed since, that is told, never mended: somebody may have corrected the copy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import TypeAlias

from memory_v2.entries.entry import SHARED, Entry
from memory_v2.errors import UsageError
from memory_v2.operations.results import Finding

THRESHOLD = 0.8
"""The least confidence of an entry that is promoted unasked: "confident", of four levels."""
_COMPARED = ("text", "observed_at", "kind", "tags", "source", "confidence", "importance", "decay", "verified", "status")

Copied: TypeAlias = tuple[Entry, Entry | None]
"""A shared copy, and its original as far as it is known."""


@dataclass(frozen=True, slots=True)
class Promotion:
    """An entry that is promoted: its id, its copy in the shared space, and why."""

    id: str
    copy: Entry
    why: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """An entry that was asked for and is not promoted, and why."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class PromotionPlan:
    """The entries that are promoted, by id; those asked for by name that are not; and what a person should look at."""

    promotions: tuple[Promotion, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    findings: tuple[Finding, ...] = ()


def plan_promotion(
    entries: Iterable[Entry],
    now: datetime,
    *,
    threshold: float = THRESHOLD,
    require_verified: bool = False,
    only: str | None = None,
) -> PromotionPlan:
    """What is promoted: open entries of agents with at least this confidence, verified ones only if required. `only`
    names one entry, which needs no confidence then. What has a copy is not promoted again. Raises `UsageError` if
    `only` names no entry, or several."""
    everything = sorted(entries, key=lambda entry: entry.id)
    originals = _originals(everything)
    copies = _copies(everything, originals)
    promotions: list[Promotion] = []
    refusals: list[Refusal] = []
    for entry in originals.values() if only is None else [_named(only, originals.values())]:
        least = threshold if only is None else None
        if why_not := _why_not(entry, copies, least, require_verified):
            refusals.append(Refusal(entry.id, why_not))
            continue
        copy = _copy(entry, _free_name(entry, {copy.name for copy, _ in copies}), now)
        copies.append((copy, entry))
        promotions.append(Promotion(entry.id, copy, _why(entry, only is not None)))
    return PromotionPlan(tuple(promotions), () if only is None else tuple(refusals), copy_findings(everything))


def copy_findings(entries: Iterable[Entry]) -> tuple[Finding, ...]:
    """The shared copies whose original has changed since, or is not known."""
    everything = list(entries)
    originals = _originals(everything)
    copies = _copies(everything, originals)
    return tuple(one for copy, original in copies for one in _findings(copy, original, originals.values()))


def version(entry: Entry) -> str:
    """A digest of what an entry says and how sure it is; where it stands and what became of it is no part of it."""
    fields = asdict(entry)
    said = json.dumps([fields[name] for name in _COMPARED], default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _originals(entries: Iterable[Entry]) -> dict[str, Entry]:
    return {entry.id: entry for entry in entries if entry.space != SHARED}


def _copies(entries: Iterable[Entry], originals: Mapping[str, Entry]) -> list[Copied]:
    return [(entry, _original_of(entry, originals)) for entry in entries if entry.space == SHARED]


def _named(name: str, originals: Iterable[Entry]) -> Entry:
    wanted = name.removesuffix(".md").casefold()
    found = [entry for entry in originals if wanted in (entry.id.casefold(), entry.name.casefold())]
    if not found:
        raise UsageError(f"there is no entry {name!r} of an agent; list the entries to see their ids")
    if len(found) > 1:
        raise UsageError(f"{name!r} names several entries: {', '.join(one.id for one in found)}; give the whole id")
    return found[0]


def _why_not(entry: Entry, copies: Sequence[Copied], threshold: float | None, require_verified: bool) -> str:
    if copy := _copy_of(entry, copies):
        return f"it is shared already, as {copy.id}"
    if entry.archived or entry.status == "closed":
        return "it is archived" if entry.archived else "it is closed"
    if require_verified and not entry.verified:
        return "nobody has verified it"
    if threshold is None:
        return ""
    if entry.confidence is None:
        return "it says no confidence"
    return f"its confidence is {entry.confidence:g}" if entry.confidence < threshold else ""


def _original_of(copy: Entry, originals: Mapping[str, Entry]) -> Entry | None:
    """The entry that a copy says it was promoted from: by its id, or by the agent (`captain`, if the copy is named
    `captain-obs-2026-02-15-001`)."""
    said = copy.promoted_from or ""
    return originals.get(said) or originals.get(f"{said}/{copy.name.removeprefix(f'{said}-')}")


def _copy_of(entry: Entry, copies: Iterable[Copied]) -> Entry | None:
    """The shared copy of an entry; also one with the same text whose original nobody knows."""
    for copy, original in copies:
        if original is entry or (original is None and _text(copy) == _text(entry)):
            return copy
    return None


def _text(entry: Entry) -> str:
    """What is compared of a text: tools add and drop line ends around it."""
    return entry.text.strip()


def _why(entry: Entry, is_asked_for: bool) -> str:
    sure = "" if entry.confidence is None else f"confidence {entry.confidence:g}"
    return ", ".join(filter(None, ("asked for" if is_asked_for else "", sure, "verified" if entry.verified else "")))


def _copy(entry: Entry, name: str, now: datetime) -> Entry:
    return replace(
        entry,
        id=f"{SHARED}/{name}",
        promoted_from=entry.id,
        promoted_at=now.astimezone(UTC),
        promoted_version=version(entry),
        promoted_to=(),
        consolidated_into=(),
        derived_from=(),
    )


def _free_name(entry: Entry, taken: Collection[str]) -> str:
    """The name of a copy: the agent's name, then the entry's, as Ocean's vaults have it."""
    name = f"{entry.space}-{entry.name}"
    numbered = (f"{name}-{number}" for number in count(2))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def _findings(copy: Entry, original: Entry | None, originals: Iterable[Entry]) -> Iterator[Finding]:
    if original is None:
        alike = [one for one in originals if _text(one) == _text(copy)]
        if alike or copy.promoted_from is not None:  # else it was captured where it stands
            yield _finding("lost original", copy, _lost(copy, alike))
    elif (changed := _changed(original, copy)) is not None:
        yield _finding("outdated copy", copy, f"{original.id} has changed since it was promoted{changed}")


def _lost(copy: Entry, alike: Iterable[Entry]) -> str:
    """What is told of a copy whose original is not known: which entries have its text, and how else they differ."""
    start = "it does not say where it was promoted from"
    if copy.promoted_from is not None:
        start = f"it was promoted from {copy.promoted_from!r}, which is not there"
    told = [f"{one.id} has the same text{_told(_differences(one, copy), one, copy)}" for one in alike]
    return "; ".join([start, *told])


def _changed(original: Entry, copy: Entry) -> str | None:
    """What is told of a change of the original since it was promoted; `None` if there was none."""
    if copy.promoted_version == version(original):
        return None
    differences = _differences(original, copy)
    if copy.promoted_version is None and not differences:
        return None
    return _told(differences, original, copy)


def _differences(original: Entry, copy: Entry) -> list[str]:
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
