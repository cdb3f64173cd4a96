"""What is in several notes: said twice, said with nothing but a `not` more, or repeated although it was struck out.

What differs in a number is a series and not a copy, and so is what logs of several days say under the same heading. A
short line that is in many notes is a form, and one in italics alone is a signature.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from memory_v2.notes.audit.context import AuditContext, is_log
from memory_v2.notes.audit.findings import NoteFinding, about_item
from memory_v2.notes.classify import is_closed, is_footer, struck_part
from memory_v2.notes.note import Item, Note
from memory_v2.text.retelling import polarity, without_negation
from memory_v2.text.words import normal, shorten
from memory_v2.tree.alike import alike
from memory_v2.tree.edit import show_numbers

ALIKE = 0.7
"""How much of their words two lines share at least that say the same."""
LEAST_WORDS = 3
"""How many different words a copy has at least, without those of the grammar: shorter ones are labels."""
MANY_NOTES = 4
"""From how many notes on a short line that is in all of them is a form."""
SHORT = 8
"""Below how many words a line is short, likewise."""
MANY = 3
"""From how many passages on two notes are told as a pair of notes, and not line by line."""
SHOWN = 60
"""How much of a line is shown, in characters."""

Said: TypeAlias = tuple[Note, Item]
Copies: TypeAlias = dict[tuple[str, str], list[list[Said]]]
"""What says the same, by the first two notes that say it."""
_SIGNATURE = re.compile(r"(?:--|—|–|~)\s*[A-ZÀ-Þ]")
_LINK = re.compile(r"\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)")
_LETTER = re.compile(r"[^\W\d_]")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")


def repeated(context: AuditContext) -> Iterator[NoteFinding]:
    """Duplicates; contradictions that differ in a `not`; what was struck out and is still said."""
    everything = [statement for statement in context.statements if _says_something(statement[1])]
    copies: Copies = {}
    for members in _groups(context, everything):
        first = members[0]
        if dead := next((member for member in members if struck_part(member[1])), None):
            yield from _still_said(dead, members)
            continue
        against = next((member for member in members if polarity(member[1].text) != polarity(first[1].text)), None)
        if against:
            is_other = first[0].name != against[0].name
            if is_other and _affirmed_words(context, first[1]) == _affirmed_words(context, against[1]):
                yield from _opposite(first, against)
        elif not _is_series(members) and not _is_form(context, members):
            same = [first, *(member for member in members[1:] if _is_copy(member, first))]
            if len(same) > 1:
                copies.setdefault((first[0].name, same[1][0].name), []).append(same)
    yield from _duplicates(copies)


def _says_something(item: Item) -> bool:
    """Whether an item is more than links, and no signature."""
    if is_footer(item) or _SIGNATURE.match(item.text):
        return False
    return _LETTER.search(_LINK.sub(" ", item.text)) is not None


def _groups(context: AuditContext, everything: Sequence[Said]) -> Iterator[list[Said]]:
    """What says the same, or the same but for a `not`: lasting notes first, then the newest log."""
    texts = [struck_part(item) or item.text for _, item in everything]
    grouped = [group.members for group in alike(texts, LEAST_WORDS, context.words_of, ALIKE)]
    group_of = {number: place for place, members in enumerate(grouped) for number in members}
    by_words: dict[frozenset[str], list[int]] = {}
    for number, (_, item) in enumerate(everything):
        if len(item.text) < SHORT * 20 and not struck_part(item):
            by_words.setdefault(_affirmed_words(context, item), []).append(number)
    for said_words, numbers in by_words.items():
        groups = {group_of.get(number) for number in numbers}
        is_grouped = len(groups) == 1 and None not in groups
        if is_grouped or len(said_words) < LEAST_WORDS:
            continue
        if len({polarity(everything[number][1].text) for number in numbers}) > 1:  # some say `not`, and others do not
            grouped.append(tuple(numbers))
    for members in grouped:
        yield sorted((everything[number] for number in members), key=_order)


def _affirmed_words(context: AuditContext, item: Item) -> frozenset[str]:
    """The words of an item, but those that say `not`."""
    if not any(polarity(item.text)):
        return context.words(item)
    return frozenset(context.words_of(without_negation(item.text)))


def _order(one: Said) -> tuple[object, ...]:
    note, item = one
    return (is_log(note), -(item.day.toordinal() if item.day else 0), note.name, item.first_line)


def _is_copy(one: Said, first: Said) -> bool:
    is_other = one[0].name != first[0].name or not is_log(one[0])  # a log of one day may repeat itself
    return is_other and _NUMBER.findall(one[1].text) == _NUMBER.findall(first[1].text)


def _duplicates(copies: Copies) -> Iterator[NoteFinding]:
    for (name, other_name), groups in copies.items():
        if len(groups) < MANY:
            for group in groups:
                yield _duplicate(group)
            continue
        lines = show_numbers(sorted({group[0][1].first_line for group in groups}))
        others = show_numbers(sorted({group[1][1].first_line for group in groups}))
        message = f"what is on lines {lines} is on lines {others} of {other_name} too"
        places = tuple(_place(one) for group in groups for one in group[1:])
        days = [item.day for group in groups for _, item in group if item.day]
        line = min(group[0][1].first_line for group in groups)
        yield NoteFinding("duplicate", name, line, message, other_name, places, max(days, default=None))


def _duplicate(group: Sequence[Said]) -> NoteFinding:
    (note, item), *others = group
    places = [_place(other) for other in others]
    how = "also" if normal(item.text) == normal(others[0][1].text) else "almost the same"
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    message = f"{how} in {places[0]}{more}: {shorten(item.text, SHOWN)}"
    days = [same.day for _, same in group if same.day]
    return about_item("duplicate", note, item, message, *places, day=max(days, default=None))


def _place(one: Said) -> str:
    return f"{one[0].name}:{one[1].first_line}"


def _is_series(members: Sequence[Said]) -> bool:
    """Whether logs of several days say this: under one heading, or as what is still open, or again and again."""
    if not all(is_log(note) for note, _ in members):
        return False
    days = {item.day for _, item in members}
    headings = {tuple(map(normal, item.headings[1:])) for _, item in members}
    return len(days) > 1 and (len(headings) < len(members) or len(days) > 2 or members[0][1].is_done is not None)


def _is_form(context: AuditContext, members: Sequence[Said]) -> bool:
    notes = {note.name for note, _ in members}
    return len(notes) >= MANY_NOTES and len(context.words(members[0][1])) < SHORT


def _opposite(first: Said, against: Said) -> Iterator[NoteFinding]:
    (note, item), (_, same) = first, against
    is_asked = any(one.text.rstrip().endswith(("?", "？")) for one in (item, same))
    if not is_log(note) and not is_asked and not item.is_done and not same.is_done:
        place = _place(against)
        message = f"{shorten(item.text, SHOWN)} – but {place} says: {shorten(same.text, SHOWN)}"
        yield about_item("contradiction", note, item, message, place, day=same.day or item.day)


def _still_said(dead: Said, members: Sequence[Said]) -> Iterator[NoteFinding]:
    place = _place(dead)
    for note, item in members:
        if note.name != dead[0].name and not is_log(note) and not struck_part(item) and not is_closed(item):
            message = f"{shorten(item.text, SHOWN)} – struck out in {place}"
            yield about_item("superseded", note, item, message, place, day=dead[1].day or item.day)
