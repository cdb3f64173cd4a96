"""Whether the newest of facts that others told comes first, with its day: `python -m bench.changes [--dense]`.

325 facts of a year are written one by one on their days; sixty of them change an earlier one (`SILICA_BENCH_DATA`/
changes). Figures: the first hit, or one of three, shows the new value; one of the first five shows an older one; hits
that show a fact and bear the day on which it was told; questions without an answer that are told; questions with one
that are refused. Beside it, in the same run: the same ranker over a flat list, which is one page that is never split,
and plain full text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from statistics import fmean
from typing import Any

from bench.data import load
from bench.searching import Watch, full_text, new_memory
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.operations.results import Verdict

ASKED_ON = date(2026, 11, 20)
FLAT = 1 << 30
"""The threshold of a page that is never split, in bytes."""
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Reply:
    """What the hits show, best first, with their days, and whether they are said to be an answer."""

    shown: Sequence[str]
    days: Sequence[date | None]
    verdict: Verdict = "answered"


Search = Callable[[str], Reply]


def main() -> None:
    """Prints the figures of each search."""
    arguments = parser("Whether the newest of facts that others told comes first.")
    arguments.add_argument("--dense", action="store_true", help="search by meaning too, with the extra of that name")
    chosen = arguments.parse_args()
    given, rows, times = load("changes/changes.json"), dict[str, Figures](), dict[str, Figures]()
    searches = SEARCHES | (BY_MEANING if chosen.dense else {})
    for name, prepare in searches.items():
        watch = Watch()
        rows[name], times[name] = measure(given, watch.timed(prepare(told(given)))), watch.figures()
    report({"changed facts": rows, f"a search for {DEPTH} hits": times}, chosen.json)


def told(given: Mapping[str, Any]) -> list[tuple[str, date]]:
    """Every fact with its day, in the order in which they are told."""
    facts = [(one["text"], one["on"]) for one in given["facts"]]
    facts += [
        (pair[kind], pair[f"{kind}_on"]) for pair in given["pairs"] for kind in ("old", "mid", "new") if pair.get(kind)
    ]
    return [(text, date.fromisoformat(day)) for text, day in sorted(facts, key=lambda one: one[1])]


def grown(facts: Sequence[tuple[str, date]], **settings: Any) -> Memory:
    """The memory after every fact was written to it on its day."""
    day = ASKED_ON
    memory = new_memory(now=lambda: datetime(day.year, day.month, day.day, 10, tzinfo=UTC), **settings)
    for text, day in facts:  # noqa: B007 - the clock reads it
        memory.write(text)
    day = ASKED_ON
    return memory


def of_memory(memory: Memory) -> Search:
    """What the hits of a memory show."""

    def search(question: str) -> Reply:
        found = memory.search(question, DEPTH)
        return Reply([hit.excerpt for hit in found], [hit.date for hit in found], found.verdict)

    return search


def by_full_text(facts: Sequence[tuple[str, date]]) -> Search:
    """Plain full text over the facts."""
    find = full_text([text for text, _ in facts])

    def search(question: str) -> Reply:
        best = [facts[number] for number in find(question, DEPTH)]
        return Reply([text for text, _ in best], [day for _, day in best])

    return search


SEARCHES: dict[str, Callable[[Sequence[tuple[str, date]]], Search]] = {
    "memory": lambda facts: of_memory(grown(facts, dense=False)),
    "flat list": lambda facts: of_memory(grown(facts, dense=False, threshold=FLAT)),
    "FTS5 over facts": by_full_text,
}
BY_MEANING: dict[str, Callable[[Sequence[tuple[str, date]]], Search]] = {
    "memory, dense": lambda facts: of_memory(grown(facts, dense=True)),
}


def measure(given: Mapping[str, Any], search: Search) -> Figures:
    """All figures of a search."""
    pairs = [(pair, search(pair["question"])) for pair in given["pairs"]]
    absent = [search(question) for question in given["absent"]]
    days = dict(told(given))
    dated = [
        day == days[fact]
        for reply in (*(reply for _, reply in pairs), *absent)
        for text, day in zip(reply.shown, reply.days, strict=True)
        for fact in _facts(text, days)
    ]
    return {
        "newest first": fmean(_shows(reply, pair["new_key"], 1) for pair, reply in pairs),
        "newest @3": fmean(_shows(reply, pair["new_key"], 3) for pair, reply in pairs),
        "older @5": fmean(_shows(reply, pair["old_key"], 5) for pair, reply in pairs),
        "dated right": fmean(dated) if dated else None,
        "absent told": fmean(reply.verdict == "no" for reply in absent),
        "absent, perhaps": fmean(reply.verdict == "perhaps" for reply in absent),
        "refused": fmean(reply.verdict == "no" for _, reply in pairs),
        "perhaps": fmean(reply.verdict == "perhaps" for _, reply in pairs),
    }


def _facts(text: str, days: Mapping[str, date]) -> Iterator[str]:
    """The fact that a hit shows, if it shows one only: a hit has one day."""
    found = [fact for fact in days if fact in text]
    if len(found) == 1:
        yield found[0]


def _shows(reply: Reply, key: str, depth: int) -> bool:
    return any(key in text for text in reply.shown[:depth])


if __name__ == "__main__":
    main()
