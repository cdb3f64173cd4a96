"""What is printed about a play, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.scenario.judge import VERDICTS, Answered, Stands, Watch
from bench.scenario.key import Text
from bench.scenario.play import TEXTS, Step
from bench.scenario.sentences import sentences_of


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


def of_watch(watch: Watch) -> Iterator[str]:
    """The sentences that are lost or told otherwise, and the descriptions that were stale."""
    yield ""
    for name, found in (("lost", watch.lost), ("decided to be told otherwise", watch.replaced)):
        for one, number in found.items():
            yield f"{name}, by text {number}: “{one.words}” of text {one.text}"
    for (path, told), number in watch.stale.items():
        yield f"stale after text {number}: {path} - {told}"


def of_figures(stands: Sequence[Stands], watch: Watch, asked: Sequence[Answered]) -> Iterator[str]:
    """The sums."""
    known = [one for one in asked if one.question.answer]
    changed = [one for one in known if one.question.old]
    yield f"\n{'parts of texts':42}{len(stands):4}"
    for verdict in VERDICTS:
        count = sum(stand.verdict == verdict for stand in stands)
        yield f"{f'  on the {verdict} page':42}{count:4}{count / len(stands):6.0%}"
    yield f"{f'sentences lost, of {len(sentences_of(TEXTS))}':42}{len(watch.lost):4}"
    yield f"{'  decided to be told otherwise':42}{len(watch.replaced):4}"
    yield f"{'stale descriptions':42}{len(watch.stale):4}"
    yield f"{f'answered within three places, of {len(known)}':42}{sum(one.is_answered for one in known):4}"
    yield f"{f'  the newest first, of {len(changed)}':42}{sum(one.is_newest_first for one in changed):4}"
    without = [one for one in asked if not one.question.answer]
    yield f"{f'nothing found where nothing is, of {len(without)}':42}{sum(one.is_answered for one in without):4}"
