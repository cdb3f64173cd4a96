"""LoCoMo through the whole product: `python -m bench.locomo [--dense] [--tree CONVERSATION]`.

Each conversation is written with `Memory.write(text)`, without a path or a model, by session and by turn; the tree
grows and splits by itself. Then its questions are asked with `Memory.search`. Figures: of the turns that answer a
question, the share among the first 5, 10 and 20 turns that the hits show, and among those that fit into 1,000 and 2,000
tokens; and the tokens of the hits that have to be read for so many turns.

Beside it, in the same run: the same ranker over a flat list, which is one page with all sessions; and plain full text
and grep over single turns; with `--dense`, search by meaning too. Anything lost, unreachable, too large or broken is
counted and printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import datetime

from bench.data import Conversation, Turn, load_locomo
from bench.retrieval import Found, Row, Search, flat_search, grep_search, measure, table_of
from bench.searching import Watch, index_figures, pages_of
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.tokens import tokens
from memory_v2.tree.block import split_lines

DEEP = 100
Texts = Callable[[Conversation], Iterator[str]]


def main() -> None:
    """Prints the recall of evidence, what it costs, and what became of the text."""
    arguments = parser("LoCoMo through the whole product.")
    arguments.add_argument(
        "--tree", metavar="CONVERSATION", help="print the tree of this conversation instead of the figures"
    )
    arguments.add_argument("--dense", action="store_true", help="search by meaning too, with the extra of that name")
    chosen = arguments.parse_args()
    conversations = load_locomo()
    if chosen.tree:
        _print_trees(conversations, chosen.tree)
        return
    recall, times, kept, index = (dict[str, Figures]() for _ in range(4))
    for name, prepare in (SEARCHES | (BY_MEANING if chosen.dense else {})).items():
        watch, rows = Watch(), dict[str, list[Row]]()
        for conversation in conversations:
            rows[conversation.name] = list(measure(conversation, watch.timed(prepare(conversation))))
        recall |= table_of(name, rows)
        times[name] = watch.figures()
    for name, texts in WAYS.items():
        memories = [grown(conversation, texts) for conversation in conversations]
        kept |= {
            f"{one.name}, {name}": account(memory, one) for memory, one in zip(memories, conversations, strict=True)
        }
        index[name] = index_figures(*map(pages_of, memories))
    report(
        {"recall of evidence": recall, f"a search for {DEEP} hits": times, "the text": kept, "the index": index},
        chosen.json,
    )


def _print_trees(conversations: list[Conversation], name: str) -> None:
    conversation = next((one for one in conversations if one.name == name), None)
    if conversation is None:
        sys.exit(f"there is no conversation {name}; there are {', '.join(one.name for one in conversations)}")
    for way, texts in WAYS.items():
        print(f"{name}, written {way}")
        print("".join(tree_lines(grown(conversation, texts))))


def by_session(conversation: Conversation) -> Iterator[str]:
    """A session as in a log: a dated heading, and an item for each turn."""
    for session in conversation.sessions:
        turns = "\n".join(f"- {turn.speaker}: {with_caption(turn)}" for turn in session)
        yield f"## {spoken_date(session[0].when)}\n\n{turns}\n"


def by_turn(conversation: Conversation) -> Iterator[str]:
    """One turn at a time, each with its date."""
    for turn in conversation.turns:
        yield f"[{spoken_date(turn.when)}] {turn.speaker}: {with_caption(turn)}"


WAYS: dict[str, Texts] = {"session by session": by_session, "turn by turn": by_turn}


def grown(conversation: Conversation, texts: Texts, dense: bool = False) -> Memory:
    """The memory after the whole conversation was written to it, offline and without a path."""
    memory = Memory(VolatileStorage(), dense=dense)
    for text in texts(conversation):
        memory.write(text)
    return memory


def flat(conversation: Conversation) -> Memory:
    """A memory of one page that has all sessions."""
    storage = VolatileStorage()
    storage.write("memory", ("# Conversation\n\n" + "\n".join(by_session(conversation))).encode())
    return Memory(storage)


def account(memory: Memory, conversation: Conversation) -> Figures:
    """What became of the text."""
    pages = pages_of(memory)
    everything = b"".join(pages.values()).decode()
    return {
        "turns": len(conversation.turns),
        "lost": sum(1 for turn in conversation.turns if with_caption(turn) not in everything),
        "pages": len(pages),
        "largest bytes": max(map(len, pages.values())),
        "most children": max(map(len, memory.graph().children.values()), default=0),
        "findings": len(memory.check()),
    }


def memory_search(memory: Memory, conversation: Conversation) -> Search:
    """A search of the memory that returns the turns on the lines it finds."""
    places = turn_places(memory, conversation)

    def search(query: str) -> Found:
        found: dict[str, tuple[Turn, int]] = {}
        sizes = 0
        results = memory.search(query, DEEP)
        if results.degraded:
            sys.exit(results.degraded)  # such as: what the extra needs is not installed
        for result in results:
            sizes += tokens(result.excerpt)
            for line in range(result.lines[0], result.lines[1] + 1):
                if turn := places.get((result.path, line)):
                    found.setdefault(turn.id, (turn, sizes))
        return list(found.values())

    return search


def turn_places(memory: Memory, conversation: Conversation) -> dict[tuple[str, int], Turn]:
    """The turn on each line of each page."""
    waiting: dict[str, list[Turn]] = {}
    for turn in conversation.turns:
        first = f"{turn.speaker}: {split_lines(with_caption(turn))[0].rstrip()}"
        waiting.setdefault(first, []).append(turn)
    places: dict[tuple[str, int], Turn] = {}
    for info in memory.list_files():
        for number, line in enumerate(split_lines(memory.read(info.path)), 1):
            turns = waiting.get(line.split("] ", 1)[-1].removeprefix("- ").rstrip())
            if turns:
                turn = turns.pop(0) if len(turns) > 1 else turns[0]
                for further in range(len(split_lines(with_caption(turn)))):
                    places[info.path, number + further] = turn
    return places


def with_caption(turn: Turn) -> str:
    """The verbatim turn, with the caption of its picture."""
    return f"{turn.text} (image: {turn.caption})" if turn.caption else turn.text


def spoken_date(when: datetime) -> str:
    """`8 May 2023, 1:56 pm`."""
    return f"{when.day} {when:%B %Y}, {when.strftime('%I:%M %p').lstrip('0').lower()}"


def tree_lines(memory: Memory) -> Iterator[str]:
    """The tree with sizes and descriptions."""
    graph = memory.graph()
    sizes = {node.path: node.size for node in graph.nodes}
    labels = {(edge.source, edge.target): edge.label for edge in graph.edges}

    def lines(path: str, depth: int, label: str) -> Iterator[str]:
        yield f"{'  ' * depth}{path}  {sizes[path]:,}  {label}\n"
        for child in graph.children.get(path, []):
            yield from lines(child, depth + 1, labels[path, child])

    return lines("memory", 0, "")


def _written(texts: Texts, dense: bool = False) -> Callable[[Conversation], Search]:
    return lambda conversation: memory_search(grown(conversation, texts, dense), conversation)


SEARCHES: dict[str, Callable[[Conversation], Search]] = {
    **{f"memory, {name}": _written(texts) for name, texts in WAYS.items()},
    "flat list": lambda conversation: memory_search(flat(conversation), conversation),
    "FTS5 over turns": flat_search,
    "grep over turns": grep_search,
}
BY_MEANING = {f"memory, {name}, dense": _written(texts, dense=True) for name, texts in WAYS.items()}


if __name__ == "__main__":
    main()
