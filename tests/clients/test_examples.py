"""The examples of the specification, word for word; `...` is where a key goes."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from distributed_memory import Conflict, MemoryClient
from tests.clients.node import node
from tests.clients.stage import Stage

PYTHON = """\
from distributed_memory import MemoryClient

client = MemoryClient(api_key="...")
context = client.load_context(session_id="CHAT-2025-07-30-002")
client.update_focus({"primary": "New focus area"})
"""
JAVASCRIPT = """\
import { MemoryClient } from '@distributed-memory/client';

const client = new MemoryClient({ apiKey: '...' });
const context = await client.loadContext(sessionId);
await client.updateFocus({ primary: 'New focus area' });
"""
N8N = """\
// Custom n8n node for memory operations
class DistributedMemoryNode {
  async execute() {
    const memory = new MemoryClient(this.credentials);
    const context = await memory.loadContext(
      this.getNodeParameter('sessionId')
    );
    // Process with context
    return this.prepareOutputData([{ json: context }]);
  }
}
"""
CLIENTS = Path(__file__).parents[2] / "clients"
GUIDE = CLIENTS.parent / "docs" / "clients.md"
README, JS = CLIENTS / "python" / "README.md", CLIENTS / "js"


@pytest.fixture
def session(the_stage: Stage, monkeypatch: pytest.MonkeyPatch) -> str:
    """A service where the session of the examples has a context, as the environment names it."""
    the_stage.do({"begin": "examples"})
    monkeypatch.setenv("DISTRIBUTED_MEMORY_URL", the_stage.address)
    name = "CHAT-2025-07-30-002"
    with MemoryClient(the_stage.key) as client:
        try:
            client.create_context(name)
        except Conflict:
            client.update_focus({"primary": None}, name)
    return name


def focus_of(session: str, stage: Stage) -> object:
    with MemoryClient(stage.key) as client:
        return client.load_context(session)["context"]["immediate"]["current_focus"]


def test_the_example_for_python(session: str, the_stage: Stage) -> None:
    names: dict[str, object] = {}
    exec(PYTHON.replace('"..."', repr(the_stage.key)), names)
    assert isinstance(names["context"], dict) and names["context"]["session_id"] == session
    assert focus_of(session, the_stage) == {"primary": "New focus area"}


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


def test_the_example_for_javascript(session: str, the_stage: Stage) -> None:
    assert JAVASCRIPT in (JS / "README.md").read_text("utf-8")
    imports, body = JAVASCRIPT.split("\n\n", 1)
    body = body.replace("'...'", f"'{the_stage.key}'")
    program = f"{imports}\nconst sessionId = '{session}';\n{body}console.log(JSON.stringify(context));"
    command = [node(), "--input-type=module", "--eval", program]
    done = subprocess.run(command, cwd=JS, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["session_id"] == session
    assert focus_of(session, the_stage) == {"primary": "New focus area"}


def test_the_example_for_n8n(session: str, the_stage: Stage) -> None:
    program = f"""
import {{ MemoryClient }} from '@distributed-memory/client';
{N8N}
const node = new DistributedMemoryNode();
node.credentials = {{ apiKey: '{the_stage.key}' }};
node.getNodeParameter = (name) => ({{ sessionId: '{session}' }})[name];
node.prepareOutputData = (items) => [items];
console.log(JSON.stringify(await node.execute()));
"""
    command = [node(), "--input-type=module", "--eval", program]
    done = subprocess.run(command, cwd=JS, capture_output=True, text=True, check=True)
    ((item,),) = json.loads(done.stdout)
    assert item["json"]["session_id"] == session


@pytest.mark.usefixtures("session")
def test_the_example_of_the_guide(
    the_stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```py\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(example.replace('"..."', repr(the_stage.key)), names)
    entry, context = names["entry"], names["context"]
    assert isinstance(entry, dict) and capsys.readouterr().out == f"{entry['id']}\n"
    assert isinstance(context, dict) and context["context"]["immediate"]["current_focus"]["primary"] == "New focus area"
