"""The events of traces are checked where they are read."""

from __future__ import annotations

import pytest

from memory_v2.trace.format import KINDS, checked_event


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_of_nothing_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="required"):
        checked_event({"event": kind})


def test_an_event_comes_back_as_it_was_given_with_what_a_later_version_added() -> None:
    event = {"event": "conflict", "error": "changed", "who": {"agent": 7}}
    assert checked_event(event) is event
