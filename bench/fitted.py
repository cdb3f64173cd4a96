"""What the weights of the ranking find in conversations that they were not chosen on: `python -m bench.fitted`.

Each conversation of LoCoMo is written session by session and asked, as by `bench.locomo`. Then the weights of a place
in a conversation are chosen anew on all conversations but one, and that one is searched with them. Figures: over the
questions of those left out, beside those of the weights in use; and which weights were chosen.

They are chosen by a listwise softmax over the candidates of each question, then scaled so that those of words add up to
`WORDS`, as in use, and rounded to a half. Which penalty on their squares, which `unsaid` and which `crowded` are chosen
by the recall @5, @10 and @20 together. All else is as in use. The places are looked up once, so a choice costs only the
ranking.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import fmean
from typing import NamedTuple, TypeAlias
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from bench.locomo import (
    ADVERSARIAL,
    DEPTHS,
    Conversation,
    Question,
    Row,
    Turn,
    by_session,
    figures,
    grown,
    load_locomo,
    measure,
    memory_search,
    summary,
    turn_places,
)
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.index import full_text
from memory_v2.index.days import Said
from memory_v2.index.lookup import Found
from memory_v2.index.ranking import QUESTION, Ranked, Weighing, rank
from memory_v2.index.terms import Question as Parsed

BY_WORDS = {
    "own": "its words",
    "near": "its words and those before it",
    "wide": "the words around it",
    "whole": "the words of its section",
}
SIGNS = BY_WORDS | {
    "named": "a name that is asked for",
    "takes_part": "a page of that person",
    "day": "the day asked for",
    "when": "words of time",
    "asks": "a question itself",
}
"""The weights that are chosen, each with the sign that it weighs. `named_near` is chosen too, which weighs `near` where
there is `named`; what else the ranking knows of is rare here."""
WEIGHTS = (*SIGNS, "named_near")
WORDS = 10.0
PENALTIES = (0.0001, 0.0003, 0.001, 0.003, 0.01)
UNSAID = (2.0, 4.0, 6.0)
CROWDED = (0.0, 0.5, 0.6, 0.8, 1.0)
_UNIT = 1_000.0
"""The weight by which signs are read: they are told with two digits."""

_STEPS = 60
_EXACT = 1e-9
_Numbers: TypeAlias = NDArray[np.float64]
Candidates: TypeAlias = tuple[_Numbers, NDArray[np.bool_]]
"""A row of what each weight adds for each candidate of a question, and whether it is evidence."""


class Asked(NamedTuple):
    """A question, and the places that were looked up for it with the turn of each."""

    question: Question
    parsed: Parsed
    found: Found
    turns: Mapping[int, Turn]

    def ranked(self, by: Weighing) -> list[Ranked]:
        """All places in the order that these weights give them."""
        return rank(self.parsed, self.found, len(self.found.candidates), by)

    def recall(self, by: Weighing) -> float:
        """The recall @5, @10 and @20 together."""
        row = self.row(by)
        return sum(row[f"@{depth}"] for depth in DEPTHS)

    def row(self, by: Weighing) -> Row:
        """The figures of the ranking alone."""
        turns = (self.turns.get(one.place.id) for one in self.ranked(by))
        return figures(self.question, [(turn, 0) for turn in dict.fromkeys(turns) if turn])


class Asking:
    """A conversation that was written, with its questions."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._memory = grown(conversation, by_session)
        self.asked = list(_looked_up(self._memory, conversation))
        features = [_features(one) for one in self.asked]
        self.features = [one for one in features if 0 < one[1].sum() < len(one[1])]

    def measured(self, by: Weighing) -> list[Row]:
        """The figures of each question, searched with these weights."""
        with patch.object(full_text, "QUESTION", by):
            return list(measure(self.conversation, memory_search(self._memory, self.conversation)))


def main() -> None:
    """Prints the figures of the conversations left out, and the weights that were chosen."""
    chosen = parser("What the weights of the ranking find in conversations that they were not chosen on.").parse_args()
    asking = [Asking(one) for one in load_locomo()]
    weights: dict[str, Figures] = {"in use": _weights(QUESTION)}
    recall: dict[str, Figures] = {}
    rows: list[Row] = []
    in_use = [row for one in asking for row in one.measured(QUESTION)]
    for left_out in asking:
        name = left_out.conversation.name
        by = choose([one for one in asking if one is not left_out])
        weights[f"without {name}"] = _weights(by)
        measured = left_out.measured(by)
        recall[f"left out, {name}"] = summary(measured)
        rows += measured
    recall |= {"left out, all": summary(rows), "in use, all": summary(in_use)}
    report({"recall of evidence": recall, "weights": weights}, chosen.json)


