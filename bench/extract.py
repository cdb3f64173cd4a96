"""How well lines of notes are told to be contacts, decisions, lessons and so on: `python -m bench.extract`.

The lines of `bench/extract_labels.tsv` were labelled by reading them, before any rule existed: 573 lines of three
folders, in English, Portuguese and Chinese. A label with `?` may be told or not: neither is counted. Beside our rules
stand those of the document that asked for this (its keywords, as it gives them), on the same lines.

The misses in the files `ASIDE` were not looked at while the rules were made. But whoever made the rules had labelled
those lines too, and met some of them again in a digest, so they are no test by a stranger.

The 465 lines of `bench/extract_labels_of_another.tsv`, in English, French and Spanish, were one: their reader knew no
rule and no keyword. They told how much the rules were made for the first lines. Rules were then made with a look at
half of its files, and after that at all: they are no test any more.

The 577 lines of `bench/extract_labels_of_a_third.tsv` are of folders that nobody had looked at, by a third reader who
knew no rule either, and came after the rules were done. What they told then is on the page of measurements; since then
rules were made from every other file of them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.data import data_file
from memory_v2.agent.limits import Limits
from memory_v2.agent.load import load_model
from memory_v2.files.left_out import LeftOut
from memory_v2.models.base import Model
from memory_v2.notes.cache import CachedFile, NotesCache
from memory_v2.notes.classify import GRADES
from memory_v2.notes.extract import Extracted, extracted
from memory_v2.notes.grade import Grader
from memory_v2.notes.languages import CATEGORIES
from memory_v2.notes.note import Note
from memory_v2.notes.parsing import read_note
from memory_v2.notes.people import NO_ALIASES

LABELS = Path(__file__).with_name("extract_labels.tsv")
OF_ANOTHER = Path(__file__).with_name("extract_labels_of_another.tsv")
OF_A_THIRD = Path(__file__).with_name("extract_labels_of_a_third.tsv")
ASIDE = (
    "peru-ai/memory/2026-02-10.md",
    "whatsapp-ai-agent-pt/memory/2026-02-12.md",
    "whatsapp-ai-agent-pt/memory/2026-02-17.md",
    "whatsapp-ai-agent-pt/memory/2026-02-18.md",
    "pulsareon/memory/2026-02-07.md",
    "pulsareon/memory/daily/2026-02-08.md",
    "pulsareon/memory/hive_strategy_log.md",
)

SEED = {
    "contacts": r"\*\*[^*]+\*\*|@\w+",
    "decisions": r"decided|decision|NOT|cancelled|approved|authorized",
    "lessons": r"key lesson|lesson|learned|insight|important|note:",
    "metrics": r"\d.*(?:karma|posts|followers|stars)|(?:karma|posts|followers|stars).*\d",
    "issues": r"error|broken|unreachable|failed|403|bug",
    "pending": r"pending|awaiting|todo|need to|follow up",
}
"""The keywords of the document, as it writes them."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A line, what it is, and what it may be told to be without being wrong."""

    file: str
    line: int
    sure: frozenset[str]
    maybe: frozenset[str]


PATIENT = Limits(turns=100, tokens=10_000_000, seconds=36_000, money=10)

Told = Mapping[tuple[str, int], Mapping[str, str]]
"""For each line its categories, each with its grade."""


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="How well lines of notes are told to be what they are.")
    parser.add_argument("--misses", metavar="FILES", help="print what is wrong in the files whose names hold this")
    parser.add_argument("--model", metavar="NAME", help="let this model grade what the rules are unsure of")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    chosen = parser.parse_args()
    labels, of_another, of_a_third = map(read_labels, (LABELS, OF_ANOTHER, OF_A_THIRD))
    everything = [*labels, *of_another, *of_a_third]
    rules: dict[str, Callable[[str], Iterator[tuple[int, str, str]]]] = {"silica": _ours, "keywords": _seed}
    told = {name: _told(everything, rule) for name, rule in rules.items()}
    if chosen.model:
        told["silica with a model"] = _graded(everything, load_model(chosen.model))
    figures = {
        part: {name: _figures(lines, one) for name, one in told.items()}
        for part, lines in (
            ("all", labels),
            ("aside", [one for one in labels if one.file in ASIDE]),
            ("another reader's", of_another),
            ("a third reader's", of_a_third),
        )
    }
    if chosen.misses:
        _print_misses([one for one in everything if chosen.misses in one.file], told["silica"])
    elif chosen.json:
        json.dump(figures, sys.stdout)
    else:
        _print(figures)


def read_labels(labels: Path) -> list[Labelled]:
    """The labelled lines of a file. Exits with status 2 if a file has changed since."""
    found = []
    for row in labels.read_text("utf-8").splitlines()[1:]:
        file, line, digest, told = row.split("\t")
        given = _lines(file)[int(line) - 1].strip()
        if hashlib.sha256(given).hexdigest()[:12] != digest:
            print(f"{file}:{line} is not the line that was labelled", file=sys.stderr)
            raise SystemExit(2)
        names = [name for name in told.split(",") if name != "-"]
        sure = frozenset(name for name in names if not name.endswith("?"))
        found.append(Labelled(file, int(line), sure, frozenset(name.rstrip("?") for name in names)))
    return found


