"""How large the house is, room by room: `python -m tests.house.size [CHECKOUT]`.

Counted are lines, the median length of a function, the share of lines that are docstrings, imports of our own modules
inside functions, `TYPE_CHECKING` blocks, and circles of modules, with all of these imports counted as imports.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import mean, median

ROOT = Path(__file__).parents[2]
OURS = "memory_v2"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def modules(root: Path) -> dict[str, ast.Module]:
    """The modules of the product by name, parsed. What a symlink leads to is counted where it is."""
    files = [*(root / OURS).rglob("*.py"), *((root / "migrate").rglob("*.py"))]
    own = [file for file in files if not any(p.is_symlink() for p in file.parents if p != root and root in p.parents)]
    named = {file: file.relative_to(root).with_suffix("").parts for file in own}
    package = {file: parts if parts[0] == OURS else (OURS, *parts) for file, parts in named.items()}
    return {
        ".".join(parts).removesuffix(".__init__"): ast.parse(file.read_text("utf-8")) for file, parts in package.items()
    }


def imported(tree: ast.AST, names: dict[str, ast.Module]) -> set[str]:
    """Our own modules that the statements of a tree import, wherever they stand."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names} & names.keys()
            found |= inside or {node.module}
    return found & names.keys()


def local_imports(tree: ast.Module) -> list[int]:
    """The lines of a module where a function imports a module of ours."""
    inside = (node for one in ast.walk(tree) if isinstance(one, FUNCTIONS) for node in ast.walk(one))
    ours = {node.lineno for node in inside if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OURS)}
    return sorted(ours)


def circles(names: dict[str, ast.Module]) -> list[list[str]]:
    """The groups of modules of which each imports all others, by way of others or directly."""
    graph = {name: imported(tree, names) - {name} for name, tree in names.items()}
    reach: dict[str, set[str]] = {}
    for name in graph:
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            for target in graph[waiting.pop()] - seen:
                seen.add(target)
                waiting.append(target)
        reach[name] = seen
    groups = {tuple(sorted({name} | {other for other in reach[name] if name in reach[other]})) for name in graph}
    return [list(group) for group in sorted(groups) if len(group) > 1]


def _docstrings(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)) and ast.get_docstring(node):
            text = node.body[0]
            yield (text.end_lineno or text.lineno) - text.lineno + 1


def _lines(folder: Path) -> list[str]:
    return [line for file in folder.rglob("*.py") for line in file.read_text("utf-8").splitlines()]


def main() -> None:
    """Prints the figures of a checkout: this one, or the one that is named."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    names = modules(root)
    product = [*(line for place in sorted((root / OURS).iterdir()) if not place.is_symlink() for line in _of(place))]
    product += _lines(root / "migrate")
    for place in sorted((root / OURS).iterdir()):
        if not place.is_symlink() and (lines := _of(place)):
            print(f"{f'{OURS}/{place.name}':32}{len(lines):8,}")
    for room in ("migrate", "tests", "bench", "demo"):
        print(f"{room:32}{len(_lines(root / room)):8,}")
    functions = [node for tree in names.values() for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    lengths = [(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions]
    typed = sum(_is_type_checking(node) for tree in names.values() for node in ast.walk(tree))
    print(f"{'product, with migrate':32}{len(product):8,}")
    print(f"{'modules':32}{len(names):8,}")
    print(f"{'mean length of a line':32}{mean(len(line) for line in product if line.strip()):8.1f}")
    print(f"{'median lines of a function':32}{median(lengths):8.0f}")
    print(f"{'share of docstrings':32}{sum(sum(_docstrings(tree)) for tree in names.values()) / len(product):8.3f}")
    print(f"{'imports inside functions':32}{sum(len(local_imports(tree)) for tree in names.values()):8,}")
    print(f"{'TYPE_CHECKING blocks':32}{typed:8,}")
    print(f"{'circles':32}{len(circles(names)):8,}  {'; '.join(' ↔ '.join(group) for group in circles(names))}")


def _of(place: Path) -> list[str]:
    return _lines(place) if place.is_dir() else place.read_text("utf-8").splitlines() if place.suffix == ".py" else []


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


if __name__ == "__main__":
    main()
