"""The client for JavaScript in a browser: what it writes while away waits in the browser's own storage."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from http.server import ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest

from tests.clients.stage import SCOPES, Passing, Stage
from tests.service.running import HOST, running

SOURCES = Path(__file__).parents[2] / "clients" / "js" / "src"
PAGE = """<!doctype html><link rel="icon" href="data:,"><script type="module">
import { isPending, MemoryClient, webStore } from '/index.js';
const offline = webStore('memory');
const options = { apiKey: 'KEY', baseUrl: BASE, source: 'hawk', offline, retry: { times: 1, first: 0.01 } };
const client = new MemoryClient(options);
const { session_id: session } = await client.createContext('S-' + crypto.randomUUID());
const events = client.subscribe({ sessions: [session] });
await events.open();
await client.updateFocus({ n: 1 });
const { value: event } = await events.next();
await events.close();
const away = new MemoryClient({ ...options, baseUrl: 'http://127.0.0.1:9' });
const kept = isPending(await away.updateFocus({ n: 2 }, session));
const { delivered } = await new MemoryClient(options).replay();
const focus = (await client.loadContext()).context.immediate.current_focus;
await fetch('/told', { method: 'POST', body: [event.event, kept, delivered, focus.n].join(' ') });
</script>"""


def chromium() -> str:
    """The path of Chromium; in CI on Linux it is an error if there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        assert not (os.environ.get("CI") and sys.platform == "linux"), "chromium is missing"
        pytest.skip("no chromium: the client for JavaScript was not tested in a browser")
    return found


class Site(Passing):
    """A page, the sources of the client, and the service, of one origin; `told` is what the page says in the end."""

    told: Queue[str]
    key = ""
    base = "location.origin"

    def do_GET(self) -> None:  # noqa: N802 - the name that the base class looks for
        if self.path.startswith("/api/"):
            self.pass_on()
        elif self.path == "/":
            self._send(
                200, {"Content-Type": "text/html"}, PAGE.replace("KEY", self.key).replace("BASE", self.base).encode()
            )
        else:
            self._send(200, {"Content-Type": "text/javascript"}, (SOURCES / self.path.strip("/")).read_bytes())

    def do_POST(self) -> None:  # noqa: N802
        if self.path.startswith("/api/"):
            self.pass_on()
        else:
            self.told.put(self.rfile.read(int(self.headers["content-length"])).decode())
            self._send(200, {}, b"")


def test_the_client_works_in_a_browser(the_stage: Stage, tmp_path: Path) -> None:
    the_stage.do({"begin": "browser"})
    visit(tmp_path, type("Here", (Site,), {"stage": the_stage, "told": Queue(), "key": the_stage.key}))


def test_the_client_works_on_a_page_of_an_allowed_origin(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    with running(tmp_path / "memory", origins=(f"http://{HOST}:{port}",)) as service:
        known = {"told": Queue(), "key": service.key(scopes=SCOPES), "base": repr(service.address)}
        visit(tmp_path, type("Elsewhere", (Site,), known), port)


def visit(tmp_path: Path, handler: type[Site], port: int = 0) -> None:
    """Opens the page in Chromium, and hears what it tells."""
    with ThreadingHTTPServer((HOST, port), handler) as site:
        Thread(target=site.serve_forever, args=(0.02,), daemon=True).start()
        quiet = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
        command = [chromium(), *quiet, f"http://{HOST}:{site.server_address[1]}/"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
            try:
                assert handler.told.get(timeout=60) == "memory.updated true 1 2"
            finally:
                browser.terminate()
        site.shutdown()
