"""What a section is about: a summary, tags and the names in it. All is taken from its words, nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memory_v2.notes.note import Item, Section
from memory_v2.notes.packs import CATEGORIES, LONGEST, bare, cues, mentioned, topics
from memory_v2.notes.people import handles
from memory_v2.text.plain import plain, shorten
from memory_v2.text.sentences import sentences

MAX_SUMMARY = 120
"""The length of a summary, in characters, unless the first sentence is shorter."""
MIN_SUMMARY = 9
"""The least length of a sentence that is a summary alone, in characters: `1.` and `E.g.` are none."""
MAX_ENTITIES = 30
"""How many names of a section are told: more would be the section itself."""

_HASHTAG = re.compile(r"(?<![\w#/&])#([^\W\d_][\w-]{1,40})(?![\w#])")
_ENTITY = re.compile(
    r"\[\[([^\[\]|#\r\n]+)|`([^`\s]{2,60})`|(https?://[^\s<>()\"'`*]+[^\s<>()\"'`*.,;:!?])"
    r"|(?<![\w.])((?:[A-ZÀ-Þ][\w.&'’-]*[\w])(?: (?:de |del |da |von |of )?[A-ZÀ-Þ][\w.&'’-]*[\w]){1,3})"
)


def described(section: Section, items: Sequence[Item]) -> Section:
    """The section with its summary, tags and entities."""
    texts = [item.text[:LONGEST] for item in items if item.kind != "code"]
    first = next((item.text for item in items if item.is_prose), "")
    return replace(
        section,
        summary=_summary(first),
        tags=_tags(section.heading, texts, any(item.day and item.dated_by == "own" for item in items)),
        entities=_entities([section.heading, *texts]),
    )


def _summary(text: str) -> str:
    sentence = next(sentences(plain(text)), "").rstrip()
    is_short = MIN_SUMMARY <= len(sentence) <= MAX_SUMMARY and sentence.endswith(tuple(".!?。！？"))
    return sentence if is_short else shorten(text, MAX_SUMMARY)


def _tags(heading: str, texts: Sequence[str], is_dated: bool) -> tuple[str, ...]:
    found: set[str] = set()
    for text in map(bare, [heading, *texts]):
        found.update(mentioned(text))
        found.update(topics(text))
    found.update(one.category for category in CATEGORIES for one in cues(bare(heading), category, "headings"))
    found.update(tag.casefold() for text in texts for tag in _HASHTAG.findall(text))
    if is_dated:
        found.add("temporal")
    if any(map(handles, texts)):
        found.add("person")
    return tuple(sorted(found))


def _entities(texts: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for text in texts:
        found |= dict.fromkeys(handles(text))
        found |= dict.fromkeys(plain(next(filter(None, match.groups()))) for match in _ENTITY.finditer(text))
        if len(found) >= MAX_ENTITIES:
            break
    return tuple(filter(None, found))[:MAX_ENTITIES]
