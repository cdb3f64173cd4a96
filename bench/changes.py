"""Whether the newest of facts that others told comes first, with its day: `python -m bench.changes [--dense]`.

325 facts of a year are written one by one on their days; sixty of them change an earlier one (`SILICA_BENCH_DATA`/
changes). Figures: the first hit, or one of three, shows the new value; one of the first five shows an older one; hits
that show a fact and bear the day on which it was told; questions without an answer that are told; questions with one
that are refused. Beside it, in the same run: the same ranker over a flat list, which is one page that is never split,
and plain full text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from statistics import fmean
from typing import Any

from bench.data import load
from bench.searching import FLAT, Search, Watch, a_text, full_text, of_memory, of_texts, told
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.operations.results import SearchResults

ASKED_ON = date(2026, 11, 20)
DEPTH = 10

Told = Sequence[tuple[str, date]]
"""Facts, each with its day, in the order in which they are told."""


def main() -> None:
    """Prints the figures of each search."""
    chosen = parser("Whether the newest of facts that others told comes first.", dense=True).parse_args()
    given, watch = load("changes/changes.json"), Watch()
    searches = SEARCHES | (BY_MEANING if chosen.dense else {})
    rows = {name: measure(given, watch.timed(name, make(facts_of(given)))) for name, make in searches.items()}
    report({"changed facts": rows, f"a search for {DEPTH} hits": watch.rows}, chosen.json)


def facts_of(given: Mapping[str, Any]) -> Told:
    """Every fact with its day, in the order in which they are told."""
    facts = [(one["text"], one["on"]) for one in given["facts"]]
    facts += [
        (pair[kind], pair[f"{kind}_on"]) for pair in given["pairs"] for kind in ("old", "mid", "new") if pair.get(kind)
    ]
    return [(text, date.fromisoformat(day)) for text, day in sorted(facts, key=lambda one: one[1])]


def grown(facts: Told, **settings: Any) -> Memory:
    """The memory after every fact was written to it on its day."""
    return told(facts, ASKED_ON, **settings)


SEARCHES: dict[str, Callable[[Told], Search]] = {
    "memory": lambda facts: of_memory(grown(facts), DEPTH),
    "flat list": lambda facts: of_memory(grown(facts, threshold=FLAT), DEPTH),
    "FTS5 over facts": lambda facts: of_texts(full_text, [a_text(*fact) for fact in facts], DEPTH),
}
BY_MEANING: dict[str, Callable[[Told], Search]] = {
    "memory, dense": lambda facts: of_memory(grown(facts, dense=True), DEPTH),
}


def measure(given: Mapping[str, Any], search: Search) -> Figures:
    """All figures of a search."""
    pairs = [(pair, search(pair["question"])) for pair in given["pairs"]]
    absent = [search(question) for question in given["absent"]]
    days = dict(facts_of(given))
    dated = [
        hit.date == days[fact]
        for found in (*(found for _, found in pairs), *absent)
        for hit in found
        for fact in _facts(hit.excerpt, days)
    ]
    return {
        "newest first": fmean(_shows(found, pair["new_key"], 1) for pair, found in pairs),
        "newest @3": fmean(_shows(found, pair["new_key"], 3) for pair, found in pairs),
        "older @5": fmean(_shows(found, pair["old_key"], 5) for pair, found in pairs),
        "dated right": fmean(dated) if dated else None,
        "absent told": fmean(found.verdict == "no" for found in absent),
        "absent, perhaps": fmean(found.verdict == "perhaps" for found in absent),
        "refused": fmean(found.verdict == "no" for _, found in pairs),
        "perhaps": fmean(found.verdict == "perhaps" for _, found in pairs),
    }


def _facts(text: str, days: Mapping[str, date]) -> Iterator[str]:
    """The fact that a hit shows, if it shows one only: a hit has one day."""
    found = [fact for fact in days if fact in text]
    if len(found) == 1:
        yield found[0]


def _shows(found: SearchResults, key: str, depth: int) -> bool:
    return any(key in hit.excerpt for hit in found[:depth])


if __name__ == "__main__":
    main()
