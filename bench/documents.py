"""Whether real documents are found by their titles: `python -m bench.documents`.

The documents of `bench.librarian` (the folders of notes, an installed package's, this project's own) are written one
by one, offline and without a path, into a memory of their own: once `plain`, and once `told`, with the name of their
file as `source=`. Then each is asked for by its title. The figure is the share whose first hit, or one of three, shows
a line of that document. A link or a description of it is no line of it.

Titles that several documents have are counted apart (`shared`): any of them is right. Only documents are asked for that
say their title, in a heading or their front matter; templates of prompts are none. Beside the memory: the same ranker
over a flat list, which is a page for each document; and plain full text and grep over whole documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from bench.baselines import full_text, grep
from bench.librarian import CORPORA, Document, documents
from bench.passages import Passages
from bench.searching import Watch, index_figures, pages_of
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.storage.volatile import VolatileStorage

DEPTHS = (1, 3)

Search = Callable[[str], Sequence[set[int]]]
"""Finds places, best first: the documents that each shows."""


def main() -> None:
    """Prints the figures of each search, by corpus and together."""
    arguments = parser("Whether real documents are found by their titles.")
    arguments.add_argument("--only", choices=CORPORA, action="append", help="this corpus, and no other")
    arguments.add_argument("--misses", action="store_true", help="print the titles that the memory misses, too")
    chosen = arguments.parse_args()
    found: dict[str, dict[str, list[tuple[bool, int]]]] = {name: {} for name in SEARCHES}
    watches, index = {name: Watch() for name in SEARCHES}, dict[str, Figures]()
    for corpus in chosen.only or CORPORA:
        given = [one for one in documents(corpus) if not one.name.endswith(".j2")]
        for name, prepare in SEARCHES.items():
            asked = list(_asked(given, watches[name].timed(prepare(given))))
            found[name][corpus] = [(shared, rank) for shared, rank, _ in asked]
            for _, rank, title in asked if chosen.misses and name in MEMORIES else ():
                if rank != 1:
                    print(f"{corpus}, {name}: {title!r} is at {rank or '-'}")
        index[corpus] = index_figures(pages_of(written(given, is_told=True)))
    rows: dict[str, Figures] = {}
    for name, corpora in found.items():
        rows |= {f"{name}, {corpus}": figures(ranks) for corpus, ranks in corpora.items()}
        rows[f"{name}, all"] = figures([one for ranks in corpora.values() for one in ranks])
    times = {name: watch.figures() for name, watch in watches.items()}
    report({"documents by title": rows, f"a search for {max(DEPTHS)} hits": times, "the index": index}, chosen.json)


def _asked(given: Sequence[Document], search: Search) -> Iterator[tuple[bool, int, str]]:
    """For each document that says its title: whether others have it, the rank of it (0 if it is not found), and the
    title."""
    having: dict[str, set[int]] = {}
    for number, one in enumerate(given):
        having.setdefault(one.title.casefold(), set()).add(number)
    for one in given:
        right = having[one.title.casefold()]
        if _says_its_title(one):
            hits = search(one.title)
            yield len(right) > 1, next((rank for rank, hit in enumerate(hits, 1) if hit & right), 0), one.title


def _says_its_title(document: Document) -> bool:
    said = (line.removeprefix("# ").removeprefix("title:").strip(" \t\"'") for line in document.lines)
    return document.title in said


def figures(ranks: Sequence[tuple[bool, int]]) -> Figures:
    """The shares of the titles, and those of the shared ones."""
    row: dict[str, float | int | None] = {}
    for name, wanted in (("", False), ("shared", True)):
        counted = Counter(rank for shared, rank in ranks if shared == wanted)
        count = counted.total()
        row |= {
            f"{name} @{depth}".strip(): sum(counted[rank] for rank in range(1, depth + 1)) / count if count else None
            for depth in DEPTHS
        }
        row[f"{name} titles".strip()] = count
    return row


def written(given: Sequence[Document], is_told: bool) -> Memory:
    """A memory to which the documents were written."""
    memory = Memory(VolatileStorage())
    for one in given:
        memory.write(one.text, source=one.name if is_told else None)
    return memory


def flat(given: Sequence[Document]) -> Memory:
    """A memory in which each document is a page as it is."""
    storage = VolatileStorage()
    for number, one in enumerate(given):
        storage.write(f"document-{number:03}", one.text.encode())
    return Memory(storage)


def of_memory(memory: Memory, given: Sequence[Document]) -> Search:
    """The documents that the hits of a memory show."""
    passages = Passages(memory, [one.text for one in given])
    return lambda title: [{*passages.shown_by(result)} for result in memory.search(title, max(DEPTHS))]


def of_texts(found: Callable[[str, int], list[int]]) -> Search:
    """The documents that are found as texts."""
    return lambda title: [{number} for number in found(title, max(DEPTHS))]


SEARCHES: dict[str, Callable[[Sequence[Document]], Search]] = {
    "memory, plain": lambda given: of_memory(written(given, is_told=False), given),
    "memory, told": lambda given: of_memory(written(given, is_told=True), given),
    "flat list": lambda given: of_memory(flat(given), given),
    "FTS5 over documents": lambda given: of_texts(full_text([one.text for one in given])),
    "grep over documents": lambda given: of_texts(grep([one.text for one in given])),
}
MEMORIES = [name for name in SEARCHES if name.startswith("memory")]


if __name__ == "__main__":
    main()
