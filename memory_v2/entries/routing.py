"""Routing: which domain or page is the home of an entry, and why.

What a text names explicitly wins over its keywords. A keyword counts once, however often it is there, and three times
where it is the label of the text ("Lesson: ...", or the box of a task). Texts without a sign, and ties, stay in the
inbox, with the candidates: a wrong home costs more than none, because an entry is not looked for there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from memory_v2.agent.operation import operation
from memory_v2.entries.curation import Stock, carried_out
from memory_v2.entries.daryl import summarize
from memory_v2.entries.domains import domains
from memory_v2.entries.entry import INBOX, Domain, Entry, Reference
from memory_v2.entries.file import RELATED
from memory_v2.entries.references import Targets, named_in, references_of, without_shards
from memory_v2.entries.store import EntryStore
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
class HomeCandidate:
    """A home that an entry may have, its score, and what the score consists of."""

    home: str
    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Routing:
    """The home of a text, `None` for the inbox; why; and all candidates, best first."""

    home: str | None
    reason: str
    candidates: tuple[HomeCandidate, ...] = ()


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
            scores = [known.get(home, HomeCandidate(home, 0, (why,))) for home, why in named.items()]
        return _decided(_best_first(scores), tuple(named))

    def _named(self, references: Iterable[Reference]) -> dict[str, str]:
        """The domains and pages that references lead to, each with the reason."""
        found: dict[str, str] = {}
        for reference in references:
            lead = self.targets.lead(reference.target)
            if lead.kind in ("domain", "page"):
                found.setdefault(lead.targets[0], f"it names {reference.target}")
        return found

    def _score(self, domain: Domain, text: str) -> HomeCandidate:
        found = keywords_in(without_shards(text), domain.keywords)
        reasons = [word if score == 1 else f"{word} (label, {score})" for word, score in found.items()]
        score: float = sum(found.values())
        if bonus := self.importance_bonus * (self.importance or {}).get(domain.name, 0.0):
            score += bonus
            reasons.append(f"importance {bonus:.2f}")
        return HomeCandidate(domain.name, score, tuple(reasons))


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
    label = _LABEL.match(text)
    above = _spelled(label[1]) if label and len(words(label[1])) <= MAX_LABEL else ""
    whole = _spelled(text)
    found: dict[str, int] = {}
    for sought, keyword in _sought(tuple(keywords)).items():
        if pattern := _LITERAL.get(keyword):
            if pattern.search(text):
                found[keyword] = LABEL_SCORE if pattern is _BOX else 1
        elif sought in whole:
            found[keyword] = LABEL_SCORE if sought in above else 1
    return found


@lru_cache(maxsize=64)
def _sought(keywords: tuple[str, ...]) -> dict[str, str]:
    """What is looked for in a text as it is `_spelled`, with the keyword that it stands for: the beginning of a word,
    or whole words side by side."""
    sought: dict[str, str] = {}
    for keyword in keywords:
        beginning = unaccented(keyword.removesuffix("*"))
        phrase = " ".join(stem(word) for word in map(unaccented, words(keyword)))
        found = f" {beginning}" if keyword.endswith("*") else f" {phrase} "
        if keyword in _LITERAL or found.strip():
            sought.setdefault(keyword if keyword in _LITERAL else found, keyword)
    return sought


@lru_cache(maxsize=4)
def _spelled(text: str) -> str:
    """The words of a text without accents, between blanks; their stems, in a second line; and in a third one the stems
    of the parts of identifiers. Only plurals and possessives are cut off: a stemmer for search would take "personal"
    for a person and "plan" for planned."""
    found = list(map(unaccented, words(text)))
    parts: list[str] = []
    for word in found:
        of_word = [] if has_cjk(word) else _PART.findall(word)
        parts += of_word if len(of_word) > 1 else [word]
    return "\n".join(f" {' '.join(line)} " for line in (found, map(stem, found), map(stem, parts)))


def _best_first(candidates: Iterable[HomeCandidate]) -> list[HomeCandidate]:
    """The candidates with a sign, best first, equal ones in their order."""
    return sorted((candidate for candidate in candidates if candidate.reasons), key=lambda one: -one.score)


def _decided(candidates: Sequence[HomeCandidate], named: Sequence[str]) -> Routing:
    if not candidates:
        return Routing(None, "nothing in it says where it belongs")
    best = [candidate for candidate in candidates if candidate.score == candidates[0].score]
    among = f" among {', '.join(named)}, which it names" if named else ""
    if len(best) > 1:
        names = ", ".join(one.home for one in best)
        return Routing(None, f"a tie{among}: {names} ({best[0].score:g} each)", tuple(candidates))
    return Routing(best[0].home, f"{', '.join(best[0].reasons)}{among}", tuple(candidates))
