"""Searching pages and entries at once.

Both are ranked as one set. What an entry answers is then multiplied by its confidence and by the weight that its age
has left it, as of now; an entry that says no confidence counts in full, and so does a page.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_v2.agent.operation import operation
from memory_v2.entries.decay import age, has_expired, weight
from memory_v2.entries.domains import domains
from memory_v2.entries.entry import INBOX, SHARED, Domain, Entry, domain_named, home_named, shard_id
from memory_v2.entries.entry_paths import check_agent, place_of
from memory_v2.entries.file import read_entry
from memory_v2.entries.files import EntryFiles
from memory_v2.entries.references import folded, references_of
from memory_v2.entries.store import entries_of
from memory_v2.errors import InvalidSetting
from memory_v2.index.base import EntryHit, Hit
from memory_v2.index.entries import EntryIndex, File, count_entries
from memory_v2.index.line_dates import speaks_of
from memory_v2.index.lookup import POSTINGS
from memory_v2.index.places import ENTRIES, PAGE_OF
from memory_v2.index.postings import Only
from memory_v2.index.ranking import Ranked
from memory_v2.operations.context import Context
from memory_v2.operations.results import SearchResults
from memory_v2.operations.search import search as search_tree
from memory_v2.operations.search_request import SearchRequest
from memory_v2.text.days import Calendar
from memory_v2.tree.block import encode
from memory_v2.validate import checked_day, each_tag, share_given

OF_ENTRIES = ("agent", "domain", "tags", "min_confidence")
"""What is asked of entries only, for pages have none of it."""
CROSSED = 0.5
"""What an entry keeps of the score of the one that a reference joins it to: it answers at second hand."""
AS_WELL = 0.8
"""Which part of an entry's score a page must have to answer as well, if the entry was worked into it. One that has less
tells something else there, or has lost the words."""
MOST_CROSSED = 20
"""From how many of the best hits references are followed."""
FROM_DOMAIN = 5
"""How many entries of a domain, newest first, a reference to it leads to."""


@operation("search", recorded=True)
def search(context: Context, asked: SearchRequest) -> SearchResults:
    """The best answers of pages and entries to what is asked, best first, as `operations.search` finds them. An agent,
    a domain, tags and a confidence are what entries have: with one of them, no page is searched. Raises
    `InvalidSetting` too."""
    asked = replace(asked, tags=each_tag(asked.tags))
    entries_only = _is_for_entries_only(asked)
    index = context.index.entries
    recall = None
    is_for_both = asked.only != "pages" and asked.near is None and not asked.regex
    if entries_only or (is_for_both and index.may_have_entries):
        known = domains(entries_of(context)).domains if asked.cross or asked.domain is not None else ()
        wanted = _wanted(context, asked, known)
        index.refresh()
        recall = Recall(index, context.calendar, asked, wanted, EntryFiles(context.storage), entries_only, known)
    results = search_tree(context, asked, recall)
    if recall:
        results.archived_left_out = recall.left_out or 0
    return results


def _is_for_entries_only(asked: SearchRequest) -> bool:
    """Whether pages are left out. Raises `InvalidSetting` if what is asked does not go together."""
    given = next((name for name in OF_ENTRIES if getattr(asked, name) not in (None, ())), None)
    entries_only = asked.only == "entries" or given is not None
    if asked.only == "pages" and given:
        raise InvalidSetting(f"pages have no {given}: leave it out, or search entries too")
    if entries_only and (asked.near is not None or asked.regex):
        raise InvalidSetting(f"{'regex' if asked.regex else 'near'} finds pages only: leave it out to search entries")
    for name, value in (("cross", asked.cross), ("archived", asked.archived)):
        if not isinstance(value, bool):
            raise InvalidSetting(f"{name} must be True or False, not {value!r}")
    if asked.only not in (None, "pages", "entries"):
        raise InvalidSetting(f"only must be pages or entries, not {asked.only!r}")
    return entries_only


def _wanted(context: Context, asked: SearchRequest, known: Sequence[Domain]) -> Only:
    """The condition on entries, in SQL, archived or not. Raises `InvalidSetting`."""
    only = Only()
    if asked.agent is not None:
        agent = asked.agent if asked.agent == SHARED else check_agent(asked.agent)
        only = only.also("space IN (:agent, :shared)", agent=agent.casefold(), shared=SHARED)
    if asked.domain is not None:
        only = only.also("home = :home", home=_home(context, asked.domain, known).casefold())
    if isinstance(asked.under, str):
        below = asked.under.rstrip("/").casefold()
        only = only.also("(home = :under OR substr(home, 1, length(:under) + 1) = :under || '/')", under=below)
    for number, tag in enumerate(asked.tags):
        only = only.also(f"instr(tags, char(10) || :tag{number} || char(10))", **{f"tag{number}": tag.casefold()})
    if asked.min_confidence is not None:
        only = only.also("confidence >= :least", least=share_given("min_confidence", asked.min_confidence))
    if (since := checked_day("since", asked.since)) is not None:
        only = only.also("day >= :since_day", since_day=since.toordinal())
    if (until := checked_day("until", asked.until)) is not None:
        only = only.also("day <= :until_day", until_day=until.toordinal())
    if isinstance(asked.source, str) and asked.source.strip():
        only = only.also("instr(source, :source)", source=asked.source.strip().casefold())
    return only


def _home(context: Context, domain: object, known: Sequence[Domain]) -> str:
    """The home that is meant: a domain by its name, the inbox, or a page. Raises `InvalidSetting` for any other."""
    if not isinstance(domain, str):
        raise InvalidSetting(f"domain must be the name of a domain, not {domain!r}")
    home = home_named(domain, known)
    if home != domain or domain_named(home, known) or home in context.index.graph().pages:
        return home
    names = ", ".join(one.name for one in known)
    raise InvalidSetting(f"there is no domain {domain!r}: the domains are {names} and {INBOX}")


@dataclass
class Recall:
    """The entries of one search, which are ranked with the pages; see `EntrySearch`."""

    index: EntryIndex
    calendar: Calendar
    asked: SearchRequest
    wanted: Only
    stored: EntryFiles
    alone: bool = False
    """Whether only entries are searched."""
    domains: Sequence[Domain] = ()
    """The domains that a reference may lead to."""
    left_out: int | None = None
    """How many archived entries would be among the answers and were left out; `None` before anything was found."""

    def conditions(self, tables: sqlite3.Connection) -> list[Only]:
        """Those in the archive are looked for too, and counted if they are not wanted."""
        archived = self.wanted.also("archived = 1")
        if not count_entries(tables, archived, 1):
            return [_on_passages(tables, self.wanted)]
        return [_on_passages(tables, self.wanted.also("archived = 0")), _on_passages(tables, archived)]

    def hits(self, ranked: Sequence[Ranked], files: Mapping[int, File]) -> list[Hit]:
        """A hit for each of these places; `files` has their entries by page."""
        return [self._found(one, files[one.place.page]) for one in ranked]

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
                if not hit.entry.archived or self.asked.archived:
                    kept.append(hit)
                elif len(kept) < self.asked.max_results:
                    left_out += 1
        self.left_out = left_out if self.left_out is None else self.left_out
        return self._crossed(kept, limit) if self.asked.cross else kept

    def _found(self, one: Ranked, file: File) -> Hit:
        hit = self._hit(file, one.score, one.place.first_line, one.place.text, one.found_by)
        assert hit.date is not None
        return replace(hit, speaks_of=speaks_of(one.place.text, one.said, hit.date), signs=one.signs, near=one.near)

    def _hit(self, file: File, answers: float, first_line: int, text: str, found_by: str) -> Hit:
        """A hit for a text of an entry that answers so well."""
        entry = _entry_in(file)
        observed = entry.observed_at
        path, above = self.stored.where(file.path)
        is_past = not self.asked.archived and has_expired(entry.decay, age(entry, self.calendar))
        shown = replace(entry_hit(entry, answers, self.calendar), past=is_past)
        score, first = shown.answers * shown.confidence * shown.weight, first_line + above
        day = self.calendar.day(observed) if isinstance(observed, datetime) else observed
        return Hit(path, 1, first, first + text.count("\n"), text, score, day, (), found_by, entry=shown)

    def _crossed(self, hits: Sequence[Hit], limit: int) -> list[Hit]:
        """The hits, with the entries that references join to the best of them, one step either way."""
        found = {hit.entry.id: hit for hit in hits if hit.entry}
        for hit in hits[:MOST_CROSSED]:
            for file, why in self._joined_to(hit):
                entry = _entry_in(file)
                if entry.id in found or (entry.archived and not self.asked.archived):
                    continue
                text = entry.text.lstrip("\r\n")
                first = 1 + (file.data[: -len(encode(text))] if text else file.data).count(b"\n")
                second = self._hit(file, CROSSED * hit.score, first, text.rstrip("\r\n"), why)
                found[entry.id] = replace(second, signs=((why, CROSSED * hit.score),))
        others = [hit for hit in hits if hit.entry is None]
        return sorted([*others, *found.values()], key=lambda hit: -hit.score)[:limit]

    def _joined_to(self, hit: Hit) -> Iterator[tuple[File, str]]:
        """The files of the entries that a hit names, and of those that name it, and why."""
        if hit.entry is None:
            yield from ((file, f"a reference to {hit.path}") for file in self.index.naming([hit.path.casefold()]))
            return
        name = hit.entry.id
        own = [_entry_in(file) for file in self.index.called([name.casefold()])]
        for target in (folded(reference.target) for entry in own for reference in references_of(entry)):
            called = self.index.called([target])
            if len(called) == 1:  # a name that several entries have leads nowhere
                yield called[0], f"a reference from {name}"
            elif not called and (domain := domain_named(target, self.domains)) is not None:
                for file in self.index.at_home(domain.name, FROM_DOMAIN, self.asked.archived):
                    yield file, f"a reference from {name} to {domain.name}"
        alone = name.rpartition("/")[2].casefold()
        is_told_apart = len(self.index.called([alone])) == 1
        for file in self.index.naming([name.casefold(), alone] if is_told_apart else [name.casefold()]):
            yield file, f"a reference to {name}"
        home = domain_named(own[0].home or "", self.domains) if own else None
        if home is not None:
            for file in self.index.naming([home.name, shard_id(home.name)]):
                yield file, f"a reference to {home.name}"


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
        home=entry.home or "",
    )


def _entry_in(file: File) -> Entry:
    place = place_of(file.path)
    assert place is not None, file.path
    entry = read_entry(place, file.data).entry
    assert entry is not None, file.path
    return entry


def _is_told_by(pages: Mapping[str, float], hit: Hit) -> bool:
    """Whether a page, given with the score of its best hit, tells what an entry does that was worked into it: the page,
    or a part of it that is named after `#`."""
    into = hit.entry.consolidated_into if hit.entry else ()
    return any(pages.get(page.partition("#")[0], 0.0) >= AS_WELL * hit.score for page in into)
