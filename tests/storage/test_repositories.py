"""A memory in a git repository, with one of its own, and inside another memory."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2.errors import StorageError
from memory_v2.memory import Memory
from tests.cli.program import Program
from tests.storage.vault import state

# A git repository around the memory, and one in its place


@pytest.fixture
def repository(program: Program) -> Iterator[Path]:
    """A git repository of somebody's, which the memory lies in."""
    git(program.home, "init", "--quiet")
    (program.home / "code.py").write_text("print()\n")
    git(program.home, "add", "--all")
    git(program.home, "commit", "--quiet", "--message=code")
    yield program.home
    git(program.home, "fsck", "--strict")


def git(where: Path, *args: str) -> list[str]:
    """Plain git, with nothing of the configuration of whoever runs the tests."""
    names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C", **names}
    done = subprocess.run(["git", *args], cwd=where, capture_output=True, text=True, env={**os.environ, **settings})
    assert done.returncode == 0, done
    return done.stdout.splitlines()


def test_what_git_does_to_the_repository_around_it_leaves_the_history_of_a_memory(
    program: Program, repository: Path
) -> None:
    program.done("write", "Ada keeps the books")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=memory")
    program.done("write", "Bob sweeps the mill")
    done = program.done("history").splitlines()
    for verb in (["stash", "--include-untracked"], ["clean", "-d", "--force"], ["gc", "--quiet"]):
        git(repository, *verb)
    assert "Bob" not in program.done("read")
    assert program.done("history").splitlines()[1:] == done  # the first is the stash, to us an edit by hand
    git(repository, "stash", "pop")
    assert "Bob" in program.done("read")
    assert program.done("check").startswith("all is well")


def test_a_memory_in_a_repository_of_its_own_leaves_that_alone(program: Program) -> None:
    program.folder.mkdir()
    git(program.folder, "init", "--quiet")
    before = state(program.folder / ".git")
    program.done("write", "Ada keeps the books")
    program.done("undo", "--yes")
    program.done("write", "Ada keeps the books")
    assert state(program.folder / ".git") == before
    git(program.folder, "add", "--all")
    assert git(program.folder, "ls-files") == ["memory.md"]


def test_what_a_hook_of_git_has_in_its_environment_does_not_lead_the_history_astray(
    program: Program, repository: Path
) -> None:
    odd = repository / "odd.gitconfig"
    odd.write_text(
        "[user]\nname = Zed\n[commit]\ngpgsign = true\n[gpg]\nprogram = false\n"
        "[core]\nhooksPath = /nowhere\nautocrlf = true\nbare = false\nworktree = /nowhere\n"
        "[init]\ndefaultBranch = trunk\ntemplateDir = /nowhere\n[extensions]\nobjectFormat = sha256\n"
    )
    own = repository / ".git"
    environment = {
        "GIT_DIR": str(own),
        "GIT_COMMON_DIR": str(own),
        "GIT_WORK_TREE": str(repository),
        "GIT_INDEX_FILE": str(own / "index"),
        "GIT_OBJECT_DIRECTORY": str(own / "objects"),
        "GIT_NAMESPACE": "elsewhere",
        "GIT_AUTHOR_NAME": "Zed",
        "GIT_CONFIG_GLOBAL": str(odd),
        "GIT_DEFAULT_HASH": "sha256",
    }
    before = state(own)
    assert program.run("write", "Ada keeps the books\r\nBob sweeps", env=environment).code == 0
    assert program.run("undo", "--yes", env=environment).code == 0
    assert state(own) == before
    history = program.folder / ".metadata" / "history.git"
    told = git(history, "log", "--format=%an %s", "main")
    assert [line.split(":")[0] for line in told] == ["Silica Memory undo", "Silica Memory write"]
    git(history, "fsck", "--strict")


@pytest.mark.parametrize("words", [None, b"history.git\n"])
def test_what_somebody_made_of_the_gitignore_of_the_programs_own_folder_stays(
    program: Program, words: bytes | None
) -> None:
    program.done("write", "Ada keeps the books")
    file = program.folder / ".metadata" / ".gitignore"
    if words is None:
        file.unlink()
    else:
        file.write_bytes(words)
    program.done("write", "Bob sweeps the mill")
    program.done("check", "--apply")
    assert (file.read_bytes() if file.exists() else None) == words


def test_a_memory_inside_another_one_is_left_alone_by_it(tmp_path: Path) -> None:
    outer, inner = Memory.open(tmp_path), Memory.open(tmp_path / "mill" / "own")
    outer.write("Ada keeps the books", "mill")
    inner.write("The boat is new", "boat")
    inner.entries.capture("Saw a heron")
    before = {file: file.read_bytes() for file in (tmp_path / "mill").rglob("*.md")}
    assert [page.path for page in outer.list_files()] == ["memory", "mill"]
    assert [(finding.kind, finding.path) for finding in outer.checkup(apply=True).findings] == [
        ("stray-file", "mill/own")
    ]
    for path in ("mill/own/boat", "mill/own/new"):
        with pytest.raises(StorageError, match="another memory"):
            outer.write("Bob sweeps the mill", path)
    assert {file: file.read_bytes() for file in (tmp_path / "mill").rglob("*.md")} == before
    assert inner.check() == []


def test_a_memory_that_is_begun_in_a_folder_of_another_one_takes_the_folder_over(tmp_path: Path) -> None:
    outer = Memory.open(tmp_path)
    outer.write("Ada keeps the books", "mill/books")
    inner = Memory.open(tmp_path / "mill")
    inner.write("The boat is new", "boat")
    assert "mill/books" not in [page.path for page in Memory.open(tmp_path).list_files()]
    assert "Ada" in inner.read("books")
    assert [finding.severity for finding in outer.check()] == ["notice"]
    outer.write("Bob sweeps the mill")
    assert "Bob" in outer.read()
