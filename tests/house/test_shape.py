"""The house has no circles of modules, functions import few modules of ours, and a name of a class says one thing."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.house.size import ROOT, circles, local_imports, modules

MOST_LOCAL_IMPORTS = 40
"""What is left is start-up: providers, what needs an extra, and what a shell's `read`, `capture`, `write` or `search`
must not load."""

SHARED_NAMES = {
    "Context": "what an operation works with, and what the wire of the service calls a context",
    "Edge": "of the graph, and the outermost part of the service: the field calls both so",
    "Source": "where a text came from, and who the wire says an entry comes from",
}
"""The names that two classes have, and what the two are. One of them is the service's each time."""


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(modules(ROOT)) == []


def test_functions_import_few_modules_of_ours() -> None:
    inside = {name: lines for name, tree in modules(ROOT).items() if (lines := local_imports(tree))}
    assert sum(map(len, inside.values())) <= MOST_LOCAL_IMPORTS, inside


def test_no_two_classes_share_a_name_without_sharing_the_idea() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for module, tree in modules(ROOT).items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(module)
    shared = {name: found for name, found in homes.items() if len(found) > 1}
    assert {*shared} == {*SHARED_NAMES}, shared
