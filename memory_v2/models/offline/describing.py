"""The line by which a page is listed: its title, what the text says it is about, and what it covers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile

from memory_v2.models.offline.naming import (
    MAX_TITLE,
    STAMP,
    bare,
    is_common_heading,
    keyword_line,
    subject_of,
    telling_terms,
    telling_words,
)
from memory_v2.text.dates import find_dates
from memory_v2.text.lists import labels, stopwords, weekdays
from memory_v2.text.speakers import is_message, speakers
from memory_v2.text.words import has_cjk, plain, words
from memory_v2.text.words import sentences as text_sentences
from memory_v2.tree.block import Block, encode, readable
from memory_v2.tree.front_matter import read_front_matter
from memory_v2.tree.page import MAX_DESCRIPTION

USUAL = 100
"""The usual length of a line, in characters: with longer lines fewer fit on a page, so that a reader has more pages to
choose from, and finds less."""
OF_A_DAY = 150
"""The same for a day, whose title does not say what it was about."""
LEAST_TOLD = 60
"""How much is told even behind a long title, in characters, if the line has room for it."""
MAX_PHRASE = 72
"""Limits what is told of one part of a page, in characters: a few whole phrases tell more than many that are cut."""
MIN_SHARE = 32
"""The least share of a line that a part of a page has, in characters."""
MIN_PHRASE = 16
"""The least room for another part, in characters."""
LEAST_COVERED = 0.3
"""The least share of a page, in bytes, that a line without values is told from; below that, they are told too."""
MOST_READ = 500
"""How many blocks are read: more than a page has but in a text that is still to be split."""
ENOUGH = 3
"""From how many parts those below them are not told."""
RECURRING = 3
"""From how many lines that begin alike that beginning is a field or a routine, and says nothing about the page."""
MIN_SENTENCE = 4
"""The least words of a sentence; fewer are a label, or the value of one."""
MIN_UNSPACED = 6
"""The same for a text without spaces, in characters."""
MIN_CLAUSE = 12
"""The least characters of a clause that stands for a longer text."""
_LINES = frozenset(["paragraph", "item", "quote"])
_PROSE = frozenset(["paragraph", "quote"])
_ABOVE = frozenset(["front matter", "rule", "html"])
_SUMMARY = re.compile(
    r"(?:the )?(?:purpose|goal|objective|mission|vision|focus|(?:executive |session )?summary|overview|abstract|tl;?dr"
    r"|about|description|objetivo|propósito|resumen(?: ejecutivo)?|resumo(?: executivo)?|descripción|descrição|visión"
    r"|visão|objectif|résumé|ziel|zweck|zusammenfassung|überblick|目的|目标|目標|概要|概述|摘要|简介)",
    re.I,
)
"""What a text that tells what all of it is about stands below or behind."""
_LABEL = re.compile(
    r"\W*\*\*([^*\n:：]{1,60}?)(?:\s*[:：]\*\*|\*\*\s*(?:[:：]|$))"
    r"|\W*([^\W\d_][\w' -]{0,24}(?:\([^()\n]{1,30}\))?) ?:(?=\s|$)"
)
"""What stands before a colon at the start of a line, or is a line in bold: `**Purpose:**`, `Purpose:`."""
_SAID = re.compile(r"\s*[\"“„«「]")
_SPEAKS = re.compile(r":\s+(?=[\"“„«])")
_ASIDE = re.compile(r"([*_])(?!\1).*(?<!\1)\1(?:\s*[^\w\s*_]++)?", re.S)
_MARKS = re.compile(r"^[ \t>]*(?:(?:[-+*•]|\d{1,3}[.)])\s+)*(?:\[[ xX]\]\s+)?", re.M)
_URL = re.compile(
    r"(?:\bURL\b\W*)?https?://\S+(?:\s*[—–-]\s+)?|<[^<>\s][^<>]*>|!\[[^\[\]]*\]\([^()]*\)|\{[%#][^{\n]*?[%#]\}"
)
_ABBREVIATED = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|dr|mrs?|ms|st|nr|no|approx|z\.B|p\.ej|sra?|\d{1,3}|(?-i:[A-Z]))\.$", re.I
)
LONGEST_ABBREVIATED = 12
"""How far before the end of a sentence an abbreviation is looked for, in characters: more than any of them has."""
_CLAUSE = re.compile(r"\s+[-–—→|]+\s+|—|\s*[;；：。]|[:.]\s|\s*\(")
_COMMA = re.compile(r",\s|，|、")
_YEAR = re.compile(r"(?<![\w.,/-])(?:19|20)\d\d(?![\w,/-])")
_CLOSED = re.compile(r"\([^()]*\)|\"[^\"]*\"|„[^“”]*[“”]|“[^”]*”|«[^»]*»|「[^」]*」|『[^』]*』")
_OPENING = re.compile(r"[(\"„“«「『]")
_OF_CODE = re.compile(
    r"\w=\w|(?<![\w/.-])(?:~|\.{1,2})?/?[\w.-]+/[\w.-]+/|(?<![\w/])[~/][\w.-]+/|[A-Za-z]:\\|::|\w\(\)|[A-Za-z_]\((?!\w{1,3}\))|=>|[{}]"
)


def describe_page(title: str, blocks: Sequence[Block], telling: Sequence[str] = (), below: Sequence[str] = ()) -> str:
    """The title as it is written, then what the text says it is about, and what it covers: of its sections, items or
    paragraphs the first and as many of the largest as fit, in their order; and then what is on the pages `below`, given
    by their titles. A conversation, and a text without any of these, is told by single words: by `telling`,
    or the most telling ones."""
    line, blocks = listed_title(title), blocks[:MOST_READ]
    front = next((block for block in blocks if block.kind == "front matter"), None)
    if front and (given := read_front_matter(front.text).description):
        return _followed(line, [given])
    spoken = [block for block in blocks if block.kind in _LINES]
    if below or not _is_talk(spoken):
        is_of_a_day = bool(find_dates(line) or STAMP.match(line))
        usual = max(OF_A_DAY if is_of_a_day else USUAL, len(line) + LEAST_TOLD)
        about = _about(line, blocks)
        own = topics_of(blocks, line, keep_values=is_of_a_day)
        if about:
            own = [topic for topic in own if not topic.is_said]
        room = usual - len(line) - len(about)
        told = _chosen(own, room // 2 if below else room)
        told += _chosen([Topic(subject_of(child), 0, 0) for child in below], room - sum(map(len, told)))
        if (said := _followed(line, [about, *told])) != line:
            return said
    return keyword_line(line, (telling or telling_words(blocks)) if spoken else (), USUAL)


def listed_title(title: str) -> str:
    """The title of a page as a line that lists the page begins with it."""
    return _cut(plain(title).rstrip(":： "), MAX_TITLE)


def _followed(line: str, parts: Iterable[str]) -> str:
    """The line with as many of the parts as fit and say something new: in bytes, as Chinese says as much in fewer
    characters. The title stands before the last colon, so no other one is in the parts."""
    title, told, mark = frozenset(words(line)), list[str](), ": " if line else ""
    for part in parts:
        shown = re.sub(r":\s", " – ", _SPEAKS.sub(" ", plain(part))).rstrip(" .;,。；")
        if set(words(shown)) <= title or any(shown.casefold() in other for other in told):
            continue
        room = MAX_DESCRIPTION - len(encode(line + mark))
        fits = phrase(shown, room * len(shown) // len(encode(shown)))
        if fits and (fits == shown or (not told and len(fits) >= MIN_PHRASE)):
            line, mark = line + mark + fits, "; "
            told.append(shown.casefold())
    return line


def _is_talk(blocks: Sequence[Block]) -> bool:
    """Whether a text has messages of a transcript, or two or more people speak most of its lines."""
    lines = [line for block in blocks for line in readable(block.content).splitlines() if line.strip()]
    turns = speakers(lines)
    is_spoken = len(turns) > 1 and 2 * sum(turns.values()) >= len(lines)
    return is_spoken or any(is_message(block.content) for block in blocks)


# what a text says it is about


def _about(title: str, blocks: Sequence[Block]) -> str:
    """What a text says at its top of all of it: what it is for, its summary, or the first sentence below its title, a
    quotation after the other ones. The first sentence of a day is about its morning, and one with a value, which
    changes while the line stays, is left out."""
    room = min(MAX_DESCRIPTION - len(title), MAX_PHRASE)
    start = next((n for n, block in enumerate(blocks) if block.kind not in _ABOVE), 0)
    has_title = blocks[start : start + 1] and blocks[start].kind == "heading"
    opening = list(takewhile(lambda block: block.kind in _PROSE, blocks[start + bool(has_title) :]))
    opening.sort(key=lambda block: block.kind == "quote")
    for run in (run for block in opening for run in runs(readable(block.content))):
        label = _label(run)
        if label and _SUMMARY.fullmatch(label) and (told := phrase(plain(_value(run)), room)):
            return told
    levels = [block.level for block in blocks if block.kind == "heading"]
    is_one_of_many = has_title and min(levels[1:], default=9) <= levels[0]
    opening = [] if find_dates(title) or is_one_of_many else opening
    phrases = (phrase(said, room) for block in [*_summary(blocks), *opening] for said in _sentences(block))
    return next((said for said in phrases if said and not has_value(said)), "")


def _summary(blocks: Sequence[Block]) -> list[Block]:
    """The paragraphs below a heading such as `Summary`, if it is the first one below the title or the second."""
    places = [place for place, block in enumerate(blocks) if block.kind == "heading"][:3]
    found = next((place for place in places if _SUMMARY.fullmatch(bare(readable(blocks[place].words)))), len(blocks))
    return list(takewhile(lambda block: block.kind in _PROSE, blocks[found + 1 :]))


def _sentences(block: Block) -> list[str]:
    """The sentences of a text, without labels such as `Note` and what stands in italics, which is an aside."""
    text = readable(block.content)
    return (
        []
        if is_aside(text)
        else [said for run in runs(text) for said in sentences(plain(_value(run))) if is_sentence(said)]
    )


def is_aside(text: str) -> bool:
    """Whether a text stands in italics from its first word to its last."""
    return _ASIDE.fullmatch(text.strip()) is not None


def is_sentence(said: str) -> bool:
    """Whether a text is one that says something, and not a label, a value, or code."""
    if said.endswith((":", "：")) or is_code(said) or not telling_terms(said):
        return False
    return len(said) >= MIN_UNSPACED if has_cjk(said) else len(re.findall(r"[^\W\d_]{2,}", said)) >= MIN_SENTENCE


def is_code(said: str) -> bool:
    """Whether a path, an address or code stands in a text."""
    return _OF_CODE.search(said) is not None


def has_value(said: str) -> bool:
    """Whether a number other than a year or a day of the week stands in a text: they change while the line about a page
    stays."""
    told = words(_YEAR.sub(" ", said))
    return any(word[0].isdigit() or word in weekdays() for word in told)


# what it covers


@dataclass(frozen=True)
class Topic:
    """One part of a page: its heading, label or first words, its size in bytes, and how deep below others it stands."""

    words: str
    size: int
    depth: int
    is_said: bool = False
    """Whether it is told by what it says, and not by a heading or label."""


def topics_of(blocks: Sequence[Block], title: str, keep_values: bool) -> list[Topic]:
    """The parts of a page, without those that begin as others do again and again. Items with values, which change while
    the line about the page stays, are left out unless there is little else or they are to be kept."""
    told = list(_topics(blocks, frozenset(words(title)), 0))
    begun = Counter(_start(topic) for topic in told)
    found = list({topic.words: topic for topic in told}.values())
    once = [topic for topic in found if begun[_start(topic)] < RECURRING or not topic.is_said] or found
    lasting = [topic for topic in once if not (topic.is_said and has_value(topic.words))]
    is_enough = sum(topic.size for topic in lasting) >= LEAST_COVERED * sum(block.size for block in blocks)
    return lasting if is_enough and not keep_values else once


def _start(topic: Topic) -> str:
    return " ".join(words(topic.words)[:2])


def _topics(blocks: Sequence[Block], known: frozenset[str], depth: int) -> Iterator[Topic]:
    """The sections of the highest level, those below each of them one deeper. A heading that says nothing of its own
    gives its place to what is below it."""
    top = min((block.level for block in blocks if block.kind == "heading"), default=0)
    starts = [place for place, block in enumerate(blocks) if block.kind == "heading" and block.level == top]
    for block in blocks[: starts[0]] if starts else blocks:
        yield from _said_by(block, known, depth + 1)
    for start, end in pairwise([*starts, len(blocks)]):
        told = subject_of(readable(blocks[start].words))
        is_passed_over = is_common_heading(told) or known.issuperset(words(told))
        if not is_passed_over:
            yield Topic(told, sum(block.size for block in blocks[start:end]), depth)
        is_title = is_passed_over or (len(starts) == 1 and start == depth == 0)
        yield from _topics(blocks[start + 1 : end], known, depth if is_title else depth + 1)


def _said_by(block: Block, known: frozenset[str], depth: int) -> Iterator[Topic]:
    """The labels, or else the first words, of what is said in one block."""
    text = readable(block.content)
    if block.kind not in _LINES or is_aside(text):
        return
    said = runs(text)[: 1 if block.kind == "item" and "\n " in text else None]
    fields = sum(bool(_LABEL.match(run)) for run in said)
    for run in said if not (block.kind == "paragraph" and 1 < fields == len(said)) else ():
        label = bare(_label(run))
        is_told = says_something(label) and not is_code(label) and " " in label + _value(run)
        lead = label if is_told else _beginning(_value(run))
        if lead and not known.issuperset(words(lead)):
            yield Topic(lead, len(encode(run)) if len(said) > 1 else block.size, depth, not is_told)


def _beginning(run: str) -> str:
    """How an item or a paragraph begins; nothing of an aside and what is struck out."""
    if run.startswith(("(", "*(", "_(", "~~")):
        return ""
    told = phrase(next(iter(sentences(plain(run))), ""), MAX_PHRASE)
    return "" if is_code(told) or not telling_terms(told) else told


def _chosen(topics: Sequence[Topic], room: int) -> list[str]:
    """The topics that fit, in their order: the first and then the largest of the highest ones, whole ones before those
    that are cut, and those below them only if there are few."""
    chosen: dict[int, str] = {}
    for depth in sorted({topic.depth for topic in topics}):
        if len(chosen) >= ENOUGH:
            break
        share = max(MIN_SHARE, room // min(ENOUGH, sum(topic.depth == depth for topic in topics)) - len("; "))
        told = {n: _told(topic.words, share) for n, topic in enumerate(topics) if topic.depth == depth}
        ranked = sorted(told, key=lambda n: (told[n].endswith("…"), -topics[n].size, n))
        for n in (min(told), *ranked):
            shown = told[n] if chosen or len(told[n]) <= room else phrase(told[n], room)
            if n not in chosen and shown and len(shown) <= room:
                chosen[n] = shown
                room -= len(shown) + len("; ")
    return [chosen[n] for n in sorted(chosen)]


def _told(said: str, share: int) -> str:
    """A part by as many of its clauses as fit into its share of the line; else whole, if it is not too long."""
    short = phrase(said, share)
    return phrase(said, MAX_PHRASE) if short.endswith("…") else short


# labels, sentences and phrases


@lru_cache(10_000)
def says_something(label: str) -> bool:
    """Whether a label is more than the name of a field, such as `Status`."""
    return bool(telling_terms(label)) and not is_common_heading(label) and not labels().issuperset(words(label))


def _label(run: str) -> str:
    """What stands before the colon of a line. Who says what is no label: `Ana asked: "…"`."""
    found = _LABEL.match(run)
    return "" if found is None or _SAID.match(run, found.end()) else plain(found[1] or found[2])


def _value(run: str) -> str:
    """What stands behind the label of a line, and behind a time there."""
    found = _LABEL.match(run) if _label(run) else None
    return STAMP.sub("", run[found.end() :].strip(" *_")) if found else run


@lru_cache(10_000)
def runs(text: str) -> tuple[str, ...]:
    """What is said together: lines up to one that begins with a mark of a list, a time or a label, without those marks
    and times."""
    found: list[str] = []
    for line in _URL.sub(" ", text).splitlines():
        if not found or STAMP.match(line) or _MARKS.sub("", line) != line.lstrip() or _LABEL.match(line):
            found.append(line)
        else:
            found[-1] += f" {line}"
    return tuple(STAMP.sub("", _MARKS.sub("", run)).strip() for run in found)


def sentences(text: str) -> list[str]:
    """The sentences of a text on one line."""
    found = [""]
    for sentence in text_sentences(text):
        is_within = sentence[:1].islower() or _ABBREVIATED.search(found[-1].rstrip()[-LONGEST_ABBREVIATED:])
        if not found[-1] or is_within:
            found[-1] += sentence
        else:
            found.append(sentence)
    return [said.strip() for said in found]


def phrase(text: str, limit: int) -> str:
    """The text if it has at most `limit` characters; else as many of its clauses as fit, or of its words."""
    told = text.strip(" .;,:。；，：-–—")
    if len(told) <= limit:
        return _ended(_closed(told)) if text.rstrip().endswith((":", "：")) else _closed(told)
    ends = [found.start() for found in _CLAUSE.finditer(told, 0, limit + 1) if found.start() >= MIN_CLAUSE]
    ends = [end for end in ends if not _ABBREVIATED.search(told[max(0, end + 1 - LONGEST_ABBREVIATED) : end + 1])]
    if max(ends, default=0) < limit // 2:
        ends += [found.start() for found in _COMMA.finditer(told, 0, limit + 1) if found.start() >= limit // 2]
    return _ended(_closed(told[: max(ends)])) if ends else _cut(told, limit)


def _closed(text: str) -> str:
    """The text up to a quotation or bracket that is not closed; or without its mark, where that is near the start."""
    masked = _CLOSED.sub(lambda found: "x" * len(found[0]), text)
    if found := _OPENING.search(masked):
        at = found.start()
        text = text[:at] if at >= MIN_CLAUSE else text[:at] + text[at + 1 :]
    return text.strip(" .;,:。；，：-–—")


def _cut(text: str, limit: int) -> str:
    """The text, or as many of its whole words as fit, with an ellipsis; without spaces, of its characters."""
    if len(text) <= limit:
        return text
    start = text[: max(0, limit - 1)]
    whole = start.rpartition(" ")[0]
    kept = _closed(_ended(start if has_cjk(start[len(whole) :]) else whole))
    return f"{kept}…" if kept else ""


def _ended(text: str) -> str:
    """The text without words at its end that wait for another one, such as `at` and `of the`."""
    while " " in text and (
        (last := text.rpartition(" "))[2].casefold() in stopwords() or not re.search(r"\w", last[2])
    ):
        text = last[0]
    return text
