"""The examples run as a user runs them, against a scripted provider on this machine; and whichever tools a conversation
uses, it leaves the same tree."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.wire.dialects import Call, Says
from tests.wire.server import HOST, Provider, serving

pytestmark = pytest.mark.allow_hosts([HOST])

EXAMPLES = Path(__file__).parents[2] / "examples"
LOOPS = ("anthropic_loop", "openai_chat_loop", "openai_responses_loop", "litellm_loop")
KEY = "a-key"
NOW = "2026-03-01T09:30:00Z"


@dataclass(frozen=True)
class Run:
    """What a run has printed, what the model was told of each call, and the pages after it."""

    printed: str
    results: list[str]
    tree: dict[str, bytes]


class Runner:
    """Runs examples in this process, as `python examples/<name>.py` does, with what a user sets in the environment."""

    def __init__(self, patched: pytest.MonkeyPatch, output: pytest.CaptureFixture[str]) -> None:
        self._patched = patched
        self._output = output

    def run(self, example: str, calls: Sequence[tuple[str, dict[str, Any]]], folder: Path) -> Run:
        """Runs an example whose model makes these calls, one in each turn, and then says that it is done."""
        with serving() as provider:
            made = [Says(calls=[Call(name, arguments, f"call_{n}")]) for n, (name, arguments) in enumerate(calls)]
            provider.script = [*made, Says("That is done.")]
            for name, value in environment(provider, folder).items():
                self._patched.setenv(name, value)
            self._patched.setattr(sys, "argv", [example, "Remember", "my", "garden."])
            runpy.run_path(str(EXAMPLES / f"{example}.py"), run_name="__main__")
            results = [turn[2] for turn in provider.requests[-1].turns if turn[0] == "result"]
            assert ("user", "Remember my garden.") in provider.requests[0].turns
        tree = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.md")}
        return Run(self._output.readouterr().out, results, tree)


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Runner:
    return Runner(monkeypatch, capsys)


def environment(provider: Provider, folder: Path) -> dict[str, str]:
    """What a user sets, with the provider in the place of the real ones."""
    return {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": provider.url,
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{provider.url}/v1",
        "SILICA_MEMORY_PATH": str(folder),
        "SILICA_MEMORY_NOW": NOW,
        "MODEL": "openai/nobodys-model",
    }


SILICA, FRIDAY = "# Silica\n\n- Silica uses pytest.\n", "- Releases are on Fridays."
MARCH, APRIL = "# Garden\n\nLeeks are planted in March.\n", "# Garden\n\nLeeks are planted in April.\n"
CONVERSATION: list[tuple[str, dict[str, Any]]] = [
    ("write_memory", {"content": SILICA, "path": "projects/silica", "mode": "append"}),
    ("write_memory", {"content": FRIDAY, "path": "projects/silica", "mode": "append"}),
    ("write_memory", {"content": MARCH, "path": "garden", "mode": "append"}),
    ("write_memory", {"content": "Draft.\n", "path": "drafts/one", "mode": "append"}),
    ("search_memory", {"query": "When are leeks planted?"}),
    ("write_memory", {"content": APRIL, "path": "garden", "mode": "replace"}),
    ("delete_memory", {"path": "drafts/one"}),
    ("read_memory", {"path": "garden"}),
]
COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/projects/silica.md", "file_text": SILICA},
    {
        "command": "insert",
        "path": "/memories/projects/silica.md",
        "insert_line": 3,
        "insert_text": f"\n{FRIDAY}",
    },
    {"command": "create", "path": "/memories/garden.md", "file_text": MARCH},
    {"command": "create", "path": "/memories/drafts/one.md", "file_text": "Draft.\n"},
    {"command": "str_replace", "path": "/memories/garden.md", "old_str": "March", "new_str": "April"},
    {"command": "delete", "path": "/memories/drafts/one.md"},
    {"command": "view", "path": "/memories/garden.md"},
]


@pytest.mark.parametrize("example", [*LOOPS, "claude_memory_tool"])
def test_an_example_is_short(example: str) -> None:
    assert len((EXAMPLES / f"{example}.py").read_text("utf-8").splitlines()) < 40


def test_every_example_is_tried() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == {*LOOPS, "claude_memory_tool"}


def test_the_same_conversation_leaves_the_same_tree_whichever_tools_it_uses(runner: Runner, tmp_path: Path) -> None:
    runs = {example: runner.run(example, CONVERSATION, tmp_path / example) for example in LOOPS}
    memory_calls = [("memory", command) for command in COMMANDS]
    runs["claude_memory_tool"] = runner.run("claude_memory_tool", memory_calls, tmp_path / "claude_memory_tool")
    trees = [one.tree for one in runs.values()]
    assert sorted(trees[0]) == ["garden.md", "memory.md", "projects/silica.md"]
    assert all(tree == trees[0] for tree in trees)
    assert {one.printed for one in runs.values()} == {"That is done.\n"}
    for example in LOOPS:
        assert len(runs[example].results) == len(CONVERSATION)
        assert "planted in March" in runs[example].results[4]
        assert "planted in April" in runs[example].results[7]
    assert "planted in April" in runs["claude_memory_tool"].results[7]


@pytest.mark.parametrize("example", LOOPS)
def test_a_wrong_call_is_told_to_the_model_which_goes_on(example: str, runner: Runner, tmp_path: Path) -> None:
    wrong = [("read_memory", {"path": "../secrets"}), ("forget_everything", {}), ("write_memory", {"text": "x"})]
    done = runner.run(example, [*wrong, ("write_memory", {"content": "Leeks."})], tmp_path)
    assert done.printed == "That is done.\n"
    assert "list_memory_files" in done.results[0]
    assert "there is no tool" in done.results[1].lower()
    assert "content: Field required" in done.results[2]
    assert b"Leeks." in done.tree["memory.md"]
