"""How well the index finds places on pages that hold whole sessions: `python -m bench.retrieval`.

The baseline is plain full text over single turns, the usual method. The weights of the ranking were tuned with this
program on the development part of LoCoMo.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence

from bench.baselines import full_text
from bench.data import ADVERSARIAL, Conversation, Question, Turn, load_locomo
from memory_v2.index.base import Hit
from memory_v2.index.full_text import FullTextIndex
from memory_v2.storage.volatile import VolatileStorage

Found = list[Turn]
Search = Callable[[str], Found]
Row = dict[str, float]

DEPTHS = (5, 10, 20)
BUDGETS = (1000, 2000)
_DEEP = 100


def main() -> None:
    """Prints the recall of each kind of search, by conversation and over all questions."""
    conversations = load_locomo()
    print(f"{'recall of evidence':32}" + "".join(f"{name:>8}" for name in columns()))
    for name, prepare in (("flat full text over turns", flat_search), ("index over session pages", index_search)):
        rows: list[Row] = []
        for conversation in conversations:
            found = list(measure(conversation, prepare(conversation)))
            print(f"  {name + ', ' + conversation.name:30}" + shown(found))
            rows += found
        print(f"{name + ', all':32}" + shown(rows) + f"   median {statistics.median(r['ms'] for r in rows):.1f} ms")
        for category in (1, 2, 3, 4):
            print(f"  {'category ' + str(category):30}" + shown([r for r in rows if r["category"] == category]))
    pooled = list(measure_pooled(conversations))
    print(f"{'index, conversations pooled':32}" + shown(pooled))


def measure(conversation: Conversation, search: Search) -> Iterator[Row]:
    """One row of figures for each question."""
    for question in conversation.questions:
        if question.category != ADVERSARIAL:
            began = time.perf_counter()
            found = search(question.text)
            yield {**figures(question, found), "ms": 1000 * (time.perf_counter() - began)}


def figures(question: Question, found: Sequence[Turn]) -> Row:
    """The share of the evidence among the first turns found, at each depth and token budget."""
    row: Row = {"category": question.category}
    for depth in DEPTHS:
        row[f"@{depth}"] = _recall(question, found[:depth])
    for budget in BUDGETS:
        row[f"{budget // 1000}k"] = _recall(question, list(_within(found, budget)))
    return row


def shown(rows: Sequence[Row]) -> str:
    """The means of the rows."""
    return "".join(f"{statistics.fmean(row[name] for row in rows):8.3f}" for name in columns())


def flat_search(conversation: Conversation) -> Search:
    """SQLite's full text over single turns: Porter stems, any word of the question except stopwords."""
    turns = conversation.turns
    found = full_text([f"{turn.speaker}: {turn.said}" for turn in turns])
    return lambda query: [turns[number] for number in found(query, _DEEP)]


def index_search(*conversations: Conversation) -> Search:
    """The index over pages of one session each, one line for each turn."""
    storage, turn_at = VolatileStorage(), {}
    for conversation in conversations:
        for session in conversation.sessions:
            path = f"{conversation.name}/session-{session[0].session:02}"
            text, lines = session_page(session)
            storage.write(path, text.encode())
            turn_at.update({(path, line): turn for line, turn in lines.items()})
    index = FullTextIndex(storage, storage.cache_folder)
    index.refresh()

    def search(query: str) -> Found:
        return [turn for hit in index.search(query, _DEEP) for turn in _turns(hit, turn_at)]

    return search


def session_page(session: Sequence[Turn]) -> tuple[str, dict[int, Turn]]:
    """A session as a page, and the turn on each of its lines."""
    when = session[0].when
    clock = when.strftime("%I:%M %p").lstrip("0").lower()
    lines = [f"# Session {session[0].session}", "", f"## {when.day} {when:%B %Y}, {clock}", ""]
    turns = {}
    for turn in session:
        lines.append(f"- {turn.speaker}: {turn.said}")
        turns[len(lines)] = turn
    return "\n".join(lines) + "\n", turns


def measure_pooled(conversations: Sequence[Conversation]) -> Iterator[Row]:
    """The same questions with all conversations in one memory; turns of another conversation are not evidence."""
    search = index_search(*conversations)
    for conversation in conversations:
        own = set(map(id, conversation.turns))

        def only_own(query: str, own: set[int] = own) -> Found:
            strange = Turn("", "", "", "", 0, conversations[0].turns[0].when)
            return [turn if id(turn) in own else strange for turn in search(query)]

        yield from measure(conversation, only_own)


def _turns(hit: Hit, turn_at: dict[tuple[str, int], Turn]) -> Iterator[Turn]:
    for line in range(hit.first_line, hit.last_line + 1):
        if turn := turn_at.get((hit.path, line)):
            yield turn


def _recall(question: Question, found: Sequence[Turn]) -> float:
    return len(question.evidence & {turn.id for turn in found}) / len(question.evidence)


def _within(found: Sequence[Turn], tokens: int) -> Iterator[Turn]:
    """The turns that fit into a token budget, one line each; a token is about four bytes."""
    size = 0
    for turn in found:
        size += len(f"- {turn.speaker}: {turn.said}\n".encode())
        if size > 4 * tokens:
            return
        yield turn


def columns() -> list[str]:
    """The names of the figures in a row."""
    return [f"@{depth}" for depth in DEPTHS] + [f"{budget // 1000}k" for budget in BUDGETS]


if __name__ == "__main__":
    main()
