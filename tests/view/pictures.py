"""Pictures of every view, to look at: `python -m tests.view.pictures FOLDER [SIZE …]`.

They are taken with memories of 0, 7, 300 and 5,000 pages, light and dark, 360 and 1,280 pixels wide. Needs what
`test_browser.py` needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.growth import make_tree
from memory_v2 import Memory
from memory_v2.notes.notes import Notes
from tests.view.conftest import grown, serving
from tests.view.test_browser import CHROMIUM, HERE, NODE

VIEWS = {
    "tree": "/",
    "graph": "/graph",
    "history": "/history",
    "entries": "/entries",
    "traces": "/traces",
    "notes": "/notes",
    "help": "/help",
    "search": "/search?q=staging+lantern",
    "nowhere": "/page/nowhere",
}
SIZES = (0, 7, 300, 5_000)
OF_NOTES = {"index": "/notes/0", "audit": "/notes/0/audit", "note": "/notes/0/note/log.md"}


def main() -> None:
    """Takes the pictures, a folder for each size."""
    for size in map(int, sys.argv[2:] or SIZES):
        folder = Path(sys.argv[1]).resolve() / str(size)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as place:
            _take(size, folder, Path(place))


def _take(size: int, folder: Path, place: Path) -> None:
    """The pictures of a memory with so many pages."""
    views, conflict, notes = dict(VIEWS), "", place / "notes"
    notes.mkdir()
    if size:
        if size > 7:
            make_tree(place / "memory", size)
        grown(place / "memory").close()
        (notes / "log.md").write_text("# Log\n\n- Deployed, see [how](nowhere.md).\n")
        conflict = "g0/p0" if size > 7 else "people"
        views |= OF_NOTES | {name: f"/{name}/{conflict}" for name in ("page", "lines", "edit")}
    with (
        Memory.open(place / "memory", dense=False) as memory,
        Notes.open(notes, place / "cache") as read,
        serving(memory, (read,) if size else ()) as server,
    ):
        for word in range(4 if size == 7 else 0):
            memory.create(f"projects/silica/part{word}", f"# Part {word}\n\nWords.\n")
        given = {"link": server.link, "chromium": CHROMIUM, "base": "", "views": views}
        given |= {"folder": str(folder), "conflict": conflict}
        environment = {**os.environ, "SILICA_SCENARIO": json.dumps(given)}
        subprocess.run([NODE, "pictures.js"], cwd=HERE, env=environment, check=True)


if __name__ == "__main__":
    main()
