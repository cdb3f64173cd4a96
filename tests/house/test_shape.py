"""The house has no circles of modules, and functions import few modules of ours."""

from __future__ import annotations

from tests.house.size import ROOT, circles, local_imports, modules

MOST_LOCAL_IMPORTS = 40
"""What is left is start-up: providers, what needs an extra, and what a shell's `read`, `capture`, `write` or `search`
must not load."""


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(modules(ROOT)) == []


def test_functions_import_few_modules_of_ours() -> None:
    inside = {name: lines for name, tree in modules(ROOT).items() if (lines := local_imports(tree))}
    assert sum(map(len, inside.values())) <= MOST_LOCAL_IMPORTS, inside
