"""Promoting: which entries are sure enough to be shared with every agent. The plan that is shown is carried out.

A promoted entry stays where it is. Its copy in `shared/` knows where it came from, and what the original said then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count

from memory_v2.entries.copies import Copies, version
from memory_v2.entries.entry import SHARED, Entry
from memory_v2.errors import UsageError
from memory_v2.operations.results import Finding

THRESHOLD = 0.8
"""The least confidence of an entry that is promoted unasked: in Ocean's words, it is "verified by data, actionable"."""


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
    originals = [entry for entry in everything if entry.space != SHARED]
    copies = Copies(everything)
    taken = set(copies.names)
    promotions: dict[str, Promotion] = {}  # by text
    refusals: list[Refusal] = []
    for entry in originals if only is None else [_named(only, originals)]:
        copy = copies.of(entry)
        if copy is None and (same := promotions.get(entry.text.strip())):
            copy = same.copy
        if why_not := _why_not(entry, copy, threshold if only is None else None, require_verified):
            refusals.append(Refusal(entry.id, why_not))
            continue
        name = _free_name(entry, taken)
        taken.add(name)
        promotions[entry.text.strip()] = Promotion(entry.id, _copy(entry, name, now), _why(entry, only is not None))
    refused = () if only is None else tuple(refusals)
    return PromotionPlan(tuple(promotions.values()), refused, tuple(copies.findings()))


def _named(name: str, originals: Iterable[Entry]) -> Entry:
    wanted = name.removesuffix(".md").casefold()
    found = [entry for entry in originals if wanted in (entry.id.casefold(), entry.name.casefold())]
    if not found:
        raise UsageError(
            f"there is no entry {name!r} of an agent that can be read; 'silica memory check' tells the others"
        )
    if len(found) > 1:
        raise UsageError(f"{name!r} names several entries: {', '.join(one.id for one in found)}; give the whole id")
    return found[0]


def _why_not(entry: Entry, copy: Entry | None, threshold: float | None, require_verified: bool) -> str:
    if copy is not None:
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
