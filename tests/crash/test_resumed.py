"""What is killed and run again comes to its end: some of the boundaries of `python -m tests.crash.resumed`."""

from __future__ import annotations

import pytest

from tests.crash.resumed import run_killed
from tests.effort import effort


@pytest.mark.parametrize("name", ["forgetting", "importing"])
def test_what_is_killed_and_run_again_gives_the_pages_of_a_run_that_nobody_killed(name: str) -> None:
    assert run_killed(name, effort(8, 60)) == []
