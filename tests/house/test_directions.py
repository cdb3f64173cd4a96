"""The house has one direction: every room imports from the rooms below it only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import memory_v2

PACKAGE = Path(memory_v2.__file__).parent
FLOORS = (
    {"errors", "lazy"},
    {"configuration", "locations", "serving"},
    {"settings", "progress", "text", "prompts"},
    {"tree"},
    {"validate"},
    {"storage", "files"},
    {"index"},
    {"models"},
    {"trace"},
    {"agent"},
    {"plan"},
    {"operations"},
    {"entries", "notes", "hosts"},
    {"serialize"},
    {"engine"},
    {"memory_entries", "memory_checkpoints"},
    {"memory", "functions"},
    {"migrate"},
    {"__init__"},
    {"tools"},
    {"view"},
    {"__main__", "cli", "mcp", "service"},
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
WITHIN_A_FLOOR = {
    ("functions", "memory"),
    ("__main__", "cli"),
    ("cli", "mcp"),
    ("cli", "service"),
}  # verbs start the servers
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


def room_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


def imported_rooms(source: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source}:{node.lineno} imports relatively"
            names = [node.module or ""]
            if node.module == "memory_v2":
                names = [f"memory_v2.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("memory_v2."):
                room = name.split(".")[1]
                yield (room if room in FLOOR_OF else "__init__"), getattr(node, "lineno", 0)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_from_the_rooms_below_it_only(source: Path) -> None:
    here = room_of(source)
    assert here in FLOOR_OF, f"{here} has no floor yet: say where it stands"
    for room, line in imported_rooms(source):
        if room == here or (here, room) in WITHIN_A_FLOOR:
            continue
        assert FLOOR_OF[room] < FLOOR_OF[here], f"{source.name}:{line} imports {room} from {here}"


def test_the_tree_reads_and_writes_nothing() -> None:
    for source in (PACKAGE / "tree").glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not {"os", "io", "pathlib", "sqlite3", "socket", "time"} & {n.split(".")[0] for n in names}, source


def test_files_stay_small_enough_to_be_read() -> None:
    long = {str(s.relative_to(PACKAGE)): n for s in SOURCES if (n := len(s.read_text("utf-8").splitlines())) > 500}
    assert not long
