"""Two agents share what they know, hand work over, and go on where one of them was cut off: `make demo-service`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable
from typing import Any

BASE = "/api/v1/memory"
Ask = Callable[..., Any]


def main() -> None:
    """Starts the service on a folder of its own, and tells what happens in it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "memory_v2.cli", "serve", "--path", folder, "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
            said = "".join(_start(service))
            try:
                story(re.findall(r"http://[\d.:]+", said)[0], re.findall(r"dm_\S+", said)[0])
            finally:
                service.terminate()


def _start(service: subprocess.Popen[str]) -> list[str]:
    """What the service prints until it says how to try it."""
    lines: list[str] = []
    assert service.stdout is not None
    while not lines or "curl" not in lines[-1]:
        lines.append(service.stdout.readline())
    return lines


def asking(address: str, key: str, source: str) -> Ask:
    """How an agent asks the service."""

    def ask(method: str, path: str, body: Any = None, **headers: str) -> Any:
        data = None if body is None else json.dumps(body).encode()
        kind = {"Content-Type": "application/json", "X-Memory-Source": source, "Authorization": f"Bearer {key}"}
        request = urllib.request.Request(f"{address}{BASE}{path}", data, kind | headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")

    return ask


def story(address: str, key: str) -> None:
    """Twenty lines at most."""
    planner, coder = asking(address, key, "planner"), asking(address, key, "coder")
    cursor = coder("POST", "/subscribe", {})["cursor"]
    print(f"The service runs at {address}.")
    focus = {"immediate": {"current_focus": {"primary": "the login page"}}}
    planner("POST", "/context", {"session_id": "CHAT-1", "context": focus})
    print("planner: opens CHAT-1; its focus is the login page.")
    fact = {"level": "longterm", "data": {"content": {"text": "Tokens of the login expire after 15 minutes."}}}
    planner("POST", "/entries", fact)
    print("planner: learns that tokens expire after 15 minutes, for good.")
    asked = {"from": {"id": "CHAT-1"}, "to": {"type": "agent", "id": "coder"}, "instructions": "Write the test."}
    handoff = planner("POST", "/handoff", asked)["handoff_id"]
    print("planner: hands over to coder: Write the test.")
    claimed = coder("POST", f"/handoff/{handoff}/claim", {"lease_seconds": 60})
    print(f"coder:   claims it; the lease ends at {claimed['lease_expires']}.")
    context = coder("GET", "/context/CHAT-1")["context"]
    print(f"coder:   loads the context: {context['immediate']['current_focus']['primary']}.")
    found = coder("POST", "/search", {"query": "When do login tokens expire?"})["results"][0]
    print(f"coder:   asks the memory: {found['excerpt']}")
    step = [{"op": "add", "path": "/context/working/key_decisions/-", "value": "test with a fake clock"}]
    coder("PATCH", "/context/CHAT-1", step, **{"Content-Type": "application/json-patch+json"})
    print("coder:   decides: test with a fake clock. And is cut off.")
    with urllib.request.urlopen(
        urllib.request.Request(
            f"{address}{BASE}/events", headers={"Authorization": f"Bearer {key}", "Last-Event-ID": cursor}
        )
    ) as events:
        print("coder:   comes back with its cursor and is told what happened:")
        for line in events:
            if line.startswith(b"data:") and "subject" in (event := json.loads(line[5:])):
                print(f"           {event['type']:20} {event['subject'].split('/')[0]}")
                if "key_decisions" in str(event["data"]) and "fake clock" in str(event["data"]):
                    break
    done = {"claim_id": claimed["claim_id"], "result": {"test": "passes"}}
    state = coder("POST", f"/handoff/{handoff}/complete", done)
    print(f"coder:   completes the handoff: {' → '.join(each['state'] for each in state['history'])}.")
    decisions = planner("GET", "/context/CHAT-1")["context"]["working"]["key_decisions"]
    print(f"planner: reads on: {decisions[0]}.")


if __name__ == "__main__":
    main()
