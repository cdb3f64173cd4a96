"""The line by which a page is listed: its title, and what stands below it in the text's own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from memory_v2.models.offline.naming import MAX_DESCRIPTION, telling_words
from memory_v2.models.offline.sentences import LABEL, cut, has_value, phrase, sentences
from memory_v2.models.offline.topics import Topic, topics_of
from memory_v2.text.dates import find_dates
from memory_v2.text.plain import plain
from memory_v2.text.speakers import speakers
from memory_v2.text.words import words
from memory_v2.tree.block import Block, encode, readable
from memory_v2.tree.front_matter import read_front_matter

MAX_BYTES = 160
"""Limits the line in bytes too: Chinese says as much in fewer characters, and a page lists many lines."""
USUAL = 100
"""The usual length of a line, in characters: with longer lines fewer fit on a page, so that a reader has more pages to
choose from, and finds less."""
OF_A_DAY = 150
"""The same for a day, whose title does not say what it was about."""
LEAST_TOLD = 50
"""How much is told even behind a long title, in characters, if the line has room for it."""
MAX_LISTED_TITLE = 110
"""Limits the title of a page where it is listed, in characters; there is room for something behind it."""
MAX_SENTENCE = 72
"""Limits a sentence, in characters: each of its words may be one that a reader looks for elsewhere."""
MIN_ROOM = 16
"""The least room for something else behind the title, in characters."""
MIN_TOPIC = 32
"""How much of a topic is told at least before another one is, in characters."""
ENOUGH = 3
"""From how many topics those below them are not told."""
_ABOVE = frozenset(["front matter", "rule", "html"])
_PROSE = frozenset(["paragraph", "quote"])
_SPOKEN = frozenset(["paragraph", "item", "quote"])
_PURPOSE = re.compile(
    r"(?:purpose|goal|objective|mission|focus|summary|about|description|objetivo|propósito|resumen|resumo|descripción"
    r"|descrição|objectif|résumé|ziel|zweck|zusammenfassung|目的|目标|目標|概要|摘要)",
    re.I,
)


def describe_page(title: str, blocks: Sequence[Block], telling: Sequence[str] = ()) -> str:
    """The title as it is written, then what the text says it is about, and what it covers: of its sections, items or
    paragraphs as many as fit, the largest first, in their order. A conversation, and a text without any of these, is
    told by single words: by `telling`, or the most frequent ones."""
    line = cut(plain(title).rstrip(":： "), MAX_LISTED_TITLE)
    spoken = [block for block in blocks if block.kind in _SPOKEN]
    if given := _given(blocks):
        return _followed(line, [given], "; ", MAX_DESCRIPTION)
    if not _is_talk(spoken):
        is_of_a_day = bool(find_dates(line))
        usual = max(OF_A_DAY if is_of_a_day else USUAL, len(line) + LEAST_TOLD)
        room, topics = _room(line, usual), topics_of(blocks, line, keep_values=is_of_a_day)
        sections = [topic for topic in topics if not topic.is_said]
        about = _purpose(blocks) or ("" if len(sections) >= ENOUGH else _first_sentence(line, blocks))
        if about := phrase(about, min(room, MAX_SENTENCE)):
            topics = sections
        if (said := _followed(line, [about, *_chosen(topics, room - len(about))], "; ", usual)) != line:
            return said
    return _followed(line, (telling or telling_words(line, blocks)) if spoken else (), ", ", USUAL)


def _is_talk(blocks: Sequence[Block]) -> bool:
    """Whether two or more people speak most lines of a text."""
    lines = [line for block in blocks for line in readable(block.content).splitlines() if line.strip()]
    turns = speakers(lines)
    return len(turns) > 1 and 2 * sum(turns.values()) >= len(lines)


def _room(line: str, most: int) -> int:
    """How many characters may stand behind this title and a colon, in a line of at most so many."""
    return min(min(most, MAX_DESCRIPTION) - len(line), MAX_BYTES - len(encode(line))) - len(": ")


def _given(blocks: Sequence[Block]) -> str:
    front = next((block for block in blocks if block.kind == "front matter"), None)
    return read_front_matter(front.text).description if front is not None else ""


def _purpose(blocks: Sequence[Block]) -> str:
    """What a text says at its top that it is for."""
    for block in _opening(blocks):
        for line in readable(block.content).splitlines():
            found = LABEL.match(line)
            if found and _PURPOSE.fullmatch((found[1] or found[2]).strip()):
                return plain(line[found.end() :])
    return ""


def _first_sentence(title: str, blocks: Sequence[Block]) -> str:
    """The first sentence at the top of a text, but not of a day. Sentences with values, which change while the line
    stays, are left out."""
    said = (one for block in _opening(blocks) for one in sentences(readable(block.content)) if not has_value(one))
    return "" if find_dates(title) else next(said, "")


def _opening(blocks: Sequence[Block]) -> list[Block]:
    """The paragraphs directly below the title."""
    start, titles = 0, 0
    while start < len(blocks) and (blocks[start].kind in _ABOVE or (blocks[start].kind == "heading" and not titles)):
        titles += blocks[start].kind == "heading"
        start += 1
    return list(takewhile(lambda block: block.kind in _PROSE, blocks[start:]))


def _chosen(topics: Sequence[Topic], room: int) -> list[str]:
    """The topics that fit, in their order: the largest of the highest ones first, and those below them only if there
    are few."""
    chosen: dict[int, str] = {}
    found = 0
    for depth in sorted({topic.depth for topic in topics}):
        if found >= ENOUGH:
            break
        places = [place for place, topic in enumerate(topics) if topic.depth == depth]
        found += len(places)
        limit = _share([len(topics[place].words) for place in places], room)
        for place in sorted(places, key=lambda place: (-topics[place].size, place)):
            told = phrase(topics[place].words, limit)
            if len(told) + len("; ") <= room:
                chosen[place] = told
                room -= len(told) + len("; ")
    return [chosen[place] for place in sorted(chosen)]


def _share(lengths: Sequence[int], room: int) -> int:
    """To how many characters topics of these lengths are cut, so that all fit if they can."""
    for place, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - place) - len("; ")
        if length > share:
            return max(MIN_TOPIC, share)
        room -= length + len("; ")
    return max(lengths)


def _followed(line: str, parts: Sequence[str], mark: str, most: int) -> str:
    """The line with as many of the parts as fit and say something new, up to so many characters. The title stands
    before the last colon, so no other one is in the parts."""
    title, told, end = frozenset(words(line)), set[str](), len(line) + len(": ") + _room(line, most)
    between = ": " if line else ""
    for part in parts:
        shown = re.sub(r":\s", " – ", plain(part)).rstrip(" .;,。；")
        if not set(words(shown)) - title or shown.casefold() in told:
            continue
        fits = phrase(shown, min(end - len(line + between), _of_bytes(shown, MAX_BYTES - len(encode(line + between)))))
        if fits != shown and (told or len(fits) < MIN_ROOM):
            continue
        line, between = line + between + fits, mark
        told.add(shown.casefold())
    return line


def _of_bytes(text: str, room: int) -> int:
    """How many characters of the text take at most this many bytes."""
    return len(text) if len(encode(text)) <= room else len(encode(text)[: max(0, room)].decode(errors="ignore"))
