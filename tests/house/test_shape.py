"""Functions import few modules of ours."""

from __future__ import annotations

from tests.house.size import ROOT, local_imports, modules

MOST_LOCAL_IMPORTS = 51
"""What is left is start-up: providers, what needs an extra, and what a shell's `read`, `capture`, `write` or `search`
must not load."""


def test_functions_import_few_modules_of_ours() -> None:
    inside = {name: lines for name, tree in modules(ROOT).items() if (lines := local_imports(tree))}
    assert sum(map(len, inside.values())) <= MOST_LOCAL_IMPORTS, inside
