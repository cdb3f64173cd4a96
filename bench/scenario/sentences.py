"""The sentences of the scenario, and where each of them stands in a tree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.scenario.key import Text
from memory_v2.text.retelling import lost_words
from memory_v2.tree.page import Page

LONG = 40
"""From so many characters on, a sentence is recognised inside another one."""

_MARKS = re.compile(r"\s*(?:(?:[-*+>]|#{1,6}|\d+[.)])\s+)*")
_BEGINS = re.compile(r"\s*(?:$|[-*+>] |#|\d+[.)] |\||```|---|\w+: )")
_ENDS = re.compile(r"(?<=[.!?;])\s+")
_NUMBER = re.compile(r"\d+(?:[.:,-]\d+)*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it is compared, the number of its text, and its subject; empty if it has none."""

    words: str
    text: int
    subject: str


@dataclass(frozen=True, slots=True)
class Tree:
    """The pages of a memory, as sentences are looked for in them."""

    sentences: Mapping[str, frozenset[str]]
    whole: Mapping[str, str]
    blocks: Mapping[str, Sequence[str]]


def tree_of(pages: Mapping[str, Page]) -> Tree:
    """The pages, prepared."""
    return Tree(
        {path: frozenset(split(page.body)) for path, page in pages.items()},
        {path: normal(page.body) for path, page in pages.items()},
        {path: [normal(block.content) for block in page.blocks] for path, page in pages.items()},
    )


def sentences_of(texts: Sequence[Text]) -> list[Sentence]:
    """The sentences of all texts in order, each with its subject."""
    found = []
    for number, text in enumerate(texts, 1):
        subject = text.about
        for words in split(text.text):
            subject = next((to for opening, to in text.parts.items() if words.startswith(normal(opening))), subject)
            found.append(Sentence(words, number, subject))
    return found


def split(text: str) -> list[str]:
    """The sentences of a text, without marks of Markdown in front and in lower case."""
    blocks: list[str] = []
    for line in text.splitlines():
        if not blocks or _BEGINS.match(line):
            blocks.append(line)
        else:
            blocks[-1] += f"\n{line}"
    parts = (normal(part) for block in blocks for part in _ENDS.split(normal(block)))
    return [part for part in parts if re.search(r"\w", part)]


def normal(text: str) -> str:
    """A text on one line, without marks of Markdown in front of its lines and in lower case."""
    return " ".join(" ".join(_MARKS.sub("", line, count=1) for line in text.splitlines()).split()).casefold()


def verbatim(sentence: Sentence, tree: Tree) -> list[str]:
    """The pages that have a sentence to the letter."""
    words, is_long = sentence.words, len(sentence.words) >= LONG
    return [path for path in tree.whole if words in tree.sentences[path] or (is_long and words in tree.whole[path])]


def retold(sentence: Sentence, tree: Tree) -> list[str]:
    """The pages that tell a sentence in other words, every number and name of it in one block."""
    numbers = _NUMBER.findall(sentence.words)
    return [path for path, blocks in tree.blocks.items() if any(_tells(b, sentence.words, numbers) for b in blocks)]


def _tells(block: str, words: str, numbers: Iterable[str]) -> bool:
    said = set(_NUMBER.findall(block))
    return said.issuperset(numbers) and not lost_words(words, block)


def places(sentences: Iterable[Sentence], tree: Tree) -> dict[Sentence, str]:
    """The page of each sentence that the tree has. Where several have it, the one with most of the same part."""
    found = {sentence: verbatim(sentence, tree) or retold(sentence, tree) for sentence in sentences}
    sizes: Counter[tuple[int, str, str]] = Counter()
    for one, pages in found.items():
        if len(pages) == 1:
            sizes[one.text, one.subject, pages[0]] += len(one.words)
    return {
        one: max(pages, key=lambda path: sizes[one.text, one.subject, path]) for one, pages in found.items() if pages
    }
