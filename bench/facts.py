"""Whether the newest of changed facts comes first, and when each was said: `nice python -m bench.facts`.

Fifty facts (`bench/texts/facts.json`) are told, one a day and mixed with notes about other things; then, a quarter of a
year later, what has become of them, mixed with lines that speak of days to come. Each question is asked once.

- `undated`: nothing names its day; the memory's clock shows it when the text is written.
- `dated`: everything is written on one day, months later, and names the day on which it was said in turn at the start
  of its line, in the heading above, as `date=`, and at the end of its line.
- `edited`: the memory of `undated`, after every page got a line by hand, was split and renamed, a month later.

Figures: the first hit holds the new value; one of ten hits holds the old value; hits that bear a day which the clock
has not reached; hits that bear the day on which their line was said. A hit with several lines has the day of one of
them. Beside them the same ranker over a flat list, which is `undated` on one page that is never split; and plain full
text (SQLite FTS5, bm25, of equals the older) and grep over single lines. Exits with
status 1 if a goal is missed.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import zip_longest
from pathlib import Path

from bench.data import own_texts
from bench.searching import Baseline, Watch, full_text, grep, new_memory
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.operations.results import SearchResults
from memory_v2.storage.local.storage import LocalStorage

FIRST_DAY, SECOND_DAY = date(2026, 1, 5), date(2026, 6, 15)
"""Of the facts, and of what has become of them."""
LATER = date(2026, 11, 2)
"""When what is dated is written."""
DEPTH = 10
NEVER = 1 << 30
"""A threshold in bytes that no page reaches."""
THRESHOLD = 4_096
"""The largest page in bytes: what is told needs several."""
HANDS = "Somebody looked this over by hand, page {}."
DAYS = ("in the line", "in the heading", "date=", "at its end")

_VALUE = re.compile(r"\{(.*?)\}")
GOALS: dict[str, tuple[Callable[[float], bool], str]] = {
    "newest first": (lambda share: share >= 0.9, "≥ .90"),
    "old within ten": (lambda share: share >= 0.9, "≥ .90"),
    "dates to come": (lambda count: count == 0, "0"),
    "date right": (lambda share: share >= 0.95, "≥ .95"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """A line, the day on which it was said, and how it names that day if it does."""

    text: str
    day: date
    names_day: str


class Clock:
    """Shows whatever day it was set to."""

    def __init__(self) -> None:
        self.day = FIRST_DAY

    def __call__(self) -> datetime:
        return datetime(self.day.year, self.day.month, self.day.day, 10, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pair:
    """A fact, the fact that replaces it, and a question about both; the values tell which of them is found."""

    language: str
    old: str
    new: str
    question: str
    old_value: str
    new_value: str


def main() -> None:
    """Prints the figures."""
    arguments = parser("Whether the newest of changed facts comes first, with its day.")
    arguments.add_argument("--misses", action="store_true", help="print each miss, too")
    chosen = arguments.parse_args()
    watch = Watch()
    runs = measure(print if chosen.misses else None, watch)
    missed = [
        f"{name}, {how}"
        for name, (is_met, _) in GOALS.items()
        for how, run in runs.items()
        if not is_met(run[name] or 0)
    ]
    rows = {f"this {how}": run for how, run in runs.items()}
    rows |= {"flat list": flat_list(), "FTS5": flat(full_text), "grep": flat(grep)}
    report({"changed facts": rows, f"a search for {DEPTH} hits": {"this": watch.figures()}}, chosen.json)
    if missed and not chosen.json:
        print("\nmissed:\n  " + "\n  ".join(missed))
    raise SystemExit(bool(missed) and not chosen.json)


@cache
def pairs() -> list[Pair]:
    """Fifty pairs in four languages, the languages mixed."""
    by_language = [
        [_pair(language, *three) for three in given] for language, given in own_texts("facts")["pairs"].items()
    ]
    return [pair for some in zip_longest(*by_language) for pair in some if pair]


def _pair(language: str, old: str, new: str, question: str) -> Pair:
    values = [_VALUE.findall(told)[0] for told in (old, new)]
    return Pair(language, _VALUE.sub(r"\1", old), _VALUE.sub(r"\1", new), question, *values)


def measure(show: Callable[[str], object] | None = None, watch: Watch | None = None) -> dict[str, Figures]:
    """The figures of this version, of each run; each miss can be shown, and the searches can be watched."""
    figures = {}
    with tempfile.TemporaryDirectory() as place:
        clock, lines = Clock(), told("")
        with Memory(LocalStorage(Path(place)), now=clock, threshold=THRESHOLD) as memory:
            write_undated(memory, clock, lines)
            figures["undated"] = asked(memory, clock, lines, show, watch)
            clock.day += timedelta(days=30)
            edit(memory, Path(place), clock)
            figures["edited"] = asked(memory, clock, lines, show)
    with tempfile.TemporaryDirectory() as place:
        clock, lines = Clock(), told(*DAYS)
        clock.day = LATER
        with Memory(LocalStorage(Path(place)), now=clock, threshold=THRESHOLD) as memory:
            for line in lines:
                write_dated(memory, line)
            figures["dated"] = asked(memory, clock, lines, show)
    return figures


def told(*naming: str) -> list[Told]:
    """Everything that is told, in order, a line a day; they name their days in these ways in turn."""
    changed, others = pairs(), own_texts("facts")
    facts = [text for both in zip_longest([pair.old for pair in changed], others["notes"]) for text in both if text]
    news = [text for both in zip_longest([pair.new for pair in changed], others["ahead"]) for text in both if text]
    days = [
        (text, first + timedelta(days=n))
        for texts, first in ((facts, FIRST_DAY), (news, SECOND_DAY))
        for n, text in enumerate(texts)
    ]
    return [Told(text, day, naming[number % len(naming)]) for number, (text, day) in enumerate(days)]


def flat_list() -> Figures:
    """The figures of `undated` if nothing is ever split."""
    clock, lines = Clock(), told("")
    memory = new_memory(now=clock, threshold=NEVER)
    write_undated(memory, clock, lines)
    return asked(memory, clock, lines, None)


def write_undated(memory: Memory, clock: Clock, lines: Sequence[Told]) -> None:
    """Writes each line on its day; then it is the day after the last."""
    for line in lines:
        clock.day = line.day
        memory.write(line.text)
    clock.day += timedelta(days=1)


def write_dated(memory: Memory, line: Told) -> None:
    """Writes a line that names the day on which it was said."""
    if line.names_day == "in the heading":
        memory.write(f"## {line.day}\n\n- {line.text}\n")
    elif line.names_day == "at its end":
        memory.write(f"- {line.text} ({line.day})\n")
    elif line.names_day == "date=":
        memory.write(line.text, date=line.day)
    else:
        memory.write(f"- {line.day}: {line.text}\n")


def edit(memory: Memory, folder: Path, clock: Clock) -> None:
    """Adds a line to every page by hand, splits each, and renames those below which there is nothing."""
    for number, page in enumerate(memory.list_files()):
        file = folder / f"{page.path}.md"
        title, gap, rest = file.read_text("utf-8").partition("\n\n")
        file.write_text(f"{title}{gap}{HANDS.format(number)}{gap}{rest}", "utf-8")
        os.utime(file, (clock().timestamp(),) * 2)
    for page in memory.list_files():
        memory.split(page.path)
    leaves = [page.path for page in memory.list_files() if not page.links_to and page.path != "memory"]
    for path in leaves:
        memory.rename(path, f"{path}-renamed")


def asked(
    memory: Memory,
    clock: Clock,
    lines: Sequence[Told],
    show: Callable[[str], object] | None,
    watch: Watch | None = None,
) -> Figures:
    """All figures of a memory, asked every question."""

    def searched(question: str) -> SearchResults:
        return memory.search(question, DEPTH)

    search = (watch or Watch()).timed(searched)
    first, old, right = defaultdict[str, list[bool]](list), list[bool](), defaultdict[str, list[bool]](list)
    to_come = 0
    for pair in pairs():
        hits = search(pair.question)
        is_first = bool(hits) and pair.new_value in hits[0].excerpt
        first[pair.language].append(is_first)
        old.append(any(pair.old_value in hit.excerpt for hit in hits))
        if show and not is_first:
            show(f"not first: {pair.new!r}, but {hits[0].excerpt if hits else ''!r}")
        for hit in hits:
            to_come += hit.date is not None and hit.date > clock.day
            said = [line for line in lines if line.text in hit.excerpt]
            if said:
                right[said[0].names_day].append(any(line.day == hit.date for line in said))
                if show and not right[said[0].names_day][-1]:
                    show(f"{hit.date}, not {said[0].day} ({said[0].names_day}): {hit.excerpt!r}")
    return {
        "newest first": _mean(*first.values()),
        **{f"  {language}": _mean(found) for language, found in first.items()},
        "old within ten": _mean(old),
        "dates to come": to_come,
        "date right": _mean(*right.values()),
        **{f"  {how}": _mean(right[how]) for how in DAYS if how in right},
        "pages": len(memory.list_files()),
    }


def _mean(*found: Sequence[bool]) -> float:
    every = [one for some in found for one in some]
    return sum(every) / len(every)


def flat(baseline: Callable[[Sequence[str]], Baseline]) -> Figures:
    """The same questions, to a baseline over single lines."""
    texts = [line.text for line in told("")]
    find = baseline(texts)
    first, old = defaultdict[str, list[bool]](list), list[bool]()
    for pair in pairs():
        found = [texts[number] for number in find(pair.question, DEPTH)]
        first[pair.language].append(bool(found) and pair.new_value in found[0])
        old.append(any(pair.old_value in text for text in found))
    by_language = {f"  {language}": _mean(found) for language, found in first.items()}
    return {"newest first": _mean(*first.values()), **by_language, "old within ten": _mean(old)}


if __name__ == "__main__":
    main()
