"""A digest says what happened in some days, with its places: the same bytes whenever and wherever it is made."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory_v2.errors import UsageError
from memory_v2.notes.digest import digest_lines
from memory_v2.notes.notes import Notes
from memory_v2.text.calendar import Calendar
from memory_v2.text.words import tokens
from tests.notes.folder import notes_of

GOLDEN = Path(__file__).with_name("digest.txt")
FILES = {
    "MEMORY.md": "# Garden\n\n## Contacts\n\n- **Ada** — keeps the books\n",
    "memory/2026-02-16.md": "## Stats\n\n- 3 members, 40 visitors\n\n## Contacts\n\n- **Ada** — keeps the books\n",
    "memory/2026-02-17.md": "- Decision: NOT using peat\n- [ ] buy a filter\n- [x] dig\n\n## Stats\n\n- 4 members\n",
    "memory/2026-02-20.md": "- **Key lesson**: water early\n- **Problema:** a bomba parou\n- ~~Problem: mice~~\n",
    "memory/2026-03-01.md": (
        "## Contacts\n\n- **Bob** — sells seeds, see [[people/bob]]\n- **Ada** — came by\n\n"
        "## Stats\n\n- Members rose to 6+ (from 4)\n- visitors: ~25\n- Seeds sown: 120 new\n\n## 待办\n\n- 修理水泵\n"
    ),
}


def shown(notes: Notes, since: str, until: str, max_tokens: int | None = None) -> str:
    digest = notes.digest(date.fromisoformat(since), date.fromisoformat(until))
    return "\n".join(digest_lines(digest, max_tokens)) + "\n"


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles"])
def test_a_fortnight_is_the_same_byte_for_byte_in_two_time_zones(zone: str, tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    now = datetime(2026, 3, 1, 12, tzinfo=ZoneInfo(zone))
    notes.calendar = Calendar(ZoneInfo(zone), lambda: now)
    until = notes.calendar.today
    assert shown(notes, "2026-02-16", until.isoformat()) == GOLDEN.read_text("utf-8")


def test_a_number_has_its_first_and_last_value_and_their_places(tmp_path: Path) -> None:
    members = next(
        one
        for one in notes_of(tmp_path, FILES).digest(date(2026, 2, 16), date(2026, 3, 1)).metrics
        if one.name == "members"
    )
    assert (members.first.reading.value, members.last.reading.value, members.change) == (3, 6, 1.0)
    assert (members.first.place, members.last.place) == ("memory/2026-02-16.md:3", "memory/2026-03-01.md:8")


def test_a_contact_is_new_if_nothing_was_told_of_them_before(tmp_path: Path) -> None:
    digest = notes_of(tmp_path, FILES).digest(date(2026, 3, 1), date(2026, 3, 1))
    assert [one.people[-1] for one in digest.contacts] == ["Bob"]


def test_without_days_it_is_yesterday_and_today_of_the_time_zone(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES, now="2026-02-17T23:30:00+00:00")
    assert (notes.digest().since, notes.digest().until) == (date(2026, 2, 16), date(2026, 2, 17))
    notes.calendar = Calendar(ZoneInfo("Europe/Madrid"), notes.calendar.now)
    assert (notes.digest().since, notes.digest().until) == (date(2026, 2, 17), date(2026, 2, 18))


def test_an_empty_digest_says_so_and_when_there_was_something(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    digest = notes.digest(date(2026, 2, 18), date(2026, 2, 19))
    assert digest.is_empty
    assert "2026-02-17" in "\n".join(digest_lines(digest))
    with pytest.raises(UsageError):
        notes.digest(date(2026, 2, 19), date(2026, 2, 18))


def test_a_digest_fits_into_as_many_tokens_as_it_may_have_and_keeps_its_counts(tmp_path: Path) -> None:
    many = "".join(f"- [ ] buy filter number {n} for the pump in the yard\n" for n in range(40))
    notes = notes_of(tmp_path, {**FILES, "memory/2026-02-21.md": many})
    for limit in (120, 200, 400):
        text = shown(notes, "2026-02-16", "2026-03-01", limit)
        assert tokens(text) <= limit
        assert "Pending: 42" in text
    assert len(shown(notes, "2026-02-16", "2026-03-01", 400)) > len(shown(notes, "2026-02-16", "2026-03-01", 120))


@pytest.mark.parametrize(
    "line",
    ["Moltbook: 19 posts, ~35 karma, 6 followers", "- karma: 35", "| Metric | Value |\n|---|---|\n| karma | 35 |"],
)
def test_a_number_that_the_audit_compares_is_in_the_digest(line: str, tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {"memory/2026-02-10.md": f"# Log\n\n{line}\n"})
    digest = notes.digest(date(2026, 2, 9), date(2026, 2, 10))
    assert [one.last.reading.value for one in digest.metrics if one.name == "karma"] == [35]


@pytest.mark.parametrize("line", ["- The goal is 35 karma", "- Do 35 karma matter?"])
def test_a_goal_and_a_question_are_no_number_of_a_digest(line: str, tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {"memory/2026-02-10.md": f"# Log\n\n{line}\n"})
    assert not notes.digest(date(2026, 2, 9), date(2026, 2, 10)).metrics
