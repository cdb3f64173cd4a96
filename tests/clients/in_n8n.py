"""The nodes in n8n itself: `python -m tests.clients.in_n8n N8N`, where N8N is the file `bin/n8n` of an installed n8n.

n8n takes gigabytes and a newer Node, which has to be the first on the path, so it is no part of the tests. A workflow
writes a focus and an entry; another one starts at each change, also at those that happen while n8n is killed.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from distributed_memory import MemoryClient
from tests.service.running import program

PACKAGE = Path(__file__).parents[2] / "clients" / "n8n"
KIND = "n8n-nodes-distributed-memory.distributedMemory"
SESSION = "CHAT-2025-07-30-002"
CREDENTIALS = {"id": "credentials000001", "name": "Memory"}
QUIET = ("N8N_DIAGNOSTICS_ENABLED", "N8N_VERSION_NOTIFICATIONS_ENABLED", "N8N_TEMPLATES_ENABLED")


def node(name: str, kind: str = KIND, **parameters: Any) -> dict[str, Any]:
    """A node of a workflow."""
    credentials = {"distributedMemoryApi": CREDENTIALS} if kind.startswith(KIND) else {}
    made = {"id": name, "name": name, "type": kind, "typeVersion": 1, "position": [0, 0], "parameters": parameters}
    return made | {"credentials": credentials}


def workflow(name: str, *nodes: dict[str, Any]) -> dict[str, Any]:
    """A workflow in which each node follows the one before it."""
    pairs = itertools.pairwise(nodes)
    links = {a["name"]: {"main": [[{"node": b["name"], "type": "main", "index": 0}]]} for a, b in pairs}
    return {"id": name, "name": name, "nodes": nodes, "connections": links, "active": False, "settings": {}}


WRITING = workflow(
    "writing000000001",
    node("start", "n8n-nodes-base.manualTrigger"),
    node("create", resource="context", operation="create", sessionId=SESSION, context="{}"),
    node(
        "focus", resource="context", operation="updateFocus", sessionId=SESSION, focus='{"primary": "New focus area"}'
    ),
    node("load", resource="context", operation="get", sessionId=SESSION),
)
CONTENT = "={{ JSON.stringify($json.data.changes.immediate.current_focus) }}"
SEEING = workflow(
    "seeing0000000001",
    node("trigger", f"{KIND}Trigger", events=["memory.updated"], filters={"sessions": SESSION}),
    node("seen", resource="entry", operation="create", content=CONTENT, additionalFields={"tags": "seen"}),
)


class N8n:
    """An n8n of its own, in a folder."""

    def __init__(self, command: str, home: Path) -> None:
        self._command = ["node", command]
        quiet = dict.fromkeys(QUIET, "false") | {"N8N_DISABLED_MODULES": "mcp-registry", "N8N_PORT": "5699"}
        self._environment = os.environ | quiet | {"N8N_USER_FOLDER": str(home), "N8N_LISTEN_ADDRESS": "127.0.0.1"}

    def run(self, *arguments: str) -> None:
        """Runs a command of n8n to its end."""
        subprocess.run([*self._command, *arguments], env=self._environment, check=True, stdout=subprocess.DEVNULL)

    def start(self) -> subprocess.Popen[bytes]:
        """Starts n8n with its active workflows."""
        return subprocess.Popen([*self._command, "start"], env=self._environment, stdout=subprocess.DEVNULL)


def install(home: Path, documents: dict[str, Any]) -> None:
    """Puts the built package where n8n looks for what is installed, and writes files to import."""
    installed = home / ".n8n" / "nodes" / "node_modules" / "n8n-nodes-distributed-memory"
    shutil.copytree(PACKAGE / "dist", installed / "dist")
    shutil.copy(PACKAGE / "package.json", installed)
    wanted = {"private": True, "dependencies": {installed.name: "0.1.0"}}
    (installed.parents[1] / "package.json").write_text(json.dumps(wanted), "utf-8")
    for name, document in documents.items():
        (home / f"{name}.json").write_text(json.dumps(document), "utf-8")


def seen(client: MemoryClient, count: int) -> list[Any]:
    """The numbers that the second workflow has written, once there are so many, or after two minutes."""
    for _ in range(120):
        entries = client.query(tags=["seen"])["entries"]
        if len(entries) >= count:
            break
        time.sleep(1)
    return [entry["data"]["content"]["n"] for entry in entries]


def main() -> None:
    """Says what was seen; fails unless that is each change, once and in order."""
    with tempfile.TemporaryDirectory() as name, program(Path(name) / "memory") as (_, address, key):
        home = Path(name) / "home"
        data = {"baseUrl": address, "apiKey": key, "source": "n8n"}
        credentials = [{**CREDENTIALS, "type": "distributedMemoryApi", "data": data}]
        install(home, {"credentials": credentials, "workflows": [WRITING, SEEING]})
        n8n, client = N8n(sys.argv[1], home), MemoryClient(key, address, source="hawk")
        n8n.run("import:credentials", f"--input={home}/credentials.json")
        n8n.run("import:workflow", f"--input={home}/workflows.json")
        n8n.run("execute", f"--id={WRITING['id']}")
        print("the focus is", client.load_context(SESSION)["context"]["immediate"]["current_focus"])
        n8n.run("publish:workflow", f"--id={SEEING['id']}")
        running = n8n.start()
        try:
            time.sleep(60)  # until the workflow is active, which n8n does not say
            for n in range(3):
                client.update_focus({"n": n})
            print("seen by the workflow:", seen(client, 3))
            running.kill()
            running.wait()
            for n in range(3, 5):
                client.update_focus({"n": n})
            running = n8n.start()
            found = seen(client, 5)
            print("and after n8n was killed and started:", found)
        finally:
            running.kill()
            running.wait()
        sys.exit(found != [0, 1, 2, 3, 4])


if __name__ == "__main__":
    main()
