"""What hosts run at the start of a session: the form that each reads, and never a failure."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import forks

from .program import PROGRAM, Program


@pytest.fixture
def boats(program: Program) -> Path:
    """A project, and a memory that knows it."""
    program.page("memory", "# Memory\n\nAda keeps the books.\n\n## Links\n\n- [[projects/boats]]\n")
    program.page("projects/boats", "# Boats\n\nBuilt of oak.\n")
    folder = program.home / "boats"
    (folder / ".git").mkdir(parents=True)
    return folder


def said(ended: Any) -> str:
    return str(ended.json["hookSpecificOutput"]["additionalContext"])


def test_it_is_printed_for_a_person_and_as_a_document(program: Program, boats: Path) -> None:
    assert "Ada keeps the books." in program.run("context").text
    document = program.run("context", "--for", "boats", "--json").json
    assert document["pages"] == ["memory", "projects/boats"]
    assert "Built of oak." in document["text"]
    assert document["tokens"] < 2_000


def test_a_hook_is_told_the_folder_of_the_session(program: Program, boats: Path) -> None:
    (boats / "src").mkdir()
    host = json.dumps({"cwd": str(boats / "src"), "hook_event_name": "SessionStart"}).encode()
    ended = program.run("context", "--hook", "session-start", stdin=host)
    assert ended.json["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "Built of oak." in said(ended)
    cursor = json.dumps({"workspace_roots": [str(boats)]}).encode()
    assert "Built of oak." in program.run("context", "--hook", "cursor", stdin=cursor).json["additional_context"]


@pytest.mark.parametrize(
    "stdin", [b"", b"{", b"[1]", b'{"cwd": 3}', b'{"cwd": "\\u0000"}', b'{"workspace_roots": []}', b"\xff"]
)
def test_a_hook_that_is_told_nothing_gives_the_root_all_the_same(program: Program, boats: Path, stdin: bytes) -> None:
    ended = program.run("context", "--hook", "session-start", stdin=stdin)
    assert (ended.code, ended.err) == (0, "")
    assert "Ada keeps the books." in said(ended)
    assert "oak" not in said(ended)


def test_a_home_folder_is_no_project(program: Program, boats: Path) -> None:
    program.page(program.home.name, "# A page that is called as the home is\n")
    assert program.home.name not in said(program.run("context", "--hook", "session-start"))


def test_a_folder_that_was_deleted_is_no_project(program: Program, boats: Path) -> None:
    command = f'cd {boats} && rm -r {boats} && exec "$@"'
    run = [*PROGRAM, "memory", "--path", str(program.folder), "context", "--hook", "session-start"]
    done = subprocess.run(["sh", "-c", command, "sh", *run], stdin=subprocess.DEVNULL, capture_output=True)
    assert "Ada keeps the books." in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_an_empty_memory_adds_nothing_to_a_session(program: Program) -> None:
    ended = program.run("context", "--hook", "session-start")
    assert (ended.code, ended.json, ended.err) == (0, {}, "")
    assert not program.folder.exists()


@pytest.mark.parametrize(
    ("more", "env"),
    [
        ([], {"SILICA_MEMORY_LIMITS": "nonsense"}),
        (["--max-tokens", "1"], {}),
        ([], {"SILICA_MEMORY_NOW": "nonsense"}),
    ],
)
def test_a_hook_never_fails_a_session(program: Program, boats: Path, more: list[str], env: dict[str, str]) -> None:
    ended = program.run("context", "--hook", "session-start", *more, env=env)
    assert (ended.code, ended.json) == (0, {})
    assert "the session begins without its memory" in ended.err
    assert program.run("context", *more, env=env).code == 2  # a person is told


def test_a_memory_that_cannot_be_read_does_not_fail_a_session(program: Program) -> None:
    program.folder.write_text("a file where the folder should be")
    ended = program.run("context", "--hook", "cursor")
    assert (ended.code, ended.json) == (0, {})
    assert "the session begins without its memory" in ended.err


def test_a_host_that_leaves_standard_input_open_is_not_waited_for(program: Program, boats: Path) -> None:
    command = [*PROGRAM, "memory", "--path", str(program.folder), "context", "--hook", "session-start"]
    with forks.Popen[bytes](
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=boats, env=program.environment()
    ) as running:
        assert running.stdin and running.stdout
        answer = running.stdout.read()  # its standard input is still open
        assert running.wait() == 0
    assert "Built of oak." in json.loads(answer)["hookSpecificOutput"]["additionalContext"]


def test_it_is_as_quick_as_reading_a_page() -> None:
    from tests.house.test_import import HEAVY, ONLY_WHEN_WRITING, loaded_by

    code = "import memory_v2\nmemory_v2.Memory.open('/nowhere/at/all').context()"
    assert not loaded_by(code).intersection(HEAVY + ONLY_WHEN_WRITING)
