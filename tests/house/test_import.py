"""Importing the package is cheap: no provider, nothing that draws, nothing that reaches out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import memory_v2
from memory_v2 import Memory

HEAVY = (
    "anthropic",
    "openai",
    "litellm",
    "boto3",
    "mcp",
    "fastapi",
    "sqlalchemy",
    "psycopg",
    "redis",
    "rich",
    "vcr",
    "httpx",
)
ONLY_WHEN_WRITING = ("pydantic", "jinja2", "markdown_it", "filelock", "sqlite3")


NOT_OFFLINE = ("pydantic", "jinja2", "yaml", "_strptime")


def modules_loaded_by(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines())


def loaded_by(code: str) -> set[str]:
    return {name.split(".")[0] for name in modules_loaded_by(code)}


def running(*arguments: str) -> str:
    run = f"from memory_v2.cli.app import silica\ntry:\n    silica.main({arguments!r})"
    return f"{run}\nexcept SystemExit as end:\n    assert not end.code"


def loaded_by_silica(*arguments: str) -> set[str]:
    return loaded_by(running(*arguments))


def test_importing_the_package_imports_no_provider() -> None:
    assert not loaded_by("import memory_v2").intersection(HEAVY)


def test_reading_a_page_does_not_load_what_writing_one_needs() -> None:
    code = (
        "import memory_v2\ntry:\n    memory_v2.Memory.open('/nowhere/at/all').read()\n"
        "except memory_v2.PageNotFound:\n    pass"
    )
    assert not loaded_by(code).intersection(HEAVY + ONLY_WHEN_WRITING)


@pytest.mark.parametrize(
    "command", [["write", "Leeks are planted in March."], ["capture", "Leeks."], ["search", "leeks"], ["undo", "--yes"]]
)
def test_a_command_that_asks_no_hosted_model_loads_nothing_it_does_not_need(command: list[str], tmp_path: Path) -> None:
    Memory.open(tmp_path).write("The leeks are planted in April.")
    assert not loaded_by_silica("memory", "--path", str(tmp_path), *command).intersection(HEAVY + NOT_OFFLINE)


@pytest.mark.parametrize(
    ("command", "foreign"),
    [
        (
            ["read"],
            {"memory_v2.cli.overview", "memory_v2.cli.agents", "memory_v2.mcp.options", "memory_v2.models.briefs"},
        ),
        (["search", "leeks"], {"memory_v2.cli.pages", "memory_v2.models.offline.filing", "memory_v2.operations.write"}),
        (["capture", "Kale."], {"memory_v2.operations.write", "memory_v2.index.full_text", "yaml"}),
        (
            ["write", "Kale."],
            {"memory_v2.cli.overview", "memory_v2.operations.split", "memory_v2.models.offline.listed"},
        ),
    ],
)
def test_a_command_loads_nothing_that_only_others_need(command: list[str], foreign: set[str], tmp_path: Path) -> None:
    Memory.open(tmp_path).write("The leeks are planted in April.")
    loaded = modules_loaded_by(running("memory", "--path", str(tmp_path), *command))
    assert "memory_v2.memory" in loaded
    assert not loaded.intersection(foreign)


def test_a_command_ends_before_it_looks_for_garbage(tmp_path: Path) -> None:
    Memory.open(tmp_path).write("The leeks are planted in April.")
    command = ["silica", "memory", "--path", str(tmp_path), "read"]
    run = (
        f"import gc, sys\nfrom memory_v2.cli import main\nsys.argv = {command}\n"
        "looks = lambda: sum(each['collections'] for each in gc.get_stats())\nbefore = looks()\n"
        "try:\n    main()\nexcept SystemExit:\n    print(looks() - before)"
    )
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"


def test_what_is_exported_is_what_is_promised() -> None:
    assert sorted(memory_v2.__all__) == [
        "Cancelled",
        "EntryNotFound",
        "InvalidPath",
        "InvalidPattern",
        "InvalidSetting",
        "InvalidText",
        "Memory",
        "MemoryFileInfo",
        "MemoryNotFoundError",
        "ModelError",
        "NotAllowed",
        "Notes",
        "PageExists",
        "PageInfo",
        "PageNotFound",
        "SearchResult",
        "SilicaError",
        "StorageConflict",
        "StorageError",
        "UsageError",
        "WriteResult",
        "__version__",
        "get_memory_graph",
        "list_memory_files",
        "migrate_memory_v1_to_v2",
        "read_memory",
        "search_memory",
        "split_memory",
        "write_memory",
    ]
    assert all(hasattr(memory_v2, name) for name in memory_v2.__all__)
