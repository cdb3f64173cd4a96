"""Which entries are still to be worked into pages, and which of them one decision is made about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from memory_v2.entries.domains import INBOX, domain_named
from memory_v2.entries.entry import SHARED, Entry
from memory_v2.entries.filing import Batch
from memory_v2.entries.places import check_agent
from memory_v2.entries.planned import Stock
from memory_v2.entries.references import Targets
from memory_v2.entries.upkeep import domains
from memory_v2.errors import InvalidPath, InvalidSetting
from memory_v2.operations.results import Finding
from memory_v2.operations.texts import checked_day
from memory_v2.tree.block import encode
from memory_v2.tree.path import new_page_path

MAX_ENTRIES = 40
"""How many entries are worked in by one decision: a week of a busy agent, which a model still sees as a whole."""
MAX_BYTES = 12_000
"""The same in bytes of their texts: about a page. An entry that is longer is worked in alone."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was asked for: entries of one home, of one agent or `shared`, and of the days from one to another."""

    home: str | None
    agent: str | None
    since: str | None
    until: str | None


def checked_choice(home: str | None, agent: str | None, since: date | str | None, until: date | str | None) -> Choice:
    """What was asked for, if it can be. Raises `InvalidSetting`."""
    first, last = (
        None if day is None else str(day) for day in (checked_day("since", since), checked_day("until", until))
    )
    return Choice(home, agent if agent in (None, SHARED) else check_agent(agent), first, last)


def chosen(stock: Stock, choice: Choice) -> Iterator[Entry]:
    """The entries of any home that are still to be worked in, oldest first. What is archived or closed stays as it is;
    the shared copy of an entry is not worked in beside it."""
    day = stock.area.calendar.written
    for entry in sorted(stock.entries, key=lambda one: (day(one.observed_at) or "", _moment(one), one.id)):
        is_left = entry.archived or entry.status == "closed" or not entry.text.strip() or not stock.is_editable(entry)
        if is_left or entry.consolidated_into:
            continue
        said = day(entry.observed_at) or ""
        is_of_these_days = (choice.since or said) <= said <= (choice.until or said)
        if is_of_these_days and choice.agent in (None, entry.space) and entry.promoted_from not in stock.ids:
            yield entry


def batches_of(stock: Stock, entries: Iterable[Entry], home: str | None) -> Iterator[Batch | Finding]:
    """These entries in batches: those of one `home`, or of each but the inbox, pages first. A home that can be no page
    is a finding for each of its entries. Raises `InvalidSetting` if there is no such home."""
    known = domains(stock.area).domains
    targets = Targets(stock.entries, known, stock.area.storage.list_files())
    wanted = None if home is None else _checked_home(home, stock, targets)
    homes: dict[str, list[Entry]] = {}
    for entry in entries:
        homes.setdefault(_home(entry.home, targets), []).append(entry)
    names = [one.name for one in known]
    for name in sorted(homes, key=lambda one: (names.index(one) + 1 if one in names else 0, one)):
        if name == INBOX if wanted is None else name != wanted:
            continue
        domain = domain_named(name, known)
        try:
            path = None if domain or name == INBOX else new_page_path(name)
        except InvalidPath as error:
            told = f"its home is no page, so it was left: {error}"
            yield from (Finding("unknown-home", "error", one.id, 0, told) for one in homes[name])
            continue
        yield from (Batch(tuple(part), domain, path) for part in _parts(homes[name]))


def _moment(entry: Entry) -> str:
    return entry.recorded_at.isoformat() if entry.recorded_at else ""


def _home(home: str | None, targets: Targets) -> str:
    """A home as the domain or the page is spelled."""
    lead = targets.lead(home) if home else None
    return lead.targets[0] if lead and lead.kind in ("domain", "page") else home or INBOX


def _checked_home(home: str, stock: Stock, targets: Targets) -> str:
    named = _home(home, targets)
    there = {INBOX, *(_home(entry.home, targets) for entry in stock.entries)}
    if named not in there and targets.lead(home).kind not in ("domain", "page"):
        raise InvalidSetting(f"there is no home {home!r}; entries have these: {', '.join(sorted(there))}")
    return named


def _parts(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    part: list[Entry] = []
    size = 0
    for entry in entries:
        more = len(encode(entry.text))
        if part and (len(part) == MAX_ENTRIES or size + more > MAX_BYTES):
            yield part
            part, size = [], 0
        part.append(entry)
        size += more
    if part:
        yield part
