"""The index of a source of pages: it follows their changes and answers searches, links and repetitions."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from memory_v2.errors import SilicaError, Unreadable
from memory_v2.index.base import EntrySearch, Hit, PageRow, PageSource
from memory_v2.index.coverage import NO_TERMS, EntryTerms, told
from memory_v2.index.dense.chosen import MANY, WAITED, Dense
from memory_v2.index.entries import EntryIndex, File, read_files
from memory_v2.index.line_dates import LineDates, Past, day_said, days_in, read_said, said_in, speaks_of
from memory_v2.index.lookup import Facts, LookupResult, SemanticScores, joined, known_days, look_up, read_facts
from memory_v2.index.page_tables import (
    Edits,
    OnChange,
    PageTables,
    find_same,
    find_words,
    last_updated,
    list_rows,
    page_day,
    read_pages,
)
from memory_v2.index.places import ENTRIES, kind_of, on_page, packed, packed_rows, passages_and_pages, read_places
from memory_v2.index.ranking import Ranked, rank
from memory_v2.index.rows import IncomingPage, block_digest
from memory_v2.index.spelling import respelled
from memory_v2.index.store import IndexStore, erase_file
from memory_v2.index.tables import CachedValue, read_state
from memory_v2.index.terms import Question, parse_question
from memory_v2.index.weights import BELONGS, QUESTION
from memory_v2.storage.history import NO_CHANGE, Change
from memory_v2.text.dates import Span
from memory_v2.text.days import UTC_DAYS, Calendar, relative_days
from memory_v2.tree.graph import Graph, build_graph
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT

if TYPE_CHECKING:
    from memory_v2.index.dense.meaning import Meaning


Result = TypeVar("Result")
Paths: TypeAlias = Collection[str]

logger = logging.getLogger(__name__)

WIDER = 3
"""How many more places are ranked than are asked for where entries are: some are left out, or weigh less than they
say."""


def _accept(_: Collection[str]) -> bool:
    """An `on_change` that does nothing."""
    return True


@dataclass(frozen=True, slots=True)
class _Proposed:
    """The places that answer, best first: the hits of those that are pages', the files of those that are entries."""

    ranked: Sequence[Ranked]
    of_pages: list[Hit]
    files: Mapping[int, File] = field(default_factory=dict)


