"""Importing the package is cheap: no provider, nothing that draws, nothing that reaches out."""

from __future__ import annotations

import subprocess
import sys

import memory_v2

HEAVY = ("anthropic", "openai", "litellm", "boto3", "mcp", "fastapi", "psycopg", "redis", "rich", "vcr", "httpx")
ONLY_WHEN_WRITING = ("pydantic", "jinja2", "markdown_it", "filelock", "sqlite3")


def loaded_by(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.splitlines()}


def test_importing_the_package_imports_no_provider() -> None:
    assert not loaded_by("import memory_v2").intersection(HEAVY)


def test_reading_a_page_does_not_load_what_writing_one_needs() -> None:
    code = (
        "import memory_v2\ntry:\n    memory_v2.Memory.open('/nowhere/at/all').read()\n"
        "except memory_v2.PageNotFound:\n    pass"
    )
    assert not loaded_by(code).intersection(HEAVY + ONLY_WHEN_WRITING)


def test_what_is_exported_is_what_is_promised() -> None:
    assert sorted(memory_v2.__all__) == [
        "Cancelled",
        "InvalidPath",
        "InvalidSetting",
        "InvalidText",
        "Memory",
        "ModelError",
        "NotAllowed",
        "PageExists",
        "PageNotFound",
        "SilicaError",
        "StorageConflict",
        "StorageError",
        "UsageError",
        "__version__",
        "get_memory_graph",
        "list_memory_files",
        "read_memory",
        "search_memory",
        "split_memory",
        "write_memory",
    ]
    assert all(hasattr(memory_v2, name) for name in memory_v2.__all__)
