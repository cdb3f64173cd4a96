"""What splitting does to real notes: `nice python -m bench.divided`.

Each file of the notes is a page that is told on the day in its name; the logs of a folder are told besides onto one
page, each on its day, and so are the notes of each persona. Then the page is split. What must not be torn is found by a
reading of lines that is not the program's: a numbered list, from its first number to its last; and a line that ends
with a colon with the first line of the list below it, or with all of the code, quotation or table. Each must stand on
one page to the letter, unless it is too large for a part of a page.

The day of a line is the one that a search for it tells. *Days changed* are lines that have another day than on the same
page before it was split. *Titles untrue* are pages below one that is named for a time, with lines of another day.
Exits with status 1 unless nothing is torn, changed or untrue.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import takewhile
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from bench.data import data_file, data_folder, load
from bench.notes import SOME_NOTE
from bench.personas import PEOPLE
from bench.searching import FLAT, new_memory
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.text.dates import named_span
from memory_v2.tree.block import decode

THRESHOLDS = (2_048, 10_240)
MOST = 0.4
"""How large what must stay whole may be, as a share of the threshold."""
NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)
WRONG = ("lists torn", "lead-ins torn", "titles untrue", "days changed")

Told: TypeAlias = Sequence[tuple[date | None, str]]
"""The texts of a page, each with its day."""

_NUMBERED = re.compile(r"\d{1,9}[.)][ \t]")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_LEADS = re.compile(r"[:：][*_]*[ \t]*$")
_LED = re.compile(r"[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|>|```|~~~|\|)")


def main() -> None:
    """Prints the figures for notes and personas, at each threshold."""
    chosen = parser("What splitting does to real notes.").parse_args()
    tables = {}
    for name, pages in corpora():
        for threshold in THRESHOLDS:
            figures: Counter[str] = Counter()
            for place, told in pages:
                figures.update(divided(f"{name}/{place}", told, threshold))
            tables[f"{name}, {threshold:,} bytes"] = figures
    report({"what a split leaves": {name: _row(figures) for name, figures in tables.items()}}, chosen.json)
    raise SystemExit(any(figures[wrong] for figures in tables.values() for wrong in WRONG))


def _row(figures: Counter[str]) -> Figures:
    names = ("pages", "split", "children", "lists", "lead-ins", "titles of time", "days", *WRONG)
    return {name: figures[name] for name in names}


def corpora() -> Iterator[tuple[str, list[tuple[str, Told]]]]:
    """The pages to split, by corpus, each with its name."""
    data_file(SOME_NOTE)
    notes = data_folder() / "notes"
    for folder in sorted(path.name for path in notes.iterdir() if path.is_dir()):
        files = sorted((notes / folder).rglob("*.md"))
        documents = {str(file.relative_to(notes / folder)): _document(file) for file in files}
        pages: list[tuple[str, Told]] = [(name, [told]) for name, told in documents.items() if told[1].strip()]
        logs = sorted((told for told in documents.values() if told[0] and told[1].strip()), key=itemgetter(0))
        yield folder, [*pages, *([("its logs", logs)] if len(logs) > 1 else [])]
    people = [(name, load(f"personas/{name}.json")["texts"]) for name in PEOPLE]
    yield (
        "personas",
        [(name, [(date.fromisoformat(one["date"]), one["text"]) for one in texts]) for name, texts in people],
    )


def _document(file: Path) -> tuple[date | None, str]:
    span = named_span(file.stem)
    return span.start if span and span.granularity == "day" else None, file.read_text("utf-8", "replace")


def divided(name: str, told: Told, threshold: int) -> Counter[str]:
    """What became of a page that is split at this threshold, beside one that is not. Prints what is wrong."""
    whole, split = _grown(told, FLAT), _grown(told, threshold)
    pages = {path: _filled(decode(split.storage.read(path).data)) for path in split.storage.list_files()}
    figures = Counter({"pages": 1, "split": int(len(pages) > 2), "children": len(pages) - 2})
    for kind, unit in (one for _, text in told for one in units(text.replace("\r\n", "\n"))):
        if len(unit.encode()) > MOST * threshold:
            continue
        figures[kind] += 1
        if not any(_filled(unit) in text for text in pages.values()):
            figures[f"{kind} torn"] += 1
            print(f"{name}: torn: {unit!r:.160}")
    days, was = _days(split), _days(whole)
    for line, said in was.items():
        figures["days"] += 1
        if line in days and not days[line] <= said:
            figures["days changed"] += 1
            print(f"{name}: {sorted(map(str, said))} became {sorted(map(str, days[line]))}: {line:.120}")
    figures.update(_titles(name, split))
    return figures


def _filled(text: str) -> str:
    """The lines that are not blank."""
    return "\n".join(line for line in text.splitlines() if line.strip())


def _grown(told: Told, threshold: int) -> Memory:
    day: date | None = None
    memory = new_memory(
        threshold=threshold,
        now=lambda: datetime(day.year, day.month, day.day, 9, tzinfo=UTC) if day else NOW,
    )
    for said, text in told:
        day = said
        memory.write(text, "notes", "append", date=said)
    day = None
    return memory


def units(text: str) -> Iterator[tuple[str, str]]:
    """What must not be torn, as lines: numbered lists, and lines that lead in with what they lead to. Of a list it is
    the first line; of code, a quotation or a table it is all."""
    lines = text.split("\n")
    following = 0
    for start, line in enumerate(lines):
        if start < following:
            continue
        if fence := _FENCE.match(line):
            following = _closing(lines, start, fence[1]) + 1
            continue
        if _NUMBERED.match(line):
            inside = "\n".join(takewhile(_is_of_list, lines[start:])).rstrip()
            following = start + inside.count("\n") + 1
            if len(re.findall(rf"^{_NUMBERED.pattern}", inside, re.M)) > 1:
                yield "lists", inside
        first = start + 1
        if _LEADS.search(line) and not line.startswith(("#", "|", ">", "    ")):
            first += first < len(lines) and not lines[first].strip()
            if first < len(lines) and _LED.match(lines[first]):
                yield "lead-ins", "\n".join(lines[start : _led(lines, first)])


def _led(lines: Sequence[str], first: int) -> int:
    """Where what a line leads to ends."""
    if fence := _FENCE.match(lines[first]):
        return _closing(lines, first, fence[1]) + 1
    if (sign := lines[first].lstrip()[0]) in ">|":
        return first + len([*takewhile(lambda line: line.lstrip().startswith(sign), lines[first:])])
    return first + 1


def _closing(lines: Sequence[str], first: int, fence: str) -> int:
    return next((n for n in range(first + 1, len(lines)) if lines[n].strip() == fence), len(lines) - 1)


def _is_of_list(line: str) -> bool:
    return not line.strip() or line[0] in " \t" or _NUMBERED.match(line) is not None


def _days(memory: Memory) -> dict[str, set[date | None]]:
    """The days that a search tells of each line, by its text."""
    days: dict[str, set[date | None]] = {}
    for result in memory.search(r"\S", 1_000_000, regex=True):
        for line in result.excerpt.split("\n"):
            # A heading is told where nothing stands below it, and may become a title; and no line is told by its marks.
            if not line.startswith("#") and any(map(str.isalnum, line)):
                days.setdefault(line.strip(), set()).add(result.date)
    return days


def _titles(name: str, memory: Memory) -> Counter[str]:
    """The pages that are named for a time, and those of them that hold what was said at another."""
    figures: Counter[str] = Counter()
    for path in memory.storage.list_files():
        span = next((span for part in reversed(path.split("/")) if (span := named_span(part))), None)
        if span is None:
            continue
        figures["titles of time"] += 1
        said: Iterable[date] = {
            result.date for result in memory.search(r"\S", 1_000_000, regex=True, under=path) if result.date
        }
        if others := sorted(str(day) for day in said if not span.start <= day <= span.end):
            figures["titles untrue"] += 1
            print(f"{name}: {path} has lines of {others[:5]}")
    return figures


if __name__ == "__main__":
    main()
