"""Fits the weights of the ranking: `python -m bench.fit [--dense]`.

Of each question of each set, the signals of all candidates are told once; all that follows is arithmetic. Printed are,
for each set: the recall at its depth with the weights that the product has; with weights fitted on all sets together;
with weights fitted on all *other* sets, which is the figure that counts; and, with the product's weights, without each
signal in turn. A signal stays if leaving it out costs more than .005 on two sets. What an older version of an answer
tells is left out: `index.ranking` puts versions in order afterwards.

The weights are fitted as a softmax over the candidates of each question; each set counts the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.fit_sets import SETS, Case
from bench.tables import Figures, parser, report
from memory_v2.index.weights import QUESTION

NAMES = list(QUESTION)
STEPS, RATE, DECAY = 300, 0.2, 1e-4
"""Of the fit: how many steps, how large the first ones are, and how much large weights cost."""
NEAREST = 80
"""Among how many of the best other candidates, by the product's weights, an answer is to come first."""

Weights: TypeAlias = NDArray[np.float64]
Cases: TypeAlias = Mapping[str, Sequence[Case]]


def main() -> None:
    """Prints the figures."""
    arguments = parser("Fits the weights of the ranking.", dense=True)
    arguments.add_argument("--only", choices=SETS, action="append", help="this set, and no other")
    chosen = arguments.parse_args()
    cases = {name: list(SETS[name].cases(chosen.dense)) for name in chosen.only or SETS}
    product = np.array(list(QUESTION.values()))
    rows = {"the product": recall(cases, product)}
    fitted = fit(cases, product)
    rows["fitted together"] = recall(cases, fitted)
    if len(cases) > 1:
        left_out = {
            name: recall({name: cases[name]}, fit({k: v for k, v in cases.items() if k != name}, product))[name]
            for name in cases
        }
        rows["fitted on all others"] = left_out
    for number, name in enumerate(NAMES):
        rows[f"without {name}"] = recall(cases, np.where(np.arange(len(NAMES)) == number, 0.0, product))
    weights = {name: {"product": QUESTION[name], "fitted": float(fitted[n])} for n, name in enumerate(NAMES)}
    report({"recall": rows, "weights": weights}, chosen.json)


def recall(cases: Cases, weights: Weights) -> Figures:
    """The mean share of what answers a question that the first so many candidates show, by set."""
    return {name: fmean(_recall(case, weights, SETS[name].depth) for case in some) for name, some in cases.items()}


def _recall(case: Case, weights: Weights, depth: int) -> float:
    shown: dict[str, bool] = {}
    for number in np.argsort(-(case.signals @ weights), kind="stable"):
        if not case.older[number]:
            shown |= {one: one in case.wanted for one in case.shows[number] or {f"place {number}"}}
        if len(shown) >= depth:
            break
    return sum(list(shown.values())[:depth]) / len(case.wanted)


def fit(cases: Cases, start: Weights) -> Weights:
    """The weights by which what answers comes first, on all of these sets together."""
    signals, answers, question, shares = _together(cases, start)
    starts = np.concatenate([[0], np.nonzero(np.diff(question))[0] + 1])
    right = answers * (shares / np.add.reduceat(answers.astype(float), starts))[question]
    weights, mean, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for step in range(1, STEPS + 1):
        scores = signals @ weights
        odds = np.exp(scores - np.maximum.reduceat(scores, starts)[question])
        chances = odds / np.add.reduceat(odds, starts)[question]
        slope = signals.T @ (chances * shares[question] - right) + DECAY * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        pace = RATE if step <= STEPS / 2 else RATE / 3
        weights -= pace * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def _together(
    cases: Cases, start: Weights
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64], Weights]:
    """The signals of the candidates of all questions, which of them answer, whose question it is, and how much each
    question counts."""
    rows: list[tuple[NDArray[np.float64], NDArray[np.bool_]]] = []
    shares: list[float] = []
    for some in cases.values():
        of_set = list(_nearest(some, start))
        rows += of_set
        shares += [1 / len(of_set) / len(cases)] * len(of_set)
    numbers = np.concatenate([np.full(len(answers), number) for number, (_, answers) in enumerate(rows)])
    return np.concatenate([one for one, _ in rows]), np.concatenate([one for _, one in rows]), numbers, np.array(shares)


def _nearest(cases: Sequence[Case], start: Weights) -> Iterator[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
    for case in cases:
        answers = np.array([not case.wanted.isdisjoint(one) for one in case.shows], bool)
        best = np.argsort(-(case.signals @ start), kind="stable")[:NEAREST]
        kept = answers.copy()
        kept[best] = True
        kept &= ~case.older
        if answers[kept].any():
            yield case.signals[kept], answers[kept]


if __name__ == "__main__":
    main()
