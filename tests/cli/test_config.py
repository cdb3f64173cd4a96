"""Where the program says a setting comes from, and which memory the options before the verb choose."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .program import Program


def origins(document: dict[str, Any]) -> dict[str, str]:
    return {one["setting"]: one["from"] for one in document["settings"]}


def test_each_setting_is_shown_with_where_it_comes_from(program: Program) -> None:
    own = program.home / ".config" / "silica" / "silica.toml"
    own.parent.mkdir(parents=True)
    own.write_text("traces = 3\nsize_threshold = 5000\n")
    program.folder.mkdir()
    (program.folder / "silica.toml").write_text('size_threshold = 4000\nmodel = "a:b"\n')
    ended = program.run("config", "--json", env={"SILICA_MEMORY_TIMEZONE": "Europe/Madrid"})
    document = ended.json
    found = origins(document)
    assert found["path"] == "--path"
    assert found["timezone"] == "SILICA_MEMORY_TIMEZONE"
    assert found["size_threshold"] == str(program.folder / "silica.toml")
    assert found["traces"] == str(own) == document["user_file"]
    assert found["model"] == "default"
    assert document["ignored"] == ["model"]
    assert "ignored" in ended.err
    told = program.run("config").text.splitlines()
    assert f"size_threshold\t4000\t{program.folder / 'silica.toml'}\tSILICA_MEMORY_SIZE_THRESHOLD" in told


def test_showing_the_settings_creates_nothing(program: Program) -> None:
    assert program.run("config").code == 0
    assert not program.folder.exists()


def test_a_file_that_is_not_right_ends_every_verb_with_its_name(program: Program) -> None:
    program.folder.mkdir()
    (program.folder / "silica.toml").write_text("timezone = ")
    for verb in (["config"], ["ls"], ["write", "A fact."]):
        ended = program.run(*verb)
        assert ended.code == 2
        assert "silica.toml" in ended.err


@pytest.mark.parametrize("option", [("--project", "."), ("--persona", "office")])
def test_an_option_goes_before_the_variable(program: Program, option: tuple[str, str]) -> None:
    there = {"SILICA_MEMORY_PATH": str(program.home / "there")}
    chosen = program.silica("memory", *option, "config", "--json", env=there).json
    assert chosen["path"].startswith(str(program.home / ".silica"))
    assert origins(chosen)["path"] == option[0]


def test_a_project_and_a_persona_have_memories_of_their_own(program: Program) -> None:
    for option in (["--project", "."], ["--persona", "office"], []):
        assert program.silica("memory", *option, "write", f"A fact for {option}").code == 0
    pages = {str(page.parent.relative_to(program.home)) for page in program.home.rglob("memory.md")}
    assert pages == {".silica/memory", ".silica/personas/office/memory_v2", ".silica/memory_v2"}


@pytest.mark.parametrize(
    "options", [["--path", "a", "--persona", "b"], ["--persona", "../b"], ["--project", "absent"], ["--persona", ""]]
)
def test_a_memory_that_cannot_be_chosen_is_a_usage_error(program: Program, options: list[str]) -> None:
    ended = program.silica("memory", *options, "ls", "--json")
    assert ended.code == 2
    assert json.loads(ended.out)["error"]["message"]
