"""Judges a play by program: is each text on the right page, is anything lost, does a description say what is no longer
so, and is each question answered."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.scenario.key import SUBJECTS, Question, Text, broader, named, related
from bench.scenario.play import Step
from bench.scenario.sentences import Sentence, normal, places, retold, sentences_of, tree_of, verbatim
from memory_v2.operations.results import SearchResults, WriteResult
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT

VERDICTS = ("right", "acceptable", "wrong")
LEAST_SHARE = 0.25
"""How much of a page is at least about a subject that its description names; other pages only mention it."""
LEAST_PART = 0.2
"""From which share of a part on a page counts as a place where it stands."""
FIRST = 3
"""Among how many places the answer is looked for."""
PLACING = frozenset({"place", "insert", "create_page", "read_pages", "look_up", "split_page", "leave_whole"})
"""The calls that take nothing out of the tree and out of a text. Any other is a decision to say it otherwise."""


@dataclass(frozen=True, slots=True)
class Stands:
    """Where a part of a text stands, and whether it is the right page."""

    text: int
    subject: str
    pages: tuple[str, ...]
    verdict: str
    reason: str


@dataclass
class Watch:
    """What is seen while the texts are written: sentences that went missing, and descriptions that are stale. `stood`
    tells where each sentence stood last, or was told in other words from the beginning."""

    texts: Sequence[Text]
    stood: dict[Sentence, str] = field(default_factory=dict)
    lost: set[Sentence] = field(default_factory=set)
    replaced: set[Sentence] = field(default_factory=set)
    stale: set[tuple[str, str]] = field(default_factory=set)

    def see(self, step: Step) -> None:
        """Looks at the tree after a write."""
        tree, number = tree_of(step.pages), step.number
        decided = {str(call["name"]) for reply in step.trace.of("reply") for call in reply["calls"]} - PLACING
        written = sentences_of(self.texts[:number])
        for one in written:
            if verbatim(one, tree) or retold(one, tree):
                self.lost.discard(one)
                self.replaced.discard(one)
            elif one not in self.lost and one not in self.replaced:
                (self.replaced if decided else self.lost).add(one)
                self.stood.setdefault(one, step.result.path if isinstance(step.result, WriteResult) else "")
        found = places(written, tree)
        self.stood |= found
        self.stale.update(self._stale(step.pages, found, number))

    @property
    def retold(self) -> dict[Sentence, str]:
        """The page on which each sentence stood that a decision then told otherwise."""
        return {one: self.stood[one] for one in self.replaced if one in self.stood}

    def _stale(
        self, pages: Mapping[str, Page], found: Mapping[Sentence, str], number: int
    ) -> Iterator[tuple[str, str]]:
        """The page and the description of each that says what is no longer so."""
        subjects = defaultdict(set)
        for one, path in found.items():
            subjects[path].add(one.subject)
        listed = [child for page in pages.values() for child in page.children]
        for path, told in ((child.target, child.description) for child in listed):
            for text in self.texts[:number]:
                for old, new in text.stale.items() if text.about in subjects[path] else ():
                    if re.search(old, told, re.I) and not re.search(new, told, re.I):
                        yield path, told


def standings(texts: Sequence[Text], pages: Mapping[str, Page], retold: Mapping[Sentence, str]) -> list[Stands]:
    """Where each part of each text stands, in order. `retold` gives the page of each sentence that was replaced there:
    it counts for a part of which nothing else is left."""
    found = places(sentences_of(texts), tree_of(pages))
    shelf = _Shelf(pages, found)
    left, replaced = (
        defaultdict[tuple[int, str], Counter[str]](Counter),
        defaultdict[tuple[int, str], Counter[str]](Counter),
    )
    parts = [one for one in sentences_of(texts) if one.subject]
    for part in parts:
        for sizes, paths in ((left, found), (replaced, retold)):
            if paths.get(part) in pages:
                sizes[part.text, part.subject][paths[part]] += len(part.words)
    return [
        _stands(shelf, text, subject, texts[text - 1].also, left[text, subject] or replaced[text, subject])
        for text, subject in dict.fromkeys((part.text, part.subject) for part in parts)
    ]


def _stands(shelf: _Shelf, text: int, subject: str, also: str, size: Counter[str]) -> Stands:
    """The worst verdict over the pages that hold a good share of a part, each judged for the better of two subjects."""

    def better(path: str) -> tuple[str, str]:
        judged = [shelf.judge(path, text, one) for one in (subject, also) if one]
        return min(judged, key=lambda one: VERDICTS.index(one[0]))

    held = [path for path, length in size.most_common() if length >= LEAST_PART * size.total()]
    judged = [better(path) for path in held] or [("wrong", "it is nowhere")]
    verdict, reason = max(judged, key=lambda one: VERDICTS.index(one[0]))
    return Stands(text, subject, tuple(held), verdict, reason)


class _Shelf:
    """The pages with what each is called, and how much of each subject it holds."""

    def __init__(self, pages: Mapping[str, Page], found: Mapping[Sentence, str]) -> None:
        self._names = {path: f"{path.replace('-', ' ')} {page.title}" for path, page in pages.items()}
        self._told = {path: f"{path.rpartition('/')[2].replace('-', ' ')} {page.title}" for path, page in pages.items()}
        self._above: dict[str, str] = {}
        for path, page in pages.items():
            for child in page.children:
                self._told[child.target] = f"{self._told.get(child.target, '')} {child.description}"
                self._above.setdefault(child.target, path)
        self._held: dict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
        for one, path in found.items():
            if one.subject:
                self._held[path][one.text, one.subject] += len(one.words)

    def judge(self, path: str, text: int, subject: str) -> tuple[str, str]:
        """Whether a page is the right one for a part of a text, and why."""
        if path == ROOT:
            return "acceptable", "on the root"
        if self._is_about(path, subject):
            return "right", "named for it"
        if self._is_hub(path, subject):
            is_above = any(self._is_about(below, subject) for below, above in self._above.items() if above == path)
            return ("acceptable", "on the hub above") if is_above else ("right", "named for its whole")
        others = Counter({part: size for part, size in self._held[path].items() if part[0] != text})
        kin = sum(size for (_, other), size in others.items() if related(other, subject))
        if 2 * kin > others.total():
            return "right", "among its kin"
        above = self._above.get(path, ROOT)
        if not others and above != ROOT and (self._is_about(above, subject) or self._is_hub(above, subject)):
            return "right", "below its page"
        if any(self._is_about(below, subject) for below, above in self._above.items() if above == path):
            return "acceptable", "on the hub above"
        return "wrong", "among others" if others else "its name does not say so"

    def _is_about(self, path: str, subject: str) -> bool:
        kin = sum(size for (_, other), size in self._held[path].items() if related(other, subject))
        return subject in named(self._told[path]) and kin >= LEAST_SHARE * self._held[path].total()

    def _is_hub(self, path: str, subject: str) -> bool:
        """Whether a page is named for the whole that the subject is a part of, and for no other part of it."""
        whole, names = broader(subject), named(self._names[path])
        parts = {one for one in SUBJECTS if broader(one) == whole and one not in (whole, subject)}
        kin = sum(size for (_, other), size in self._held[path].items() if broader(other) == whole)
        return whole in names and not parts & names and kin >= LEAST_SHARE * self._held[path].total()


@dataclass(frozen=True, slots=True)
class Answered:
    """Whether a question was answered within the first places, and whether the newest value came first."""

    question: Question
    is_answered: bool
    is_newest_first: bool
    first: str


def answered(question: Question, results: SearchResults) -> Answered:
    """Judges the answer to a question."""
    excerpts = [normal(result.excerpt) for result in results[:FIRST]]
    together = "\n".join(excerpts)
    is_answered = all(re.search(said, together) for said in question.answer) if question.answer else not results
    new = next((n for n, said in enumerate(excerpts) if all(re.search(a, said) for a in question.answer)), FIRST)
    old = next((n for n, said in enumerate(excerpts) if question.old and re.search(question.old, said)), FIRST)
    return Answered(question, is_answered, new < FIRST and new <= old, results[0].path if results else "nothing")
