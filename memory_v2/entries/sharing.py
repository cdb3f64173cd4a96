"""Sharing: which entries are sure enough that every agent reads them, and what became of the copies.

A promoted entry stays where it is. Its copy in `shared/` knows where it came from, and what the original said then. A
change of the original since is told, never mended: the copy may have been corrected.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import count

from memory_v2.entries.curation import Stock, carried_out
from memory_v2.entries.entry import SHARED, Entry
from memory_v2.entries.file import Written, changed_header, read_header, written_moment
from memory_v2.entries.places import path_of
from memory_v2.entries.store import EntryStore
from memory_v2.errors import InvalidSetting, UsageError
from memory_v2.operations.operation import operation
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.storage.history import PageChange
from memory_v2.text.amounts import counted_entries
from memory_v2.tree.block import decode, encode
from memory_v2.tree.finding import Finding
from memory_v2.validate import share_given

THRESHOLD = 0.8
"""The least confidence of an entry that is promoted unasked: in Ocean's words, it is "verified by data, actionable"."""
_COMPARED = ("text", "observed_at", "kind", "tags", "source", "confidence", "importance", "decay", "verified", "status")


@operation("promote", changes="entries")
def promote(
    store: EntryStore,
    threshold: float = THRESHOLD,
    require_verified: bool = False,
    only: str | None = None,
    apply: bool = False,
) -> Plan:
    """Finds the entries that are sure enough to be shared, or the one that is named, and with `apply` copies them into
    the shared space. Raises `InvalidSetting`, `UsageError`, `StorageError`."""
    least = share_given("threshold", threshold)
    if not isinstance(require_verified, bool):
        raise InvalidSetting(f"require_verified is True or False, not {require_verified!r}")

    def plan(stock: Stock) -> Plan:
        entries = (entry for entry in stock.entries if stock.is_editable(entry))
        now = store.calendar.now().replace(microsecond=0)
        made = plan_promotion(entries, now, threshold=least, require_verified=require_verified, only=only)
        steps = (step if step.action == SKIP else replace(step, changes=_changes(stock, step)) for step in made.steps)
        return replace(made, steps=tuple(steps))

    return carried_out(store, apply, plan)


def _changes(stock: Stock, step: Step) -> tuple[PageChange, PageChange]:
    """The file of a copy, which is the original with the keys that only a copy has, so that unknown ones are copied
    too; and the key by which the original names it."""
    copy: Entry = step.facts["copy"]
    text = decode(stock.data(step.name))
    keys: dict[str, Written] = dict.fromkeys(("promoted_to", "consolidated_into", "derived_from"))
    keys |= {"promoted_from": copy.promoted_from, "promoted_at": written_moment(copy.promoted_at)}
    keys["promoted_version"] = copy.promoted_version
    if "created" not in read_header(text).values:
        keys = {"created": copy.observed_at.isoformat(), **keys}
    promoted_to = (*stock.entry(step.name).promoted_to, copy.id)
    return (
        PageChange(path_of(SHARED, copy.name), None, encode(changed_header(text, keys))),
        stock.with_header(step.name, promoted_to=promoted_to),
    )


def plan_promotion(
    entries: Iterable[Entry],
    now: datetime,
    *,
    threshold: float = THRESHOLD,
    require_verified: bool = False,
    only: str | None = None,
) -> Plan:
    """What is promoted, by id: open entries of agents with at least this confidence, verified ones only if required.
    `only` names one entry, which needs no confidence then, and is skipped with the reason if it cannot be promoted.
    What has a copy is not promoted again. Raises `UsageError` if `only` names no entry, or several."""
    everything = sorted(entries, key=lambda entry: entry.id)
    originals = [entry for entry in everything if entry.space != SHARED]
    copies = Copies(everything)
    taken = set(copies.names)
    steps: list[Step] = []
    shared: dict[str, Entry] = {}  # by text
    for entry in originals if only is None else [_named(only, originals)]:
        copy = copies.of(entry) or shared.get(_text(entry))
        if why_not := _why_not(entry, copy, threshold if only is None else None, require_verified):
            if only is not None:
                steps.append(Step(SKIP, entry.id, reason=why_not))
            continue
        name = _free_name(entry, taken)
        taken.add(name)
        copy = shared[_text(entry)] = _copy(entry, name, now)
        steps.append(Step("promote", entry.id, copy.id, _why(entry, only is not None), facts={"copy": copy}))
    title = f"{counted_entries(len(shared))} sure enough to be shared"
    return Plan("promote", title, tuple(steps), tuple(copies.findings()))


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
            elif alike[_text(copy)] or copy.promoted_from is not None:  # else it was captured there
                yield _finding("lost-original", copy, _lost(copy, alike[_text(copy)]))

    def _original_of(self, copy: Entry) -> Entry | None:
        """The entry that a copy says it was promoted from: by its id, or by the agent (`captain`, if the copy is named
        `captain-obs-2026-02-15-001`)."""
        said = copy.promoted_from or ""
        by_agent = f"{said}/{copy.name.removeprefix(f'{said}-')}"
        return self._originals.get(said) or self._originals.get(by_agent)


def version(entry: Entry) -> str:
    """A digest of what an entry says and how sure it is; its place and what became of it are no part of it."""
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
    parts = [f"{one.id} has the same text{_told(_differences(one, copy), one, copy)}" for one in alike]
    return "; ".join([start, *parts])


def _differences(original: Entry, copy: Entry) -> Sequence[str]:
    others = [name for name in _COMPARED[1:] if getattr(original, name) != getattr(copy, name)]
    return others if _text(original) == _text(copy) else [_COMPARED[0], *others]


def _told(names: Iterable[str], original: Entry, copy: Entry) -> str:
    parts = [
        "the text" if name == "text" else f"{name} {_short(original, name)} there, {_short(copy, name)} here"
        for name in names
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def _short(entry: Entry, name: str) -> str:
    value = getattr(entry, name)
    return repr(value.author or value.channel or "") if name == "source" else repr(value)


def _finding(kind: str, copy: Entry, message: str) -> Finding:
    return Finding(kind, "notice", copy.id, 0, message)
