"""How soon a person sees something: `python -m bench.view`, in Chromium, with 5,000 pages.

First paint is beside that of a static page of the same bytes, from the standard library's server; an answer of the
search beside plain FTS5 over the same blocks. Each round opens a browser's window without a cache. Needs what
`tests/view/test_browser.py` needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

import tests
from bench.growth import make_tree
from bench.searching import Baseline, full_text, pages_of
from bench.tables import Figures, seconds, table
from memory_v2 import Memory
from memory_v2.operations import context
from memory_v2.tree.page import parse_page
from memory_v2.view.server import HOST, PageServer
from memory_v2.view.visit import Subject
from tests.view.test_browser import CHROMIUM, HERE, MISSING, NODE

PAGES = 5_000
ROUNDS = 9
QUERY = "lantern violin"
MOST_BYTES = 150_000
"""The goal for a view with its stylesheet and script, in bytes."""
VIEWS = {"tree": "/", "page": "/page/g0/p0", "graph": "/graph", "history": "/history", "search": f"/search?q={QUERY}"}


def main() -> None:
    """Prints first paint and bytes of each view, and how long an answer takes."""
    if MISSING:
        sys.exit(f"'make browser' installs what is missing: {', '.join(MISSING)}")
    context.MAX_AGE = tests.MAX_AGE  # the tests look at all files each time
    with tempfile.TemporaryDirectory() as place:
        folder, plain = Path(place) / "memory", Path(place) / "plain"
        plain.mkdir()
        make_tree(folder, PAGES)
        with Memory.open(folder, dense=False) as memory, PageServer(Subject(memory), 0) as server:
            server.subject.warm()
            threading.Thread(target=server.serve_forever, daemon=True).start()
            quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
            static = ThreadingHTTPServer((HOST, 0), partial(quiet, directory=str(plain)))
            threading.Thread(target=static.serve_forever, daemon=True).start()
            given: dict[str, object] = {"link": server.link, "chromium": CHROMIUM, "base": "", "views": VIEWS}
            given |= {"query": QUERY, "rounds": ROUNDS, "plain": str(plain)}
            given["plainAt"] = f"http://{HOST}:{static.server_address[1]}"
            environment = {**os.environ, "SILICA_SCENARIO": json.dumps(given)}
            done = subprocess.run(
                [NODE, "timing.js"], cwd=HERE, env=environment, check=True, stdout=subprocess.PIPE, text=True
            )
            found = json.loads(done.stdout)
            rows: dict[str, Figures] = {
                name: {"bytes": seen["bytes"], "paint, ms": median(seen["paint"]), "static, ms": median(seen["plain"])}
                for name, seen in found["views"].items()
            }
            print(
                f"first paint at {PAGES:,} pages, median of {ROUNDS}; the goal is {MOST_BYTES:,} bytes\n{table(rows)}"
            )
            answer = median(found["answer"])
            quick, plain_text = server.subject.quick, _full_text(memory)
            engine, words = (
                median(1000 * seconds(search) for _ in range(ROUNDS))
                for search in (lambda: quick.search(QUERY, 20), lambda: plain_text(QUERY, 20))
            )
            print(f"\nanswer in the page, from the last letter, with 120 ms of waiting for another: {answer:.0f} ms")
            print(f"the search alone {engine:.1f} ms; plain FTS5 {words:.1f} ms; ratio {engine / words:.1f}")
            server.stop()
            static.shutdown()


def _full_text(memory: Memory) -> Baseline:
    """FTS5 over the same blocks."""
    pages = (parse_page(path, data.decode()) for path, data in pages_of(memory).items())
    return full_text([block.text for page in pages for block in page.blocks])


if __name__ == "__main__":
    main()