class FullTextIndex:
    """Full text and links of all pages of a source, in a file in `folder`, or in memory if that is `None` or not
    usable.

    Any number of threads and processes may use one folder. Changes by others are seen after `refresh`. Locks are taken
    in one order: the storage's first, the index's after it. A thread that holds the storage's lock may call every
    method. No lock is held and no transaction is open while pages are read or `on_change` runs, so searches do not wait
    for them.

    If the tables fail in a way that the `IndexStore` has no remedy for, which is a bug, the pages themselves are asked:
    an index must never keep anyone from them. Only errors of the source are raised.
    """

    def __init__(
        self,
        source: PageSource,
        folder: Path | None,
        history: Past | None = None,
        calendar: Calendar = UTC_DAYS,
        dense: Dense | None = None,
        *,
        store: IndexStore | None = None,
        entries: Callable[[], EntryIndex] | None = None,
    ) -> None:
        """`history` tells when each line was written; without one, lines have the dates of their pages. With `dense`,
        `recall` goes by meaning too. `store` is that of the `entries`, which are opened when they are first asked."""
        self._source = source
        self._store = store or IndexStore(folder)
        self._open_entries = entries
        self._written = LineDates(self._store, history)
        self._calendar = calendar
        self._dense = dense
        self._tables = PageTables(source, self._store, self._written)
        self._failure = ""
        """Why the last refresh failed. The tables are then not asked: they may lack pages."""
        self._facts = CachedValue(read_facts)

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        self._store.close()

    def erase(self, folder: Path | None) -> None:
        """Removes all that is in the index, to the last byte, and all that another process may have in the index in
        `folder`; the next use fills it again."""
        self._store.erase()
        erase_file(folder)  # this process has it in memory if it found no folder, or the file was locked
        if self._dense:
            self._dense.forget()

    @cached_property
    def entries(self) -> EntryIndex:
        """The entries in this index."""
        assert self._open_entries is not None, "an index without entries"
        return self._open_entries()

    @property
    def unreadable(self) -> Mapping[str, Unreadable]:
        """The pages that the last refresh could not read. They are in the index without their text."""
        return self._tables.unreadable

    @property
    def is_new(self) -> bool:
        """Whether no page is in the index: what was removed before it was made, only the history knows."""
        return not self._tables.all_known()[1]

    def refresh(self, on_change: OnChange = _accept, only: Paths | None = None, but: Paths = ()) -> Paths:
        """Indexes the pages whose stamps have changed, but not these, and returns their paths; with `only`, looks at
        these pages at least.

        `on_change` gets the paths first. If it returns `False`, the next refresh passes it these pages again. It is
        called with no lock of the index held, so it may take the storage's lock, which the caller may hold already.
        A page that cannot be read is told in the log. Raises `Unreadable` if that is so of all pages."""
        some = None if self._failure else only

        def work() -> Collection[str]:
            changed = self._store.run(
                lambda: self._tables.refresh(on_change, but) if some is None else self._tables.look(some, on_change)
            )
            self._failure = ""
            return changed

        def look() -> Collection[str]:
            self._all_pages()
            return set()

        return self._or(work, look)

    def update(
        self, changed: Iterable[Page], removed: Iterable[str], recorded: Change = NO_CHANGE, divided_next: Paths = ()
    ) -> None:
        """Indexes the pages that a commit has just stored, as `recorded`. The cost depends on these pages only. The
        text of those that are `divided_next` is left to the commit that does so, or else to the next refresh."""
        source = self._source
        # No stamp is asked for: it could be that of an edit made meanwhile. The next refresh reads these once.
        incoming = [IncomingPage(p, p.size, "", last_updated(source, p), p.path in divided_next) for p in changed]
        edits = Edits(incoming, list(removed))
        # Whether other pages are in the tables does not matter here: a commit costs no walk over them.
        self._store.run(lambda: self._tables.write(edits))
        self._store.run(lambda: self._written.add(recorded))
        is_loaded = self._dense is not None and self._dense.is_loaded
        if (is_loaded or len(incoming) >= MANY) and (meaning := self._meaning()):
            self._encode(meaning)

    def search(
        self, query: str, limit: int = 10, *, within: Collection[str] | None = None, child_links: bool = False
    ) -> list[Hit]:
        """The best places for a query, best first; lines of `## Links` are among them only if `child_links` is set."""
        return self._ranked(query, limit, within, QUESTION, child_links)

    def similar(self, text: str, limit: int = 10, *, within: Collection[str] | None = None) -> list[Hit]:
        """The places that share most with a text, best first: where it may belong."""
        return self._ranked(text, limit, within, BELONGS)

    def _ranked(
        self,
        query: str,
        limit: int,
        within: Collection[str] | None,
        by: Mapping[str, float],
        child_links: bool = False,
        entries: EntrySearch | None = None,
        meaning: Meaning | None = None,
    ) -> list[Hit]:
        if limit < 1 or not query.strip():
            return []

        def work(tables: sqlite3.Connection) -> _Proposed:
            facts = self._facts.of(tables)
            is_question = by is QUESTION
            question = self._asked(query, facts) if is_question else parse_question(query, facts.names, inflected=False)
            semantic = meaning.ask(tables, query, question.names) if meaning else None
            found = look_up(
                tables,
                facts,
                question,
                limit,
                within,
                calendar=self._calendar,
                child_links=child_links,
                headed=is_question,
                semantic=semantic,
            )
            found = self._with_entries(tables, found, question, limit, entries, semantic)
            ranked = rank(question, found, WIDER * limit if entries else limit, by, semantic)
            return _proposed(tables, ranked)

        return self._shown(work, query, limit, within, entries)

    def recall(
        self, query: str, limit: int = 10, *, within: Collection[str] | None = None, entries: EntrySearch | None = None
    ) -> list[Hit]:
        """As `search`, with `entries` among the pages; and by meaning too where that is installed. What was not encoded
        yet is encoded first, as far as there is time for it; the rest is found by words."""
        meaning = self._meaning() if query.strip() else None
        if self._dense and meaning:
            self._dense.lacks_vectors = not self._encode(meaning, time.monotonic() + WAITED)
        return self._ranked(query, limit, within, QUESTION, entries=entries, meaning=meaning)

    def _meaning(self) -> Meaning | None:
        return self._dense.meaning(self._store) if self._dense else None

    def _encode(self, meaning: Meaning, until: float = inf) -> bool:
        """Encodes what has no vector yet, until the clock `time.monotonic` shows so much; returns whether all has."""
        while texts := self._ask(meaning.lacking, list[str], with_entries=False):
            if time.monotonic() >= until:
                return False
            meaning.encode(texts, until)
        return True

    def _with_entries(
        self,
        tables: sqlite3.Connection,
        found: LookupResult,
        question: Question,
        limit: int,
        entries: EntrySearch | None,
        semantic: SemanticScores | None,
    ) -> LookupResult:
        """What was found among the pages, and the entries that may answer."""
        if entries is None:
            return found
        facts = self.entries.facts.of(tables)
        proposed = [
            look_up(tables, facts, question, limit, calendar=self._calendar, semantic=semantic, only=only)
            for only in entries.conditions(tables)
        ]
        every = proposed[0]
        for other in proposed[1:]:
            every = replace(
                every,
                places=every.places | other.places,
                candidates=[*every.candidates, *other.candidates],
                paths=every.paths | other.paths,
            )
        return joined(found, every)

    def _shown(
        self,
        work: Callable[[sqlite3.Connection], _Proposed],
        query: str,
        limit: int,
        within: Collection[str] | None,
        entries: EntrySearch | None,
    ) -> list[Hit]:
        """The hits for the places that `work` proposes, pages and entries as they are arranged."""
        self._or(lambda: self._store.run(self._written.follow), lambda: None)

        def instead() -> _Proposed:
            return _Proposed([], find_words(self._all_pages(), query, limit, within, self._calendar))

        proposed = self._ask(work, instead, with_entries=entries is not None)
        if entries is None or not proposed.ranked:
            return proposed.of_pages
        of_pages, ranked = iter(proposed.of_pages), proposed.ranked
        others = iter(entries.hits([one for one in ranked if _is_entry(one)], proposed.files))
        return entries.arranged([next(others if _is_entry(one) else of_pages) for one in ranked], limit)

    def _asked(self, query: str, facts: Facts) -> Question:
        """What a question asks for, on today's date."""
        question = parse_question(query, facts.names)
        relative = relative_days(query, self._calendar.today)
        return replace(question, dates=(*question.dates, *relative)) if relative else question

    @property
    def is_dense(self) -> bool:
        """Whether `recall` goes by meaning too."""
        return self._dense is not None and self._dense.is_installed

    def sentence_meaning(self) -> Callable[[str], Sequence[float]] | None:
        """What gives the vector of a whole text; `None` where search goes by words only. Loads the model."""
        return self._dense.of_sentences() if self._dense else None

    @property
    def not_by_meaning(self) -> str:
        """Why `recall` goes by words, at least in part, although meaning was chosen, and what to do; else empty."""
        return self._dense.not_by_meaning if self._dense else ""

    def told(self, query: str, texts: Sequence[tuple[str, date | None]], with_entries: bool = False) -> list[float]:
        """How much of what a question asks for each text, said on that day, tells, from 0 to 1."""

        def work(tables: sqlite3.Connection) -> list[float]:
            facts = self._facts.of(tables)
            question = self._asked(query, facts)
            return told(tables, facts, question, texts, self._terms(tables, question) if with_entries else NO_TERMS)

        return self._ask(work, lambda: [1.0] * len(texts), with_entries)

    def respelled(self, query: str, with_entries: bool = False) -> dict[str, str]:
        """The words of a query that no page has, in any form, each with the word most like it; see `index.spelling`."""

        def work(tables: sqlite3.Connection) -> dict[str, str]:
            facts = self._facts.of(tables)
            question = parse_question(query, facts.names)
            entries = self._terms(tables, question) if with_entries else NO_TERMS
            return respelled(tables, facts, question, entries.known)

        return self._ask(work, dict, with_entries)

    def _terms(self, tables: sqlite3.Connection, question: Question) -> EntryTerms:
        """What of a question some entry has."""
        facts = self.entries.facts.of(tables)
        return EntryTerms(list(facts.vocabulary.known_terms(tables, question)), facts.count)

    def said(self, path: str, blocks: Collection[int]) -> tuple[date | None, str]:
        """The day on which the newest of these blocks of a page was said, and other days that they speak of."""

        def work(tables: sqlite3.Connection) -> tuple[date | None, str]:
            return said_in(tables, path, blocks, self._calendar)

        self._or(lambda: self._store.run(self._written.follow), lambda: None)
        return self._ask(work, lambda: (page_day(self._all_pages(), path, self._calendar), ""))

    def days(self, path: str) -> dict[int, date]:
        """The day on which each block of a page was said, by its number."""
        self._or(lambda: self._store.run(self._written.follow), lambda: None)
        return self._ask(lambda tables: days_in(tables, path, self._calendar), dict)

    def said_then(self, days: Sequence[Span], limit: int, within: Collection[str] | None = None) -> list[Hit]:
        """What was said on these days, whatever its words, the newest first; nothing if that cannot be found out."""

        def work(tables: sqlite3.Connection) -> list[Hit]:
            return read_hits(tables, said_then(tables, days, limit, within, self._calendar))

        self._or(lambda: self._store.run(self._written.follow), lambda: None)
        return self._ask(work, list)

    def same(self, texts: Iterable[str]) -> dict[str, tuple[str, int]]:
        """The page and block of each of these texts that is in the tree already, regardless of markup and spacing."""
        texts = list(texts)

        def work(tables: sqlite3.Connection) -> dict[str, tuple[str, int]]:
            found = {}
            digests = {text: digest for text in texts if (digest := block_digest(text))}
            for text, digest in digests.items():
                place: tuple[str, int] | None = tables.execute(
                    f"SELECT path, block FROM {passages_and_pages()} "
                    "WHERE passages.digest = :digest ORDER BY path, block LIMIT 1",
                    {"digest": digest},
                ).fetchone()
                if place:
                    found[text] = place
            return found

        return self._ask(work, lambda: find_same(self._all_pages(), texts))

    def rows(self) -> list[PageRow]:
        """Every page, sorted by path."""

        def work(tables: sqlite3.Connection) -> list[PageRow]:
            rows = tables.execute("SELECT path, title, size, last_updated FROM pages ORDER BY path").fetchall()
            return [PageRow(path, title, size, datetime.fromisoformat(moment)) for path, title, size, moment in rows]

        return self._ask(work, lambda: list_rows(self._source, self._all_pages()))

    def graph(self) -> Graph:
        """The pages and their links."""
        return self._ask(lambda tables: self._tables.graph.of(tables).graph, lambda: build_graph(self._all_pages()))

    def problems(self) -> dict[str, str]:
        """What searches do not find, and why, by page: pages that could not be indexed; with the root, all of them."""

        def work(tables: sqlite3.Connection) -> dict[str, str]:
            found = tables.execute("SELECT path, problem FROM pages WHERE problem != '' ORDER BY path")
            return {
                path: f"searches do not find this page, as indexing it failed: {problem}" for path, problem in found
            }

        return self._ask(work, lambda: {ROOT: f"searches find exact words only, as the index failed: {self._failure}"})

    def _ask(
        self, work: Callable[[sqlite3.Connection], Result], instead: Callable[[], Result], with_entries: bool = False
    ) -> Result:
        """`work` on tables that have been filled: those in memory, and those of a deleted file, begin empty."""

        def filled_first() -> Result:
            while True:
                with self._store.reading() as tables:
                    lacks_pages = read_state(tables).tables != self._tables.filled
                    if not lacks_pages and (not with_entries or self.entries.is_filled(tables)):
                        return work(tables)
                if lacks_pages:
                    self._tables.refresh(_accept)
                else:
                    self.entries.fill()

        return instead() if self._failure else self._or(lambda: self._store.run(filled_first), instead)

    def _or(self, work: Callable[[], Result], instead: Callable[[], Result]) -> Result:
        """The result of `work`; if it fails by no fault of the source, that of `instead`, and so until a refresh
        succeeds."""
        try:
            return work()
        except SilicaError:
            raise
        except Exception as error:
            self._failure = f"{type(error).__name__}: {error}"
            logger.exception("the index failed; the pages are read one by one instead")
            return instead()

    def _all_pages(self) -> list[Page]:
        """Every page, read now; for when the tables have failed. Raises `Unreadable` if none can be read."""
        pages, unreadable = read_pages(self._source)
        self._tables.name_unreadable({page.path for page in pages} | self._tables.unreadable.keys(), unreadable)
        if pages and len(unreadable) == len(pages):
            raise unreadable[pages[0].path]
        return pages


