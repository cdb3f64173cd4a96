"""Names and docstrings use the field's words. These are the ones that no search engine knows, and how often they are
left: a count goes down, never up."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.house.size import ROOT, modules

NAMES = {"told": 155, "nobody": 0, "somebody": 0, "stand": 0, "stands": 2, "one": 380, "found": 450}
"""Words that are identifiers, or a part of one."""
DOCSTRINGS = {"told": 130, "nobody": 50, "somebody": 42, "stands": 75}
"""Words in docstrings."""


def names(tree: ast.AST) -> Iterator[str]:
    """What a module calls its variables, arguments, attributes, functions and classes, where they get the name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def docstrings(tree: ast.AST) -> Iterator[str]:
    """Every docstring, those of constants among them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def counted(texts: Iterator[str]) -> Counter[str]:
    return Counter(word for text in texts for word in re.split(r"[\W_]+", text.casefold()))


@pytest.mark.parametrize("word", NAMES)
def test_a_name_is_a_word_of_the_field(word: str) -> None:
    assert counted(name for tree in modules(ROOT).values() for name in names(tree))[word] <= NAMES[word]


@pytest.mark.parametrize("word", DOCSTRINGS)
def test_a_docstring_says_it_in_plain_words(word: str) -> None:
    assert counted(doc for tree in modules(ROOT).values() for doc in docstrings(tree))[word] <= DOCSTRINGS[word]
