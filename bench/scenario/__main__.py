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
            if given.model != OFFLINE:
                print(progress(step), flush=True)
            if given.record and not step.is_decided:
                sys.exit("the model did not decide this, so it is not kept; run this again to go on from here")
    if isinstance(model, RecordedModel) and model.left:
        sys.exit(f"the replay failed: {model.left} recorded answers were not used")
    sys.exit(not _told(steps, watch, given.model == OFFLINE))


def _told(steps: Sequence[Step], watch: Watch, is_offline: bool) -> bool:
    """Prints everything, and returns whether the goals are reached."""
    stands, asked = (
        standings(TEXTS, steps[-1].pages, watch.retold),
        [
            answered(step.asked, step.result)
            for step in steps
            if isinstance(step.asked, Question) and isinstance(step.result, SearchResults)
        ],
    )
    print(*of_texts(stands), *of_questions(asked), *of_figures(stands, watch, asked), sep="\n")
    right, wrong = GOALS[is_offline]
    shares = {verdict: sum(stand.verdict == verdict for stand in stands) / len(stands) for verdict in VERDICTS}
    is_reached = shares["right"] >= right and shares["wrong"] <= wrong
    is_reached &= not watch.lost and (is_offline or not watch.stale)
    print(f"the goals are {'reached' if is_reached else 'missed'}: right ≥ {right:.0%}, wrong ≤ {wrong:.0%}, ", end="")
    print("lost 0" if is_offline else "lost 0, stale 0")
    return is_reached


def progress(step: Step) -> str:
    """A line about an operation, as soon as it is done."""
    what = "text" if isinstance(step.asked, Text) else "question"
    told = f"; {step.result.degraded}" if step.result.degraded else ""
    return f"{what} {step.number:2}: {step.result.cost.calls} turns, by {step.result.decided_by}{told}"


def of_texts(stands: Sequence[Stands]) -> Iterator[str]:
    """Where each part of each text stands."""
    yield f"{'text':>4}  {'subject':18}{'judged':12}{'because':28}on"
    for stand in stands:
        yield f"{stand.text:4}  {stand.subject:18}{stand.verdict:12}{stand.reason:28}{', '.join(stand.pages)}"


def of_questions(asked: Sequence[Answered]) -> Iterator[str]:
    """Which questions were answered."""
    yield f"\n{'kind':16}{'answered':16}{'first place':30}question"
    for one in asked:
        told = "yes" if one.is_answered else "no"
        if one.question.old:
            told += ", new 1st" if one.is_newest_first else ", old 1st"
        yield f"{one.question.kind:16}{told:16}{one.first[:28]:30}{one.question.text}"


def of_figures(stands: Sequence[Stands], watch: Watch, asked: Sequence[Answered]) -> Iterator[str]:
    """The sums."""
    known = [one for one in asked if one.question.answer]
    changed = [one for one in known if one.question.old]
    yield f"\n{'parts of texts':42}{len(stands):4}"
    for verdict in VERDICTS:
        count = sum(stand.verdict == verdict for stand in stands)
        yield f"{f'  on the {verdict} page':42}{count:4}{count / len(stands):6.0%}"
    yield f"{f'sentences lost, of {len(sentences_of(TEXTS))}':42}{len(watch.lost):4}"
    yield f"{'stale descriptions':42}{len(watch.stale):4}"
    yield f"{f'answered within three places, of {len(known)}':42}{sum(one.is_answered for one in known):4}"
    yield f"{f'  the newest first, of {len(changed)}':42}{sum(one.is_newest_first for one in changed):4}"
    without = [one for one in asked if not one.question.answer]
    yield f"{f'nothing found where nothing is, of {len(without)}':42}{sum(one.is_answered for one in without):4}"


if __name__ == "__main__":
    main()
