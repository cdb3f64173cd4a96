"""Folders of notes in which each line is marked that an audit must tell, and each that only looks like it.

`=== name` begins a note, `!code` marks a line to be told, `!?code` one that a reader would tell and the checks
miss, as is known, and `!-` a near miss: a goal, a rate, a quotation, another subject.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).with_name("audited")
CODES = ("contradiction", "metric-drift", "superseded", "dark")
"""The codes whose findings are marked."""
_MARKED = re.compile(r"!(\??)(-|[a-z-]+) (.*)")


@dataclass(frozen=True)
class Marked:
    """The notes by name, and the marked places: code, name and line."""

    files: dict[str, str]
    told: set[tuple[str, str]]
    missed: set[tuple[str, str]]
    near_misses: set[str]


def marked(folder: str) -> Marked:
    """The notes of a folder, without the marks, and what they say."""
    found = Marked({}, set(), set(), set())
    for part in re.split(r"(?m)^=== ", (HERE / f"{folder}.txt").read_text("utf-8"))[1:]:
        name, _, text = part.partition("\n")
        lines = []
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            place = f"{name}:{number}"
            if mark := _MARKED.fullmatch(line):
                is_missed, code, line = mark.groups()
                if code == "-":
                    found.near_misses.add(place)
                else:
                    (found.missed if is_missed else found.told).add((code, place))
            lines.append(line)
        found.files[name] = "\n".join(lines) + "\n"
    return found
