"""Whether `silica notes search` finds what folders of notes say: `python -m bench.notes_search`.

The questions are those of `bench/notes_questions.py`, written before any search was asked: forty that a line of their
folder answers, and twenty that none does. The folders are searched as they are, nothing is imported. A hit answers if
it shows such a line. Beside it stand grep (the lines with most words of the question), plain full text over paragraphs
(SQLite FTS5, bm25), and the formula of `memory_search.py`, the tool that this one is to replace: TF-IDF over sections,
with boosts for `MEMORY.md`, for new files and for tags. That shows whole sections, so it hits more easily; `tokens`
tells how long a hit is.

`mistyped` is the same with two letters swapped in the longest word of each question.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from bench.data import data_file
from bench.notes import SOME_NOTE, Found, Reply, Search, full_text_search, grep_search, pages_of, rank
from bench.notes_questions import QUESTIONS, Asked
from bench.searching import Watch
from bench.tables import Figures, parser, report
from memory_v2 import Notes
from memory_v2.text.calendar import named_day
from memory_v2.text.tokens import tokens
from memory_v2.tree.block import decode, readable, split_lines

DEPTHS = (1, 5)
DECAY = 0.95
"""By what the formula multiplies the score of a file for each day that it is old."""

Prepare: TypeAlias = Callable[[Notes], Search]


def main() -> None:
    """Prints the figures."""
    arguments = parser("Whether silica notes search finds what folders of notes say.")
    arguments.add_argument("--misses", action="store_true", help="print what the search misses, too")
    chosen = arguments.parse_args()
    folder = data_file(SOME_NOTE).parents[2]
    with tempfile.TemporaryDirectory() as cache, ExitStack() as opened:
        names = sorted({asked.folder for asked in QUESTIONS})
        notes = {name: opened.enter_context(Notes.open(folder / name, Path(cache) / name)) for name in names}
        answered: dict[str, Figures] = {}
        mistyped: dict[str, Figures] = {}
        times: dict[str, Figures] = {}
        for name, prepare in SEARCHES.items():
            watch = Watch()
            searches = {one: watch.timed(prepare(notes[one])) for one in names}
            replies = {asked: searches[asked.folder](asked.question) for asked in QUESTIONS}
            answered[name], times[name] = _figures(replies), watch.figures()
            wrong = {asked: searches[asked.folder](with_an_error(asked.question)) for asked in QUESTIONS}
            mistyped[name] = _figures(wrong)
            if chosen.misses and prepare is notes_search:
                print(*_misses(replies), sep="\n")
    report({"answered": answered, "mistyped": mistyped, "a search for 5 hits": times}, chosen.json)


def notes_search(notes: Notes) -> Search:
    """The search of notes."""

    def search(question: str) -> Reply:
        hits = notes.search(question, max(DEPTHS))
        return Reply([Found(page_of(hit.file), hit.first_line, hit.last_line, hit.text) for hit in hits], hits.answered)

    return search


def section_search(notes: Notes) -> Search:
    """The formula of the tool that this one is to replace."""
    sections = list(_sections(notes))
    newest = max((section.day for section in sections if section.day), default=date.min)

    def search(question: str) -> Reply:
        asked = question.lower().split()
        counts = {word: sum(word in section.text for section in sections) for word in asked}
        idf = {word: math.log((len(sections) + 1) / (count + 1)) for word, count in counts.items()}
        scored = [(section.score(asked, idf, newest), section) for section in sections]
        best = sorted((one for one in scored if one[0] > 0), key=lambda one: -one[0])[: max(DEPTHS)]
        return Reply([section.found for _, section in best], bool(best))

    return search


def _of_pages(prepare: Callable[[Mapping[str, bytes]], Search]) -> Prepare:
    return lambda notes: prepare(pages_of(notes.folder))


SEARCHES: Mapping[str, Prepare] = {
    "silica notes search": notes_search,
    "TF-IDF over sections": section_search,
    "FTS5 over paragraphs": _of_pages(full_text_search),
    "grep over lines": _of_pages(grep_search),
}


@dataclass(frozen=True, slots=True)
class _Section:
    found: Found
    text: str
    words: Sequence[str]
    tags: frozenset[str]
    day: date | None

    def score(self, asked: Sequence[str], idf: Mapping[str, float], newest: date) -> float:
        counts = Counter(self.words)
        tf_idf = sum(counts[word] / max(len(self.words), 1) * idf[word] for word in asked)
        curated = 1.2 if "MEMORY" in self.found.path else 1.0
        recency = DECAY ** ((newest - self.day).days if self.day else 0)
        return tf_idf * curated * recency * (1 + 0.5 * len(self.tags.intersection(asked)))


def _sections(notes: Notes) -> Iterator[_Section]:
    for note in notes.all():
        lines = split_lines(readable(decode((notes.folder / note.name).read_bytes())))
        for section in note.sections:
            text = "".join(lines[section.first_line - 1 : section.last_line])
            found = Found(page_of(note.name), section.first_line, section.last_line, text)
            yield _Section(found, text.lower(), text.lower().split(), frozenset(section.tags), named_day(note.name))


def page_of(name: str) -> str:
    """The name of a file as the questions have it."""
    return "/".join(part.lstrip(".") for part in name.removesuffix(".md").split("/"))


def with_an_error(question: str) -> str:
    """The question with two letters in the middle of its longest word swapped, if that has six of them."""
    longest = max(re.findall(r"[^\W\d_]+", question), key=len, default="")
    if len(longest) < 6 or not longest.isascii():
        return question
    middle = len(longest) // 2
    wrong = longest[:middle] + longest[middle + 1] + longest[middle] + longest[middle + 2 :]
    return question.replace(longest, wrong, 1)


def _figures(replies: Mapping[Asked, Reply]) -> Figures:
    ranks = [rank(asked, reply.found) for asked, reply in replies.items() if asked.answers]
    absent = [not reply.answered for asked, reply in replies.items() if not asked.answers]
    shown = [one for reply in replies.values() for one in reply.found[: max(DEPTHS)]]
    return {
        **{f"@{depth}": fmean(place is not None and place <= depth for place in ranks) for depth in DEPTHS},
        "absent": fmean(absent),
        "refused": sum(not reply.answered for asked, reply in replies.items() if asked.answers),
        "tokens": fmean(tokens(one.shown) for one in shown),
    }


def _misses(replies: Mapping[Asked, Reply]) -> Iterator[str]:
    for asked, reply in replies.items():
        place = rank(asked, reply.found)
        if asked.answers and place != 1:
            yield f"answer at rank {place or '-'}: {asked.folder}: {asked.question} {asked.answers[0]}"
            yield from (f"    {one.path}:{one.first}-{one.last}  {one.shown[:100]!r}" for one in reply.found[:3])
        if reply.answered != bool(asked.answers):
            yield f"{'refused' if asked.answers else 'absence not told'}: {asked.folder}: {asked.question}"


if __name__ == "__main__":
    main()
