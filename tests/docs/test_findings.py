"""The page about upkeep has all that a check may find, and no more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import memory_v2

PACKAGE = Path(memory_v2.__file__).parent
PAGE = PACKAGE.parent / "docs" / "upkeep.md"
OF_IMPORTS_AND_PLANS = {"consolidation", "daryl", "importing"}
"""The modules of entries whose findings are of an import, or warnings of a plan."""
OF_UPKEEP = {("taken-name", "error", False), ("not-packed", "notice", False), ("near-entries", "notice", False)}
"""The warnings of the plans of a module that also has a finding of a check."""
REFERENCES = ("nowhere", "ambiguous", "itself")
Row: TypeAlias = tuple[str, str, bool]
"""The kind of a finding, its severity, and whether a check with `apply` repairs it."""


def findings_in(module: Path) -> Iterator[Row]:
    for call in ast.walk(ast.parse(module.read_text("utf-8"))):
        if not isinstance(call, ast.Call):
            continue
        told = [one.value if isinstance(one, ast.Constant) else None for one in call.args]
        name = ast.unparse(call.func)
        if name == "Finding" and ast.unparse(call.args[0]) == "f'{lead.kind}-reference'":
            yield from ((f"{kind}-reference", str(told[1]), False) for kind in REFERENCES)
        elif name == "Finding" and told[0]:
            yield str(told[0]), str(told[1]), len(told) > 5
        elif name == "tell" and told[0]:
            yield str(told[0]), "notice" if told[-1] is False else "error", False


def test_the_page_has_every_finding_of_a_check() -> None:
    modules = [PACKAGE / "operations/check.py", *sorted((PACKAGE / "entries").glob("*.py"))]
    found = {row for one in modules if one.stem not in OF_IMPORTS_AND_PLANS for row in findings_in(one)}
    found -= OF_UPKEEP
    assert len(found) > 30
    rows = re.findall(r"(?m)^\| (`[^|]+`) \| (error|notice) \|( ✓)?", PAGE.read_text("utf-8"))
    told = {(kind, severity, bool(mark)) for kinds, severity, mark in rows for kind in re.findall(r"`(.+?)`", kinds)}
    assert told == found
