"""Whether the newest of contradicting facts comes first: `python -m bench.consolidation`.

FactConsolidation, single hop: a numbered list of facts, of which later ones contradict earlier ones, is written with
`Memory.write`, offline and without a path, a hundred facts at a time. Each question is then asked once. Figures: the
first hit shows a right answer; one of ten hits shows a fact that it overrides, of the questions that have one (`old`,
`with old`).

Beside the memory: the same ranker over a flat list, which is one page with all facts; and plain full text and grep over
the facts, which know no newest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.data import load
from bench.searching import (
    Search,
    Watch,
    a_text,
    full_text,
    grep,
    index_figures,
    memory_of,
    new_memory,
    of_memory,
    of_texts,
    pages_of,
)
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.text.words import words

AT_A_TIME = 100
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Facts:
    """Numbered facts, of which later ones override earlier ones, and questions with accepted answers."""

    name: str
    facts: tuple[str, ...]
    questions: tuple[tuple[str, tuple[str, ...]], ...]


def main() -> None:
    """Prints the figures of each search, by list."""
    chosen = parser("Whether the newest of contradicting facts comes first.").parse_args()
    rows, index, watch = dict[str, Figures](), dict[str, Figures](), Watch()
    for given in load_facts():
        memory = written(given)
        facts = list(map(a_text, given.facts))
        searches = {
            "memory": of_memory(memory, DEPTH),
            "flat list": of_memory(flat(given), DEPTH),
            "FTS5": of_texts(full_text, facts, DEPTH),
            "grep": of_texts(grep, facts, DEPTH),
        }
        for name, search in searches.items():
            row = f"{name}, {given.name}"
            rows[row] = measure(given, watch.timed(row, search))
        index[given.name] = index_figures(pages_of(memory))
    report({"newest first": rows, "a search": watch.rows, "the index": index}, chosen.json)


def load_facts() -> list[Facts]:
    """The single-hop lists of FactConsolidation."""
    found = []
    for given in load("factconsolidation/factconsolidation_sh_dev.json"):
        lines = tuple(line for line in given["context"].splitlines() if re.match(r"\d+\. ", line))
        questions = zip(given["questions"], map(tuple, given["answers"]), strict=True)
        name = str(given["metadata"].get("source") or f"{len(lines)} facts")
        found.append(Facts(name, lines, tuple(questions)))
    return found


def written(given: Facts) -> Memory:
    """A memory to which the facts were written."""
    memory = new_memory()
    for start in range(0, len(given.facts), AT_A_TIME):
        memory.write("\n".join(given.facts[start : start + AT_A_TIME]))
    return memory


def flat(given: Facts) -> Memory:
    """A memory of one page that has all facts."""
    return memory_of({"memory": "# Facts\n\n" + "\n".join(given.facts) + "\n"})


def measure(given: Facts, search: Search) -> Figures:
    """How often the first hit shows the answer, and one of ten an older fact."""
    newest, old = [], []
    for question, answers in given.questions:
        shown = [hit.excerpt for hit in search(question)]
        newest.append(any(answer.casefold() in shown[0].casefold() for answer in answers) if shown else False)
        if before := set(overridden(given.facts, question, answers)):
            old.append(any(fact in one for fact in before for one in shown))
    return {
        "newest first": sum(newest) / len(newest),
        "old": sum(old) / len(old) if old else None,
        "questions": len(newest),
        "with old": len(old),
    }


def overridden(facts: Sequence[str], question: str, answers: Sequence[str]) -> Iterator[str]:
    """The facts that the answer to a question overrides: they say another last word of the same."""
    ends = tuple(f" {answer}.".casefold() for answer in answers)
    says = [fact.partition(". ")[2] for fact in facts]
    right = [n for n, fact in enumerate(says) if fact.casefold().endswith(ends)]
    if not right:
        return
    asked = {*words(question)}
    newest = max(right, key=lambda n: (len(asked & {*words(says[n])}), n))
    end = next(end for end in ends if says[newest].casefold().endswith(end))
    same = says[newest][: -len(end)] + " "
    for fact, said in zip(facts[:newest], says, strict=False):
        if said.startswith(same) and not said.casefold().endswith(end):
            yield fact


if __name__ == "__main__":
    main()
