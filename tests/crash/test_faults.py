"""A disk that fails leaves an operation done or not done, as it was told: see `python -m tests.crash.faults`."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.faults import run_scene
from tests.crash.holds import expected, judged, unhurried
from tests.crash.scenes import MOMENT, NEW, SCENES, THRESHOLD, Scene, copied, prepared
from tests.effort import effort

STEP = effort(43, 31)

STORAGE = 4
"""The exit code of a storage that failed."""


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    with unhurried():
        yield


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # dulwich writes again, from a destructor
@pytest.mark.parametrize(("number", "scene"), list(enumerate(SCENES)), ids=map(str, SCENES))
def test_what_a_disk_fails_is_done_or_not_done_as_it_was_told(number: int, scene: Scene) -> None:
    for tally in run_scene(scene.name, 1 + 7 * number % STEP, STEP):
        assert not tally.problems, f"{tally.way}: " + "\n".join(tally.problems)
        assert tally.faults > 0


@pytest.mark.parametrize("room", [0, 64, 400, 700, 1_000, 2_000, 8_192, 30_000, 100_000])
def test_a_write_for_which_there_is_no_room_is_told_and_not_done_later(room: int, tmp_path: Path) -> None:
    """A real limit, which also meets what writes without Python: no file may grow beyond so many bytes."""
    scene = next(scene for scene in SCENES if scene.name == "append")
    store = prepared(scene, tmp_path / "store")
    hope = expected(scene, store, tmp_path)
    told = subprocess.run(
        [sys.executable, "-m", "memory_v2.cli", "memory", "write", NEW, "--to", "work/deploys", "--mode", "append"],
        env={
            **os.environ,
            "SILICA_MEMORY_PATH": str(store),
            "PYTHONDONTWRITEBYTECODE": "1",  # Python would keep half of what it compiles
            "SILICA_MEMORY_SIZE_THRESHOLD": str(THRESHOLD),
            "SILICA_MEMORY_NOW": MOMENT.isoformat(),
        },
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode in (0, STORAGE), told.stderr
    assert "Traceback" not in told.stderr
    outcome, problems = judged(copied(store, tmp_path / "judged"), hope)
    assert problems == []
    assert outcome == ("not done" if told.returncode else "done")
    if told.returncode:
        assert "make room and try again" in told.stderr
