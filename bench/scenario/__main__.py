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

from bench.scenario.judge import VERDICTS, Answered, Watch, answered, standings
from bench.scenario.key import Question, Text
from bench.scenario.play import TEXTS, THRESHOLD, Step, chosen_model, play
from bench.scenario.report import of_figures, of_questions, of_texts, of_watch, progress
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
    stands, asked = standings(TEXTS, steps[-1].pages, watch.retold), list(_answers(steps))
    parts = [of_texts(stands), of_questions(asked)]
    for lines in (*parts, of_watch(watch), of_figures(stands, watch, asked)):
        print("\n".join(lines))
    right, wrong = GOALS[is_offline]
    shares = {verdict: sum(stand.verdict == verdict for stand in stands) / len(stands) for verdict in VERDICTS}
    is_reached = shares["right"] >= right and shares["wrong"] <= wrong
    is_reached &= not watch.lost and (is_offline or not watch.stale)
    print(f"the goals are {'reached' if is_reached else 'missed'}: right ≥ {right:.0%}, wrong ≤ {wrong:.0%}, ", end="")
    print("lost 0" if is_offline else "lost 0, stale 0")
    return is_reached


def _answers(steps: Sequence[Step]) -> Iterator[Answered]:
    for step in steps:
        if isinstance(step.asked, Question) and isinstance(step.result, SearchResults):
            yield answered(step.asked, step.result)


if __name__ == "__main__":
    main()
