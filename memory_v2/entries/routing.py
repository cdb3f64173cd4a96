"""Routing: which domain or page is the home of an entry, and why.

What a text names explicitly wins over its keywords. A keyword counts once, however often it is there, and three times
where it is the label of the text ("Lesson: ...", or the box of a task). Texts without a sign, and ties, stay in the
inbox, with the candidates: a wrong home costs more than none, because an entry is not looked for there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from memory_v2.entries.curation import Stock, carried_out
from memory_v2.entries.daryl import summarize
from memory_v2.entries.domains import domains
from memory_v2.entries.entry import INBOX, Domain, Entry, Reference
from memory_v2.entries.file import RELATED
from memory_v2.entries.references import Targets, named_in, references_of, without_shards
from memory_v2.entries.store import EntryStore
from memory_v2.operations.operation import operation
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.text.amounts import counted_entries
from memory_v2.text.words import has_cjk, stem, unaccented, words

LABEL_SCORE = 3
"""What a keyword counts that is the label of its text. A label says what the text is; other words only occur in it."""
MAX_LABEL = 4
"""Limits a label, in words. What is longer is a sentence with a colon in it."""

_LABEL = re.compile(r"[\s>#*_+-]*(?:\d+[.)]\s+)?[\s*_]*([^\n:：]{1,80}?)[\s*_]*[:：](?=\s|\*|$|[^\x00-\x7f])")
_MENTION = re.compile(r"(?<![\w.@/])@(?=[^\W\d_])\w")
_BOX = re.compile(r"^\s*(?:[-*+]\s+)?\[[ xX]\]\s", re.M)
_PART = re.compile(r"[^\W\d_]{2,}")
_LITERAL = {"@": _MENTION, "[ ]": _BOX}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A home that an entry may have, its score, and what the score consists of."""

    home: str
    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Routing:
    """The home of a text, `None` for the inbox; why; and all candidates, best first."""

    home: str | None
    reason: str
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Router:
    """What routing needs to know: the domains, everything that can be named, and how important each domain is.

    `importance_bonus` times the importance of a domain is added to its score; 2 is DARYL's formula. It is 0 unless
    asked for, since the domain that is filled first then attracts everything.
    """

    domains: Sequence[Domain]
    targets: Targets
    importance_bonus: float = 0.0
    importance: Mapping[str, float] | None = None

    def route(self, text: str, references: Iterable[Reference] = ()) -> Routing:
        """The home of a text that has these references beside those that are in it."""
        named = self._named((*references, *named_in(text)))
        scores = [self._score(domain, text) for domain in self.domains]
        if len(named) == 1:
            (home, reason), *_ = named.items()
            return Routing(home, reason, tuple(_best_first(scores)))
        if named:
            known = {candidate.home: candidate for candidate in scores if candidate.reasons}
            scores = [known.get(home, Candidate(home, 0, (why,))) for home, why in named.items()]
        return _decided(_best_first(scores), tuple(named))

    def _named(self, references: Iterable[Reference]) -> dict[str, str]:
        """The domains and pages that references lead to, each with the reason."""
        found: dict[str, str] = {}
        for reference in references:
            lead = self.targets.lead(reference.target)
            if lead.kind in ("domain", "page"):
                found.setdefault(lead.targets[0], f"it names {reference.target}")
        return found

    def _score(self, domain: Domain, text: str) -> Candidate:
        found = keywords_in(without_shards(text), domain.keywords)
        reasons = [word if score == 1 else f"{word} (label, {score})" for word, score in found.items()]
        score: float = sum(found.values())
        if bonus := self.importance_bonus * (self.importance or {}).get(domain.name, 0.0):
            score += bonus
            reasons.append(f"importance {bonus:.2f}")
        return Candidate(domain.name, score, tuple(reasons))


@operation("route", changes="entries")
def route(store: EntryStore, apply: bool = False) -> Plan:
    """Finds the home of each entry in the inbox by the rules, and with `apply` stores it. Raises `InvalidSetting`,
    `StorageError`."""
    return carried_out(store, apply, lambda stock: plan_routing(store, stock))


Inboxed: TypeAlias = tuple[Entry, Routing]
"""An entry of the inbox, and where it belongs."""


def plan_routing(store: EntryStore, stock: Stock, further: Callable[[list[Inboxed]], list[Inboxed]] = list) -> Plan:
    """What becomes of the inbox, the open entries without a home, by id: those that get a home come first. What has one
    keeps it, so a second run does nothing. `further` decides about what the rules leave."""
    known = router(store, stock.entries)
    inbox = [
        (entry, known.route(entry.text, entry.references))
        for entry, _ in stock.editable
        if entry.home is None and not entry.archived and entry.status == "open"
    ]
    left = further([one for one in inbox if one[1].home is None])
    decided = [*(one for one in inbox if one[1].home), *left]
    steps = [_step(stock, *one) for one in sorted(decided, key=lambda one: (one[1].home is None, one[0].id))]
    routed = sum(step.action != SKIP for step in steps)
    title = f"{counted_entries(routed)} routed, {len(steps) - routed:,} left in the inbox"
    return Plan("route", title, tuple(steps))


