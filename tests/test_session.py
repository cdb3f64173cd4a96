"""The recorded session of the demo comes out as it was recorded: a changed prompt or tool fails here."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo import session
from memory_v2.trace.recorded import RecordedModel


def test_the_session_is_played_to_its_end_on_the_recording(capsys: pytest.CaptureFixture[str]) -> None:
    session.show()
    told = capsys.readouterr().out
    assert "split_page" in told
    assert "all is well" in told


def test_the_session_shows_a_split_and_a_search_over_two_links(tmp_path: Path) -> None:
    traces = [trace for _, trace in session.play(tmp_path, RecordedModel.load(session.FOLDER))]
    assert any(event["task"] == "split" for trace in traces for event in trace.of("ask"))
    opened = [call["name"] for trace in traces for reply in trace.of("reply") for call in reply["calls"]]
    assert "open_pages" in opened
    assert all(event["reason"] == "" for trace in traces for event in trace.of("decided"))
