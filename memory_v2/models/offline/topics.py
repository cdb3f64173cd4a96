"""What a page covers, in order: its sections, or else the beginnings of its items and paragraphs, as short phrases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from memory_v2.models.offline.page_features import telling_terms
from memory_v2.text.calendar import DAY, DAY_OR_MONTH
from memory_v2.text.lists import headings, labels, numbers, stopwords, weekdays
from memory_v2.text.plain import plain
from memory_v2.text.sentences import sentences as text_sentences
from memory_v2.text.words import folded, has_cjk, words
from memory_v2.tree.block import Block, encode, readable

MAX_LEAD = 72
"""Limits the words of an item or a paragraph that stand for it, in characters: a few whole phrases tell more than many
that are cut."""
RECURRING = 3
"""From how many lines that begin alike on a page that beginning is a field or a routine, and says nothing about it."""
MAX_VALUE = 24
"""Limits a value that is told together with its label, in characters."""
_PARAGRAPHS = frozenset(["paragraph", "quote", "rule", "heading"])
_LINES = frozenset(["paragraph", "item", "quote"])
_NUMBERING = re.compile(
    r"^(?:[^\w\s(\"'“‘¿¡`~/]+\s*)*(?:(?:\d{1,2}(?:\.\d{1,2})*|[A-Za-z]|\d{1,2}[a-z])[.):]\s+|\d{1,2}(?:\.\d{1,2})+\s+)?"
)
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_DAY = re.compile(rf"\b{DAY_OR_MONTH}\b")
_SAID = re.compile(r"\s*[\"“„«「]")
_SPEAKS = re.compile(r":\s+(?=[\"“„«])")
_CLOCKED = re.compile(rf":\s+{DAY}[T ]\d\d:.*", re.S)
"""A field with the time of an event at the end of a line."""
_FILE = re.compile(r"\A`[^`\n]{0,200}/[^`\n]{0,200}`\s+[-–—]+\s+")
"""A path with what it is of behind it."""
_CLOCK = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm]\b| [A-Z]{3,4}\b)?")
_PARTS = re.compile(r"\s+[-–—|]+\s+|:\s+|\s*：\s*")
_ENUMERATED = re.compile(r"[^\W\d_]+ \d{1,2}[a-z]?")
_LINK = re.compile(r"!?\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)")
_KEY = re.compile(r"([\w.-]+)=\S")
_FIGURE = re.compile(r"[~<>≈$€+-]*\d")
"""A value without which the one word before it says nothing, as in `SSU: 82.9%`."""
_SUBORDINATE = re.compile(r"(?:when|if|before|after|while|once|cuando|si|quando|se|wenn|falls|lorsque|quand)\s", re.I)
_COUNT = re.compile(r"(?:our |the )?(?:top |best )?\d{1,2} [^\W\d_]+", re.I)
"""A heading such as `Top 3 options`, which only counts what stands below it."""
_TRAILING = re.compile(r"""(?<![^\w)\]"'”’»…%+#!?])[^\w)\]"'”’»…%+#!?]+$""")
_BOLD = re.compile(r"\W*\*\*([^*\n]{2,60}?)[.:：]?\*\*")
_BOLD_LINE = re.compile(r"\W*\*\*([^*\n]{2,80}?)[:：]?\*\*\s*[:：]?")
_ASIDE = re.compile(r"([*_])(?!\1).*(?<!\1)\1(?:\s*[^\w\s*_]++)?", re.S)
_CELL = re.compile(r"^[ \t]*+\|?([^|\n]*)\|", re.M)


@dataclass(frozen=True)
class Topic:
    """One part of a page: its heading or first words, its size in bytes, and how deep below others it stands."""

    words: str
    size: int
    depth: int
    is_said: bool = False
    """Whether it is told by what it says, and not by a heading or label."""
    value: str = ""
    """The few words behind a label that stands on the page once: without them it may say nothing."""


def is_common_heading(heading: str) -> bool:
    """Whether a heading stands in notes of any kind, such as `Key findings`, and does not say what its own is about."""
    told = re.findall(r"[^\W_]+(?:-[^\W_]+)*", _CLOCK.sub(" ", bare(heading)).casefold())
    return not any(telling_terms(word) for word in told if not _is_common(word))


