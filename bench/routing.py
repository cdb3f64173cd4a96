"""Whether entries are routed home: `python -m bench.routing`.

Sixty sentences in six languages (`bench/routing_sentences.py`), whose homes were chosen by reading before there were
rules. Beside the rules stand the same rules with DARYL's formula (each domain's importance, twice, is added to its
score; the sentences are stored one after the other, each with importance 0.5), and DARYL's own keywords and formula as
its specification has them: keywords anywhere in the text, the first domain on a tie. With `--model anthropic:<model>`
a live model sorts all sixty (`ANTHROPIC_BASE_URL` may name another endpoint), and then only what the rules leave, as
`silica memory route` does.

Figures: right; wrong, which is a domain that is not the home; left in the inbox though they have a home. A sentence
whose home is the inbox is right there only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from unittest import mock

from bench.data import data_file
from bench.routing_sentences import SENTENCES, Sentence
from memory_v2.agent.load import OFFLINE, load_model
from memory_v2.agent.loop import decide
from memory_v2.agent.operation import Operation
from memory_v2.entries.domains import INBOX, default_domains
from memory_v2.entries.references import Targets
from memory_v2.entries.route_task import MAX_ENTRIES, RouteTask, shown_domains
from memory_v2.entries.routing import Router
from memory_v2.models.briefs import RouteBrief, Unsorted
from memory_v2.settings import Limits
from memory_v2.tree.block import decode, readable, split_lines

PATIENT = Limits(turns=8, tokens=1_000_000, seconds=36_000, money=1_000)
"""A live reader behind an endpoint may take its time."""
DARYL_BONUS = 2
DARYL_IMPORTANCE = 0.5
"""The importance of an entry that does not say, in the specification."""
DARYL = {
    "projects": ("project", "task", "goal", "objective"),
    "insights": ("lesson", "pattern", "insight", "decision", "learned"),
    "people": ("@", "contact", "person", "expert", "builder"),
    "technical": ("architecture", "framework", "code", "protocol", "shard", "layer", "pillar"),
    "strategy": ("strategy", "vision", "priority", "trend", "strategic"),
}

Stored = dict[str, list[float]]
Route = Callable[[str, Stored], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Result:
    """Where a sentence went, and why."""

    sentence: Sentence
    home: str
    reason: str

    @property
    def verdict(self) -> str:
        """`right`, `wrong`, or `inbox` for a sentence that has a home elsewhere."""
        if self.home == self.sentence.home:
            return "right"
        return INBOX if self.home == INBOX else "wrong"


def said(sentence: Sentence) -> str:
    """The sentence. Exits with status 2 if its line is not what it was."""
    if sentence.text:
        return sentence.text
    file, number, digest = sentence.line.split(":")
    lines = split_lines(decode(data_file(f"notes/{file}").read_bytes()))
    line = lines[int(number) - 1].strip() if int(number) <= len(lines) else ""
    if hashlib.sha256(line.encode("utf-8", "surrogateescape")).hexdigest()[:8] != digest:
        print(f"this line is not what it was: {sentence.line}")
        raise SystemExit(2)
    return readable(line)


def by_rules(bonus: float) -> Route:
    """The rules of the package, with a bonus for the importance of a domain."""
    domains = default_domains().domains

    def route(text: str, stored: Stored) -> tuple[str, str]:
        importance = {home: fmean(numbers) for home, numbers in stored.items()}
        routing = Router(domains, Targets((), domains), bonus, importance).route(text)
        return routing.home or INBOX, routing.reason

    return route


def by_daryl(text: str, stored: Stored) -> tuple[str, str]:
    """The keywords and the formula of DARYL's specification."""
    low = text.lower()
    scores = {
        home: sum(word in low for word in words) + DARYL_BONUS * (fmean(stored[home]) if home in stored else 0)
        for home, words in DARYL.items()
    }
    home = max(scores, key=lambda one: scores[one])
    return (home, f"{scores[home]:g}") if scores[home] else ("technical", "no sign")


def routed(route: Route) -> list[Result]:
    """All sentences, routed in their order."""
    stored: Stored = {}
    results = []
    for sentence in SENTENCES:
        home, reason = route(said(sentence), stored)
        results.append(Result(sentence, home, reason))
        if home != INBOX:
            stored.setdefault(home, []).append(DARYL_IMPORTANCE)
    return results


def by_model(name: str) -> dict[str, list[Result]]:
    """All sentences, sorted by a live model, alone and after the rules; it sees no home. What it does not decide, the
    planner leaves in the inbox."""
    model, planner = load_model(name), load_model(OFFLINE)
    results: list[Result] = []
    for start in range(0, len(SENTENCES), MAX_ENTRIES):
        part = SENTENCES[start : start + MAX_ENTRIES]
        texts = tuple(Unsorted(str(number), said(one).strip(), None) for number, one in enumerate(part, start + 1))
        brief = RouteBrief(texts, shown_domains(default_domains()))
        operation = Operation(PATIENT)
        with mock.patch("memory_v2.models.anthropic.REQUEST_SECONDS", PATIENT.seconds):
            decision = decide(partial(RouteTask, brief), (model, planner), operation)
        cost = operation.cost
        print(f"{len(part)} sentences, {cost.calls} calls, decided by {decision.decided_by}. {decision.degraded}")
        homes, left = decision.task.homes, decision.task.left
        results += (
            Result(one, homes.get(number, INBOX), left.get(number, decision.decided_by))
            for number, one in enumerate(part, 1)
        )
    rules = routed(by_rules(0))
    joined = [rule if rule.home != INBOX else live for rule, live in zip(rules, results, strict=True)]
    return {"the model": results, "rules, then the model": joined}


WAYS: dict[str, Route] = {
    "rules": by_rules(0),
    "rules, DARYL's formula": by_rules(DARYL_BONUS),
    "DARYL to the letter": by_daryl,
}


def figures(results: Sequence[Result]) -> dict[str, int]:
    """How many sentences were right, wrong and left in the inbox."""
    counts = Counter(result.verdict for result in results)
    return {verdict: counts[verdict] for verdict in ("right", "wrong", INBOX)}


def main() -> None:
    """Prints the figures, and with `--each` where every sentence went and why."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--each", action="store_true", help="print every sentence that was not right")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--model", help="a live model beside the rules, such as anthropic:<model>")
    options = parser.parse_args()
    all_results = {name: routed(route) for name, route in WAYS.items()}
    if options.model:
        all_results |= by_model(options.model)
    if options.json:
        print(json.dumps({name: figures(results) for name, results in all_results.items()}, indent=2))
        return
    print(f"{len(SENTENCES)} sentences           right  wrong  inbox")
    for name, results in all_results.items():
        counts = figures(results)
        print(f"{name:<24} {counts['right']:>7} {counts['wrong']:>6} {counts[INBOX]:>6}")
    languages = dict.fromkeys(sentence.language for sentence in SENTENCES)
    for name in ("rules", *(["the model"] if options.model else [])):
        for language in languages:
            counts = figures([one for one in all_results[name] if one.sentence.language == language])
            print(f"  {f'{name}, {language}':<22} {counts['right']:>7} {counts['wrong']:>6} {counts[INBOX]:>6}")
    for name, results in all_results.items() if options.each else ():
        print(f"\n{name}")
        for one in results:
            if one.verdict != "right":
                print(f"  {one.sentence.home} -> {one.home} ({one.reason}): {said(one.sentence)[:90]}")


if __name__ == "__main__":
    main()
