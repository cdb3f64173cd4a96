"""Splitting a page with too many links, offline: related links move to a new page in between."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline.naming import Names, Terms, common_stems, describe, name_for
from memory_v2.text.lists import fillers, stopwords
from memory_v2.text.plain import capitalized, plain
from memory_v2.text.words import stem, words
from memory_v2.tree.numbers import show_numbers
from memory_v2.tree.page import ChildLink

MAX_CHOICES = 12
"""How many links and groups a reader can choose from; when no more are left, no more groups are made."""
MIN_IN_GROUP = 3
"""The least links in a group, except for periods: a page for fewer is a detour."""
_DATED = re.compile(r"(\d{4})(-\d{2})?(-\d{2})?\b")


@dataclass(frozen=True)
class _Group:
    """Links by number, and what they have in common, if that is clear."""

    numbers: tuple[int, ...]
    subject: str = ""


def group_links(brief: SplitBrief, names: Names) -> list[dict[str, Any]]:
    """The new children and their links: grouped by period, by folder, by subject, and the rest alphabetically."""
    entries = brief.view.page.children
    said = frozenset(stem(word) for word in words(brief.view.page.title))
    groups = _together(entries, brief.most_children, said) if brief.crowded else _halves(len(entries))
    described = Terms([plain(entry.description) for entry in entries])
    return [_child(entries, described, group, names) for group in groups]


def _together(entries: Sequence[ChildLink], most: int, said: frozenset[str]) -> list[_Group]:
    """Groups until a reader can choose among them and the links left; `said` are the stems of the page's title."""
    left = set(range(1, len(entries) + 1))
    groups: list[_Group] = []
    for kind in (_by_time, _by_folder, partial(_by_subject, said=said)):
        for group in kind(entries, sorted(left)):
            if len(left) + len(groups) <= MAX_CHOICES or len(groups) >= most - 2:
                break
            if left.issuperset(group.numbers):
                groups.append(group)
                left.difference_update(group.numbers)
    return groups + _by_alphabet(entries, left, most - len(groups)) if len(left) + len(groups) > most else groups


def _halves(count: int) -> list[_Group]:
    """Two halves in the order of the links, for links that are too long rather than too many."""
    middle = -(-count // 2)
    return [_Group(tuple(half)) for half in (range(1, middle + 1), range(middle + 1, count + 1)) if half]


def _child(entries: Sequence[ChildLink], described: Terms, group: _Group, names: Names) -> dict[str, Any]:
    members = [entries[number - 1] for number in group.numbers]
    called = [entry.target.rsplit("/", 1)[-1].replace("-", " ") for entry in members]
    inside = [f"{plain(entry.description)} {name}" for entry, name in zip(members, called, strict=True)]
    alike = set(members)
    terms = described.telling_of(inside, [place for place, entry in enumerate(entries) if entry in alike], 4)
    subject = group.subject or ", ".join(terms[:2]) or called[0]
    name = name_for([group.subject] if group.subject else terms, names, called[0])
    return {
        "name": name,
        "title": capitalized(subject)[:110],
        "description": describe(subject, called) or name,
        "links": show_numbers(group.numbers, "L"),
    }


def _by_time(entries: Sequence[ChildLink], left: Sequence[int]) -> list[_Group]:
    """Months by year, days by month."""

    def period(entry: ChildLink) -> str:
        found = _DATED.match(entry.target.rsplit("/", 1)[-1])
        return "" if not found or not found[2] else found[1] + (found[2] if found[3] else "")

    return _alike(entries, left, period, least=2)


def _by_folder(entries: Sequence[ChildLink], left: Sequence[int]) -> list[_Group]:
    """By folder: somebody put these pages together."""
    return _alike(entries, left, lambda entry: entry.target.rpartition("/")[0].rsplit("/", 1)[-1].replace("-", " "))


def _alike(
    entries: Sequence[ChildLink], left: Sequence[int], key: Callable[[ChildLink], str], least: int = MIN_IN_GROUP
) -> list[_Group]:
    together: dict[str, list[int]] = {}
    for number in left:
        together.setdefault(key(entries[number - 1]), []).append(number)
    found = [(name, numbers) for name, numbers in together.items() if name and least <= len(numbers) < len(entries)]
    return [_Group(tuple(numbers), name) for name, numbers in sorted(found)]


def _by_subject(entries: Sequence[ChildLink], left: Sequence[int], said: frozenset[str]) -> Iterator[_Group]:
    """By subject, most frequent first. Subjects of half of the links, or of the page itself, do not count, and pages
    for a period belong to that period."""
    ignored, too_common = stopwords() | fillers(), common_stems() | said
    told: dict[int, dict[str, str]] = {}
    for number in left:
        entry = entries[number - 1]
        if _DATED.match(entry.target.rsplit("/", 1)[-1]):
            continue
        name = entry.target.rsplit("/", 1)[-1].replace("-", " ")
        spelled = [word for word in words(f"{plain(entry.description)} {name}") if len(word) > 2 and word.isalpha()]
        told[number] = {stem(w): w for w in spelled if w not in ignored and stem(w) not in too_common}
    waiting = set(told)
    while True:
        counts = Counter(term for number in waiting for term in told[number])
        usable = {t: c for t, c in counts.items() if MIN_IN_GROUP <= c <= max(MIN_IN_GROUP, 0.5 * len(left))}
        if not usable:
            return
        term = min(usable, key=lambda t: (-usable[t], t))
        numbers = tuple(sorted(number for number in waiting if term in told[number]))
        yield _Group(numbers, told[numbers[0]][term])
        waiting -= set(numbers)


def _by_alphabet(entries: Sequence[ChildLink], left: Iterable[int], most: int) -> list[_Group]:
    """Alphabetical runs of neighbours, at most `most`."""
    ordered = sorted(left, key=lambda number: (entries[number - 1].target.casefold(), number))
    step = max(MAX_CHOICES, -(-len(ordered) // most))
    return [_Group(tuple(sorted(ordered[i : i + step]))) for i in range(0, len(ordered), step)]
