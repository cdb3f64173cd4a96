"""How a memory without a model files real documents: `nice python -m bench.filing`.

The documents of a corpus are written one by one, without a path, into a memory of their own: once `plain`, and once
`told`, with `source=` and the name of their file. Then the tree is looked at from outside, as a reader meets it:

- *whole*: of the documents up to 6 KB, those that stand on one page in order with nothing between. A heading counts
  whatever its level; the title of the page may replace the document's own, or stand between its front matter and its
  text. What the program adds above and below is no part of the document.
- *walk*: of all documents, those that a reader reaches who starts at the root and takes at each page the link whose
  name and description share most words of three letters and more with the document's title; of equals, the first
  listed. `best three` takes three links of each page, and at most nine pages a level.
  The reader has arrived at the page on which the document is whole; else at the lowest page that has nine tenths of its
  lines on it and below it, if the document is most of what is there (it was divided below its own page); else at the
  page with most of its lines, if that is half of them. Lines that other documents have too do not count.
  A document without a title of its own is looked for by the name of its file; `plain`, where that was never told, it is
  left out of the walk.
- *kin*: of all documents, those whose folder is the commonest among the documents under the same child of the root.
  A page may list as many links as fit, and if each document stood on the root all would be kin: where the root lists
  more than 32, its list is cut into 32 runs of neighbours as even as can be, and each run counts as one child. A folder
  is the first part of a file's name.

Corpora: those of `bench.documents`. Exits with status 1 if a goal is missed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from bench.documents import CORPORA, Document, compared, documents
from bench.searching import new_memory
from bench.tables import Figures, parser, report
from memory_v2 import Memory

ROOT = "memory"
WHOLE_BYTES = 6_000
"""The largest document that must stand on one page."""
MOST_CHILDREN = 32
"""Of the root, where kin is counted: were each document a child of its own, all would be kin."""
BEST, WIDEST = 3, 9
"""How many links of each page, and how many pages a level, the patient reader takes."""
NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)

GOALS: dict[str, tuple[Callable[[float], bool], str]] = {
    "whole": (lambda share: share >= 0.99, "≥ .99"),
    "walk, best link": (lambda share: share >= 0.8, "≥ .80"),
    "walk, best three": (lambda share: share >= 0.95, "≥ .95"),
    "kin": (lambda share: share >= 0.4, "≥ .40"),
    "lines lost": (lambda count: count == 0, "0"),
    "errors of the tree": (lambda count: count == 0, "0"),
}
GOALS_TOLD = GOALS | {"kin": (lambda share: share >= 0.9, "≥ .90")}


def main() -> None:
    """Prints the figures of the chosen corpora, and what misses its goal."""
    chosen = parser("How a memory without a model files real documents.").parse_args()
    rows: dict[str, Figures] = {}
    missed: list[str] = []
    for corpus in CORPORA:
        for how, goals in (("plain", GOALS), ("told", GOALS_TOLD)):
            if given := documents(corpus):
                rows[f"{corpus}, {how}"] = figures = measure(given, how == "told")
                missed += [
                    f"{name}, {corpus}, {how}: the goal is {goal}"
                    for name, (is_met, goal) in goals.items()
                    if not is_met(figures[name] or 0)
                ]
    report({"the tree": rows}, chosen.json)
    if missed and not chosen.json:
        print("\nmissed:\n  " + "\n  ".join(missed))
    raise SystemExit(bool(missed))


def measure(given: Sequence[Document], is_told: bool) -> Figures:
    """Writes the documents into a new memory, and measures its tree."""
    memory = new_memory(now=lambda: NOW)
    for document in given:
        memory.write(document.text, source=document.name if is_told else None)
    return Tree(memory).figures(given, [one for one in given if is_told or one.own_title])


class Tree:
    """The tree of a memory, as a reader sees it."""

    def __init__(self, memory: Memory) -> None:
        graph = memory.graph()
        self.titles = {node.path: node.title for node in graph.nodes}
        self.lines = {path: compared(memory.read(path)) for path in self.titles}
        self.links: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for edge in graph.edges:
            if edge.child:
                self.links[edge.source].append((edge.target, edge.label))
        self.findings = memory.check()
        self.pages_with: dict[str, set[str]] = defaultdict(set)
        for path, lines in self.lines.items():
            for line in lines:
                self.pages_with[line].add(path)
        self.way = {ROOT: [ROOT]}
        """The shortest way from the root to each page, both included, the root first."""
        for path in (queue := [ROOT]):
            new = [target for target, _ in self.links[path] if target not in self.way]
            self.way |= {target: [*self.way[path], target] for target in new}
            queue += dict.fromkeys(new)

    def figures(self, given: Sequence[Document], looked_for: Sequence[Document]) -> Figures:
        """All figures but the time; those of the walk for the documents that are looked for."""
        homes, small = self.homes(given), [one for one in given if len(one.text.encode()) <= WHOLE_BYTES]
        says = "".join(map(_letters, ("\n".join(lines) for lines in self.lines.values())))
        wanted = [line for document in given for line in document.lines]
        return {
            "whole": sum(any(self._holds(page, one) for page in self.lines) for one in small) / len(small),
            "walk, best link": self._arrived(homes, looked_for, 1, 1),
            "walk, best three": self._arrived(homes, looked_for, BEST, WIDEST),
            "kin": _kin((one.folder, self._child(home)) for one, home in homes.items()),
            "lines lost": sum(_letters(line) not in says for line in wanted),
            "errors of the tree": sum(finding.severity == "error" for finding in self.findings),
        }

    def homes(self, given: Sequence[Document]) -> dict[Document, str | None]:
        """The page at which a reader has arrived, for each document; `None` if it is torn to pieces."""
        seen = Counter(line for document in given for line in set(document.lines))
        return {one: self._home(one, {line for line in one.lines if seen[line] == 1} or {*one.lines}) for one in given}

    def _home(self, document: Document, own: set[str]) -> str | None:
        on = Counter(page for line in own for page in self.pages_with.get(line, ()))
        ranked = sorted(on, key=lambda page: (-on[page], len(self.way.get(page, "")), page))
        for page in ranked:
            if self._holds(page, document):
                return page
        below: dict[str, set[str]] = defaultdict(set)
        for line in own:
            for page in self.pages_with.get(line, ()):
                for above in self.way.get(page, ()):
                    below[above].add(line)
        for page in sorted(below, key=lambda page: (-len(self.way[page]), page)):
            if len(below[page]) >= 0.9 * len(own):
                there = {line for path, way in self.way.items() if page in way for line in self.lines[path]}
                if page != ROOT and 2 * len(below[page]) >= len(there):
                    return page
                break
        return ranked[0] if ranked and 2 * on[ranked[0]] >= len(own) else None

    def _holds(self, page: str, document: Document) -> bool:
        """Whether the document is whole on this page."""
        title, there, wanted = f"# {self.titles[page].casefold()}", self.lines[page], document.lines
        first = next((number for number, line in enumerate(there) if line.casefold() == title), len(there))
        without_title = there[:first] + there[first + 1 :]
        shorter = [wanted] if not wanted or wanted[0].casefold() != title else [wanted, wanted[1:]]
        candidates = [(short, lines) for short in shorter for lines in (there, without_title)]
        return any(lines[n : n + len(short)] == short for short, lines in candidates for n in range(len(lines)))

    def _arrived(
        self, homes: dict[Document, str | None], looked_for: Sequence[Document], links: int, pages: int
    ) -> float:
        return sum(self.arrives(one.title, homes[one], links, pages) for one in looked_for) / len(looked_for)

    def arrives(self, title: str, home: str | None, links: int, pages: int) -> bool:
        """Whether a reader arrives who takes so many links of each page, and so many pages a level."""
        looked_for, level, seen = words(title), [ROOT], {ROOT}
        while level and home not in level:
            found: dict[str, int] = {}
            for path in level:
                scored = [
                    (len(looked_for & words(page.rsplit("/", 1)[-1] + " " + told)), page)
                    for page, told in self.links[path]
                ]
                new = [(score, page) for score, page in scored if page not in seen]
                for score, page in sorted(new, key=lambda one: -one[0])[:links]:
                    found[page] = max(score, found.get(page, 0))
            level = sorted(found, key=lambda page: -found[page])[:pages]
            seen.update(level)
        return home in level

    def _child(self, page: str | None) -> int | None:
        """Which child of the root is above a page, or is the page itself; of many, which run of neighbours."""
        way = self.way.get(page or "", ())
        if len(way) < 2:
            return None
        children = list(dict.fromkeys(target for target, _ in self.links[ROOT]))
        return children.index(way[1]) * min(MOST_CHILDREN, len(children)) // len(children)


def words(text: str) -> set[str]:
    """The words of three letters and more."""
    return set(re.findall(r"\w{3,}", text.casefold().replace("_", " ")))


def _letters(line: str) -> str:
    return re.sub(r"[\W_]+", "", line).casefold()


def _kin(placed: Iterable[tuple[str, int | None]]) -> float:
    """The share of those whose folder is the commonest under their child of the root; none has `None`."""
    under: dict[int, Counter[str]] = defaultdict(Counter)
    count = 0
    for folder, child in placed:
        count += 1
        if child is not None:
            under[child][folder] += 1
    return sum(max(folders.values()) for folders in under.values()) / count


if __name__ == "__main__":
    main()
