"""Half a year of a developer's notes, played and judged: `python -m bench.scenario`.

Forty texts are written in order, each on its day: two software projects, a team, servers, a flat, a family, journeys.
Facts change, are taken back, and are said again in other words. Then twenty-five questions are asked. A program judges
where each text stands, what is lost, which descriptions are stale, and which questions are answered.

    python -m bench.scenario                                     play it with the offline planner
    python -m bench.scenario --model anthropic:<model> --record FOLDER
                     play it live and keep the traces; run it again to go on where it stopped
    python -m bench.scenario --model recorded:FOLDER             replay it

Ends with status 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.scenario.judge import VERDICTS, Answered, Stands, Watch, answered, standings
from bench.scenario.key import Question, Text
from bench.scenario.play import TEXTS, THRESHOLD, Step, chosen_model, play
from bench.scenario.sentences import sentences_of
from memory_v2.agent.load import OFFLINE
from memory_v2.operations.results import SearchResults
from memory_v2.trace.recorded import RecordedModel

GOALS = {True: (0.6, 0.1), False: (0.9, 0.0)}
"""The least share of parts on the right page and the most on a wrong one: offline, and with a model."""


def main() -> None:
    """Plays, prints and judges."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=OFFLINE)
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="keep the traces here")
    parser.add_argument("--threshold", type=int, default=THRESHOLD, help="the maximum size of a page in bytes")
    given = parser.parse_args()
    if given.record:
        given.record.mkdir(parents=True, exist_ok=True)
    watch, steps, model = Watch(TEXTS), [], chosen_model(given.model, given.record)
    with tempfile.TemporaryDirectory() as folder:
        for step in play(Path(folder), model, given.threshold, given.record):
            steps.append(step)
            if isinstance(step.asked, Text):
                watch.see(step)
            if given.record and not step.is_decided:
                sys.exit("the model did not decide this, so it is not kept; run this again to go on from here")
    if isinstance(model, RecordedModel) and model.left:
        sys.exit(f"the replay failed: {model.left} recorded answers were not used")
    sys.exit(not _told(steps, watch, given.model == OFFLINE))


def _told(steps: Sequence[Step], watch: Watch, is_offline: bool) -> bool:
    """Prints everything, and returns whether the goals are reached."""
    stands = standings(TEXTS, steps[-1].pages, watch.retold)
    asked = [
        answered(step.asked, step.result)
        for step in steps
        if isinstance(step.asked, Question) and isinstance(step.result, SearchResults)
    ]
    print(*wrong(stands, asked), *of_figures(stands, watch, asked), sep="\n")
    least, most = GOALS[is_offline]
    shares = {verdict: sum(stand.verdict == verdict for stand in stands) / len(stands) for verdict in VERDICTS}
    is_reached = shares["right"] >= least and shares["wrong"] <= most
    is_reached &= not watch.lost and (is_offline or not watch.stale)
    print(f"the goals are {'reached' if is_reached else 'missed'}: right ≥ {least:.0%}, wrong ≤ {most:.0%}, ", end="")
    print("lost 0" if is_offline else "lost 0, stale 0")
    return is_reached


def wrong(stands: Sequence[Stands], asked: Sequence[Answered]) -> Iterator[str]:
    """The parts of texts that are not on the right page, and the questions that were not answered."""
    for stand in stands:
        if stand.verdict != "right":
            pages = ", ".join(stand.pages)
            yield f"text {stand.text}, {stand.subject}: {stand.verdict}, for it is {stand.reason}: {pages}"
    for one in asked:
        if not one.is_answered:
            yield f"{one.question.kind}, not answered: {one.question.text}: the first place is {one.first}"


def of_figures(stands: Sequence[Stands], watch: Watch, asked: Sequence[Answered]) -> Iterator[str]:
    """The sums."""
    known = [one for one in asked if one.question.answer]
    yield f"\n{'parts of texts':42}{len(stands):4}"
    for verdict in VERDICTS:
        count = sum(stand.verdict == verdict for stand in stands)
        yield f"{f'  on the {verdict} page':42}{count:4}{count / len(stands):6.0%}"
    yield f"{f'sentences lost, of {len(sentences_of(TEXTS))}':42}{len(watch.lost):4}"
    yield f"{'stale descriptions':42}{len(watch.stale):4}"
    yield f"{f'answered within three places, of {len(known)}':42}{sum(one.is_answered for one in known):4}"
    without = [one for one in asked if not one.question.answer]
    yield f"{f'nothing found where nothing is, of {len(without)}':42}{sum(one.is_answered for one in without):4}"


if __name__ == "__main__":
    main()
