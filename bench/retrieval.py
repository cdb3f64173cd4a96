"""How well the index finds places on pages that hold whole sessions: `python -m bench.retrieval`.

The baseline is plain full text over single turns, the usual method. The weights of the ranking for conversations were
fitted on the development part of LoCoMo; `docs/measured.md` says how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from bench.baselines import full_text, grep
from bench.data import ADVERSARIAL, Conversation, Question, Turn, load_locomo
from bench.tables import Figures, means, parser, report
from memory_v2.index.base import Hit
from memory_v2.index.full_text import FullTextIndex
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.tokens import tokens

Found = list[tuple[Turn, int]]
"""Turns, best first, each with the tokens that were read to come to it."""
Search = Callable[[str], Found]
Row = dict[str, float]

DEPTHS = (5, 10, 20)
BUDGETS = (1000, 2000)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
_DEEP = 100


def main() -> None:
    """Prints the recall of each kind of search, by conversation and over all questions."""
    chosen = parser("How well the index finds places on pages that hold whole sessions.").parse_args()
    conversations = load_locomo()
    rows: dict[str, Figures] = {}
    for name, prepare in (("FTS5 over turns", flat_search), ("index over session pages", index_search)):
        rows |= table_of(name, {one.name: list(measure(one, prepare(one))) for one in conversations})
    rows["index, conversations pooled"] = summary(measure_pooled(conversations))
    report({"recall of evidence": rows}, chosen.json)


def table_of(name: str, found: Mapping[str, Sequence[Row]]) -> dict[str, Figures]:
    """The rows of a search: of each conversation, of all, and of each category."""
    every = [row for rows in found.values() for row in rows]
    return {
        **{f"{name}, {conversation}": summary(rows) for conversation, rows in found.items()},
        f"{name}, all": summary(every),
        **{
            f"{name}, {kind}": summary(row for row in every if row["category"] == category)
            for category, kind in CATEGORIES.items()
        },
    }


def summary(rows: Iterable[Row]) -> Figures:
    """The means of the figures of questions."""
    return {name: value for name, value in means(rows).items() if name != "category"}


def measure(conversation: Conversation, search: Search) -> Iterator[Row]:
    """One row of figures for each question."""
    for question in conversation.questions:
        if question.category != ADVERSARIAL:
            yield figures(question, search(question.text))


def figures(question: Question, found: Sequence[tuple[Turn, int]]) -> Row:
    """The share of the evidence among the first turns found, at each depth and token budget, and the tokens read."""
    turns = [turn for turn, _ in found]
    row: Row = {"category": question.category}
    for depth in DEPTHS:
        row[f"@{depth}"] = _recall(question, turns[:depth])
    for budget in BUDGETS:
        row[f"{budget // 1000}k"] = _recall(question, list(_within(turns, budget)))
    for depth in DEPTHS:
        row[f"tokens @{depth}"] = found[:depth][-1][1] if found else 0
    return row


def flat_search(conversation: Conversation) -> Search:
    """SQLite's full text over single turns: Porter stems, any word of the question except stopwords."""
    turns = conversation.turns
    found = full_text([f"{turn.speaker}: {turn.said}" for turn in turns])
    return lambda query: read(turns[number] for number in found(query, _DEEP))


def grep_search(conversation: Conversation) -> Search:
    """The turns that have most words of the question."""
    turns = conversation.turns
    found = grep([f"{turn.speaker}: {turn.said}" for turn in turns])
    return lambda query: read(turns[number] for number in found(query, _DEEP))


def read(turns: Iterable[Turn]) -> Found:
    """Turns that are read one by one."""
    found, sizes = [], 0
    for turn in turns:
        sizes += tokens(f"{turn.speaker}: {turn.said}")
        found.append((turn, sizes))
    return found


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
        return read(turn for hit in index.search(query, _DEEP) for turn in _turns(hit, turn_at))

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
            return [(turn if id(turn) in own else strange, size) for turn, size in search(query)]

        yield from measure(conversation, only_own)


def _turns(hit: Hit, turn_at: dict[tuple[str, int], Turn]) -> Iterator[Turn]:
    for line in range(hit.first_line, hit.last_line + 1):
        if turn := turn_at.get((hit.path, line)):
            yield turn


def _recall(question: Question, found: Sequence[Turn]) -> float:
    return len(question.evidence & {turn.id for turn in found}) / len(question.evidence)


def _within(found: Sequence[Turn], budget: int) -> Iterator[Turn]:
    """The turns that fit into a token budget, one line each; a token is about four bytes."""
    size = 0
    for turn in found:
        size += len(f"- {turn.speaker}: {turn.said}\n".encode())
        if size > 4 * budget:
            return
        yield turn


if __name__ == "__main__":
    main()
