"""A real `silica serve` behind a door: one address for its whole life, however often the service is killed and started,
and faults of the way between. What the cases call a stage, for clients in every language.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests import forks
from tests.service.running import BASE, HOST, program

SCOPES = ["memory:read", "memory:write", "pages:read", "pages:write"]
HOP_BY_HOP = {"connection", "transfer-encoding", "host", "content-length"}


class Stage:
    """The service, the door, and what passed through it. `key` may do all but administer, for any source."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._running = folder, ExitStack()
        self._process: forks.Popen[str] | None = None
        self._door: ThreadingHTTPServer | None = None
        self._upstream = ("", 0)
        self._port = 0
        self._admin = ""
        self.faults: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.start()
        made = {"name": "clients", "scopes": SCOPES, "tier": "unlimited_tier"}
        headers = {"Authorization": f"Bearer {self._admin}"}
        answer = httpx.post(f"{self.address}{BASE}/keys", json=made, headers=headers, trust_env=False)
        self.key: str = answer.json()["key"]

    @property
    def address(self) -> str:
        """The address of the door."""
        return f"http://{HOST}:{self._port}"

    def do(self, step: dict[str, Any]) -> Any:
        """What a case asks of the stage: a fault, something about the service, or what was sent."""
        match step:
            case {"fault": kind}:
                self.faults += [{**step, "kind": kind}] * int(step.get("times", 1))
            case {"server": "start", "after": seconds}:
                threading.Timer(float(seconds), self.start).start()
            case {"server": "start"}:
                self.start()
            case {"server": "kill"}:
                self.kill()
            case {"door": "shut"}:
                self.shut()
            case {"door": "open"}:
                self.open()
            case {"begin": _}:
                self.faults.clear()
                self.requests.clear()
                self.start()
                self.open()
            case {"requests": path}:
                return [each for each in self.requests if each["path"].startswith(path)]
            case _:
                raise ValueError(f"the stage cannot do {step}")
        return None

    def start(self) -> None:
        """Starts the service, if it does not run, and opens the door."""
        if self._process is None:
            self._process, address, key = self._running.enter_context(program(self._folder))
            self._admin = self._admin or key
            there = urlsplit(address)
            self._upstream = (there.hostname or HOST, there.port or 0)
            self.open()

    def kill(self) -> None:
        """Kills the service in the middle of whatever it does; until it is started again, nobody listens."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None
        self.shut()

    def open(self) -> None:
        """Opens the door, always at the same address."""
        if self._door is None:
            self._door = ThreadingHTTPServer((HOST, self._port), type("Passing", (Passing,), {"stage": self}))
            self._port = self._door.server_address[1]
            threading.Thread(target=self._door.serve_forever, args=(0.02,), daemon=True).start()

    def shut(self) -> None:
        """Shuts the door: the service cannot be reached."""
        if self._door is not None:
            self._door.shutdown()
            self._door.server_close()
            self._door = None

    def close(self) -> None:
        """Ends everything."""
        if self._process is not None:
            self.kill()
        self.shut()
        self._running.close()

    def connect(self) -> http.client.HTTPConnection:
        """A connection to the service itself."""
        return http.client.HTTPConnection(*self._upstream, timeout=60)


class Passing(BaseHTTPRequestHandler):
    """Passes a request on, or does what a fault says."""

    stage: Stage
    protocol_version = "HTTP/1.1"

    def pass_on(self) -> None:
        """Answers one request."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.removeprefix(BASE)
        key, if_match = self.headers.get("idempotency-key", ""), self.headers.get("if-match", "")
        sent = {"method": self.command, "path": path, "key": key, "if_match": if_match, "at": time.monotonic()}
        self.stage.requests.append(sent)
        fault = self._fault(path)
        if fault.get("kind") == "answer":
            self._send(fault["status"], fault.get("headers", {}), json.dumps(fault.get("body", {})).encode())
            return
        self.close_connection = True
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(self.stage.connect()) as there:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            there.request(self.command, self.path, body or None, headers)
            answer = there.getresponse()
            if (answer.getheader("content-type") or "").startswith("text/event-stream"):
                self._stream(answer, fault)
            elif fault.get("kind") != "lose":
                self._send(answer.status, dict(answer.getheaders()), answer.read())
            else:
                answer.read()  # it was carried out, and nobody will hear of it

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on  # noqa: N815 - the names that the base class looks for

    def _fault(self, path: str) -> dict[str, Any]:
        for fault in self.stage.faults:
            if path.startswith(fault.get("on", "/")):
                self.stage.faults.remove(fault)
                return fault
        return {}

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body if status not in (204, 304) else b"")

    def _stream(self, answer: http.client.HTTPResponse, fault: dict[str, Any]) -> None:
        self.send_response_only(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        while part := answer.read1(65_536):
            if fault.get("kind") == "cut":
                part = part[: len(part) // 2]
            self.wfile.write(part)
            if fault.get("kind") == "cut":
                return

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@contextmanager
def stage(folder: Path) -> Iterator[Stage]:
    """A stage over a folder, ended with everything that it started."""
    made = Stage(folder)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def control(of: Stage) -> Iterator[str]:
    """The address where other processes ask something of a stage: each POST is a step, and answers with JSON."""

    class Asked(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            step = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(of.do(step)).encode()
            self.send_response_only(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    with ThreadingHTTPServer((HOST, 0), Asked) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://{HOST}:{server.server_address[1]}"
        server.shutdown()
