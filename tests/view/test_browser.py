"""What people do with the page, in Chromium: `make browser` installs what these tests need.

They are skipped where Chromium or the packages of `tests/view/browser` are missing, unless `SILICA_BROWSER` is
`required`, as it is in CI.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memory_v2 import Memory
from tests.service.running import running

from .conftest import Page, grown, serving
from .hostile import PAGES

HERE = Path(__file__).parent / "browser"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), "")
NODE = shutil.which("node") or ""
MISSING = [
    what
    for what, is_there in {
        "Chromium": CHROMIUM,
        "Node": NODE,
        "the packages of tests/view/browser": (HERE / "node_modules" / "playwright-core").is_dir(),
    }.items()
    if not is_there
]
SCENARIOS = ("reading", "searching", "editing", "undoing", "living", "keys", "plain", "everybody")
SECONDS = 240
"""How long a scenario may take on a machine that does other things too."""


def play(name: str, link: str, memory: Path, key: str = "") -> None:
    """Plays a scenario at a page, or at a service's with a key; what it complains of is the failure."""
    if MISSING:
        reason = f"'make browser' installs what is missing: {', '.join(MISSING)}"
        if os.environ.get("SILICA_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    base = "/view" if key else ""
    given = {
        "link": link,
        "key": key,
        "base": base,
        "memory": str(memory),
        "chromium": CHROMIUM,
        "python": sys.executable,
    }
    environment = {**os.environ, "SILICA_SCENARIO": json.dumps(given), "SILICA_MEMORY_DENSE": "off"}
    done = subprocess.run(
        [NODE, "play.js", name], cwd=HERE, env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_person_does(page: Page, scenario: str) -> None:
    with serving(page.memory, tuple(page.subject.notes)) as server:
        play(scenario, server.link, Path(page.memory.storage.where))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_person_does_at_a_service(tmp_path: Path, scenario: str) -> None:
    grown(tmp_path).close()
    with running(tmp_path) as service:
        play(scenario, f"{service.address}/view/", tmp_path, service.key(scopes=["admin"]))


def test_hostile_pages_run_nothing_and_fetch_nothing(tmp_path: Path) -> None:
    names = [f"bad{number}" for number in range(len(PAGES))]
    for name, text in zip(names, PAGES, strict=True):
        (tmp_path / f"{name}.md").write_text(f"{text}\n\nEvil script.\n", "utf-8")
    listed = "\n".join(
        f"- [[{name}]] - {' '.join(text.split())[:200]}" for name, text in zip(names, PAGES, strict=True)
    )
    (tmp_path / "memory.md").write_text(f"# Memory\n\n## Links\n\n{listed}\n", "utf-8")
    with Memory.open(tmp_path) as memory:
        memory.entries.capture("Evil <script>window.ran = 1</script>", tags=["<img src=x onerror=alert(1)>"])
        memory.write("Evil script.", path="bad1", source="<script>window.ran = 1</script>")
        with serving(memory) as server:
            play("hostile", server.link, tmp_path)
