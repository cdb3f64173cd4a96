"""Whether links between pages bring what two pages answer together: `python -m bench.links`.

"Which port does the service that Mira looks after listen on?" is answered on the page of that service, which says
nothing of Mira; her page links to it. The notes and the questions (`bench/texts/links.json`) were written for this
bench. Figures: the share of the questions of which one of so many hits shows the line that answers. `one hop` are
questions that one page answers; `crowded` is the same among pages of other services and machines that nobody links to.

Beside the memory: the same notes with the words of each link, but no links; plain full text and grep over lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from statistics import fmean

from bench.data import own_texts
from bench.searching import Search, Watch, a_text, full_text, grep, memory_of, of_memory, of_texts
from bench.tables import Figures, parser, report
from memory_v2.operations.results import SearchResult, SearchResults

DEPTHS = (1, 3, 10)
OTHERS = 200
"""How many further services and machines a crowded memory has."""

Pages = Mapping[str, str]


def main() -> None:
    """Prints the figures."""
    chosen = parser("Whether links bring what two pages answer together.").parse_args()
    rows, watch = dict[str, Figures](), Watch()
    texts = own_texts("links")
    for kind, pages in (("", texts["pages"]), ("crowded, ", crowded(texts["pages"]))):
        for name, prepare in SEARCHES.items():
            search = watch.timed(f"{name}{', crowded' if kind else ''}", prepare(pages))
            for hops in ("two hops", "one hop"):
                rows[f"{name}, {kind}{hops}"] = figures(search, texts[hops])
    report({"answered": rows, f"a search for {max(DEPTHS)} hits": watch.rows}, chosen.json)


def figures(search: Search, questions: Sequence[tuple[str, str, str]]) -> Figures:
    """The share of the questions answered by so many hits."""
    ranks = [_rank(search(question), page, line) for question, page, line in questions]
    return {**{f"@{depth}": fmean(rank <= depth for rank in ranks) for depth in DEPTHS}, "questions": len(ranks)}


def _rank(hits: SearchResults, page: str, line: str) -> int:
    answers = (rank for rank, hit in enumerate(hits, 1) if hit.path == page and line in hit.excerpt)
    return next(answers, max(DEPTHS) + 1)


def crowded(pages: Pages) -> Pages:
    """The same pages among many like them."""
    others = {
        f"{kind}/other-{number:03}": re.sub(r"\A# .*", f"# Other {number}", re.sub(r"\[\[.*?\]\]", "a shelf", text))
        for kind in ("services", "machines")
        for some in [[text for path, text in pages.items() if path.startswith(f"{kind}/")]]
        for number, text in zip(range(OTHERS), cycle(some), strict=False)
    }
    return {**pages, **others}


def memory_search(pages: Pages) -> Search:
    """The search of a memory that has these pages."""
    return of_memory(memory_of(pages), max(DEPTHS))


def unlinked_search(pages: Pages) -> Search:
    """The same without links, but with their words."""
    return memory_search({path: re.sub(r"\[\[(.*?)\]\]", r"\1", text) for path, text in pages.items()})


def lines_of(pages: Pages) -> list[SearchResult]:
    """The lines of all pages, each behind the name of its page."""
    lines = ((path, line) for path, text in pages.items() for line in text.splitlines() if line.strip())
    return [a_text(f"{path} {line}", path=path) for path, line in lines]


SEARCHES: Mapping[str, Callable[[Pages], Search]] = {
    "memory": memory_search,
    "without links": unlinked_search,
    "FTS5 over lines": lambda pages: of_texts(full_text, lines_of(pages), max(DEPTHS)),
    "grep over lines": lambda pages: of_texts(grep, lines_of(pages), max(DEPTHS)),
}


if __name__ == "__main__":
    main()
