"""The page of the service's items names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "tests/service/ITEMS.md").read_text("utf-8")
COUNTS = {"A": 7, "B": 14, "C": 11, "D": 13, "E": 10, "F": 3, "G": 13, "H": 8, "I": 3, "J": 7, "K": 7, "L": 7, "M": 8}
COUNTS |= {"N": 6, "O": 7, "P": 4}


def test_each_item_has_a_row_with_a_test_or_says_what_was_decided() -> None:
    rows = dict(re.findall(r"^\| ([A-P]\d+) \| (.*) \|$", PAGE, re.MULTILINE))
    assert list(rows) == [f"{part}{number + 1}" for part, count in COUNTS.items() for number in range(count)]
    assert [item for item, row in rows.items() if "::test_" not in row and not row.startswith("otherwise: ")] == []


def test_each_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE))
    assert len(named) > 50
    missing = []
    for file, name in sorted(named):
        path = ROOT / (file if "/" in file else f"tests/service/{file}")
        if f"def {name}(" not in path.read_text("utf-8"):
            missing.append(f"{file}::{name}")
    assert missing == []
