"""The examples of the specification, word for word; `...` is where a key goes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.clients.stage import Stage

PYTHON = """\
from distributed_memory import MemoryClient

client = MemoryClient(api_key="...")
context = client.load_context(session_id="CHAT-2025-07-30-002")
client.update_focus({"primary": "New focus area"})
"""
README = Path(__file__).parents[2] / "clients" / "python" / "README.md"


@pytest.fixture
def session(the_stage: Stage, monkeypatch: pytest.MonkeyPatch) -> str:
    """A service where the session of the examples has a context, as the environment names it."""
    from distributed_memory import Conflict, MemoryClient

    the_stage.do({"begin": "examples"})
    monkeypatch.setenv("DISTRIBUTED_MEMORY_URL", the_stage.address)
    name = "CHAT-2025-07-30-002"
    with MemoryClient(the_stage.key) as client:
        try:
            client.create_context(name)
        except Conflict:
            client.update_focus({"primary": None}, name)
    return name


def test_the_example_for_python(session: str, the_stage: Stage) -> None:
    names: dict[str, object] = {}
    exec(PYTHON.replace('"..."', repr(the_stage.key)), names)
    assert isinstance(names["context"], dict) and names["context"]["session_id"] == session
    from distributed_memory import MemoryClient

    with MemoryClient(the_stage.key) as client:
        focus = client.load_context(session)["context"]["immediate"]["current_focus"]
    assert focus == {"primary": "New focus area"}


@pytest.mark.usefixtures("session")
def test_the_examples_of_the_readme(the_stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert first == PYTHON
    names: dict[str, object] = {}
    exec(first.replace('"..."', repr(the_stage.key)), names)
    lines = [line.removeprefix("  ") for line in second.splitlines()]
    change = '    client.update_focus({"primary": "Seen"})'
    exec("\n".join([lines[0], change, *lines[1:]]), names)
    assert "memory.updated" in capsys.readouterr().out
