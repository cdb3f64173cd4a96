"""No change to a file escapes: what Python's own audit sees below the folder are the boundaries."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.crash.alone import run_alone
from tests.crash.boundaries import Boundary, watched
from tests.crash.scenes import SCENES, Scene, copied, opened, prepared

AUDITED = {
    "os.chmod": "chmod",
    "os.link": "link",
    "os.mkdir": "mkdir",
    "os.remove": "unlink",
    "os.rename": "replace",
    "os.rmdir": "rmdir",
    "os.truncate": "truncate",
}
SAME = {"remove": "unlink", "rename": "replace"}


@pytest.mark.parametrize("scene", SCENES[::4], ids=str)
def test_every_change_to_a_file_passes_a_boundary(scene: Scene) -> None:
    audited, passed = run_alone("tests.crash.test_boundaries", scene.name)  # a hook stays as long as its process
    assert audited["mkdir"] > 0
    assert audited == passed


def main(name: str) -> None:
    """Prints how often each kind of change was audited, and how often it passed a boundary."""
    scene = next(scene for scene in SCENES if scene.name == name)
    audited: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as above:
        folder = copied(prepared(scene, Path(above) / "store"), Path(above) / "live")
        is_watched = False

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if is_watched and event in (*AUDITED, "open") and str(folder) in str(arguments[0]):
                if event in AUDITED:
                    audited[AUDITED[event]] += 1
                elif arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                    audited["open"] += 1

        def act(boundary: Boundary) -> None:
            action = SAME.get(boundary.action, boundary.action)
            if action in (*AUDITED.values(), "open"):
                passed[action] += 1

        sys.addaudithook(hook)
        memory = opened(folder)
        with watched(folder, act):
            is_watched = True
            scene.act(memory)
            is_watched = False
        memory.close()
    print(json.dumps([audited, passed]))


if __name__ == "__main__":
    main(sys.argv[1])
