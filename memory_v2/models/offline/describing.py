"""The line by which a page is listed: its title, and what stands below it in the text's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from memory_v2.models.offline.looks import telling_terms
from memory_v2.models.offline.naming import MAX_DESCRIPTION, telling_words
from memory_v2.text.dates import find_dates
from memory_v2.text.lists import numbers, read_phrases, weekdays
from memory_v2.text.plain import plain
from memory_v2.text.speakers import speakers
from memory_v2.text.words import has_cjk, words
from memory_v2.tree.block import Block, encode, readable
from memory_v2.tree.front_matter import read_front_matter

MAX_BYTES = 160
"""Limits the line in bytes too: Chinese says as much in fewer characters, and a page lists many lines."""
MAX_TOLD = 70
"""Limits what is told behind the title, in characters: with longer lines fewer fit on a page, so that a reader has more
pages to choose from, and finds less (measured: 71 lines on the root of a documentation tree, against 30)."""
MAX_LISTED_TITLE = 110
"""Limits the title of a page where it is listed, in characters; there is room for something behind it."""
MIN_ROOM = 24
"""The least room for the beginning of a sentence or heading that does not fit, in characters."""
MIN_WORDS = 4
"""The least words of a sentence; fewer are a label."""
MIN_VALUE = 6
"""The least words of a sentence behind a label; fewer are the value of a field."""
MIN_UNSPACED = 6
"""The least characters of a sentence in a text without spaces."""
SHORT = 50
"""Up to how many characters a first sentence is followed by the second one, if that fits."""
_SPOKEN = frozenset(["paragraph", "item", "quote"])
_NUMBERING = re.compile(r"^(?:[^\w\s(\"'“‘¿¡]+\s*)?(?:(?:\d{1,2}(?:\.\d{1,2})*|[A-Za-z])[.)]\s+)?")
_MARKS = re.compile(r"^[ \t>]*(?:(?:[-+*•]|\d{1,3}[.)])\s+)*(?:\[[ xX]\]\s+)?", re.M)
_LABEL = re.compile(r"\W*\*\*([^*\n:：]{1,40})(?:[:：]\*\*|\*\*[:：])|\W*([^\W\d_][\w ]{0,24}):(?=\s|$)")
_PURPOSE = re.compile(
    r"(?:purpose|goal|objective|mission|summary|about|description|objetivo|propósito|resumen|resumo|descripción"
    r"|descrição|objectif|résumé|ziel|zweck|zusammenfassung|目的|目标|目標|概要|摘要)",
    re.I,
)
_ENDS = re.compile(r"[.!?…][\"'”’)]*(?=\s+[^a-z\s])|[。！？]")
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs|dr|mrs?|ms|st|nr|no|approx|z\.B|p\.ej|sra?|\d{1,3}|[A-Z])\.$", re.I)
_BRACKETS = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_DAY = re.compile(r"\b\d{4}-\d\d(?:-\d\d)?\b")
_STAMP = re.compile(
    r"\A[\W_]*(?:\d{4}-\d{2}-\d{2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?)?|\d{1,2}:\d{2}(?::\d{2})?)"
    r"(?:Z|[+-]\d{2}:?\d{2}| ?[A-Z]{3,4}\b)?(?!\w)[\W_]*"
)
_URL = re.compile(r"(?:\bURL\b\W*)?https?://\S+(?:\s*[—–-]\s+)?|<[^>\s][^>]*>|!\[[^\]]*\]\([^)]*\)")
_OF_CODE = re.compile(
    r"(?<![\w/])(?:~|\.{1,2})?/?[\w.-]+/[\w.-]+/|(?<![\w/])[~/][\w.-]+/|[A-Za-z]:\\|::|\w\(\)|=>|[{}]"
)


@cache
def _common_headings() -> frozenset[str]:
    return read_phrases(Path(__file__).with_name("common-headings.txt"))


def is_common_heading(heading: str) -> bool:
    """Whether a heading stands in notes of any kind, such as `Overview`, and does not say what its own is about."""
    told = _bare(heading)
    return " ".join(re.findall(r"\w+", told.casefold())) in _common_headings() or not telling_terms(told)


def describe_page(title: str, blocks: Sequence[Block], telling: Sequence[str] = ()) -> str:
    """The title as it is written, then what the front matter says of the page, else its headings in order, else its
    first sentence. Only a text without any of these, and a conversation, is told by single words: by `telling`, or the
    most frequent ones."""
    line = _cut(plain(title), MAX_LISTED_TITLE)
    spoken = [block for block in blocks if block.kind in _SPOKEN]
    if len(speakers([line for block in spoken for line in readable(block.content).splitlines()])) < 2:
        headings = [block for block in blocks if block.kind == "heading"]
        all_headings = (_bare(readable(block.words)) for block in headings)
        sentences = list(_sentences(spoken, keep_values=bool(find_dates(line))))
        telling_headings = _headings(headings)
        if len(telling_headings) == 1:
            telling_headings += sentences
        for parts in (_given(blocks), telling_headings, sentences, all_headings):
            if (told := _followed(line, parts, "; ")) != line:
                return told
    return _followed(line, (telling or telling_words(line, blocks)) if spoken else (), ", ")


def _given(blocks: Sequence[Block]) -> Iterator[str]:
    front = next((block for block in blocks if block.kind == "front matter"), None)
    if front is not None and (given := read_front_matter(front.text).description):
        yield given


def _headings(headings: Sequence[Block]) -> list[str]:
    """The headings of the highest level that has several, in order, without those of any note, such as `Overview`."""
    own = [block for block in headings if not is_common_heading(readable(block.words))]
    levels = [block.level for block in own]
    level = next((level for level in sorted(set(levels)) if levels.count(level) > 1), max(levels, default=0))
    return [_bare(readable(block.words)) for block in own if block.level <= level]


def _bare(heading: str) -> str:
    """A heading without its number, brackets, days, and the colon at its end: many other titles have a day too."""
    shown = " ".join(_DAY.sub(" ", _BRACKETS.sub(" ", plain(heading))).split())
    return (_NUMBERING.sub("", shown) or shown).rstrip(":： ")


def _sentences(blocks: Sequence[Block], keep_values: bool) -> Iterator[str]:
    """What a text says it is for; else its first sentence, and of a list how each of its items begins. Sentences with
    values, which change while the line stays, are left out unless the page is of a day, which is over."""
    for block in blocks:
        for line in readable(block.content).splitlines():
            found = _LABEL.match(line)
            if found and _PURPOSE.fullmatch((found[1] or found[2]).strip()) and (said := _said(line[found.end() :])):
                yield said[0]
                return
    for block in blocks:
        if said := [one for one in _said(readable(block.content)) if keep_values or not _has_value(one)]:
            yield from said[: 2 if len(said[0]) < SHORT else 1]
            if block.kind != "item":
                return


def _has_value(said: str) -> bool:
    """Whether a sentence has a number or a day of the week."""
    return any(word[0].isdigit() or word in weekdays() or word in numbers() for word in words(said))


def _said(text: str) -> list[str]:
    """The sentences of a text, without what is a field and its value, a path, an address or code. A line that begins
    with a time or a label begins a sentence."""
    runs: list[str] = []
    for line in _URL.sub(" ", text).splitlines():
        if not runs or _STAMP.match(line) or _MARKS.sub("", line) != line.lstrip() or _LABEL.match(line):
            runs.append(line)
        else:
            runs[-1] += f" {line}"
    bare = (_STAMP.sub("", plain(_MARKS.sub("", run))) for run in runs)
    return [said for run in bare for said in _split(run) if _is_sentence(said)]


def _split(text: str) -> Iterator[str]:
    start = 0
    for end in _ENDS.finditer(text):
        if not _ABBREVIATED.search(text[start : end.end()]):
            yield text[start : end.end()].strip()
            start = end.end()
    yield text[start:].strip()


def _is_sentence(said: str) -> bool:
    label = _LABEL.match(said)
    value = said[label.end() :] if label else said
    if said.endswith((":", "：")) or _OF_CODE.search(said) or not telling_terms(value):
        return False
    if has_cjk(value):
        return len(value) >= MIN_UNSPACED
    return len(re.findall(r"[^\W\d_]{2,}", value)) >= (MIN_VALUE if label else MIN_WORDS)


def _followed(line: str, parts: Iterable[str], mark: str) -> str:
    """The line with as many of the parts as fit and say something new. The title stands before the last colon, so no
    other one is in the parts."""
    title, told = frozenset(words(line)), set[str]()
    between = ": " if line else ""
    for part in parts:
        shown = re.sub(r":\s", " – ", plain(part)).rstrip(" .;,。；")
        if not set(words(shown)) - title or shown.casefold() in told:
            continue
        room = min(MAX_DESCRIPTION - len(line), MAX_TOLD - sum(map(len, told))) - len(between)
        fits = _cut(shown, min(room, _of_bytes(shown, MAX_BYTES - len(encode(line + between)))))
        if fits != shown and (told or len(fits) < MIN_ROOM):
            break
        line, between = line + between + fits, mark
        told.add(shown.casefold())
        if fits != shown:
            break
    return line


def _of_bytes(text: str, room: int) -> int:
    """How many characters of the text take at most this many bytes."""
    return len(text) if len(encode(text)) <= room else len(encode(text)[: max(0, room)].decode(errors="ignore"))


def _cut(text: str, limit: int) -> str:
    """The text, or as many of its whole words as fit, with an ellipsis; without spaces, of its characters."""
    if len(text) <= limit:
        return text
    start = text[: max(0, limit - 1)]
    whole = start.rpartition(" ")[0]
    kept = whole if whole and not has_cjk(start[len(whole) :]) else start if has_cjk(start) else whole
    return kept.rstrip(" ,;:-–—(") + "…" if kept else ""
