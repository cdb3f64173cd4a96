"""The sets on which the ranking is fitted: each question with its candidates, their signals and what they show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from bench import beam, changes, consolidation, links, locomo, notes, personas
from bench.data import data_file, load, own_texts
from bench.searching import Passages, memory_of
from memory_v2 import Memory
from memory_v2.index import full_text
from memory_v2.index.lookup import LookupResult, SemanticScores
from memory_v2.index.places import StoredPassage
from memory_v2.index.ranking import Ranked, answering, rank
from memory_v2.index.terms import Question
from memory_v2.index.weights import QUESTION

Shows: TypeAlias = Callable[[str, StoredPassage], Collection[str]]
"""What a place on a page shows: ids of what may be asked for."""
Asked: TypeAlias = tuple[str, Collection[str], Collection[str], Shows]
"""A question, what answers it, what did so before, and what places show."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question: the signals of each candidate, what each shows, which show what was so before, and what is wanted."""

    signals: NDArray[np.float64]
    shows: Sequence[frozenset[str]]
    older: NDArray[np.bool_]
    wanted: frozenset[str]


@dataclass(frozen=True, slots=True)
class Set:
    """A set of questions, and the depth at which its recall is measured."""

    depth: int
    asked: Callable[[bool], Iterable[tuple[Memory, Iterable[Asked]]]]

    def cases(self, dense: bool) -> Iterator[Case]:
        """Its questions that have an answer, asked in memories that are made for it."""
        for memory, questions in self.asked(dense):
            for question, wanted, before, shows in questions:
                if wanted and (case := _case(memory, question, frozenset(wanted), frozenset(before), shows)):
                    yield case


def _case(memory: Memory, query: str, wanted: frozenset[str], before: frozenset[str], shows: Shows) -> Case | None:
    told: list[Case] = []

    def watched(
        question: Question,
        found: LookupResult,
        limit: int,
        by: Mapping[str, float] = QUESTION,
        semantic: SemanticScores | None = None,
    ) -> list[Ranked]:
        if by is QUESTION and not told and (answers := list(answering(question, found, by, semantic))):
            rows = [dict(signals) for _, signals in answers]
            every = [candidate for candidate, _ in answers]
            shown = [frozenset(shows(found.paths[one.place.page][0], one.place)) for one in every]
            older = np.array([bool(one & before) and not one & wanted for one in shown])
            table = np.array([[float(row.get(name, 0.0)) for name in QUESTION] for row in rows])
            told.append(Case(table, shown, older, wanted))
        return rank(question, found, limit, by, semantic)

    with mock.patch.object(full_text, "rank", watched):
        memory.search(query, locomo.DEEP)
    return told[0] if told else None


def _keys(*keys: str) -> Shows:
    return lambda path, place: [key for key in keys if key in place.text]


def _texts(passages: Passages, names: Sequence[str]) -> Shows:
    return lambda path, place: [names[number] for number in passages.on(path, place.first_line, place.last_line)]


def _answer(is_answer: Callable[[str, StoredPassage], bool]) -> Shows:
    return lambda path, place: ["answer"] if is_answer(path, place) else []


def _asked_of(people: Callable[[], Iterable[personas.Person]], dense: bool) -> Iterator[tuple[Memory, Iterable[Asked]]]:
    for person in people():
        yield (
            personas.grown(person, dense=dense),
            [(one["q"], one["key"], one["not"], _keys(*one["key"], *one["not"])) for one in person["questions"]],
        )


def _changes(dense: bool) -> Iterator[tuple[Memory, Iterable[Asked]]]:
    given = load("changes/changes.json")
    keys = [
        (pair["question"], pair["new_key"], [pair[kind] for kind in ("old_key", "mid_key") if pair.get(kind)])
        for pair in given["pairs"]
    ]
    memory = changes.grown(changes.facts_of(given), dense=dense)
    yield memory, [(question, [new], old, _keys(new, *old)) for question, new, old in keys]


def _locomo(dense: bool) -> Iterator[tuple[Memory, Iterable[Asked]]]:
    for conversation in locomo.load_locomo():
        memory = locomo.grown(conversation, locomo.by_session, dense)
        shows = _texts(locomo.passages(memory, conversation, locomo.by_session), [one.id for one in conversation.turns])
        asked = [one for one in conversation.questions if one.category != locomo.ADVERSARIAL]
        yield memory, [(one.text, one.evidence, (), shows) for one in asked]


def _beam(dense: bool) -> Iterator[tuple[Memory, Iterable[Asked]]]:
    for name in beam.CHATS:
        chat = beam.load(name)
        memory = beam.grown(chat)
        shows = _texts(Passages(memory, chat.texts), [*map(str, range(len(chat.messages)))])
        yield memory, [(question, [*map(str, about)], (), shows) for question, about in chat.questions]


def _consolidation(dense: bool) -> Iterator[tuple[Memory, Iterable[Asked]]]:
    for given in consolidation.load_facts():
        asked = []
        for question, answers in given.questions:
            old = set(consolidation.overridden(given.facts, question, answers))

            def shows(
                _: str, place: StoredPassage, old: Collection[str] = old, right: Sequence[str] = answers
            ) -> list[str]:
                if any(fact in place.text for fact in old):
                    return ["older"]
                return ["answer"] if any(one.casefold() in place.text.casefold() for one in right) else []

            asked.append((question, ["answer"], ["older"], shows))
        yield consolidation.written(given), asked


def _notes(dense: bool) -> Iterator[tuple[Memory, Iterable[Asked]]]:
    root = data_file(notes.SOME_NOTE).parents[2]
    for folder in sorted({asked.folder for asked in notes.QUESTIONS}):
        asked = [
            (one.question, ["answer"], (), _answer(partial(_is_noted, one)))
            for one in notes.QUESTIONS
            if one.folder == folder and one.answers
        ]
        yield memory_of(notes.pages_of(root / folder)), asked


def _is_noted(asked: notes.Asked, path: str, place: StoredPassage) -> bool:
    return notes.answers_in(asked, path, place.first_line, place.last_line)


def _links(dense: bool) -> Iterator[tuple[Memory, Iterable[Asked]]]:
    texts = own_texts("links")
    for pages in (texts["pages"], links.crowded(texts["pages"])):
        yield (
            memory_of(pages),
            [
                (question, ["answer"], (), _answer(partial(_is_linked, page, line)))
                for question, page, line in texts["two hops"] + texts["one hop"]
            ],
        )


def _is_linked(page: str, line: str, path: str, place: StoredPassage) -> bool:
    return path == page and line in place.text


SETS: Mapping[str, Set] = {
    "personas": Set(3, partial(_asked_of, personas.people)),
    "people": Set(3, partial(_asked_of, personas.others)),
    "changes": Set(1, _changes),
    "locomo": Set(10, _locomo),
    "beam": Set(10, _beam),
    "consolidation": Set(1, _consolidation),
    "notes": Set(3, _notes),
    "links": Set(1, _links),
}
