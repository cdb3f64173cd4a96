"""Whether real documents are found by their titles: `python -m bench.documents`.

Three corpora: `notes` (the folders of `SILICA_BENCH_DATA`/notes), `own` (this project's documents and prompts), and
`package` (the installed package with the most Markdown). Their documents are written one by one, offline and without a
path, into a memory of their own: once `plain`, and once `told`, with the name of their file as `source=`. Then each is
asked for by its title. The figure is the share whose first hit, or one of three, shows a line of that document. A link
or a description of it is no line of it.

Titles that several documents have are counted apart (`shared`): any of them is right. Only documents are asked for that
say their title, in a heading or their front matter; templates of prompts are none. Beside the memory: the same ranker
over a flat list, which is a page for each document; and plain full text and grep over whole documents.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench.data import HERE, data_folder
from bench.searching import Passages, Watch, full_text, grep, index_figures, memory_of, new_memory, pages_of
from bench.tables import Figures, parser, report
from memory_v2 import Memory

DEPTHS = (1, 3)
SUFFIXES = (".md", ".rst", ".markdown", ".j2")

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\n(.*?)\n---[ \t]*\n", re.S)
_CODE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*?)[ \t#]*$|^(\S.*)\n(?:={3,}|-{3,})[ \t]*$", re.M)


Search = Callable[[str], Sequence[set[int]]]
"""Finds places, best first: the documents that each shows."""


@dataclass(frozen=True)
class Document:
    """A file of a corpus: its name in the corpus, and its text."""

    name: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank, each as it is compared."""
        return compared(self.text)

    @property
    def folder(self) -> str:
        """The first part of the name."""
        return self.name.partition("/")[0] if "/" in self.name else "."

    @cached_property
    def title(self) -> str:
        """Its title: that of its front matter, else its first heading, else the name of its file."""
        return self.own_title or self.name.rsplit("/", 1)[-1].split(".")[0]

    @cached_property
    def own_title(self) -> str:
        """The title of its front matter, else its first heading; empty if it has neither."""
        if (front := _FRONT_MATTER.match(self.text)) and (named := re.search(r"^title:[ \t]*(\S.*)$", front[1], re.M)):
            return named[1].strip().strip("\"'")
        return self.heading

    @cached_property
    def heading(self) -> str:
        """The words of its first heading; empty if it has none."""
        found = _HEADING.search(_CODE.sub("", _FRONT_MATTER.sub("", self.text)))
        return (found[1] or found[2]) if found else ""


def main() -> None:
    """Prints the figures of each search, by corpus and together."""
    arguments = parser("Whether real documents are found by their titles.")
    arguments.add_argument("--only", choices=CORPORA, action="append", help="this corpus, and no other")
    chosen = arguments.parse_args()
    found: dict[str, dict[str, list[tuple[bool, int]]]] = {name: {} for name in SEARCHES}
    watches, index = {name: Watch() for name in SEARCHES}, dict[str, Figures]()
    for corpus in chosen.only or CORPORA:
        given = [document for document in documents(corpus) if not document.name.endswith(".j2")]
        for name, prepare in SEARCHES.items():
            asked = list(_asked(given, watches[name].timed(prepare(given))))
            found[name][corpus] = asked
        index[corpus] = index_figures(pages_of(written(given, is_told=True)))
    rows: dict[str, Figures] = {}
    for name, corpora in found.items():
        rows |= {f"{name}, {corpus}": figures(ranks) for corpus, ranks in corpora.items()}
        rows[f"{name}, all"] = figures([rank for ranks in corpora.values() for rank in ranks])
    times = {name: watch.figures() for name, watch in watches.items()}
    report({"documents by title": rows, f"a search for {max(DEPTHS)} hits": times, "the index": index}, chosen.json)


def _asked(given: Sequence[Document], search: Search) -> Iterator[tuple[bool, int]]:
    """For each document that says its title: whether others have it, the rank of it (0 if it is not found)."""
    having: dict[str, set[int]] = {}
    for number, one in enumerate(given):
        having.setdefault(one.title.casefold(), set()).add(number)
    for one in given:
        right = having[one.title.casefold()]
        if _says_its_title(one):
            hits = search(one.title)
            yield len(right) > 1, next((rank for rank, hit in enumerate(hits, 1) if hit & right), 0)


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
    memory = new_memory()
    for one in given:
        memory.write(one.text, source=one.name if is_told else None)
    return memory


def flat(given: Sequence[Document]) -> Memory:
    """A memory in which each document is a page as it is."""
    return memory_of({f"document-{number:03}": one.text for number, one in enumerate(given)})


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


def compared(text: str) -> list[str]:
    """The lines of a text that are not blank, without trailing blanks; headings of any level are the same."""
    lines = (line.rstrip() for line in text.removeprefix("\ufeff").splitlines())
    return [re.sub(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$", r"# \1", line) for line in lines if line]


def documents(corpus: str) -> list[Document]:
    """The documents of a corpus in order. Says so if it is not there."""
    found = in_order(CORPORA[corpus]())
    if not found:
        print(f"{corpus}: no documents here", file=sys.stderr)
    return found


def below(folder: Path, above: Path) -> list[tuple[str, Path]]:
    """The files of a folder that are documents, with their names from the folder `above`."""
    files = (file for file in folder.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    return [(file.relative_to(above).as_posix(), file) for file in files]


def in_order(files: Iterable[tuple[str, Path]]) -> list[Document]:
    """The documents in these named files, by name; of equal texts only the first."""
    texts: dict[str, str] = {}
    for name, file in sorted(files):
        if not file.stem.upper().startswith("LICENSE"):
            text = file.read_bytes().decode("utf-8", "replace")
            if text.strip():
                texts.setdefault(text, name)
    return [Document(name, text) for text, name in texts.items()]


def _notes() -> list[tuple[str, Path]]:
    folder = data_folder() / "notes"
    return below(folder, folder)


def _own() -> list[tuple[str, Path]]:
    tops = [(file.name, file) for file in HERE.glob("*.md")]
    return [*tops, *below(HERE / "docs", HERE), *below(HERE / "prompts", HERE)]


def _package() -> list[tuple[str, Path]]:
    """The documents of the installed package that has the most."""
    site = Path(sysconfig.get_path("purelib"))
    packages = [below(folder, folder) for folder in sorted(site.iterdir()) if (folder / "__init__.py").is_file()]
    return max(packages, key=len, default=[])


CORPORA: dict[str, Callable[[], list[tuple[str, Path]]]] = {"notes": _notes, "own": _own, "package": _package}


if __name__ == "__main__":
    main()