def _proposed(tables: sqlite3.Connection, ranked: Sequence[Ranked]) -> _Proposed:
    entries = [one.place.page for one in ranked if _is_entry(one)]
    of_pages = read_hits(tables, [one for one in ranked if not _is_entry(one)])
    return _Proposed(ranked, of_pages, read_files(tables, entries) if entries else {})


def _is_entry(ranked: Ranked) -> bool:
    return kind_of(ranked.place.id) == ENTRIES


LOOKED_THROUGH = 1_000
"""How many places are looked through at most, those of the pages that changed last. If all of 10,000 pages have
changed, a search for last week takes twice as long as another."""


def read_hits(tables: sqlite3.Connection, ranked: Sequence[Ranked]) -> list[Hit]:
    """A hit for each place, in the same order."""
    source = f"FROM {passages_and_pages()} WHERE passages.id IN (SELECT value FROM json_each(:places))"
    given = {"places": packed(one.place.id for one in ranked)}
    stored = {number: where for number, *where in packed_rows(tables, ("passages.id", "path", "block"), source, given)}
    hits = []
    for one in ranked:
        place = one.place
        path, block = stored[place.id]
        text, lines = place.text, (place.first_line, place.last_line)
        day, headings = day_said(one.said.day), tuple(json.loads(place.section))
        about = speaks_of(text, one.said, day)
        hit = Hit(path, block, *lines, text, one.score, day, headings, one.found_by, about, one.signs)
        hits.append(replace(hit, earlier=one.earlier, near=one.near))
    return hits