def _step(stock: Stock, entry: Entry, routing: Routing) -> Step:
    """The step that gives an entry its home, and writes what its text names into its header; or leaves it in the
    inbox."""
    facts = {"candidates": routing.candidates}
    if routing.home is None:
        return Step(SKIP, entry.id, "", routing.reason, INBOX, facts)
    related = tuple(one.target for one in references_of(entry) if one.relation == RELATED)
    keys = {"backlinks": related} if related else {}
    change = stock.files[entry.id].with_header(home=routing.home, **keys)
    return Step("route", entry.id, routing.home, routing.reason, INBOX, facts, (change,))


@operation("route_text")
def route_text(store: EntryStore, text: str) -> Routing:
    """Says where a text would be routed, and why; nothing is stored. Raises `InvalidSetting`, `StorageError`."""
    return router(store, store.entries()).route(text)


def router(store: EntryStore, entries: Iterable[Entry]) -> Router:
    """What routes to the domains of a memory, its pages and these entries. Raises `InvalidSetting`."""
    known = domains(store)
    everything = list(entries)
    targets = Targets(everything, known.domains, store.storage.list_files())
    importance = summarize(everything, known.domains, store.calendar.now()).importance
    return Router(known.domains, targets, known.importance_bonus, importance)


def keywords_in(text: str, keywords: Sequence[str]) -> dict[str, int]:
    """The keywords that a text has, in their order, each with what it counts. Of several that are the same word without
    accents and endings, the first is told."""
    known = _compiled(tuple(keywords))
    places = _places(text)
    labels = known.found_in(_places(_label(text)))
    found = {number: LABEL_SCORE if number in labels else 1 for number in known.found_in(places)}
    for keyword, pattern in _LITERAL.items():
        if keyword in known.literal and pattern.search(text):
            found[known.literal[keyword]] = LABEL_SCORE if pattern is _BOX else 1
    return {keywords[number]: found[number] for number in sorted(found)}


@dataclass(frozen=True, slots=True)
class _Keywords:
    """Keywords by what they begin with, each by its number: a text is looked through once, however many there are."""

    literal: Mapping[str, int]
    prefixes: Mapping[str, int]
    phrases: Mapping[str, Sequence[tuple[int, Sequence[str]]]]

    def found_in(self, places: Sequence[_Place]) -> AbstractSet[int]:
        """The numbers of the keywords in these places, phrases side by side."""
        found: set[int] = set()
        for start, place in enumerate(places):
            found.update(number for prefix, number in self.prefixes.items() if place.word.startswith(prefix))
            for word in place.stems:
                for number, rest in self.phrases.get(word, ()):
                    after = places[start + 1 : start + 1 + len(rest)]
                    if len(after) == len(rest) and all(
                        part in one.stems for part, one in zip(rest, after, strict=True)
                    ):
                        found.add(number)
        return found


@lru_cache(maxsize=64)
def _compiled(keywords: tuple[str, ...]) -> _Keywords:
    literal: dict[str, int] = {}
    prefixes: dict[str, int] = {}
    phrases: dict[tuple[str, ...], int] = {}
    for number, keyword in enumerate(keywords):
        if keyword in _LITERAL:
            literal.setdefault(keyword, number)
        elif keyword.endswith("*"):
            prefixes.setdefault(unaccented(keyword[:-1]), number)
        else:
            phrases.setdefault(tuple(stem(word) for word in map(unaccented, words(keyword))), number)
    starting: dict[str, list[tuple[int, Sequence[str]]]] = defaultdict(list)
    for phrase, number in phrases.items():
        if phrase:
            starting[phrase[0]].append((number, phrase[1:]))
    return _Keywords(literal, {start: number for start, number in prefixes.items() if start}, starting)


def _label(text: str) -> str:
    found = _LABEL.match(text)
    return found[1] if found and len(words(found[1])) <= MAX_LABEL else ""


@dataclass(frozen=True, slots=True)
class _Place:
    """A word of a text without accents, and everything it matches: its stem, and the parts of an identifier."""

    word: str
    stems: AbstractSet[str]


@lru_cache(maxsize=4)
def _places(text: str) -> Sequence[_Place]:
    """The words of a text; each domain in turn asks for those of the same one."""
    return [_Place(word, frozenset(_stems(word))) for word in map(unaccented, words(text))]


@lru_cache(maxsize=10_000)
def _stems(word: str) -> tuple[str, ...]:
    """The stem of a word, then the stems of its parts. Only plurals and possessives are cut off: a stemmer for search
    would take "personal" for a person and "plan" for planned."""
    parts = _PART.findall(word)
    return (stem(word), *(map(stem, parts) if len(parts) > 1 and not has_cjk(word) else ()))


def _best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates with a sign, best first, equal ones in their order."""
    return sorted((candidate for candidate in candidates if candidate.reasons), key=lambda one: -one.score)


def _decided(candidates: Sequence[Candidate], named: Sequence[str]) -> Routing:
    if not candidates:
        return Routing(None, "nothing in it says where it belongs")
    best = [candidate for candidate in candidates if candidate.score == candidates[0].score]
    among = f" among {', '.join(named)}, which it names" if named else ""
    if len(best) > 1:
        names = ", ".join(one.home for one in best)
        return Routing(None, f"a tie{among}: {names} ({best[0].score:g} each)", tuple(candidates))
    return Routing(best[0].home, f"{', '.join(best[0].reasons)}{among}", tuple(candidates))
