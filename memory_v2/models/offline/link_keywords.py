"""The words by which links are described: the fewest that lead a reader who looks for a title to the line above it.

A title leads to the line that shares most words with it. So each line gets words of the titles below it, first those
that reach most titles that another line would win, until each title leads to its own.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory_v2.models.offline.describing import describe_page
from memory_v2.models.offline.listed import Group, Listed, looked_for, said_in, stems_of, title_in
from memory_v2.models.offline.naming import (
    MAX_DESCRIPTION,
    Names,
    Term,
    common_stems,
    joined,
    name_for,
    name_of_subject,
    surfaces_of,
    terms_of,
)
from memory_v2.text.lists import fillers, labels, stopwords
from memory_v2.text.plain import capitalized, plain, shorten
from memory_v2.text.words import general, has_cjk, stem
from memory_v2.tree.block import encode
from memory_v2.tree.page import ChildLink, Page

MIN_GAIN = 0.05
"""What a word must be worth: one that brings a title that leads astray back to its line is worth 1."""
HARM = 0.5
"""What it costs that a word is that of a title below another line, relative to what it is worth to that title there."""
_NEEDS = {-1: 0.6, 0: 1.0, 1: 0.4, 2: 0.1}
"""What another word is worth to a title, by its lead: by how many words it is closer to its line than to any other."""
_FAR, _SAFE = 0.3, 0.02
"""The same for a title that is farther behind, and for one that is farther ahead."""


_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class Line:
    """A line of a catalogue: the stems that it has already, the titles that it leads to, as stems, and whether words
    may be added."""

    said: frozenset[str]
    titles: tuple[tuple[str, ...], ...]
    is_open: bool = True


def covering_words(lines: Sequence[Line], fits: Callable[[int, Sequence[str]], bool]) -> list[list[str]]:
    """The stems to add to each line, best first. `fits` tells whether so many words have room on a line."""
    cover = _Cover(lines)
    open_lines = [number for number, line in enumerate(lines) if line.is_open]
    while open_lines:
        needs = cover.needs()
        everywhere = sum(needs, Counter[str]())
        going = []
        for number in open_lines:
            word = cover.best_word(number, needs[number], everywhere)
            if word and fits(number, [*cover.chosen[number], word]):
                cover.chosen[number].append(word)
                going.append(number)
        open_lines = going
    return cover.chosen


def leads(lines: Sequence[Line]) -> bool:
    """Whether the first of these lines has more words of each of its titles than any other line."""
    having = _having([line.said for line in lines])
    return all(_lead(0, title, having) > 0 for title in lines[0].titles)


class _Cover:
    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.chosen: list[list[str]] = [[] for _ in lines]
        self._common, self._ignored = common_stems(), stopwords() | fillers()
        self._titles = [Counter(frozenset(title) for title in line.titles) for line in lines]

    def needs(self) -> list[Counter[str]]:
        """For each line, what each word is worth to the titles that it leads to. Titles of the same words count less,
        as a word brings a reader to one of them."""
        having = _having([line.said.union(words) for line, words in zip(self.lines, self.chosen, strict=True)])
        found = []
        for number, titles in enumerate(self._titles):
            worth: Counter[str] = Counter()
            for title, count in titles.items():
                need = _need(_lead(number, title, having)) * count**0.5
                for word in title:
                    worth[word] += need
            found.append(worth)
        return found

    def best_word(self, number: int, needs: Mapping[str, float], everywhere: Mapping[str, float]) -> str:
        """The word that helps the titles of a line most; empty if none is worth its place."""
        said = self.lines[number].said.union(self.chosen[number])
        worth = {
            word: need * self._worth(word) - HARM * (everywhere[word] - need)
            for word, need in needs.items()
            if word not in said
        }
        word = min(worth, key=lambda word: (-worth[word], word), default="")
        return word if word and worth[word] >= MIN_GAIN else ""

    def _worth(self, word: str) -> float:
        if word[0].isdigit() and not _YEAR.fullmatch(word):
            return 0.0  # an amount is no subject
        return 0.3 if word in self._ignored or word.isdigit() else 0.6 if word in self._common else 1.0


def _having(lines: Sequence[Iterable[str]]) -> dict[str, list[int]]:
    """The places of the lines that have each word."""
    having: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        for word in line:
            having.setdefault(word, []).append(number)
    return having


def _lead(own: int, title: Iterable[str], having: Mapping[str, Sequence[int]]) -> int:
    """By how many words a title is closer to its own line than to any other."""
    shared = Counter(number for word in title for number in having.get(word, ()))
    return shared[own] - max((count for number, count in shared.items() if number != own), default=0)


def _need(lead: int) -> float:
    return _NEEDS.get(lead, _FAR if lead < 0 else _SAFE)


MAX_TITLE = 60
"""Limits the title of a group, in characters: it leads the line, which has other words to say."""
MAX_RUN = 8
"""Limits how much of a run of characters without spaces is shown, in characters: that many are a few words."""
MAX_WHOLE = 16
"""Up to how many characters a run without spaces is shown whole."""
MAX_NAMES = 12
"""How many subjects of a group are tried as its name, best first."""


@dataclass(frozen=True)
class Described:
    """The name, title and description of a group."""

    name: str
    title: str
    text: str


def describe_groups(groups: Sequence[Group], listed: Sequence[Listed], names: Names, room: int) -> list[Described]:
    """The names, titles and descriptions of the groups, told apart from each other and from what else the page lists.
    Each description takes at most `room` bytes."""
    spelled = surfaces_of([text for each in listed for text in (each.title, *each.below, each.text)])
    spelled |= surfaces_of([text for each in listed for text in (each.title, *each.below)])
    subjects = _Subjects([each for each in listed if not each.is_group], spelled)
    named = [_named(group, subjects, names) for group in groups]
    titles = [_titles(group) for group in groups]
    lines = [
        Line(_said(f"{name.replace('-', ' ')} {title}"), tuple(map(stems_of, below)))
        for (name, title), below in zip(named, titles, strict=True)
    ]
    spellings = [_Spelling(below, spelled) for below in titles]

    def fits(number: int, chosen: Sequence[str]) -> bool:
        text = _text(named[number][1], spellings[number].spelled(chosen))
        return len(text) <= MAX_DESCRIPTION and len(encode(text)) <= room

    chosen = covering_words([*lines, *_others(groups, listed)], lambda n, told: fits(n, told))
    return [
        Described(name, title, _text(title, spelling.spelled(told)))
        for (name, title), spelling, told in zip(named, spellings, chosen[: len(groups)], strict=True)
    ]


def told_line(title: str, link: ChildLink, below: Sequence[str], others: Sequence[Line]) -> str:
    """The description of a group that a page lists beside others: its title, and words of the titles below it."""
    spelling = _Spelling(below, surfaces_of(below))
    said = _said(f"{link.target.rsplit('/', 1)[-1].replace('-', ' ')} {title}")
    line = Line(said, tuple(map(stems_of, below)))

    def fits(_: int, chosen: Sequence[str]) -> bool:
        return len(_text(title, spelling.spelled(chosen))) <= MAX_DESCRIPTION

    return _text(title, spelling.spelled(covering_words([line, *others], fits)[0]))


def _others(groups: Sequence[Group], listed: Sequence[Listed]) -> list[Line]:
    """The lines that stay as they are."""
    changed = {each.number for group in groups for each in (*group.members, *([group.home] if group.home else []))}
    return [
        Line(said_in(each.link), (each.title_stems,), is_open=False) for each in listed if each.number not in changed
    ]


def _titles(group: Group) -> list[str]:
    """The titles below a group, also those that it lists already."""
    return [*(group.home.below if group.home else ()), *(title for each in group.members for title in _below(each))]


def _below(each: Listed) -> tuple[str, ...]:
    return (each.title, *each.below) if each.below else (each.title,)


def _said(text: str) -> frozenset[str]:
    return frozenset(stems_of(plain(text)))


def _named(group: Group, subjects: _Subjects, names: Names) -> tuple[str, str]:
    """The name and the title of a group."""
    if group.home is not None:
        return group.home.name, plain(group.home.title)
    told = subjects.of(group)
    if group.name:
        title = shorten(group.title, MAX_TITLE)
        return name_for([group.name, *told], names, group.members[0].title), title
    name, subject = name_of_subject(told, names, group.members[0].title)
    return name, capitalized(shorten(subject, MAX_TITLE))


def _text(title: str, told: Sequence[str]) -> str:
    return f"{title}: {', '.join(told)}" if told else title


class _Subjects:
    """What groups are about, told apart from the other pages of a catalogue."""

    def __init__(self, leaves: Sequence[Listed], spelled: dict[str, str]) -> None:
        self._leaves = len(leaves)
        self._spelled = spelled
        self._in_title = {leaf.number: set(terms_of(leaf.title)) for leaf in leaves}
        self._in_tags = {leaf.number: {term for tag in leaf.tags for term in terms_of(tag)} for leaf in leaves}
        self._in_text: dict[int, set[Term]] = {leaf.number: {(term,) for term in leaf.counts} for leaf in leaves}
        self._titled: Counter[Term] = Counter(term for found in self._in_title.values() for term in found)
        self._mentioned: Counter[Term] = Counter(term for found in self._in_text.values() for term in found)

    def of(self, group: Group) -> list[str]:
        """The subjects of a group as they are written, best first."""
        numbers = [member.number for member in group.members]
        titled: Counter[Term] = Counter(term for number in numbers for term in self._in_title.get(number, ()))
        tagged: Counter[Term] = Counter(term for number in numbers for term in self._in_tags.get(number, ()))
        mentioned: Counter[Term] = Counter(term for number in numbers for term in self._in_text.get(number, ()))
        scores: dict[Term, float] = {}
        for term in {*titled, *tagged, *(term for term, count in mentioned.items() if count > 1)}:
            inside = titled[term] + tagged[term] + 0.25 * max(mentioned[term], titled[term])
            outside = self._titled[term] - titled[term] + 0.25 * (self._mentioned[term] - mentioned[term])
            if len(term) > 1:
                inside *= 1.2 if titled[term] > 1 else 0.5
            scores[term] = inside * math.log((2 + self._leaves) / (1 + outside)) * self._worth(term)
        ranked = sorted(scores, key=lambda term: (term not in titled and term not in tagged, -scores[term], term))
        return [self._shown(term, group) for term in ranked[:MAX_NAMES]]

    def _shown(self, term: Term, group: Group) -> str:
        """The term as it is written. In a script without spaces a term may be part of a word, so what stands around it
        in each title that has it is added."""
        shown = joined([self._spelled.get(part, part) for part in term])
        return in_full(shown, [member.title for member in group.members]) if has_cjk(shown) else shown

    def _worth(self, term: Term) -> float:
        """How much a term is like a name: more if it is written as one, less if it is an English participle or adverb,
        or a general word."""
        worth = 1.0
        for part in term:
            shown = self._spelled.get(part, part)
            if any(c.isupper() for c in shown):
                worth *= 1.4 if shown[1:] != shown[1:].lower() or len(term) == 1 else 1.1
            if part.endswith(("ed", "ly", "able", "ful")):
                worth *= 0.3
            if part in general() or part in labels():
                worth *= 0.4
        return worth


class _Spelling:
    """Stems as the titles spell them, in the order of the titles; neighbours in a title stay together."""

    def __init__(self, titles: Sequence[str], spelled: dict[str, str]) -> None:
        self._titles = [[stem(word) for word in looked_for(title)] for title in titles]
        self._texts = titles
        self._runs = [run for title in titles for run in re.findall(r"[^\W\d_]+", title) if len(run) <= MAX_WHOLE]
        self._spelled = spelled

    def spelled(self, chosen: Sequence[str]) -> list[str]:
        left, found = set(chosen), list[list[str]]()
        for title in self._titles:
            before = ""
            for word in title:
                if word in left:
                    left.discard(word)
                    if before:
                        found[-1].append(word)
                    else:
                        found.append([word])
                    before = word
                else:
                    before = ""
        shown = [self._whole(each) for phrase in found for each in self._joined(phrase)]
        return list(dict.fromkeys(shown))

    def _joined(self, phrase: Sequence[str]) -> list[str]:
        """Neighbours as they are written: pieces of one run without spaces as one, and two such runs one by one."""
        shown = [self._spelled.get(word, word) for word in phrase]
        whole = joined(shown)
        return [whole] if " " in whole or any(whole in title for title in self._texts) else shown

    def _whole(self, shown: str) -> str:
        """What is written, without spaces, around a part of a title: a piece of it may end within a word."""
        runs = (run for run in self._runs if shown in run) if has_cjk(shown) else ()
        return next(iter(runs), shown)


def in_full(part: str, titles: Sequence[str]) -> str:
    """What all titles that have this part, written without spaces, have around it too, at most `MAX_RUN` characters."""
    having = [title for title in titles if part in title]
    while having and len(part) < MAX_RUN:
        before = {title[at - 1 : at] for title in having for at in [title.find(part)]}
        after = {title[at + len(part) : at + len(part) + 1] for title in having for at in [title.find(part)]}
        if len(after) == 1 and has_cjk(next(iter(after))):
            part += after.pop()
        elif len(before) == 1 and has_cjk(next(iter(before))):
            part = before.pop() + part
        else:
            break
    return part


_NO_WORDS = ("",)
"""In place of telling words, which take long to find on a long page."""


def told_again(page: Page, group: Page, title: str) -> str:
    """The description by which `page` is to list the group, so that a reader who looks for this title takes it; the
    present one if it leads there already."""
    link = next(link for link in page.children if link.target == group.path)
    others = [_line(each) for each in page.children if each is not link]
    if leads([Line(said_in(link), (stems_of(title),)), *others]):
        return link.description
    below = [title_in(child) for child in group.children]
    return told_line(plain(group.title), link, [*below, title], others)


def told_divided(line: str, before: Page, after: Page, below: Sequence[tuple[str, str]]) -> str:
    """The description of a page that was divided: by what stayed on it, and then by the pages below it, given by their
    titles and lines. The present line if that was not told of what the page was before, but by somebody else or by
    single words."""
    if line != describe_page(before.title, before.blocks, _NO_WORDS):
        return line
    return describe_page(after.title, after.blocks, _NO_WORDS, below)


def _line(link: ChildLink) -> Line:
    return Line(said_in(link), (tuple(said_in(link)),), is_open=False)
