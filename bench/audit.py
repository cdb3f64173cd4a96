"""What an audit finds in ten folders of people's notes: `python -m bench.audit`.

It prints the number of findings per code in each folder. With `--draw 50` it draws findings at random, the same share
of each code as far as there are that many, and prints them with the lines around, for a reader to judge: true, if what
is said of the place is so. `--seed` draws others. Today is six weeks after the newest day of a folder.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import TypeAlias

from bench.data import data_file
from memory_v2.notes.audit.audit import Audit
from memory_v2.notes.audit.findings import CODES, Finding
from memory_v2.notes.notes import Notes
from memory_v2.text.calendar import Calendar
from memory_v2.text.secrets import masked

LATER = timedelta(weeks=6)
AROUND = 3
"""How many lines above and below a finding are printed."""
LONGEST = 400
"""How much of a line is printed, in characters."""

Drawn: TypeAlias = tuple[Path, Finding]


def main() -> None:
    """Prints the figures, or findings to judge."""
    parser = argparse.ArgumentParser(description="What an audit finds in folders of notes.")
    parser.add_argument("--draw", type=int, metavar="COUNT", help="print so many findings with the lines around")
    parser.add_argument("--seed", type=int, default=1, help="draw others with another number (1)")
    parser.add_argument("--without", type=Path, metavar="FILE", help="none of those printed into this file before")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    chosen = parser.parse_args()
    audits = {
        folder: audit_of(folder)
        for folder in sorted(data_file("notes/peru-ai/MEMORY.md").parents[1].iterdir())
        if folder.is_dir()
    }
    if chosen.draw:
        found = [(folder, one) for folder, audit in audits.items() for one in audit.findings]
        before = chosen.without.read_text("utf-8") if chosen.without else ""
        rest = [(folder, one) for folder, one in found if f"{one.code}: {folder.name}/{one.place}\n" not in before]
        for number, (folder, one) in enumerate(drawn(rest, chosen.draw, chosen.seed), 1):
            print("\n".join(shown(number, folder, one)))
    elif chosen.json:
        print(json.dumps({folder.name: dict(audit.counts) for folder, audit in audits.items()}))
    else:
        _print_table(audits)


def audit_of(folder: Path) -> Audit:
    """The audit of a folder, six weeks after the newest day that its notes speak from."""
    with tempfile.TemporaryDirectory() as cache:
        notes = Notes(folder, Path(cache), Calendar(UTC, lambda: datetime(2026, 1, 1, tzinfo=UTC)))
        newest = max((day for days in notes.days().values() for day in days), default=date(2026, 1, 1))
        now = datetime.combine(newest + LATER, time(12), UTC)
        notes.calendar = Calendar(UTC, lambda: now)
        with notes:
            return notes.audit()


def drawn(found: Sequence[Drawn], count: int, seed: int) -> list[Drawn]:
    """So many findings at random: one of each code in turn, while there are any."""
    chance = random.Random(seed)
    by_code: dict[str, list[Drawn]] = {}
    for one in found:
        by_code.setdefault(one[1].code, []).append(one)
    for ones in by_code.values():
        chance.shuffle(ones)
    taken: list[Drawn] = []
    while len(taken) < count and any(by_code.values()):
        taken += [ones.pop() for ones in by_code.values() if ones][: count - len(taken)]
    return sorted(taken, key=lambda one: (list(CODES).index(one[1].code), one[0], one[1].path, one[1].line))


def shown(number: int, folder: Path, one: Finding) -> Iterator[str]:
    """A finding with the lines around it, and those around the other places that it names."""
    yield f"## {number}. {one.code}: {folder.name}/{one.place}\n\n{one.message}\n→ {one.advice}\n"
    for place in (one.place, *one.also[:2]):
        name, _, line = place.rpartition(":")
        if name and line.isdigit() and (folder / name).is_file():
            yield f"{name}:\n```text\n{_around(folder / name, int(line))}\n```\n"


def _around(file: Path, line: int) -> str:
    lines = file.read_text("utf-8", "replace").splitlines()
    first = max(0, line - 1 - AROUND)
    told = enumerate(lines[first : line + AROUND], first + 1)
    return "\n".join(f"{'>' if n == line else ' '} {n}: {masked(text)[:LONGEST]}" for n, text in told)


def _print_table(audits: Mapping[Path, Audit]) -> None:
    total: Counter[str] = Counter()
    for folder, audit in audits.items():
        total.update(audit.counts)
        counts = " · ".join(f"{count} {code}" for code, count in audit.counts.items())
        print(f"{folder.name:22} {audit.notes:4} notes  {counts or 'nothing'}")
    counts = " · ".join(f"{total[code]} {code}" for code in CODES if total[code])
    print(f"{'all':22} {sum(audit.notes for audit in audits.values()):4} notes  {counts}")


if __name__ == "__main__":
    main()
