"""One definition of the events: what may be written is what can be read."""

from __future__ import annotations

from typing import get_overloads

import pytest

from memory_v2.trace.format import KINDS, checked_event
from memory_v2.trace.recording import Trace

WRITTEN_WITH_THE_FILE = {"format", "unreadable"}


def test_every_kind_that_can_be_read_can_be_written_and_no_other() -> None:
    written = [overload.__annotations__["event"] for overload in get_overloads(Trace.add)]
    assert sorted(written) == sorted(f"Literal['{kind}']" for kind in KINDS.keys() - WRITTEN_WITH_THE_FILE)


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_of_nothing_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="required"):
        checked_event({"event": kind})


def test_an_event_comes_back_as_it_was_given_with_what_a_later_version_added() -> None:
    event = {"event": "conflict", "error": "changed", "who": {"agent": 7}}
    assert checked_event(event) is event
