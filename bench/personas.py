"""Whether questions about everyday notes find their answers: `python -m bench.personas [--dense]`.

Two people tell 160 short notes each, over ten months, one by one and without a place; then 80 questions are asked. A
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
from dataclasses import dataclass
from datetime import UTC, date, datetime
from statistics import fmean
from typing import Any, TypeAlias

from bench.data import load
from bench.searching import Watch, full_text, new_memory, scored
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.operations.results import Verdict
from memory_v2.text.words import sentences

PEOPLE = ("a", "c")
ASKED_ON = date(2026, 11, 15)
DEPTHS = (1, 3, 10)
KINDS = ("direct", "paraphrase", "changed", "past", "two")
FLAT = 1 << 30
"""The threshold of a page that is never split, in bytes."""
BM25 = 0.15
"""The weight of BM25 in the plain way to search by meaning, where the best has 1."""

Person: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the hits show, best first, and whether they are said to be an answer."""

    shown: Sequence[str]
    verdict: Verdict = "answered"


Search: TypeAlias = Callable[[str], Reply]


def main() -> None:
    """Prints the figures of each search."""
    arguments = parser("Whether questions about everyday notes find their answers.")
    arguments.add_argument("--dense", action="store_true", help="search by meaning too, with the extra of that name")
    arguments.add_argument("--misses", action="store_true", help="print what the last search misses, too")
    chosen = arguments.parse_args()
    rows, times = dict[str, Figures](), dict[str, Figures]()
    for name, prepare in {**SEARCHES, **(BY_MEANING if chosen.dense else {})}.items():
        watch = Watch()
        asked = [
            (question, search(question["q"]))
            for person in people()
            for search in [watch.timed(prepare(person))]
            for question in person["questions"]
        ]
        rows |= {name: figures(asked), **{f"{name}, {kind}": figures(_of(asked, kind)) for kind in KINDS}}
        times[name] = watch.figures()
    report({"answered": rows, "a search for 10 hits": times}, chosen.json)
    if chosen.misses:
        for question, reply in asked:
            if share(question, reply, 3) < 1 or (reply.verdict == "no") == bool(question["key"]):
                print(question["kind"], question["q"], question["key"], reply.verdict, sep=" | ")
                print(*("    " + " ".join(shown.split())[:150] for shown in reply.shown[:3]), sep="\n")


def people() -> list[Person]:
    """The people, each with `texts` and `questions`."""
    return [load(f"personas/{name}.json") for name in PEOPLE]


def grown(person: Person, **settings: Any) -> Memory:
    """The memory after every note was written to it on its day."""
    day = ASKED_ON
    memory = new_memory(now=lambda: datetime(day.year, day.month, day.day, 10, tzinfo=UTC), **settings)
    for told in person["texts"]:
        day = date.fromisoformat(told["date"])
        memory.write(told["text"])
    day = ASKED_ON
    return memory


def of_memory(memory: Memory) -> Search:
    """What the hits of a memory show."""

    def search(question: str) -> Reply:
        results = memory.search(question, max(DEPTHS))
        return Reply([result.excerpt for result in results], results.verdict)

    return search


def by_full_text(person: Person) -> Search:
    """Plain full text over the notes."""
    texts = [told["text"] for told in person["texts"]]
    find = full_text(texts)
    return lambda question: Reply([texts[number] for number in find(question, max(DEPTHS))])


def by_cosine(person: Person) -> Search:
    """The notes by the best cosine of one of their sentences or of all of it, and BM25."""
    from memory_v2.index.dense.encoder import load_encoder  # only where the extra is installed

    texts, encode = [told["text"] for told in person["texts"]], load_encoder().encode
    units = [(number, encode(unit)) for number, text in enumerate(texts) for unit in {text, *sentences(text)}]
    find = scored(texts)

    def search(question: str) -> Reply:
        asked, found = encode(question), find(question, len(texts))
        near = [-1.0] * len(texts)
        for number, vector in units:
            near[number] = max(near[number], float(vector.astype(int) @ asked.astype(int)) / 127**2)
        for number, score in found:
            near[number] += BM25 * score / found[0][1]
        order = sorted(range(len(texts)), key=lambda number: -near[number])
        return Reply([texts[number] for number in order[: max(DEPTHS)]])

    return search


SEARCHES: Mapping[str, Callable[[Person], Search]] = {
    "memory": lambda person: of_memory(grown(person, dense=False)),
    "flat list": lambda person: of_memory(grown(person, dense=False, threshold=FLAT)),
    "FTS5 over notes": by_full_text,
}
BY_MEANING: Mapping[str, Callable[[Person], Search]] = {
    "cosine + BM25": by_cosine,
    "flat list, dense": lambda person: of_memory(grown(person, dense=True, threshold=FLAT)),
    "memory, dense": lambda person: of_memory(grown(person, dense=True)),
}

Asked: TypeAlias = Sequence[tuple[Mapping[str, Any], Reply]]


def _of(asked: Asked, kind: str) -> Asked:
    return [one for one in asked if one[0]["kind"] == kind]


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


def share(question: Mapping[str, Any], reply: Reply, depth: int) -> float:
    """The share of the keys that the first hits show."""
    shown = [any(key in text for text in reply.shown[:depth]) for key in question["key"]]
    return fmean(shown) if shown else 1.0


def _is_newest_first(question: Mapping[str, Any], reply: Reply) -> bool:
    ranks = [_ranks(reply, keys) for keys in (question["key"], question["not"])]
    return min(ranks[0], default=max(DEPTHS)) < min(ranks[1], default=max(DEPTHS))


def _ranks(reply: Reply, keys: Sequence[str]) -> Iterator[int]:
    return (rank for rank, shown in enumerate(reply.shown) if any(key in shown for key in keys))


if __name__ == "__main__":
    main()
