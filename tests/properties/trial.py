"""A trial of one text: it is written into a memory, found to the letter, searched for, and undone.

The memory also holds dated lines, so that there is something to compare with. After the write

- each block of the text stands in the tree to the letter, and each of its lines as often as before and once more; a
  section's heading may be the title of its page, and rules gone from the end of a page, as the page's metadata notes;
- the tree is whole, and `check` finds no error;
- a search for its rarest word, and one for the line with that word, quote the text within the first ten places;
- undo restores every page byte for byte.

A text that has no word of its own, one that few other places have, is not searched for. To a search, accents and
endings make no difference: `wä` is no word of its own where `was` stands everywhere. A text is refused if and only
if it is empty or not valid Unicode. What is not asked: that each block is still a block of its own. Indented text below
a list is part of the last item, as in any Markdown.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from memory_v2 import InvalidText, Memory
from memory_v2.index.terms import terms
from memory_v2.settings import DEFAULT_THRESHOLD
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import BYTE_ORDER_MARK, is_blank, parse_blocks, split_lines
from memory_v2.tree.page import Page
from memory_v2.tree.titles import section_blocks
from tests.properties.whole import clock, faults, joined_pieces, missing, pages_of, says, texts_of

TEXTS_IN_A_MEMORY = 200
"""How many texts are tried in one memory. Each lengthens its history."""
RARE = 5
"""The most blocks that have a word which is searched for; the text must then be among the first ten places."""
MAX_ASKED = 400
"""The length, in characters, up to which a line or a word is searched for. The index cuts longer ones."""


class Trial:
    """Tries texts, each on the same pages: those of so many dated lines."""

    def __init__(self, dated: int) -> None:
        self._beforehand = "\n".join(
            f"- 2025-{n % 12 + 1:02}-{n % 28 + 1:02}: thing {n} was done" for n in range(dated)
        )
        self._renew()

    def problem(self, text: str) -> str:
        """What does not hold for a text; empty if everything does."""
        self._left -= 1
        if self._left < 0:
            self._renew()
        try:
            problem = self._refused(text) if is_refused(text) else self._kept(text)
        except Exception as error:  # noqa: BLE001 - whatever a text causes is what is looked for
            problem = f"{type(error).__name__}: {error}"
        if problem:
            self._renew()
        return problem

    def _renew(self) -> None:
        self._memory = Memory(VolatileStorage(clock), now=clock)
        self._memory.write(self._beforehand)
        self._standing = pages_of(self._memory.storage)
        self._lines = _lines(_bodies(self._standing))
        self._left = TEXTS_IN_A_MEMORY

    def _refused(self, text: str) -> str:
        try:
            self._memory.write(text)
        except InvalidText:
            return "" if pages_of(self._memory.storage) == self._standing else "refused, and the tree has changed"
        return "not refused"

    def _kept(self, text: str) -> str:
        result = self._memory.write(text)
        pages = pages_of(self._memory.storage)
        if result.degraded:
            return f"degraded: {result.degraded}"
        if wrong := faults(pages, DEFAULT_THRESHOLD):
            return f"not whole: {wrong[0]}"
        if errors := [finding for finding in self._memory.check() if finding.severity == "error"]:
            return f"check finds {errors[0]}"
        lost = missing((block.content for block in parse_blocks(text.removeprefix(BYTE_ORDER_MARK))), texts_of(pages))
        if lost and not (result.said_in and all(says(pages, content) for content in lost)):
            return f"not to the letter: {lost[0]!r}"
        if not result.said_in and (fewer := _lines([text]) - (_lines(_bodies(pages)) - self._lines)):
            return f"missing, or fewer than were written: {next(iter(fewer))!r}"
        if problem := self._unfound(text, pages.values()):
            return problem
        self._memory.undo()
        return "" if pages_of(self._memory.storage) == self._standing else "not undone"

    def _unfound(self, text: str, pages: Iterable[Page]) -> str:
        """The query that does not find the text."""
        blocks = [block.content for page in pages for block in page.blocks]
        places = Counter(word for content in blocks for word in {*_words(content), *terms(content)})
        own = [
            (max(places[spelled] for spelled in (word, *terms(word)[:1])), -len(word), chunk, line)
            for line in split_lines(text)
            for chunk in line.split()
            if len(chunk) <= MAX_ASKED
            for word in _words(chunk)
        ]
        if not own or min(own)[0] > RARE:
            return ""
        _, _, chunk, line = min(own)
        for query in (chunk, line) if len(line) <= MAX_ASKED else (chunk,):
            quoted = "\n".join(result.excerpt for result in self._memory.search(query))
            if not any(line.strip() in text for line in _lines([quoted]) if line not in self._lines):
                return f"not found: {query!r}"
        return ""


def is_refused(text: str) -> bool:
    """Whether a text is to be refused: for half of a surrogate pair, or as it is empty."""
    categories = {unicodedata.category(c) for c in text if not c.isspace()}
    return "Cs" in categories or categories <= {"Cc", "Cf"}


def _bodies(pages: dict[str, Page]) -> list[str]:
    """The text of all pages; of one that was a section, as it was there, and as a merge would bring it back."""
    whole = [section_blocks(page) for page in pages.values() if page.piece is None]
    return ["".join(block.text for block in blocks) for blocks in whole] + joined_pieces(pages)


def _lines(texts: Iterable[str]) -> Counter[str]:
    """How often each line stands in some texts, without its end and without a byte order mark at the top."""
    lines = (line.rstrip("\r\n") for text in texts for line in split_lines(text.removeprefix(BYTE_ORDER_MARK)))
    return Counter(line for line in lines if not is_blank(line))


def _words(text: str) -> Iterator[str]:
    """The runs of letters, digits and marks that have more than marks, casefolded."""
    folded = unicodedata.normalize("NFC", text).casefold()
    for is_word, run in groupby(folded, key=lambda c: unicodedata.category(c)[0] in "LMN"):
        word = "".join(run)
        if is_word and any(unicodedata.category(c)[0] != "M" for c in word):
            yield word
