"""Whether questions about everyday notes find their answers: `python -m bench.personas [--dense]`.

Two people tell 160 short notes each, over ten months, one by one and without a place; then 80 questions are asked. Four
more, in `bench/texts`, tell a hundred each, and are asked 60 questions: most changes come in quite other words there. A
question is answered by the texts (`key`) that a hit must show: the figure is the share of them that the first 1, 3 and
10 hits show. `newest before older`: of the questions about what has changed, the current value comes before the old
ones, or they do not come at all. `absent told` and `refused`: questions without and with an answer to which the memory
says that it has none, of the latter also those whose answer is among the first three hits; `perhaps`: those of which it
says that it answers them perhaps.

Beside it, in the same run: the same ranker over a flat list, which is one page that is never split; plain full text
over the notes; and with `--dense`, search by meaning, and the plain way to do that: a vector for each sentence and
note, cosine + .15 × BM25.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from statistics import fmean
from typing import Any, TypeAlias

from bench.data import load, own_texts
from bench.searching import FLAT, Baseline, Search, Watch, a_text, full_text, of_memory, of_texts, scored, told
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.operations.results import SearchResults
from memory_v2.text.words import sentences

PEOPLE = ("a", "c")
ASKED_ON = date(2026, 11, 15)
DEPTHS = (1, 3, 10)
KINDS = ("direct", "paraphrase", "changed", "past", "two")
BM25 = 0.15
"""The weight of BM25 in the plain way to search by meaning, where the best has 1."""

Person: TypeAlias = Mapping[str, Any]


def main() -> None:
    """Prints the figures of each search."""
    chosen = parser("Whether questions about everyday notes find their answers.", dense=True).parse_args()
    watch, searches = Watch(), {**SEARCHES, **(BY_MEANING if chosen.dense else {})}
    answered = {"two people": _measured(people(), searches, watch), "four more": _measured(others(), searches, watch)}
    report({**answered, "a search for 10 hits": watch.rows}, chosen.json)


def people() -> list[Person]:
    """The two people, each with `texts` and `questions`."""
    return [load(f"personas/{name}.json") for name in PEOPLE]


def others() -> list[Person]:
    """The four of `bench/texts`."""
    return list(own_texts("people"))


def _measured(
    asked_of: Sequence[Person], searches: Mapping[str, Callable[[Person], Search]], watch: Watch
) -> dict[str, Figures]:
    rows = dict[str, Figures]()
    for name, prepare in searches.items():
        asked = [
            (question, search(question["q"]))
            for person in asked_of
            for search in [watch.timed(name, prepare(person))]
            for question in person["questions"]
        ]
        rows[name] = figures(asked)
        rows |= {f"{name}, {kind}": figures([one for one in asked if one[0]["kind"] == kind]) for kind in KINDS}
    return rows


def grown(person: Person, **settings: Any) -> Memory:
    """The memory after every note was written to it on its day."""
    notes = [(one["text"], date.fromisoformat(one["date"])) for one in person["texts"]]
    return told(notes, ASKED_ON, **settings)


def _of_memory(**settings: Any) -> Callable[[Person], Search]:
    return lambda person: of_memory(grown(person, **settings), max(DEPTHS))


def _of_notes(baseline: Callable[[Sequence[str]], Baseline]) -> Callable[[Person], Search]:
    return lambda person: of_texts(baseline, [a_text(one["text"]) for one in person["texts"]], max(DEPTHS))


def by_cosine(texts: Sequence[str]) -> Baseline:
    """The notes by the best cosine of one of their sentences or of all of it, and BM25."""
    from memory_v2.index.dense.meaning import load_encoder  # only where the extra is installed

    encode, find = load_encoder().encode, scored(texts)
    units = [(number, encode(unit)) for number, text in enumerate(texts) for unit in {text, *sentences(text)}]

    def search(question: str, limit: int) -> list[int]:
        asked, found = encode(question), find(question, len(texts))
        near = [-1.0] * len(texts)
        for number, vector in units:
            near[number] = max(near[number], float(vector.astype(int) @ asked.astype(int)) / 127**2)
        for number, score in found:
            near[number] += BM25 * score / found[0][1]
        return sorted(range(len(texts)), key=lambda number: -near[number])[:limit]

    return search


SEARCHES: Mapping[str, Callable[[Person], Search]] = {
    "memory": _of_memory(),
    "flat list": _of_memory(threshold=FLAT),
    "FTS5 over notes": _of_notes(full_text),
}
BY_MEANING: Mapping[str, Callable[[Person], Search]] = {
    "cosine + BM25": _of_notes(by_cosine),
    "flat list, dense": _of_memory(dense=True, threshold=FLAT),
    "memory, dense": _of_memory(dense=True),
}

Asked: TypeAlias = Sequence[tuple[Mapping[str, Any], SearchResults]]


def figures(asked: Asked) -> Figures:
    """The figures of some questions; what they have none of is not measured."""
    answerable = [one for one in asked if one[0]["key"]]
    newest = [_is_newest_first(*one) for one in answerable if one[0]["kind"] == "changed"]
    absent = [reply.verdict for question, reply in asked if not question["key"]]
    known = [reply.verdict for _, reply in answerable]
    return {
        **{f"@{depth}": fmean(share(*one, depth) for one in answerable) for depth in DEPTHS},
        "newest before older": fmean(newest) if newest else None,
        "absent told": absent.count("no") / len(absent) if absent else None,
        "absent, perhaps": absent.count("perhaps") / len(absent) if absent else None,
        "refused": known.count("no") / len(known),
        "refused, though shown": fmean(
            reply.verdict == "no" and share(question, reply, 3) > 0 for question, reply in answerable
        ),
        "perhaps": known.count("perhaps") / len(known),
    }


def share(question: Mapping[str, Any], reply: SearchResults, depth: int) -> float:
    """The share of the keys that the first hits show."""
    shown = [any(key in hit.excerpt for hit in reply[:depth]) for key in question["key"]]
    return fmean(shown) if shown else 1.0


def _is_newest_first(question: Mapping[str, Any], reply: SearchResults) -> bool:
    ranks = [_ranks(reply, keys) for keys in (question["key"], question["not"])]
    return min(ranks[0], default=max(DEPTHS)) < min(ranks[1], default=max(DEPTHS))


def _ranks(reply: SearchResults, keys: Sequence[str]) -> Iterator[int]:
    return (rank for rank, hit in enumerate(reply) if any(key in hit.excerpt for key in keys))


if __name__ == "__main__":
    main()
