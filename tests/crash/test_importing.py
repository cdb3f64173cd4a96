"""An import that is killed goes on where it was: `python -m tests.crash.importing`."""

from __future__ import annotations

from pathlib import Path

from tests.crash.importing import kill_imports
from tests.effort import effort

KILLS = effort(8, 60)


def test_a_killed_import_that_is_run_again_gives_the_pages_of_one_that_nobody_killed(tmp_path: Path) -> None:
    tally = kill_imports(tmp_path, KILLS, seed=1)
    assert not tally.problems, "\n".join(tally.problems)
    assert tally.kills == KILLS
