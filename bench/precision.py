"""Whether a search returns what was asked for and nothing else: `python -m bench.precision`.

PrecisionMemBench: 35 beliefs, 77 cases, and two sessions of 12 turns in which a belief is added and another gets more
names. A belief is one list item, on a page for each scope of the data; what has been superseded is no longer there, as
in a memory that was kept up to date, and what is pinned or an open question has a place of its own in the data, and is
not searched for. Each case names a scope, which is given to all searches alike. `names` are the beliefs as that
benchmark gives them to others, the name and its aliases; `texts` have their sentence, too.

Figures: precision and recall of the beliefs that a search returns, over the cases that expect one; `nothing` is the
share of the other cases that get none. A case with nothing returned has precision 0. `answers` is what a search returns
by itself (ten results, none if the memory says that it does not answer), `ten results` are those whatever it says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any

from bench.data import load
from bench.searching import (
    Baseline,
    Passages,
    Search,
    Watch,
    a_text,
    full_text,
    grep,
    new_memory,
    of_memory,
    of_texts,
)
from bench.tables import Figures, parser, report
from memory_v2.operations.results import SearchResult, SearchResults

FOLDER = "precisionmembench"
USER = "test-user"
DEEP = 40
"""As many as there are beliefs."""
TEN = 10

Belief = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """What a case expects, what a search returned, best first, and whether it says that it answers."""

    expected: frozenset[str]
    returned: Sequence[str]
    answered: bool


def main() -> None:
    """Prints precision and recall of each search."""
    chosen = parser("Precision and recall of what a search returns.").parse_args()
    rows, watch = dict[str, Figures](), Watch()
    for way, says in WAYS.items():
        for name, prepare in SEARCHES.items():
            found = asked(says, prepare, partial(watch.timed, f"{name}, {way}"))
            answers = [one if one.answered else replace(one, returned=[]) for one in found]
            rows[f"{name}, {way}, answers"] = measure(answers)
            rows[f"{name}, {way}, ten results"] = measure(found)
    report({"precision": rows, f"a search for {DEEP} hits": watch.rows}, chosen.json)


Says = Callable[[Belief], str]
WAYS: dict[str, Says] = {
    "names": lambda belief: f"- {_name(belief)}",
    "texts": lambda belief: f"- {_name(belief)}: {belief['content']}",
}


def _name(belief: Belief) -> str:
    name, aliases = belief["canonical_name"].replace("_", " "), ", ".join(belief["aliases"])
    return f"{name} ({aliases})" if aliases else name


Stage = Mapping[str, Sequence[Belief]]
"""The beliefs on each page."""
Searched = tuple[Search, Callable[[SearchResult], Iterable[int]]]
"""A search, and which beliefs a hit shows: their numbers, in the order of the pages."""


def _texts(stage: Stage, says: Says) -> list[str]:
    return [says(belief) for beliefs in stage.values() for belief in beliefs]


def of_pages(stage: Stage, says: Says) -> Searched:
    """The search of a memory that has a page for each scope."""
    memory = new_memory()
    for page, beliefs in stage.items():
        memory.write("\n".join(map(says, beliefs)), page, "append")
    return of_memory(memory, DEEP), Passages(memory, _texts(stage, says)).shown_by


def of_flat(stage: Stage, says: Says) -> Searched:
    """The search of a memory of one page."""
    return of_pages({"memory": [belief for beliefs in stage.values() for belief in beliefs]}, says)


def of_beliefs(baseline: Callable[[Sequence[str]], Baseline]) -> Callable[[Stage, Says], Searched]:
    """A flat baseline over the beliefs."""

    def prepare(stage: Stage, says: Says) -> Searched:
        texts = [a_text(text, lines=(number, number)) for number, text in enumerate(_texts(stage, says))]
        return of_texts(baseline, texts, DEEP), lambda hit: hit.lines[:1]

    return prepare


SEARCHES: dict[str, Callable[[Stage, Says], Searched]] = {
    "memory": of_pages,
    "flat list": of_flat,
    "FTS5": of_beliefs(full_text),
    "grep": of_beliefs(grep),
}


def asked(says: Says, prepare: Callable[[Stage, Says], Searched], timed: Callable[[Search], Search]) -> list[Found]:
    """Every case, asked when its beliefs are there."""
    found = []
    for stage, cases in stages():
        search, shows = prepare(stage, says)
        search = timed(search)
        placed = [(belief["_id"], page) for page, beliefs in stage.items() for belief in beliefs]
        for question, pages, expected in cases:
            hits = search(question) if question.strip() else SearchResults()
            returned = [placed[number] for hit in hits for number in shows(hit)]
            here = dict.fromkeys(belief for belief, page in returned if page in pages)
            found.append(Found(expected, list(here), hits.answered))
    return found


def measure(found: Iterable[Found]) -> Figures:
    """Precision, recall, and the share of the cases without an answer that get none."""
    precision, recall, nothing, returned = [], [], [], []
    for one in found:
        kept = {*one.returned[:TEN]}
        if one.expected:
            right = len(kept & one.expected)
            precision.append(right / len(kept) if kept else 0.0)
            recall.append(right / len(one.expected))
            returned.append(len(kept))
        else:
            nothing.append(not kept)
    return {
        "precision": fmean(precision),
        "recall": fmean(recall),
        "nothing": fmean(nothing),
        "returned": fmean(returned),
        "cases": len(precision),
    }


Asked = tuple[str, frozenset[str], frozenset[str]]


def stages() -> list[tuple[Stage, list[Asked]]]:
    """The cases, with the beliefs that are there then."""
    beliefs = [
        belief
        for belief in load(f"{FOLDER}/beliefs.seed.json")
        if belief["user_id"] == USER
        and belief["epistemic_status"] != "superseded"
        and not belief["pinned"]
        and belief["type"] != "open_question"
    ]
    cases = [
        _asked(case["query"], case)
        for case in load(f"{FOLDER}/retrieval.cases.json")
        if case.get("userId", USER) == USER
    ]
    told = [(_pages(beliefs), cases)]
    for session in load(f"{FOLDER}/session-retrieval.cases.json"):
        for turn in session["turns"]:
            if new := turn.get("createBeliefAtTurn"):
                beliefs = [*beliefs, new]
            if more := turn.get("updateBeliefAtTurn"):
                beliefs = [
                    {**belief, "aliases": [*belief["aliases"], *more["addAliases"]]}
                    if belief["_id"] == more["beliefId"]
                    else belief
                    for belief in beliefs
                ]
            told.append((_pages(beliefs), [_asked(turn["userMessage"], turn)]))
    return told


def _asked(question: str, case: Mapping[str, Any]) -> Asked:
    expected = case["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude", [])
    return question, frozenset(map(_page, case["scope"])), frozenset(expected)


def _pages(beliefs: Iterable[Belief]) -> Stage:
    pages: dict[str, list[Belief]] = {}
    for belief in beliefs:
        pages.setdefault(_page(belief["scope"][0]), []).append(belief)
    return pages


def _page(scope: str) -> str:
    return scope.partition(":")[2]


if __name__ == "__main__":
    main()
