"""Promoting: which entries are sure enough to be shared with every agent. The plan that is shown is carried out.

A promoted entry stays where it is. Its copy in `shared/` knows where it came from, and what the original said then; if
the original has changed since, that is told, never mended: somebody may have corrected the copy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from memory_v2.entries.entry import SHARED, Entry
from memory_v2.errors import UsageError
from memory_v2.operations.results import Finding

THRESHOLD = 0.8
"""The least confidence of an entry that is promoted unasked: "confident", of four levels."""
_COMPARED = ("text", "observed_at", "kind", "tags", "source", "confidence", "importance", "decay", "verified", "status")


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
    copies = [entry for entry in everything if entry.space == SHARED]
    originals = [entry for entry in everything if entry.space != SHARED]
    asked = originals if only is None else [_named(only, originals)]
    promotions: list[Promotion] = []
    refusals: list[Refusal] = []
    taken = {copy.name for copy in copies}
    for entry in asked:
        if why_not := _why_not(entry, copies, threshold if only is None else None, require_verified):
            refusals.append(Refusal(entry.id, why_not))
            continue
        copy = _copy(entry, _free_name(entry, taken), now)
        taken.add(copy.name)
        copies.append(copy)
        promotions.append(Promotion(entry.id, copy, _why(entry, only is not None)))
    return PromotionPlan(tuple(promotions), () if only is None else tuple(refusals), tuple(_findings(everything)))


def version(entry: Entry) -> str:
    """A digest of what an entry says and how sure it is; where it stands and what became of it is no part of it."""
    fields = asdict(entry)
    said = json.dumps([fields[name] for name in _COMPARED], default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _named(name: str, originals: Sequence[Entry]) -> Entry:
    wanted = name.removesuffix(".md").casefold()
    found = [entry for entry in originals if wanted in (entry.id.casefold(), entry.name.casefold())]
    if not found:
        raise UsageError(f"there is no entry {name!r} of an agent; list the entries to see their ids")
    if len(found) > 1:
        raise UsageError(f"{name!r} names several entries: {', '.join(one.id for one in found)}; give the whole id")
    return found[0]


def _why_not(entry: Entry, copies: Iterable[Entry], threshold: float | None, require_verified: bool) -> str:
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


def _copy_of(entry: Entry, copies: Iterable[Entry]) -> Entry | None:
    """The shared copy of an entry: it says so, or it says nothing about that and has the same text."""
    for copy in copies:
        if copy.promoted_from == entry.id or (copy.promoted_from is None and copy.text.strip() == entry.text.strip()):
            return copy
    return None


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


def _free_name(entry: Entry, taken: Iterable[str]) -> str:
    """The entry's own name, or the next free number of its day."""
    if entry.name not in taken:
        return entry.name
    start, _, _ = entry.name.rpartition("-")
    number = 1
    while (name := f"{start}-{number:03}") in taken:
        number += 1
    return name


def _findings(entries: Sequence[Entry]) -> Iterator[Finding]:
    by_id = {entry.id: entry for entry in entries}
    for copy in entries:
        if copy.space != SHARED:
            continue
        if copy.promoted_from is None:
            yield from _unsaid_origin(copy, entries)
        elif (original := by_id.get(copy.promoted_from)) is None:
            yield _finding("lost original", copy, f"it was promoted from {copy.promoted_from}, which is not there")
        elif changed := _changed(original, copy):
            yield _finding("outdated copy", copy, f"{original.id} has changed since it was promoted{changed}")


def _unsaid_origin(copy: Entry, entries: Iterable[Entry]) -> Iterator[Finding]:
    """A copy that does not say where it came from: which entries have its text, and where they differ from it."""
    alike = [one for one in entries if one.space != SHARED and one.text.strip() == copy.text.strip()]
    if len(alike) == 1:
        differing = _told(_differences(alike[0], copy), alike[0], copy)
        message = f"it does not say where it was promoted from; {alike[0].id} has the same text{differing}"
        yield _finding("copy without origin", copy, message)
    elif alike:
        ids = ", ".join(one.id for one in alike)
        yield _finding("copy without origin", copy, f"it may have been promoted from any of {ids}, and does not say")
    elif namesakes := [one.id for one in entries if one.space != SHARED and one.name == copy.name]:
        message = f"it has another text than {', '.join(namesakes)} of the same name, and does not say where it is from"
        yield _finding("copy without origin", copy, message)


def _changed(original: Entry, copy: Entry) -> str | None:
    """What is told of a change of the original since it was promoted; `None` if there was none."""
    if copy.promoted_version == version(original):
        return None
    differences = _differences(original, copy)
    if copy.promoted_version is None and not differences:
        return None
    return _told(differences, original, copy)


def _differences(original: Entry, copy: Entry) -> list[str]:
    return [name for name in _COMPARED if getattr(original, name) != getattr(copy, name)]


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