def _is_common(word: str) -> bool:
    return word in headings() or all(part in headings() for part in word.split("-"))


def bare(heading: str) -> str:
    """A heading without its number, brackets, days, times and marks: many other titles have a day too."""
    shown = " ".join(_DAY.sub(" ", _BRACKETS.sub(" ", STAMP.sub("", plain(heading)))).split())
    return _TRAILING.sub("", _NUMBERING.sub("", shown) or shown)


def subject_of(heading: str) -> str:
    """What a heading says of its own, without what any heading may begin with: `Update: The new server` is about the
    new server, and so is `Step 2: The new server`."""
    told = bare(heading)
    for part in _PARTS.finditer(told):
        before = told[: part.start()]
        if not (is_common_heading(before) or _ENUMERATED.fullmatch(before)):
            break
        if not is_common_heading(told[part.end() :]):
            return subject_of(told[part.end() :])
    return told


def topics_of(blocks: Sequence[Block], title: str, keep_values: bool) -> list[Topic]:
    """The parts of a page, those of the same name as one. Items with values, which change while the line about the
    page stays, are left out unless they are to be kept. Of what lines begin with again and again, a label gives its
    place to what is behind it, and the others are the smallest parts."""
    found: dict[str, Topic] = {}
    labelled, begun = _recurring(blocks)
    for topic in _topics(blocks, frozenset(words(title)), labelled, 0):
        if topic.is_said and not keep_values and has_value(topic.words):
            continue
        if topic.is_said and _start(topic.words) in begun:
            topic = replace(topic, size=0)
        same = found.get(key := folded(topic.words))
        found[key] = replace(same, size=same.size + topic.size, value="") if same else topic
    return list(found.values())


def _recurring(blocks: Iterable[Block]) -> tuple[frozenset[str], frozenset[str]]:
    """The labels and the first words with which lines of a page begin again and again."""
    labelled, begun = Counter[str](), Counter[str]()
    for block in blocks:
        for run in runs(readable(block.content)) if block.kind in _LINES else ():
            if label := LABEL.match(run):
                labelled[folded(plain(label[1] or label[2]))] += 1
                run = run[label.end() :]
            begun[_start(plain(run))] += 1
    often = [frozenset(each for each, times in counts.items() if times >= RECURRING) for counts in (labelled, begun)]
    return often[0], often[1]


def _start(text: str) -> str:
    """The first two words of a text."""
    return " ".join(words(text)[:2])


def _topics(blocks: Sequence[Block], known: frozenset[str], fields: frozenset[str], depth: int) -> Iterator[Topic]:
    """The sections of the highest level, those below each of them one deeper. A heading that says nothing of its own
    gives its place to what is below it."""
    top = min((block.level for block in blocks if block.kind == "heading"), default=0)
    starts = [place for place, block in enumerate(blocks) if block.kind == "heading" and block.level == top]
    yield from _leads(blocks[: starts[0]] if starts else blocks, known, fields, depth + 1)
    for start, end in pairwise([*starts, len(blocks)]):
        told = subject_of(readable(blocks[start].words))
        is_title = len(starts) == 1 and start == depth == 0 and not known.issuperset(words(told))
        is_wrapper = _COUNT.fullmatch(told) and any(block.kind == "heading" for block in blocks[start + 1 : end])
        is_passed_over = is_wrapper or is_common_heading(told) or known.issuperset(words(told))
        if not is_passed_over:
            yield Topic(told, _size(blocks[start:end]), depth)
        below = depth if is_title or is_passed_over else depth + 1
        yield from _topics(blocks[start + 1 : end], known, fields, below)


def _leads(blocks: Sequence[Block], known: frozenset[str], fields: frozenset[str], depth: int) -> Iterator[Topic]:
    """The first words of items and paragraphs; what a line in bold introduces is told by that."""
    end = 0
    for place, block in enumerate(blocks):
        label = _introduces(block, blocks[place + 1 : place + 2]) if place >= end else ""
        level = depth if place >= end else depth + 1
        if label and not known.issuperset(words(label)):
            end = next((n for n in range(place + 1, len(blocks)) if blocks[n].kind in _PARAGRAPHS), len(blocks))
            yield Topic(label, _size(blocks[place:end]), depth)
        else:
            yield from _said_by(block, known, fields, level)


