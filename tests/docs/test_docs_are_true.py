"""What the documents show is what the program does: every command is run, every output compared.

In a ```console block, `$ silica …` is run and what follows is its output, where `…` stands for anything on that line.
A ```python block is executed. A ```markdown block with a name behind it is a file that is there. The blocks of one
document share one folder.
"""

from __future__ import annotations

import os
import re
import shlex
import time
import tomllib
from pathlib import Path

import pytest

from demo.recording import drawn
from memory_v2.tree.block import parse_blocks
from tests.forks import run_module

HOME = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([HOME / "README.md", *(HOME / "docs").glob("*.md")])
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def fences(document: Path, language: str) -> list[str]:
    blocks = (block.content for block in parse_blocks(document.read_text("utf-8")) if block.kind == "fence")
    return ["\n".join(b.splitlines()[1:-1]) + "\n" for b in blocks if b.splitlines()[0].strip("` ") == language]


def write_files(document: Path, folder: Path) -> None:
    """Writes the files that a document shows with their names."""
    for block in (block.content for block in parse_blocks(document.read_text("utf-8")) if block.kind == "fence"):
        if found := re.match(r"```markdown (\S+)\n", block):
            (folder / found[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / found[1]).write_text("\n".join(block.splitlines()[1:-1]) + "\n", "utf-8")


def run(command: str, folder: Path) -> str:
    words = shlex.split(command)
    assert words[0] == "silica", f"only the program's own commands are shown: {command}"
    own = {"SILICA_MEMORY_PATH": str(folder / "memory"), "XDG_CACHE_HOME": str(folder / "cache")}
    done = run_module("memory_v2.cli", *words[1:], cwd=folder, env={**os.environ, **own, "SILICA_MEMORY_DENSE": "off"})
    return (done.out + done.err).decode("utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_prints_what_the_document_shows(document: Path, tmp_path: Path) -> None:
    write_files(document, tmp_path)
    for block in fences(document, "console"):
        for shown in re.split(r"(?m)^\$ ", block)[1:]:
            command, _, expected = shown.partition("\n")
            if "+last_updated" in expected:
                time.sleep(1)  # until another second is told than that of the command before
            pattern = re.escape(expected.rstrip("\n")).replace("…", ".*")
            assert re.fullmatch(pattern, run(command, tmp_path).rstrip("\n")), command


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_python_example_runs(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(document, tmp_path)
    monkeypatch.chdir(tmp_path)
    for home in ("HOME", "USERPROFILE"):  # not the memory of whoever runs the tests
        monkeypatch.setenv(home, str(tmp_path))
    names: dict[str, object] = {}
    for block in fences(document, "python"):
        exec(compile(block, document.name, "exec"), names)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_of_settings_can_be_read(document: Path, tmp_path: Path) -> None:
    from memory_v2.settings import Settings

    file = tmp_path / "silica" / "silica.toml"
    file.parent.mkdir()
    for block in fences(document, "toml"):
        file.write_text(block, "utf-8")
        assert Settings.from_environment({"XDG_CONFIG_HOME": str(tmp_path)}) != Settings.from_environment({})


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_extra_that_can_be_installed_is_there(document: Path) -> None:
    extras = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    told = re.findall(r"pip\S* install '[^'\[]+\[([^\]]+)\]'", document.read_text("utf-8"))
    assert set(told) <= set(extras)
    assert told or document.name != "README.md"


def test_the_files_of_hosts_are_those_that_are_told() -> None:
    from memory_v2.hosts.known import HOSTS

    told = (HOME / "docs" / "agents.md").read_text("utf-8")
    assert all(f"| {host.title} |" in told for host in HOSTS)


def test_the_formats_told_are_those_that_are_read() -> None:
    from memory_v2.migrate.formats import FORMATS

    told = (HOME / "docs" / "import.md").read_text("utf-8")
    assert all(f"| `{reader.name}` |" in told for reader in FORMATS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    for target in LINK.findall(document.read_text("utf-8")):
        assert (document.parent / target).exists(), target


def test_the_limits_told_are_those_of_the_program() -> None:
    from memory_v2.agent.loop import MAX_REQUESTS
    from memory_v2.settings import DEFAULT_THRESHOLD
    from memory_v2.tree.path import MAX_DEPTH, MAX_PATH_BYTES

    concepts = (HOME / "docs" / "concepts.md").read_text("utf-8")
    layout = (HOME / "docs" / "format.md").read_text("utf-8")
    assert f"{DEFAULT_THRESHOLD:,} bytes" in concepts
    assert f"at most\n{MAX_REQUESTS} requests" in concepts
    assert f"at most {MAX_PATH_BYTES} bytes and {MAX_DEPTH} levels" in layout


def test_the_files_of_the_architecture_are_there() -> None:
    named = re.findall(
        r"`((?:memory_v2|tests|bench|prompts|cassettes)/[^`]*)`", (HOME / "docs/architecture.md").read_text("utf-8")
    )
    assert [name for name in named if not (HOME / name).exists()] == []
    assert len(named) > 30


def test_the_picture_shows_what_the_commands_print() -> None:
    def told(picture: str) -> str:
        return re.sub(r"\b[0-9a-f]{12}\b|\d{4}-\d\d-\d\d", "…", picture)

    assert told(drawn()) == told((HOME / "docs" / "session.svg").read_text("utf-8")), "draw it again: make recording"
