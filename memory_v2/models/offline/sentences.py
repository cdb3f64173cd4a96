"""What a text says of itself: its sentences, without marks, times, addresses and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from memory_v2.models.offline.looks import telling_terms
from memory_v2.text.calendar import DAY
from memory_v2.text.lists import numbers, stopwords, weekdays
from memory_v2.text.plain import plain
from memory_v2.text.sentences import sentences as text_sentences
from memory_v2.text.words import has_cjk, words

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