def _said_by(block: Block, known: frozenset[str], fields: frozenset[str], depth: int) -> Iterator[Topic]:
    """The labels, or else the first words, of what is said in one block."""
    text = readable(block.content)
    said = tuple(_cells(text)) if block.kind == "table" else ()
    if block.kind in _LINES and not (is_form(block) or is_aside(text)):
        said = runs(text)[: 1 if block.kind == "item" and "\n " in text else None]
    for each in said:
        label, found = _label(each), LABEL.match(each)
        is_said = not label or (found is not None and folded(plain(found[1] or found[2])) in fields)
        lead = _beginning(each) if is_said else label
        if lead and not known.issuperset(words(lead)):
            size = block.size if len(said) == 1 else len(encode(each))
            yield Topic(lead, size, depth, is_said, "" if is_said else _value(each))


def is_aside(text: str) -> bool:
    """Whether a text stands in italics from its first word to its last."""
    return _ASIDE.fullmatch(text.strip()) is not None


@lru_cache(10_000)  # a split describes the same blocks once for each number of pages that it tries
def is_form(block: Block) -> bool:
    """Whether a paragraph is nothing but fields and their values, such as the author and the day of a text."""
    text = readable(block.content) if block.kind == "paragraph" else ""
    lines = () if any(map(STAMP.match, text.splitlines())) else runs(text)
    found = [label for line in lines if (label := LABEL.match(line))]
    fields = sum(not says_something(bare(label[1] or label[2])) for label in found)
    return 1 < len(found) == len(lines) <= 2 * fields


def _introduces(block: Block, following: Sequence[Block]) -> str:
    """What a line in bold says above a list, a table or code, as a heading does; nothing of other blocks."""
    found = _BOLD_LINE.fullmatch(readable(block.content).strip()) if block.kind == "paragraph" else None
    if not found or not following or following[0].kind in _PARAGRAPHS:
        return ""
    label = subject_of(found[1])
    return label if says_something(label) and not (is_code(label) or _ENUMERATED.fullmatch(label)) else ""


def _cells(table: str) -> Iterator[str]:
    """The first cells of the rows of a table."""
    yield from (cell.strip() for cell in _CELL.findall(table)[2:])


def _size(blocks: Iterable[Block]) -> int:
    return sum(block.size for block in blocks)


def _label(run: str) -> str:
    """What is emphasised at the start of an item or a paragraph or stands before a colon, if that says something."""
    found = LABEL.match(run) or _BOLD.match(run)
    if found and _SAID.match(run, found.end()):
        return ""
    label = bare(next(filter(None, found.groups()))) if found else ""
    if " " not in label and _FIGURE.match(plain(value_of(run))):
        return ""
    return label if says_something(label) and not (is_code(label) or waits(label)) else ""


@lru_cache(10_000)
def says_something(label: str) -> bool:
    """Whether a label is more than the name of a field, such as `Status`."""
    return bool(telling_terms(label)) and not is_common_heading(label) and not labels().issuperset(words(label))


def value_of(run: str) -> str:
    """What stands behind the label of a line, and behind a time there. Who says what is no label: `Ana asked: "…"`."""
    found = LABEL.match(run)
    return STAMP.sub("", run[found.end() :].strip(" *_")) if found and not _SAID.match(run, found.end()) else run


def _value(run: str) -> str:
    """What stands behind the label of a line, if that is a few words that do not change."""
    value = plain(value_of(run)).strip(" .;,") if LABEL.match(run) else ""
    is_told = len(value) <= MAX_VALUE and telling_terms(value) and not (has_value(value) or is_code(value))
    return value if is_told else ""