def choose(asking: Sequence[Asking]) -> Weighing:
    """The weights for these conversations."""
    lists = [one for each in asking for one in each.features]

    def best(choices: Iterable[Weighing]) -> Weighing:
        return max(choices, key=lambda by: fmean(each.recall(by) for one in asking for each in one.asked))

    by = best(replace(QUESTION, talk=replace(QUESTION.talk, **rounded(fit(lists, penalty)))) for penalty in PENALTIES)
    return best(replace(by, unsaid=unsaid, crowded=crowded) for unsaid, crowded in product(UNSAID, CROWDED))


def rounded(weights: _Numbers) -> dict[str, float]:
    """Weights in the size of those in use, by name."""
    fitted = dict(zip(WEIGHTS, weights.tolist(), strict=True))
    scale = WORDS / sum(max(fitted[name], 0.0) for name in BY_WORDS)
    return {name: round(2 * scale * weight) / 2 for name, weight in fitted.items()}


def fit(lists: Sequence[Candidates], penalty: float) -> _Numbers:
    """The weights with which a softmax gives the evidence of each question most of its sum, by Newton's method."""
    weights = np.zeros(len(WEIGHTS))
    loss = _loss(lists, weights, penalty)
    for _ in range(_STEPS):
        slope, curve = 2 * penalty * weights, 2 * penalty * np.eye(len(weights))
        for features, is_evidence in lists:
            share = np.exp(_log_shares(features, weights))
            mean = share @ features
            slope += (mean - features[is_evidence].mean(0)) / len(lists)
            curve += ((features.T * share) @ features - np.outer(mean, mean)) / len(lists)
        step = np.linalg.solve(curve, slope)
        while (after := _loss(lists, weights - step, penalty)) > loss:
            step /= 2
        weights = weights - step
        if loss - after < _EXACT:
            break
        loss = after
    return weights


def _loss(lists: Sequence[Candidates], weights: _Numbers, penalty: float) -> float:
    told = [_log_shares(features, weights)[is_evidence].mean() for features, is_evidence in lists]
    return float(penalty * weights @ weights - np.mean(told))


def _log_shares(features: _Numbers, weights: _Numbers) -> _Numbers:
    scores = features @ weights
    scores -= scores.max()
    shares: _Numbers = scores - np.log(np.exp(scores).sum())
    return shares


def _looked_up(memory: Memory, conversation: Conversation) -> Iterator[Asked]:
    """The questions, each as the index has looked it up."""
    places = turn_places(memory, conversation)
    calls: list[tuple[Parsed, Found]] = []

    def noted(question: Parsed, found: Found, limit: int, by: Weighing) -> list[Ranked]:
        calls.append((question, found))
        return rank(question, found, limit, by)

    with patch.object(full_text, "rank", noted):
        for question in conversation.questions:
            if question.category != ADVERSARIAL:
                memory.search(question.text)
                parsed, found = calls.pop()
                found = replace(found, read_said=partial(_of, found.read_said(found.candidates)))
                at = {n: (found.paths[found.places[n].page][0], found.places[n].first_line) for n in found.candidates}
                yield Asked(question, parsed, found, {n: places[line] for n, line in at.items() if line in places})


def _of(said: Mapping[int, Said], some: Collection[int]) -> dict[int, Said]:
    return {one: said[one] for one in some}


def _features(asked: Asked) -> Candidates:
    """What each weight adds to each candidate if it is 1, and which candidates are evidence."""
    units = replace(QUESTION.talk, **dict.fromkeys(SIGNS, _UNIT), named_near=0.0)
    ranked = asked.ranked(replace(QUESTION, talk=units, unsaid=0.0, crowded=0.0))
    signs = [dict(one.signs) for one in ranked]
    turns = [asked.turns.get(one.place.id) for one in ranked]
    evidence = [turn is not None and turn.id in asked.question.evidence for turn in turns]
    rows = [[one.get(sign, 0.0) / _UNIT for sign in SIGNS.values()] for one in signs]
    near, named = list(SIGNS).index("near"), list(SIGNS).index("named")
    return np.array([[*row, row[near] * row[named]] for row in rows]), np.array(evidence)


def _weights(by: Weighing) -> Figures:
    return {**{name: getattr(by.talk, name) for name in WEIGHTS}, "unsaid": by.unsaid, "crowded": by.crowded}


if __name__ == "__main__":
    main()