def _lines(file: str) -> list[bytes]:
    return re.split(rb"\r\n|\r|\n", data_file(f"notes/{file}").read_bytes())


def _told(labels: Sequence[Labelled], rule: Callable[[str], Iterator[tuple[int, str, str]]]) -> Told:
    found: dict[tuple[str, int], dict[str, str]] = defaultdict(dict)
    for file in sorted({one.file for one in labels}):
        for line, category, grade in rule(file):
            found[file, line][category] = grade
    return found


def _ours(file: str) -> Iterator[tuple[int, str, str]]:
    note = read_note(file.partition("/")[2], data_file(f"notes/{file}").read_bytes())
    assert not isinstance(note, LeftOut), note
    for one in extracted(note):
        if not one.is_closed:  # what is over is shown only if it is asked for
            yield one.first_line, one.category, one.grade


def _graded(labels: Sequence[Labelled], model: Model) -> Told:
    """What the lines are if a model grades those of them that the rules are unsure of, as keywords."""
    lines = {(one.file, one.line) for one in labels}
    cache, rules = NotesCache(None), list[Extracted]()
    for file in sorted({one.file for one in labels}):
        note = read_note(file, data_file(f"notes/{file}").read_bytes())
        assert isinstance(note, Note), note
        cache.store([CachedFile(file, "", note.sha256, note)])
        rules += (one for one in extracted(note) if (file, one.first_line) in lines and not one.is_closed)
    grader = Grader(model, cache, PATIENT, None, lambda: datetime.now(UTC))
    found: dict[tuple[str, int], dict[str, str]] = defaultdict(dict)
    for one in grader.grade(rules, NO_ALIASES):
        if not one.is_closed:
            found[one.file, one.first_line][one.category] = "keyword" if one.grade == "model" else one.grade
    cost, _ = grader.end()
    print(f"{grader.asked} lines asked about in {cost.calls} calls", *grader.degraded, sep="; ", file=sys.stderr)
    return found


def _seed(file: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(_lines(file), 1):
        text = line.decode("utf-8", "replace")
        for category, pattern in SEED.items():
            if re.search(pattern, text, 0 if category == "contacts" else re.I):
                yield number, category, "keyword"


def _figures(labels: Sequence[Labelled], told: Told) -> dict[str, dict[str, dict[str, float]]]:
    """Precision, recall and counts, for each category and each least grade."""
    figures: dict[str, dict[str, dict[str, float]]] = {}
    grades = [grade for grade in GRADES if grade != "model"]
    for depth in range(1, len(grades) + 1):
        counts: Counter[tuple[str, str]] = Counter()
        for one in labels:
            for category in CATEGORIES:
                is_told = told.get((one.file, one.line), {}).get(category) in grades[:depth]
                if category in one.sure:
                    counts[category, "right" if is_told else "missed"] += 1
                elif is_told and category not in one.maybe:
                    counts[category, "wrong"] += 1
        for how in ("right", "missed", "wrong"):
            counts["together", how] = sum(counts[category, how] for category in CATEGORIES)
        figures[grades[depth - 1]] = {category: _shares(counts, category) for category in (*CATEGORIES, "together")}
    return figures


def _shares(counts: Counter[tuple[str, str]], category: str) -> dict[str, float]:
    right, missed, wrong = (counts[category, how] for how in ("right", "missed", "wrong"))
    precision = right / (right + wrong) if right + wrong else 1.0
    recall = right / (right + missed) if right + missed else 1.0
    return {
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "right": right,
        "of": right + missed,
        "wrong": wrong,
    }


def _print(figures: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]]) -> None:
    for part, rules in figures.items():
        print(f"{part}: precision / recall (right of all, wrong)")
        for name, grades in rules.items():
            for grade, categories in grades.items():
                if name != "silica" and grade != "keyword":
                    continue
                print(f"  {name} of the document" if name == "keywords" else f"  {name}, {grade} and above")
                for category, one in categories.items():
                    shares = f"{one['precision']:.2f} / {one['recall']:.2f}"
                    print(f"    {category:10} {shares}  ({one['right']:.0f} of {one['of']:.0f}, {one['wrong']:.0f})")


def _print_misses(labels: Sequence[Labelled], told: Told) -> None:
    for one in labels:
        given = told.get((one.file, one.line), {})
        text = _lines(one.file)[one.line - 1].decode("utf-8", "replace").strip()[:150]
        for category in CATEGORIES:
            grade = given.get(category, "")
            if category in one.sure and grade not in GRADES[:2]:
                print(f"missed {category} ({grade}) {one.file}:{one.line} {text}")
            elif grade in GRADES[:2] and category not in one.maybe:
                print(f"wrong  {category} ({grade}) {one.file}:{one.line} {text}")


if __name__ == "__main__":
    main()
