"""The planner decides the same whatever the order in which Python walks through a set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PLAY = """
import hashlib, sys
from pathlib import Path
from bench.scenario.play import THRESHOLD, chosen_model, play
steps = list(play(Path(sys.argv[1]), chosen_model("offline", None), THRESHOLD, None))
told = [(step.result.path, *sorted((path, page.text) for path, page in step.pages.items())) for step in steps[:40]]
found = [[(hit.path, hit.lines, hit.relevance_score) for hit in step.result] for step in steps[40:]]
print(hashlib.sha256(repr((told, found)).encode()).hexdigest())
"""


def test_the_same_texts_give_the_same_tree_and_the_same_answers(tmp_path: Path) -> None:
    told = set()
    for seed in ("3", "4"):
        environment = {**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", PLAY, str(tmp_path / seed)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        told.add(done.stdout)
    assert len(told) == 1
