"""LoCoMo through the whole product: `python -m bench.locomo [--tree CONVERSATION]`.

Each conversation is written with `Memory.write(text)`, without a path or a model, by session and by turn; the tree
grows and splits by itself. Then its questions are asked with `Memory.search`. The baseline is plain full text over the
same turns, in the same run. Anything lost, unreachable, too large or broken is counted and printed."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from bench.data import Conversation, Turn, load_locomo
from bench.retrieval import Row, Search, columns, flat_search, measure, shown
from memory_v2 import Memory
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import split_lines

DEEP = 100
Texts = Callable[[Conversation], Iterator[str]]


def main() -> None:
    """Prints the recall of evidence, and what became of the text."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--tree", metavar="CONVERSATION", help="print the tree of this conversation instead of the figures"
    )
    chosen = parser.parse_args().tree
    conversations = load_locomo()
    if chosen:
        conversation = next((c for c in conversations if c.name == chosen), None)
        if conversation is None:
            sys.exit(f"there is no conversation {chosen}; there are {', '.join(c.name for c in conversations)}")
        for name, texts in WAYS.items():
            print(f"{chosen}, written {name}")
            print("".join(tree_lines(grown(conversation, texts))))
        return
    print(f"{'recall of evidence':48}" + "".join(f"{name:>8}" for name in columns()))
    _print_ways("flat full text over turns", [(c.name, list(measure(c, flat_search(c)))) for c in conversations])
    for name, texts in WAYS.items():
        results = []
        for conversation in conversations:
            began = time.perf_counter()
            memory = grown(conversation, texts)
            seconds = time.perf_counter() - began
            print(f"    {conversation.name} written {name}: {account(memory, conversation, seconds)}")
            results.append((conversation.name, list(measure(conversation, memory_search(memory, conversation)))))
        _print_ways(f"memory written {name}", results)


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


def grown(conversation: Conversation, texts: Texts) -> Memory:
    """The memory after the whole conversation was written to it, offline and without a path."""
    memory = Memory(VolatileStorage())
    for text in texts(conversation):
        memory.write(text)
    return memory


def account(memory: Memory, conversation: Conversation, seconds: float) -> str:
    """What became of the text, in one line."""
    pages = {info.path: memory.read(info.path) for info in memory.list_files()}
    everything = "".join(pages.values())
    lost = sum(1 for turn in conversation.turns if with_caption(turn) not in everything)
    findings = memory.check()
    children = max(map(len, memory.graph().children.values()), default=0)
    return (
        f"{lost} of {len(conversation.turns)} turns lost, {len(pages)} pages, the largest "
        f"{max(len(text.encode()) for text in pages.values()):,} bytes, at most {children} children, "
        f"{len(findings)} findings, {seconds:.1f} s"
    )


def memory_search(memory: Memory, conversation: Conversation) -> Search:
    """A search of the memory that returns the turns on the lines it finds."""
    places = turn_places(memory, conversation)

    def search(query: str) -> list[Turn]:
        found = []
        for result in memory.search(query, DEEP):
            for line in range(result.lines[0], result.lines[1] + 1):
                if (turn := places.get((result.path, line))) and turn not in found:
                    found.append(turn)
        return found

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


def _print_ways(name: str, results: Sequence[tuple[str, list[Row]]]) -> None:
    for conversation, rows in results:
        print(f"  {name + ', ' + conversation:46}" + shown(rows))
    together = [row for _, rows in results for row in rows]
    print(f"{name + ', all':48}" + shown(together) + f"   median {statistics.median(r['ms'] for r in together):.1f} ms")


if __name__ == "__main__":
    main()
