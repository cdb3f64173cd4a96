"""The line by which a page is listed: its title, and what stands below it in the text's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from memory_v2.models.offline.naming import MAX_DESCRIPTION, telling_words
from memory_v2.models.offline.page_features import telling_terms
from memory_v2.models.offline.topics import (
    LABEL,
    STAMP,
    Topic,
    bare,
    cut,
    has_value,
    is_aside,
    is_common_heading,
    is_form,
    phrase,
    sentences,
    subject_of,
    topics_of,
    value_of,
)
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
LEAST_TOLD = 60
"""How much is told even behind a long title, in characters, if the line has room for it."""
MAX_LISTED_TITLE = 110
"""Limits the title of a page where it is listed, in characters; there is room for something behind it."""
MAX_SENTENCE = 84
"""Limits a sentence, in characters: each of its words may be one that a reader looks for elsewhere."""
MIN_ROOM = 16
"""The least room for something else behind the title, in characters."""
MIN_TOPIC = 32
"""The least share of a line that a topic has, in characters."""
MAX_TOPIC = 72
"""Limits a topic, in characters; a longer one is told by its clauses."""
LEAST_COVERED = 0.3
"""The least share of a page, in bytes, that a line without values is told from; below that, they are told too."""
MOST_READ = 500
"""How many blocks are read: more than a page has but in a text that is still to be split."""
ENOUGH = 3
"""From how many topics those below them are not told."""
_ABOVE = frozenset(["front matter", "rule", "html"])
_PROSE = frozenset(["paragraph", "quote"])
_SPOKEN = frozenset(["paragraph", "item", "quote"])
_SUMMARY = re.compile(
    r"(?:the )?(?:purpose|goal|objective|mission|vision|focus|(?:executive |session )?summary|overview|abstract|tl;?dr"
    r"|about|description|objetivo|propósito|resumen(?: ejecutivo)?|resumo(?: executivo)?|descripción|descrição|visión"
    r"|visão|objectif|résumé|ziel|zweck|zusammenfassung|überblick|目的|目标|目標|概要|概述|摘要|简介)",
    re.I,
)
"""What a text that tells what all of it is about stands below or behind."""
_VALUE = re.compile(r"(?<![\w-])\d")


def describe_page(
    title: str, blocks: Sequence[Block], telling: Sequence[str] = (), below: Sequence[tuple[str, str]] = ()
) -> str:
    """The title as it is written, then what the text says it is about, and what it covers: of its sections, items or
    paragraphs the first and as many of the largest as fit, in their order; and then what is on the pages `below`, given
    by their titles and lines. A conversation, and a text without any of these, is told by single words: by `telling`,
    or the most frequent ones."""
    line, blocks = listed_title(title), blocks[:MOST_READ]
    spoken = [block for block in blocks if block.kind in _SPOKEN]
    if given := _given(blocks):
        return _followed(line, [given], "; ", MAX_DESCRIPTION)
    if below or not _is_talk(spoken):
        is_of_a_day = bool(find_dates(line) or STAMP.match(line))
        usual = max(OF_A_DAY if is_of_a_day else USUAL, len(line) + LEAST_TOLD)
        room, topics = _room(line, usual), _topics(blocks, line, is_of_a_day)
        if about := _about(line, blocks, min(_room(line, MAX_DESCRIPTION), MAX_SENTENCE)):
            topics = [topic for topic in topics if not topic.is_said]
            room -= len(about) + len("; ")
        own = _chosen(topics, room // 2 if below else room)
        left = room - sum(len(told) + len("; ") for told in own)
        others = _chosen([_topic_of(*child) for child in below], left)
        parts = [about, *own, *(told for told in others if not ((about or own) and told.endswith("…")))]
        if (said := _followed(line, parts, "; ", max(usual, len(line) + len("; ".join(parts)) + 2))) != line:
            return said
    return _followed(line, (telling or telling_words(line, blocks)) if spoken else (), ", ", USUAL)


def listed_title(title: str) -> str:
    """The title of a page as a line that lists the page begins with it."""
    return cut(plain(title).rstrip(":： "), MAX_LISTED_TITLE)


def _topics(blocks: Sequence[Block], line: str, keep_values: bool) -> list[Topic]:
    """The parts of a page; items with values too, if there is little else on it."""
    topics = topics_of(blocks, line, keep_values)
    if keep_values or sum(topic.size for topic in topics) >= LEAST_COVERED * sum(block.size for block in blocks):
        return topics
    return topics_of(blocks, line, keep_values=True)


def _topic_of(title: str, line: str) -> Topic:
    """A page below another one as a part of that: by its title, or by what else its line tells first, which is told
    only if all titles are like that."""
    subject = subject_of(title)
    if telling_terms(subject) and not is_common_heading(subject):
        return Topic(subject, len(line), 0)
    return Topic(line.removeprefix(plain(title)).removeprefix(": ").split("; ")[0] or subject, 0, 0)


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


def _about(title: str, blocks: Sequence[Block], room: int) -> str:
    """What a text says at its top of all of it, in so many characters: what it is for, its summary, or the first
    sentence below its title, a quotation after the other ones. The first sentence of a day is about its morning, and
    one with a value, which changes while the line stays, is left out."""
    opening = sorted(_opening(blocks), key=lambda block: block.kind == "quote")
    for line, label, end in _labelled(opening):
        if _SUMMARY.fullmatch(label) and (told := phrase(plain(line[end:]), room)):
            return told
    summary = [told for said in _sentences(_summary(blocks)) if not _VALUE.search(told := phrase(said, room))]
    if find_dates(title) or _has_others(blocks):
        opening = []
    return next(
        filter(None, (*summary, *(phrase(said, room) for said in _sentences(opening) if not has_value(said)))), ""
    )


def _has_others(blocks: Sequence[Block]) -> bool:
    """Whether a text begins with a section that has others beside it, so that what it opens with is not about all."""
    levels = [block.level for block in blocks if block.kind == "heading"]
    start = next((block.kind for block in blocks if block.kind not in _ABOVE), "")
    return start == "heading" and min(levels[1:], default=9) <= levels[0]


def _labelled(blocks: Iterable[Block]) -> Iterator[tuple[str, str, int]]:
    """The lines of a text that begin with a label, with the label and where it ends."""
    for block in blocks:
        for line in readable(block.content).splitlines():
            if found := LABEL.match(line):
                yield line, (found[1] or found[2]).strip(), found.end()


def _sentences(blocks: Iterable[Block]) -> Iterator[str]:
    """The sentences of a text, without labels such as `Note` and what stands in italics, which is an aside."""
    for block in blocks:
        if not is_aside(text := readable(block.content)) and not is_form(block):
            yield from (value_of(said) for said in sentences(text))


def _summary(blocks: Sequence[Block]) -> list[Block]:
    """The paragraphs below a heading such as `Summary`, if it is the first one below the title or the second."""
    places = [place for place, block in enumerate(blocks) if block.kind == "heading"][:3]
    found = next((place for place in places if _SUMMARY.fullmatch(bare(readable(blocks[place].words)))), len(blocks))
    return list(takewhile(lambda block: block.kind in _PROSE, blocks[found + 1 :]))


def _opening(blocks: Sequence[Block]) -> list[Block]:
    """The paragraphs directly below the title."""
    start, titles = 0, 0
    while start < len(blocks) and (blocks[start].kind in _ABOVE or (blocks[start].kind == "heading" and not titles)):
        titles += blocks[start].kind == "heading"
        start += 1
    return list(takewhile(lambda block: block.kind in _PROSE, blocks[start:]))


def _chosen(topics: Sequence[Topic], room: int) -> list[str]:
    """The topics that fit, in their order: the first and then the largest of the highest ones, whole ones before those
    that are cut, and those below them only if there are few."""
    chosen: dict[int, str] = {}
    found = 0
    for depth in sorted({topic.depth for topic in topics}):
        if found >= ENOUGH:
            break
        of_depth = [place for place, topic in enumerate(topics) if topic.depth == depth]
        share = max(MIN_TOPIC, room // min(ENOUGH, len(of_depth)) - len("; "))
        told = {place: _told(topics[place], share) for place in of_depth}
        places = [place for place in of_depth if topics[place].size] or of_depth
        ranked = sorted(places, key=lambda place: (told[place].endswith("…"), -topics[place].size, place))
        for place in (places[0], *ranked):
            shown = told[place] if chosen or len(told[place]) <= room else phrase(told[place], room)
            if place not in chosen and len(shown) <= room and (shown == told[place] or len(shown) >= MIN_ROOM):
                chosen[place] = shown
                room -= len(shown) + len("; ")
        found += len(of_depth)
    return [chosen[place] for place in sorted(chosen)]


def _told(topic: Topic, share: int) -> str:
    """A topic by as many of its clauses as fit into its share of the line; else whole, if it is not too long."""
    if topic.value:
        return f"{topic.words} – {topic.value}"
    short = phrase(topic.words, share)
    return phrase(topic.words, MAX_TOPIC) if short.endswith("…") else short


def _followed(line: str, parts: Sequence[str], mark: str, most: int) -> str:
    """The line with as many of the parts as fit and say something new, up to so many characters. The title stands
    before the last colon, so no other one is in the parts."""
    title, told, end = frozenset(words(line)), set[str](), len(line) + len(": ") + _room(line, most)
    between = ": " if line else ""
    for part in parts:
        shown = re.sub(r":\s", " – ", plain(part)).rstrip(" .;,。；")
        if not set(words(shown)) - title or any(shown.casefold() in other for other in told):
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