def said_then(
    tables: sqlite3.Connection, days: Sequence[Span], limit: int, within: Collection[str] | None, calendar: Calendar
) -> list[Ranked]:
    """The texts that were said on these days, the newest first. They stand on pages that have changed since."""
    asked_for = known_days(tables, days)
    first = max(asked_for.merged[0][0] - 1, 1)  # whatever the time zone
    inside = "" if within is None else "AND path IN (SELECT value FROM json_each(:within))"
    asked = (
        f"SELECT passages.id FROM pages JOIN passages ON {on_page()} WHERE last_updated >= :first {inside} "
        "ORDER BY last_updated DESC, path, first_line LIMIT :most"
    )
    given = {"first": date.fromordinal(first).isoformat(), "most": LOOKED_THROUGH}
    rows = tables.execute(asked, given | ({} if within is None else {"within": packed(within)}))
    places = [place for place in read_places(tables, [number for (number,) in rows]).values() if place.kind == "text"]
    said = read_said(tables, places, calendar)
    then = [place for place in places if asked_for.include(said[place.id].day, said[place.id].day)]
    then.sort(key=lambda one: (-said[one.id].day, -said[one.id].turn, one.page, one.first_line))
    return [Ranked(one, 0.0, f"date {date.fromordinal(said[one.id].day)}", said[one.id]) for one in then[:limit]]