def _beginning(run: str) -> str:
    """How an item or a paragraph begins, behind a label; nothing of an aside, a link and what is struck out."""
    if run.startswith(("(", "*(", "_(", "~~")) or _LINK.fullmatch(run):
        return ""
    run = _SPEAKS.sub(" ", _CLOCKED.sub("", value_of(_FILE.sub("", run))))
    first = _TRAILING.sub("", _NUMBERING.sub("", next(split(plain(run)))))
    told = key[1] if (key := _KEY.match(first)) else phrase(first, MAX_LEAD)
    is_cut = told != first or run.rstrip().endswith((":", "："))
    is_torn = is_cut and (waits(told.rstrip("…")) or _SUBORDINATE.match(told))
    return "" if is_torn or is_code(told) or not telling_terms(told) else told


MIN_WORDS = 4
"""The least words of a sentence; fewer are a label."""
MIN_VALUE = 6
"""The least words of a sentence behind a label; fewer are the value of a field."""
MIN_UNSPACED = 6
"""The least characters of a sentence in a text without spaces."""
LABEL = re.compile(
    r"\W*\*\*([^*\n:：]{1,60}?)(?:\s*[:：]\*\*|\*\*\s*[:：])|\W*([^\W\d_][\w' -]{0,24}(?:\([^()\n]{1,30}\))?):(?=\s|$)"
)
"""What stands before a colon at the start of a line: `**Purpose:**`, `Purpose:`."""
STAMP = re.compile(
    rf"\A[\W_]*(?:{DAY}(?:[T ]\d\d?:\d\d(?::\d\d)?(?:\.\d+)?)?|\d\d?:\d\d(?::\d\d)?"
    r"(?:\s?[-–]\s?\d{1,2}:\d{2}(?::\d{2})?)?)(?: ?[AaPp][Mm]\b)?(?:Z|[+-]\d{2}:?\d{2}| ?[A-Z]{3,4}\b)?(?!\w)[\W_]*"
)
"""A day or a time at the start of a line."""
MIN_CLAUSE = 12
"""The least characters of the clauses that stand for a longer text."""
_MARKS = re.compile(r"^[ \t>]*(?:(?:[-+*•]|\d{1,3}[.)])\s+)*(?:\[[ xX]\]\s+)?", re.M)
_ABBREVIATED = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|dr|mrs?|ms|st|nr|no|approx|z\.B|p\.ej|sra?|\d{1,3}|(?-i:[A-Z]))\.$", re.I
)
LONGEST_ABBREVIATED = 12
"""How far before the end of a sentence an abbreviation is looked for, in characters: more than any of them has."""
_IN_LOWER_CASE = re.compile("[a-z]")
_URL = re.compile(
    r"(?:\bURL\b\W*)?https?://\S+(?:\s*[—–-]\s+)?|<[^<>\s][^<>]*>|!\[[^\[\]]*\]\([^()]*\)|\{[%#][^{\n]*?[%#]\}"
)
_BESIDE = re.compile(r"(?<![ \t])[ \t]+[|·•][ \t]+(?=\*\*[^*\n]{1,60}(?::\*\*|\*\*:))")
"""What parts fields that stand on one line."""
_CLAUSE = re.compile(r"\s+[-–—→|]+\s+|—|\s*[;；：。]|[:.]\s|\s*\(")
_COMMA = re.compile(r",\s|，|、|\s[+&]\s")
_SERIES = re.compile(
    r"(?:,[^,.;:()]{1,40})?,?\s+(?:and|or|y|o|e|ou|et|und|oder)(?:\s[^\W\d_]+){1,2}\s(?:of|de|da|do|del|du|von|der)\s",
    re.I,
)
"""The rest of a series such as `depth, and scope of the survey`: cut within it, a text loses what the series is of."""
_YEAR = re.compile(r"(?<![\w.,/-])(?:19|20)\d\d(?![\w,/-])")
_CLOSED = re.compile(r"\([^()]*\)|\"[^\"]*\"|„[^“”]*[“”]|“[^”]*”|«[^»]*»|「[^」]*」|『[^』]*』")
_OPENING = re.compile(r"[(\"„“«「『]")
_OF_CODE = re.compile(
    r"\w=\w|(?<![\w/.-])(?:~|\.{1,2})?/?[\w.-]+/[\w.-]+/|(?<![\w/])[~/][\w.-]+/|[A-Za-z]:\\|::|\w\(\)|[A-Za-z_]\((?!\w{1,3}\))|=>|[{}]"
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, without what is a field and its value, a path, an address or code. A line that begins
    with a time or a label begins a sentence."""
    return [said for run in runs(text) for said in split(plain(run)) if is_sentence(said)]


@lru_cache(10_000)
def runs(text: str) -> tuple[str, ...]:
    """What is said together: lines up to one that begins with a mark of a list, a time or a label, without those marks
    and times."""
    found: list[str] = []
    for line in _BESIDE.sub("\n", _URL.sub(" ", text)).splitlines():
        if not found or STAMP.match(line) or _MARKS.sub("", line) != line.lstrip() or LABEL.match(line):
            found.append(line)
        else:
            found[-1] += f" {line}"
    return tuple(STAMP.sub("", _MARKS.sub("", run)).strip() for run in found)


def split(text: str) -> Iterator[str]:
    """The parts of a text that end as a sentence does."""
    said = ""
    for sentence in text_sentences(text):
        if said and (_IN_LOWER_CASE.match(sentence) or _ABBREVIATED.search(said.rstrip()[-LONGEST_ABBREVIATED:])):
            said += sentence
        else:
            if said:
                yield said.strip()
            said = sentence
    yield said.strip()


def is_sentence(said: str) -> bool:
    """Whether a text is one that says something, and not a label, a field and its value, or code."""
    label = LABEL.match(said)
    value = said[label.end() :] if label else said
    if said.endswith((":", "：")) or is_code(said) or not telling_terms(value):
        return False
    if has_cjk(value):
        return len(value) >= MIN_UNSPACED
    return len(re.findall(r"[^\W\d_]{2,}", value)) >= (MIN_VALUE if label else MIN_WORDS)


def is_code(said: str) -> bool:
    """Whether a path, an address or code stands in a text."""
    return _OF_CODE.search(said) is not None


def has_value(said: str) -> bool:
    """Whether a number other than a year or a day of the week stands in a text: they change while the line about a page
    stays."""
    told = words(_YEAR.sub(" ", said))
    return any(word[0].isdigit() or word in weekdays() or word in numbers() for word in told)


def phrase(text: str, limit: int) -> str:
    """The text if it has at most `limit` characters; else as many of its clauses as fit, or of its words."""
    bare = text.strip(" .;,:。；，：-–—")
    if len(bare) <= limit:
        return closed(bare) if not text.rstrip().endswith((":", "：")) else _ended(closed(bare))
    clauses = [found for found in _CLAUSE.finditer(bare, 0, limit + 1) if found.start() >= MIN_CLAUSE]
    ends = [each.start() for each in clauses if each[0][0] not in ":：" or not waits(bare[: each.start()])]
    if max(ends, default=0) < limit // 2:
        commas = [found.start() for found in _COMMA.finditer(bare, 0, limit + 1) if found.start() >= 0.6 * limit]
        ends += [comma for comma in commas if not _SERIES.match(bare, comma)]
    return _ended(closed(bare[: max(ends)])) if ends else cut(bare, limit)


def closed(text: str) -> str:
    """The text up to a quotation or bracket that is not closed; or without its mark, where that is near the start."""
    masked = _CLOSED.sub(lambda found: "x" * len(found[0]), text)
    if found := _OPENING.search(masked):
        at = found.start()
        text = text[:at] if at >= MIN_CLAUSE else text[:at] + text[at + 1 :]
    return text.strip(" .;,:。；，：-–—")


def cut(text: str, limit: int) -> str:
    """The text, or as many of its whole words as fit, with an ellipsis; without spaces, of its characters."""
    if len(text) <= limit:
        return text
    start = text[: max(0, limit - 1)]
    whole = start.rpartition(" ")[0]
    kept = whole if whole and not has_cjk(start[len(whole) :]) else start if has_cjk(start) else whole
    return kept + "…" if (kept := closed(_ended(kept))) else ""


def _ended(text: str) -> str:
    """The text without words at its end that wait for another one, such as `at` and `of the`."""
    while " " in text and (
        (last := text.rpartition(" "))[2].casefold() in stopwords() or not re.search(r"\w", last[2])
    ):
        text = last[0]
    return text


def waits(text: str) -> bool:
    """Whether a text ends with a word that waits for another one, such as `is located at`."""
    return _ended(text) != text
