"""Searching pages and entries at once.

Both are ranked as one set. What an entry answers is then multiplied by its confidence and by the weight that its age
has left it, as of now; an entry that says no confidence counts in full, and so does a page.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from memory_v2.entries.decay import age, has_expired, weight
from memory_v2.entries.domains import domains
from memory_v2.entries.entry import INBOX, SHARED, Domain, Entry, domain_named, shard_id
from memory_v2.entries.file import read_entry, text_line
from memory_v2.entries.indexing import name_of
from memory_v2.entries.places import EntryFiles, check_agent, place_of
from memory_v2.entries.references import references_of
from memory_v2.entries.store import EntryStore
from memory_v2.errors import InvalidSetting
from memory_v2.index.base import EntryHit, Hit
from memory_v2.index.days import speaks_of
from memory_v2.index.entries import EntryIndex, File, count_entries
from memory_v2.index.lookup import POSTINGS
from memory_v2.index.places import ENTRIES, PAGE_OF
from memory_v2.index.postings import Only
from memory_v2.index.ranking import Ranked
from memory_v2.operations.context import Context
from memory_v2.operations.operation import operation
from memory_v2.operations.results import SearchResults
from memory_v2.operations.search import search as search_tree
from memory_v2.operations.search_request import SearchRequest
from memory_v2.text.calendar import Calendar
from memory_v2.validate import checked_day, share_given

OF_ENTRIES = ("agent", "domain", "tags", "min_confidence")
"""What is asked of entries only, for pages have none of it."""


@operation("search", recorded=True)
def search(context: Context, asked: SearchRequest) -> SearchResults:
    """The best answers of pages and entries to what is asked, best first, as `operations.search` finds them. An agent,
    a domain, tags and a confidence are what entries have: with one of them, no page is searched. Raises
    `InvalidSetting` too."""
    asked = replace(asked, tags=tuple(tag.strip() for tag in asked.tags))
    entries_only = _is_for_entries_only(asked)
    index = context.index.entries
    recall = None
    is_for_both = asked.only != "pages" and asked.near is None and not asked.regex
    if entries_only or (is_for_both and index.may_have_entries):
        wanted = _wanted(context, asked)
        index.refresh()
        stored = EntryFiles(context.storage)
        known = domains(EntryStore(context.storage, context.calendar)).domains if asked.cross else ()
        recall = Recall(index, context.calendar, wanted, stored, asked.max_results, entries_only, known)
    results = search_tree(context, asked, recall)
    if recall:
        results.archived_left_out = recall.left_out or 0
    return results


def _is_for_entries_only(asked: SearchRequest) -> bool:
    """Whether pages are left out. Raises `InvalidSetting` if what is asked does not go together."""
    told = next((name for name in OF_ENTRIES if getattr(asked, name) not in (None, ())), None)
    entries_only = asked.only == "entries" or told is not None
    if asked.only == "pages" and told:
        raise InvalidSetting(f"pages have no {told}: leave it out, or search entries too")
    if entries_only and (asked.near is not None or asked.regex):
        raise InvalidSetting(f"{'regex' if asked.regex else 'near'} finds pages only: leave it out to search entries")
    for name, value in (("cross", asked.cross), ("archived", asked.archived)):
        if not isinstance(value, bool):
            raise InvalidSetting(f"{name} must be True or False, not {value!r}")
    if asked.only not in (None, "pages", "entries"):
        raise InvalidSetting(f"only must be pages or entries, not {asked.only!r}")
    return entries_only


def _wanted(context: Context, asked: SearchRequest) -> Wanted:
    """Which entries are asked for. Raises `InvalidSetting`."""
    least = asked.min_confidence
    return Wanted(
        agent=asked.agent if asked.agent in (None, SHARED) else check_agent(asked.agent),
        home=None if asked.domain is None else _home(context, asked.domain),
        under=asked.under.rstrip("/") if isinstance(asked.under, str) else None,
        tags=tuple(asked.tags),
        min_confidence=None if least is None else share_given("min_confidence", least),
        since=checked_day("since", asked.since),
        until=checked_day("until", asked.until),
        source=asked.source.strip() if isinstance(asked.source, str) else "",
        archived=asked.archived,
        crossed=asked.cross,
    )


def _home(context: Context, domain: object) -> str:
    """The home that is meant: a domain by its name, the inbox, or a page. Raises `InvalidSetting` for any other."""
    if not isinstance(domain, str):
        raise InvalidSetting(f"domain must be the name of a domain, not {domain!r}")
    if domain.strip().casefold() == INBOX:
        return ""
    known = domains(EntryStore(context.storage, context.calendar)).domains
    if (found := domain_named(domain, known)) is not None:
        return found.name
    if domain in context.index.graph().pages:
        return domain
    names = ", ".join(one.name for one in known)
    raise InvalidSetting(f"there is no domain {domain!r}: the domains are {names} and {INBOX}")


CROSSED = 0.5
"""What an entry keeps of the score of the one that a reference joins it to: it answers at second hand."""
AS_WELL = 0.8
"""Which part of an entry's score a page must have to answer as well, if the entry was worked into it. One that has less
tells something else there, or has lost the words."""
MOST_CROSSED = 20
"""From how many of the best hits references are followed."""
FROM_DOMAIN = 5
"""How many entries of a domain, newest first, a reference to it leads to."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries are searched: of an agent and the shared ones; whose home is this domain (the inbox if it is
    empty), or the page `under` or one below it; with all of these tags; with at least this confidence; of some days;
    from some source; also archived ones; and with those that references join to what was found, if they are to be
    `crossed`."""

    agent: str | None = None
    home: str | None = None
    under: str | None = None
    tags: tuple[str, ...] = ()
    min_confidence: float | None = None
    since: date | None = None
    until: date | None = None
    source: str = ""
    archived: bool = False
    crossed: bool = False

    def condition(self, archived: bool, any_archived: bool = True) -> Only:
        """The condition on entries, in SQL, for those in the archive or those that are not."""
        given: dict[str, object] = {}
        parts = ["archived = 1"] if archived else ["archived = 0"] if any_archived else []
        if self.agent is not None:
            parts.append("space IN (:agent, :shared)")
            given |= {"agent": self.agent.casefold(), "shared": SHARED}
        if self.home is not None:
            parts.append("home = :home")
            given["home"] = self.home.casefold()
        if self.under is not None:
            parts.append("(home = :under OR substr(home, 1, length(:under) + 1) = :under || '/')")
            given["under"] = self.under.casefold()
        for number, tag in enumerate(self.tags):
            parts.append(f"instr(tags, char(10) || :tag{number} || char(10))")
            given[f"tag{number}"] = tag.casefold()
        if self.min_confidence is not None:
            parts.append("confidence >= :least")
            given["least"] = self.min_confidence
        if self.since is not None:
            parts.append("day >= :since_day")
            given["since_day"] = self.since.toordinal()
        if self.until is not None:
            parts.append("day <= :until_day")
            given["until_day"] = self.until.toordinal()
        if self.source:
            parts.append("instr(source, :source)")
            given["source"] = self.source.casefold()
        return Only("".join(f" AND {part}" for part in parts), given)


@dataclass
class Recall:
    """The entries of one search, which are ranked with the pages; see `EntrySearch`."""

    index: EntryIndex
    calendar: Calendar
    wanted: Wanted
    stored: EntryFiles
    shown: int
    """How many answers are asked for."""
    alone: bool = False
    """Whether only entries are searched."""
    domains: Sequence[Domain] = ()
    """The domains that a reference may lead to."""
    left_out: int | None = None
    """How many archived entries would be among the answers and were left out; `None` before anything was found."""

    def conditions(self, tables: sqlite3.Connection) -> list[Only]:
        """Those in the archive are looked for too, and counted if they are not wanted."""
        archived = self.wanted.condition(archived=True)
        if not count_entries(tables, archived, 1):
            return [_on_passages(tables, self.wanted.condition(archived=False, any_archived=False))]
        return [_on_passages(tables, self.wanted.condition(archived=False)), _on_passages(tables, archived)]

    def hits(self, ranked: Sequence[Ranked], files: Mapping[int, File]) -> list[Hit]:
        """A hit for each of these places; `files` has their entries by page."""
        return [self._hit(one, files[one.place.page]) for one in ranked]

    def arranged(self, hits: Sequence[Hit], limit: int) -> list[Hit]:
        """The best hits by their scores: each entry once, none that has been worked into a page that answers as well,
        and archived ones only if they are wanted."""
        ordered = sorted(hits, key=lambda hit: -hit.score)
        pages: dict[str, float] = {}
        for hit in ordered:
            if hit.entry is None:
                pages.setdefault(hit.path, hit.score)
        seen: set[str] = set()
        kept: list[Hit] = []
        left_out = 0
        for hit in ordered:
            if len(kept) == limit:
                break
            if hit.entry is None:
                kept.append(hit)
            elif hit.entry.id not in seen and not _is_told_by(pages, hit):
                seen.add(hit.entry.id)
                if not hit.entry.archived or self.wanted.archived:
                    kept.append(hit)
                elif len(kept) < self.shown:
                    left_out += 1
        self.left_out = left_out if self.left_out is None else self.left_out
        return self._crossed(kept, limit) if self.wanted.crossed else kept

    def _hit(self, one: Ranked, file: File) -> Hit:
        place, entry = one.place, _entry_in(file)
        day = _day_of(entry, self.calendar)
        told = self._told(entry, one.score)
        last = place.first_line + place.text.count("\n")
        path, above = self.stored.where(file.path)
        about = speaks_of(place.text, one.said, day)
        score = told.answers * told.confidence * told.weight
        first, last = place.first_line + above, last + above
        return Hit(path, 1, first, last, place.text, score, day, (), one.found_by, about, one.signs, told)

    def _told(self, entry: Entry, answers: float) -> EntryHit:
        is_past = not self.wanted.archived and has_expired(entry.decay, age(entry, self.calendar))
        return replace(entry_hit(entry, answers, self.calendar), past=is_past)

    def _crossed(self, hits: Sequence[Hit], limit: int) -> list[Hit]:
        """The hits, with the entries that references join to the best of them, one step either way."""
        found = {hit.entry.id: hit for hit in hits if hit.entry}
        for hit in hits[:MOST_CROSSED]:
            for file, why in self._joined_to(hit):
                entry = _entry_in(file)
                if entry.id in found or (entry.archived and not self.wanted.archived):
                    continue
                found[entry.id] = self._at_second_hand(file, entry, hit.score, why)
        others = [hit for hit in hits if hit.entry is None]
        return sorted([*others, *found.values()], key=lambda hit: -hit.score)[:limit]

    def _joined_to(self, hit: Hit) -> Iterator[tuple[File, str]]:
        """The files of the entries that a hit names, and of those that name it, and why."""
        if hit.entry is None:
            yield from ((file, f"a reference to {hit.path}") for file in self.index.naming([hit.path.casefold()]))
            return
        name = hit.entry.id
        own = self.index.called([name.casefold()])
        named = (name_of(reference.target) for file in own for reference in references_of(_entry_in(file)))
        for target in named:
            called = self.index.called([target])
            if len(called) == 1:  # a name that several entries have leads nowhere
                yield called[0], f"a reference from {name}"
            elif not called and (domain := domain_named(target, self.domains)) is not None:
                for file in self.index.at_home(domain.name, FROM_DOMAIN, self.wanted.archived):
                    yield file, f"a reference from {name} to {domain.name}"
        alone = name.rpartition("/")[2].casefold()
        is_told_apart = len(self.index.called([alone])) == 1
        for file in self.index.naming([name.casefold(), alone] if is_told_apart else [name.casefold()]):
            yield file, f"a reference to {name}"
        home = domain_named(_entry_in(own[0]).home or "", self.domains) if own else None
        if home is not None:
            for file in self.index.naming([home.name, shard_id(home.name)]):
                yield file, f"a reference to {home.name}"

    def _at_second_hand(self, file: File, entry: Entry, score: float, why: str) -> Hit:
        told = self._told(entry, CROSSED * score)
        text = entry.text.lstrip("\r\n")
        path, above = self.stored.where(file.path)
        first = above + text_line(entry, file.data) + entry.text.count("\n", 0, len(entry.text) - len(text))
        text = text.rstrip("\r\n")
        day = _day_of(entry, self.calendar)
        score = told.answers * told.confidence * told.weight
        last, signs = first + text.count("\n"), ((why, told.answers),)
        return Hit(path, 1, first, last, text, score, day, (), why, signs=signs, entry=told)


def _on_passages(tables: sqlite3.Connection, condition: Only) -> Only:
    """A condition on entries as one on their passages."""
    if not condition.sql:
        return Only(kind=ENTRIES)
    sql = f"AND EXISTS (SELECT 1 FROM entries WHERE entries.page = {PAGE_OF} {condition.sql})"
    return Only(sql, condition.given, count_entries(tables, condition, POSTINGS) < POSTINGS, ENTRIES)


def entry_hit(entry: Entry, answers: float, calendar: Calendar) -> EntryHit:
    """What a hit says of an entry that answers so well."""
    source = entry.source
    return EntryHit(
        id=entry.id,
        agent=entry.space,
        consolidated_into=entry.consolidated_into,
        archived=entry.archived,
        answers=round(answers, 4),
        confidence=1.0 if entry.confidence is None else entry.confidence,
        weight=round(weight(entry, calendar), 4),
        decay=str(entry.decay),
        source=source.author or source.channel or source.location or source.session or "",
        tags=entry.tags,
    )


def _entry_in(file: File) -> Entry:
    place = place_of(file.path)
    assert place is not None, file.path
    entry = read_entry(place, file.data).entry
    assert entry is not None, file.path
    return entry


def _day_of(entry: Entry, calendar: Calendar) -> date:
    observed = entry.observed_at
    return calendar.day(observed) if isinstance(observed, datetime) else observed


def _is_told_by(pages: Mapping[str, float], hit: Hit) -> bool:
    """Whether a page, given with the score of its best hit, tells what an entry does that was worked into it: the page,
    or a part of it that is named after `#`."""
    into = hit.entry.consolidated_into if hit.entry else ()
    return any(pages.get(told.partition("#")[0], 0.0) >= AS_WELL * hit.score for told in into)
