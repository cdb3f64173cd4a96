"""Each line has the day on which it was said, and a question about days is answered by it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_v2 import Memory, migrate_memory_v1_to_v2
from memory_v2.errors import InvalidSetting, SilicaError
from memory_v2.index.base import Hit
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.weights import DAY
from memory_v2.models.scripted import ScriptedModel
from memory_v2.settings import Settings
from memory_v2.storage.history import HistoryDamaged
from memory_v2.storage.pending import Mode
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.days import UTC_DAYS, Calendar
from memory_v2.validate import checked_source
from tests.effort import effort
from tests.operations.scenes import call, calls

FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)
LATER = datetime(2026, 2, 10, 9, tzinfo=UTC)
LAST = datetime(2026, 3, 1, 9, tzinfo=UTC)


class Clocked:
    """A memory with a clock that a test sets."""

    def __init__(self, timezone: tzinfo = UTC) -> None:
        self.now = FIRST
        self.storage = VolatileStorage(lambda: self.now)
        self.memory = Memory(self.storage, now=lambda: self.now, threshold=2048, timezone=timezone)

    def write(self, text: str, page: str = "shop", at: datetime = FIRST) -> None:
        self.now = at
        self.memory.write(text, page, "append")

    def by_hand(self, path: str, change: Callable[[str], str], at: datetime) -> None:
        self.now = at
        self.storage.write(path, change(self.storage.read(path).data.decode()).encode())
        self.memory.list_files()

    def told(self, words: str) -> tuple[str, str]:
        """The day on which the first hit was said, and what it speaks of."""
        hit = self.memory.search(words, 1)[0]
        return str(hit.date), hit.speaks_of


@pytest.fixture
def clocked() -> Clocked:
    return Clocked()


@pytest.mark.parametrize(
    ("line", "said", "about"),
    [
        ("- 2027-01-15 dentist", "2026-01-05", "2027-01-15"),
        ("- dentist on 2027-01-15 at nine", "2026-01-05", "2027-01-15"),
        ("- 2026-01-03 dentist", "2026-01-03", ""),
        ("- the dentist called (2026-01-03)", "2026-01-03", ""),
        ("- **Ada Lind** [2026-01-03 10:01]: the dentist called", "2026-01-03", ""),
        ("Ada (2026-01-03, 10:01:22): the dentist called", "2026-01-03", ""),
        ("**Ada**（2026-01-03 10:01）：dentist 来电", "2026-01-03", ""),
        ("- **Deadline** (2025-12-31): papers for the dentist", "2026-01-05", "2025-12-31"),
        ("Ada (who moved on 2025-01-03): the dentist called", "2026-01-05", "2025-01-03"),
        ("- the dentist's licence is valid until 2025-12-31", "2026-01-05", "2025-12-31"),
        ("- the dentist's bill is due 2025-12-31", "2026-01-05", "2025-12-31"),
        ("- dentist, deadline for papers (2025-12-31)", "2026-01-05", "2025-12-31"),
        ("- dentist: Ada (before: Bob since 2025-01-10)", "2026-01-05", ""),
        ("- dentist: Ada since 2025-06-01 (before: Bob since 2025-01-10)", "2026-01-05", "2025-06-01"),
        ("- before: the dentist was Bob since 2025-01-10", "2026-01-05", ""),
        ("| 2026-01-02 | oven |\n|---|---|\n| 2026-01-03 | dentist |", "2026-01-05", "2026-01-02"),
        ("## 2025-12-24\n\n- dentist", "2025-12-24", ""),
        ("## 2025-12-24\n\n- 2027-01-15 dentist", "2025-12-24", "2027-01-15"),
        ("## 2027-01-15\n\n- dentist", "2026-01-05", "2027-01-15"),
        ("## March 2027\n\n- dentist", "2026-01-05", "Mar 2027"),
        ("## Deadline 2025-12-24\n\n- dentist", "2026-01-05", ""),
        ("- dentist\n\n*Said on 2025-11-02*", "2025-11-02", ""),
        ("- dentist\n\n*Source: call.txt · 2025-11-02*", "2025-11-02", ""),
    ],
)
def test_a_line_was_said_on_its_own_day_or_when_it_was_written(
    clocked: Clocked, line: str, said: str, about: str
) -> None:
    clocked.write(f"{line}\n")
    clocked.now = datetime(2028, 1, 1, tzinfo=UTC)  # what was a day to come when it was written stays one
    assert clocked.told("dentist") == (said, about)


def test_a_neighbours_day_is_not_that_of_a_line(clocked: Clocked) -> None:
    clocked.write("- 2025-12-03 tea\n- 2025-12-04 milk\n- cocoa\n")
    assert clocked.told("cocoa") == ("2026-01-05", "")


def test_a_line_keeps_its_day_when_others_on_its_page_change_and_when_the_page_is_renamed(clocked: Clocked) -> None:
    clocked.write("- The shop deploys on Tuesdays, see [[other]]\n")
    clocked.write("- Coffee\n", "other")
    clocked.write("- Tea is cheap\n", at=LATER)
    clocked.now = LAST
    clocked.memory.rename("shop", "store/shop")
    clocked.memory.rename("other", "another")
    assert clocked.told("deploys") == ("2026-01-05", "")
    assert clocked.told("tea cheap") == ("2026-02-10", "")


def test_a_line_keeps_its_day_through_a_split_and_a_merge(clocked: Clocked) -> None:
    def days(numbers: range) -> set[tuple[str, str]]:
        return {clocked.told(f"zebra{number}") for number in numbers}

    def parts(numbers: range) -> str:
        return "".join(f"## Part {n}\n\n- zebra{n} and {'tea ' * 60}\n\n" for n in numbers)

    clocked.write(parts(range(5)))
    clocked.write(parts(range(5, 10)), at=LATER)
    children = [page.path for page in clocked.memory.list_files() if page.path.startswith("shop/")]
    assert children
    assert (days(range(5)), days(range(5, 10))) == ({("2026-01-05", "")}, {("2026-02-10", "")})
    clocked.now = LAST
    clocked.memory.merge(children[0])
    assert (days(range(5)), days(range(5, 10))) == ({("2026-01-05", "")}, {("2026-02-10", "")})


@pytest.mark.parametrize("head", ["# Night log — January 2, 2026", "# Night log\n\n## Date: 2026-01-02"])
def test_a_line_keeps_the_day_of_a_heading_from_which_a_split_takes_it(clocked: Clocked, head: str) -> None:
    subjects = ("harbour", "kiln", "garden", "ledger", "choir")
    parts = [f"### The {name}\n\n" + f"Somebody looked at the {name} and wrote it down. " * 9 for name in subjects]
    clocked.write(f"{head}\n\n" + "\n\n".join(parts), at=LATER)
    assert [page.path for page in clocked.memory.list_files() if page.path.startswith("shop/")]
    told = {found.date for found in clocked.memory.search("wrote it down", 100, regex=True)}
    assert told == {date(2026, 1, 2)}


def test_a_line_that_is_repeated_keeps_its_day_wherever_a_split_takes_it(clocked: Clocked) -> None:
    names = ("harbour", "kiln", "garden", "ledger", "choir", "ferry", "weir", "mill")
    parts = [f"**The {name}**\n\n- " + f"The {name} was looked at. " * 9 + "\n- Signed by all\n" for name in names]
    clocked.write("# 2026-01-02 - Tour\n\n" + "\n".join(["## What was seen", *parts[:4], "## Later", *parts[4:]]))
    assert len([page for page in clocked.memory.list_files() if page.path.startswith("shop/")]) > 1
    told = [found.date for found in clocked.memory.search("^- Signed", 100, regex=True)]
    assert told == [date(2026, 1, 2)] * len(names)


def test_a_split_gives_no_line_the_day_of_another(clocked: Clocked) -> None:
    said = {"The garden": "2026-01-03", "The choir": "2026-01-03", "The kiln": "2026-01-04", "The ferry": "2026-01-04"}
    text = f"# Notes\n\n## Where things are\n\n- Things {'are in order. ' * 12}\n\n## Learned\n\n"
    for name, day in said.items():
        text += f"### {day} - {name}\n\nWhat was seen:\n\n- {name} {'is in order. ' * 56}\n\n"
    clocked.write(text, at=LATER)
    assert len(clocked.memory.list_files()) > 3
    for name, day in {**said, "Things": f"{LATER:%Y-%m-%d}"}.items():
        assert {str(one.date) for one in clocked.memory.search(f"^- {name}", regex=True)} == {day}
    assert "Said on" not in "".join(clocked.memory.read(page.path) for page in clocked.memory.list_files())


def test_what_is_too_large_for_a_page_keeps_the_day_of_a_heading_above_it(clocked: Clocked) -> None:
    log = "".join(f"line {n} of the machine\n" for n in range(90))
    clocked.write(f"# Shop\n\n## 2026-01-05\n\n### What it told\n\n```\n{log}```\n", at=LATER)
    assert {str(one.date) for one in clocked.memory.search("^line", 100, regex=True)} == {"2026-01-05"}


def test_an_edit_by_hand_dates_the_line_that_it_changes_and_no_other(clocked: Clocked) -> None:
    clocked.write("- Deploys on Tuesdays\n- Coffee is cheap\n")
    clocked.by_hand("shop", lambda text: text.replace("Tuesdays", "Sundays"), LATER)
    assert clocked.told("deploys") == ("2026-02-10", "")
    assert clocked.told("coffee") == ("2026-01-05", "")


def test_an_undo_brings_back_the_older_day(clocked: Clocked) -> None:
    clocked.write("- Deploys on Tuesdays\n")
    clocked.now = LATER
    clocked.memory.delete("shop")
    clocked.now = LAST
    clocked.memory.undo()
    assert clocked.told("deploys") == ("2026-01-05", "")


def test_what_is_said_again_after_it_was_removed_has_a_new_day(clocked: Clocked) -> None:
    clocked.write("- Deploys on Tuesdays\n")
    clocked.now = LATER
    clocked.memory.delete("shop")
    clocked.write("- Deploys on Tuesdays\n", at=LAST)
    assert clocked.told("deploys") == ("2026-03-01", "")


def test_what_came_before_the_history_has_the_day_of_its_page(clocked: Clocked) -> None:
    metadata = b"## Metadata\n\nlast_updated: 2025-05-01T00:00:00Z\nsize_bytes: 1\n"
    clocked.storage.write("old", b"- Zebras are old\n\n" + metadata)
    assert clocked.told("zebras") == ("2025-05-01", "")
    clocked.write("- Giraffes are new\n", "old", LATER)
    assert clocked.told("zebras") == ("2025-05-01", "")
    assert clocked.told("giraffes") == ("2026-02-10", "")


def test_what_is_added_to_a_page_with_a_date_has_the_day_on_which_it_was_added(clocked: Clocked) -> None:
    clocked.write("- Tea\n")
    clocked.storage.write("kiln", b"---\ndate: 2025-05-01\n---\n\n# Kiln\n\nThe kiln costs 300 euros.\n")
    clocked.memory.list_files()
    assert clocked.told("kiln costs") == ("2025-05-01", "")
    clocked.write("The kiln was sold to a zebra.\n", "kiln", LATER)
    assert clocked.told("zebra")[0] == "2026-02-10"
    assert clocked.told("kiln costs") == ("2025-05-01", "")


def test_the_newest_of_contradicting_facts_comes_first_by_when_it_was_said(clocked: Clocked) -> None:
    clocked.write("- The shop deploys on Tuesdays from 2027-05-01\n")
    clocked.write("- The shop deploys on Fridays from 2027-01-01\n", at=LATER)
    first, second = clocked.memory.search("When does the shop deploy?", 2)
    assert ("Fridays" in first.excerpt, first.date) == (True, date(2026, 2, 10))
    assert ("Tuesdays" in second.excerpt, second.date) == (True, date(2026, 1, 5))


def test_the_time_zone_says_on_which_day_a_line_was_written() -> None:
    evening = datetime(2026, 1, 5, 23, tzinfo=UTC)
    for zone, day in [("UTC", "2026-01-05"), ("Asia/Tokyo", "2026-01-06"), ("America/New_York", "2026-01-05")]:
        clocked = Clocked(ZoneInfo(zone))
        clocked.write("- Deploys on Tuesdays\n", at=evening)
        assert clocked.told("deploys") == (day, "")


def test_a_model_is_told_the_day_in_the_time_zone_and_pages_are_stamped_in_utc() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    morning = datetime(2026, 1, 6, 8, tzinfo=tokyo)
    model = ScriptedModel([calls(call("place", blocks="n1", page="memory")), calls(call("no_answer", reason="none"))])
    memory = Memory(VolatileStorage(lambda: morning), model, now=lambda: morning, timezone=tokyo)
    memory.write("Deploys on Tuesdays.\n")
    memory.search("Deploys?")
    assert [sent.messages[0].split("\n")[0] for sent in model.sent] == ["Today is 2026-01-06."] * 2
    assert "last_updated: 2026-01-05T23:00:00Z" in memory.read()


def test_an_unknown_time_zone_is_refused(tmp_path: Path) -> None:
    for name in ("Mars/Olympus", "../etc/passwd", "America", "x\0"):
        with pytest.raises(InvalidSetting, match="SILICA_MEMORY_TIMEZONE"):
            Settings.from_environment({"SILICA_MEMORY_TIMEZONE": name}, tmp_path)
    zone = Settings.from_environment({"SILICA_MEMORY_TIMEZONE": "Europe/Madrid"}, tmp_path).timezone
    assert zone == ZoneInfo("Europe/Madrid")
    assert Settings.from_environment({}, tmp_path).timezone == UTC


def damaged(*_: object) -> None:
    raise HistoryDamaged("damaged")


def test_the_history_is_not_read_for_what_this_memory_writes(clocked: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    clocked.write("- Deploys on Tuesdays\n")
    monkeypatch.setattr(type(clocked.storage.history), "changed_by", damaged)
    clocked.write("- Opens on Mondays\n", at=LATER)
    clocked.write("- Closes on Sundays\n", at=LAST)
    assert clocked.told("opens") == ("2026-02-10", "")
    clocked.memory.undo()
    assert clocked.told("deploys") == ("2026-01-05", "")


def test_a_history_that_cannot_be_read_costs_only_the_days(clocked: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    clocked.write("- Deploys on Tuesdays\n")
    monkeypatch.setattr(type(clocked.storage.history), "changed_by", damaged)
    clocked.now = LATER
    clocked.memory = Memory(clocked.storage, now=lambda: clocked.now)  # its index is made anew
    assert clocked.told("deploys") == ("2026-01-05", "")  # that of the page


def hits(index: FullTextIndex) -> dict[tuple[str, int, str], Hit]:
    found = index.search("fact zebra links part page memory tea 2026", 1000)
    return {(hit.path, hit.first_line, hit.text): hit for hit in found}


TEXTS = st.sampled_from(
    [
        "- fact one\n- fact two\n",
        "- fact one\n- 2027-01-15 fact three\n",
        "## Part 2025-12-24\n\n- fact four\n\nfact five, a zebra\n",
        "fact six, see [[b]]\n\n- fact two\n",
        "".join(f"## Part {n}\n\n- fact {n} of a large page {'tea ' * 40}\n\n" for n in range(14)),
    ]
)
PAGES = st.sampled_from(["memory", "a", "b", "b/c"])
STEPS = st.one_of(
    st.tuples(st.just("write"), PAGES, TEXTS),
    st.tuples(st.just("place"), st.just(""), TEXTS),
    st.tuples(st.just("by hand"), PAGES, TEXTS),
    st.tuples(st.just("rename"), PAGES, PAGES),
    st.tuples(st.sampled_from(["delete", "split", "merge", "undo"]), PAGES, st.just("")),
    st.tuples(st.just("search"), st.just(""), st.just("")),
)


def do(clocked: Clocked, step: str, page: str, other: str) -> None:
    memory, there = clocked.memory, clocked.storage.exists(page)
    match step:
        case "write":
            memory.write(other, page, "append")
        case "place":
            memory.write(other)
        case "by hand":
            if not there or clocked.storage.read(page).data != other.encode():  # else only the time of the file changes
                clocked.storage.write(page, other.encode())
            memory.list_files()
        case "rename" if there and page != "memory" and not clocked.storage.exists(other):
            memory.rename(page, other)
        case "delete" | "split" | "merge" if there and page != "memory":
            getattr(memory, step)(page)
        case "undo":
            memory.undo()
        case "search":
            memory.search("fact zebra")


@settings(max_examples=effort(20, 40), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, min_size=1, max_size=9))
def test_the_days_of_an_index_kept_up_are_those_of_one_made_anew(steps: list[tuple[str, str, str]]) -> None:
    clocked = Clocked()
    kept = FullTextIndex(clocked.storage, None, clocked.storage.history, Calendar(UTC, lambda: clocked.now))
    for step in steps:
        clocked.now += timedelta(days=3)
        try:
            do(clocked, *step)
        except SilicaError:
            continue
        kept.refresh()
        today = clocked.now.date()
        assert all(hit.date and hit.date <= today for hit in hits(kept).values())
    anew = FullTextIndex(clocked.storage, None, clocked.storage.history, Calendar(UTC, lambda: clocked.now))
    anew.refresh()
    assert hits(kept) == hits(anew)


def test_a_text_with_a_date_has_that_day_below_a_heading_of_another_day() -> None:
    clocked = Clocked()
    memory, clocked.now = clocked.memory, LAST
    memory.write("## 2026-02-01\n\n- The kiln is cold.\n", "log", "append")
    memory.write("- The kettle sings.\n", "log", "append", date="2026-02-03")
    memory.write("## 2026-02-10\n\n- The mower rests.\n", "log", "append", date="2026-02-20")
    days = {hit.excerpt: f"{hit.date}" for hit in (*memory.search("kiln"), *memory.search("kettle mower"))}
    assert days["- The kettle sings."] == "2026-02-03"
    assert days["- The mower rests."] == "2026-02-10"
    assert days["- The kiln is cold."] == "2026-02-01"


def test_days_of_sources_and_dates_are_those_of_the_time_zone() -> None:
    clocked = Clocked(ZoneInfo("America/Los_Angeles"))
    evening = datetime(2026, 1, 6, 4, tzinfo=UTC)
    clocked.now = evening
    clocked.memory.write("The kiln was sold.", "shop", source="visit.md", date=evening)
    clocked.write("The wheel was bought.", at=evening)
    assert "*Said on 2026-01-05*" in clocked.memory.read("shop")
    assert [clocked.told(words)[0] for words in ("kiln", "wheel")] == ["2026-01-05"] * 2
    assert clocked.memory.today == date(2026, 1, 5)
    with pytest.raises(InvalidSetting, match="after today, 2026-01-05"):
        clocked.memory.write("The kiln is hot.", date="2026-01-06")


def test_a_day_that_no_page_can_name_is_refused_with_the_years_that_it_can() -> None:
    for day in ("1850-01-01", "9999-12-31"):
        with pytest.raises(InvalidSetting, match=f"a day of the years 1900 to 2999, such as 2026-02-03, not {day}"):
            checked_source(None, day, UTC_DAYS)
    with pytest.raises(InvalidSetting, match="a day of the calendar, such as 2026-02-03, not '2026-02-30'"):
        checked_source(None, "2026-02-30", UTC_DAYS)


@pytest.mark.parametrize("mode", ["update", "append", "replace"])
@pytest.mark.parametrize("source", [None, "mail.md"])
def test_a_text_has_the_day_that_is_given_also_on_a_page_of_that_day(
    clocked: Clocked, mode: Mode, source: str | None
) -> None:
    memory, clocked.now = clocked.memory, LAST
    memory.write("The kiln is cold.", "shop", date="2026-01-05", source=source)
    memory.write("The kettle sings.", "shop", mode, date="2026-01-05", source=source)
    assert clocked.told("kettle sings")[0] == "2026-01-05"
    memory.write("The mower rests.", "shop", date="2026-03-01", source=source)
    assert clocked.told("mower rests")[0] == "2026-03-01"


def test_pages_of_one_day_keep_it_when_one_of_them_goes(clocked: Clocked) -> None:
    memory, clocked.now = clocked.memory, LAST
    memory.write("The kiln is cold.", "shop", date="2026-01-05")
    memory.write("The kettle sings.", "kitchen", date="2026-01-05")
    clocked.by_hand("shop", lambda text: text.replace("cold.", "cold.\n\nThe mower rests."), LAST)
    assert clocked.told("mower rests")[0] == "2026-03-01"
    memory.delete("shop")
    assert clocked.told("kettle sings")[0] == "2026-01-05"


def test_a_merge_leaves_one_line_for_each_text(clocked: Clocked) -> None:
    memory, clocked.now = clocked.memory, LAST
    memory.write("The kiln is cold.", "shop", date="2026-01-05")
    memory.write("The kettle sings.", "shop/tea", date="2026-01-06")
    memory.write("The mower rests.", "shop/tea", date="2026-01-07")
    memory.write("The ladder leans.", "shop/tea")
    memory.merge("shop/tea")
    lines = [line for line in memory.read("shop").splitlines() if line.startswith("*Said")]
    assert lines == [f"*Said on {day}*" for day in ("2026-01-05", "2026-01-06", "2026-01-07", "2026-03-01")]
    memory.merge("shop")
    days = {word: clocked.told(word)[0] for word in ("kiln", "kettle", "mower", "ladder")}
    assert list(days.values()) == ["2026-01-05", "2026-01-06", "2026-01-07", "2026-03-01"]


WRITTEN = {
    "2026-02-12": "We decided on Avro for all events, instead of JSON.",
    "2026-03-11": "Events: we decided to keep them for ninety days, and to ask legal about longer.",
    "2026-03-17": "It was decided that Ada looks at failed events each morning, before the stand-up.",
    "2026-03-24": "Ben decided to count events by hour.",
}


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("What did we decide about events last week?", "2026-03-17"),
        ("What did we decide about events two weeks ago?", "2026-03-11"),
        ("What did we decide about events last month?", "2026-02-12"),
        ("What did we decide about events in February?", "2026-02-12"),
        ("What did we decide about events on 11 March 2026?", "2026-03-11"),
        ("What did we decide about events yesterday?", "2026-03-24"),
    ],
)
@pytest.mark.parametrize("is_told", [True, False], ids=["told", "known from the history"])
def test_what_was_said_on_the_day_asked_for_comes_first(query: str, day: str, is_told: bool) -> None:
    now = datetime(2026, 3, 25, 9, tzinfo=UTC)
    memory = Memory(VolatileStorage(lambda: now), now=lambda: now)
    for said, line in WRITTEN.items():
        now = datetime.fromisoformat(f"{'2026-03-25' if is_told else said}T09:00+00:00")
        memory.write(line, "events", "append", date=said if is_told else None)
    now = datetime(2026, 3, 25, 9, tzinfo=UTC)
    best = memory.search(query)[0]
    assert (str(best.date), best.excerpt) == (day, WRITTEN[day])
    assert DAY in dict(best.signs)


def test_a_day_that_a_place_names_counts_once() -> None:
    memory = Memory(VolatileStorage())
    memory.write("# Log\n\n- 2026-02-03: The kiln smokes.\n- 2026-02-10: The saw is blunt.\n", "log")
    best = memory.search("What about the saw on 10 February 2026?")[0]
    assert [name for name, _ in best.signs].count(DAY) == 1


def days_of(memory: Memory) -> None:
    """Two days of one page, and a newer one of another."""
    memory.write("The kiln smokes.", "log", "append", date="2026-03-16")
    memory.write("Ada left for Porto.", "log", "append", date="2026-03-17")
    memory.write("The saw is blunt.", "tools", date="2026-03-24")


def at_noon() -> datetime:
    return datetime(2026, 3, 25, 12, tzinfo=UTC)


def test_what_was_said_on_a_day_relative_to_today_is_found_whatever_its_words() -> None:
    memory = Memory(VolatileStorage(at_noon), now=at_noon)
    days_of(memory)
    found = memory.search("What happened last week?")
    assert found.answered
    assert [(result.path, result.excerpt) for result in found] == [
        ("log", "Ada left for Porto."),
        ("log", "The kiln smokes."),
    ]
    assert [result.excerpt for result in memory.search("What did I write yesterday?", under="tools")] == [
        "The saw is blunt."
    ]
    assert memory.search("What did I write yesterday?", under="log") == []


def test_a_line_written_on_a_day_without_saying_so_is_found_by_it() -> None:
    now = datetime(2026, 3, 24, 12, tzinfo=UTC)
    memory = Memory(VolatileStorage(lambda: now), now=lambda: now)
    memory.write("The saw is blunt.")
    now = at_noon()
    memory.write("The kiln smokes.")
    assert [result.excerpt for result in memory.search("What did I note yesterday?")] == ["The saw is blunt."]


@pytest.mark.parametrize(
    "query",
    [
        "What happened on November 8?",
        "2025-11-08",
        "What did we do on 8 November 2025?",
        "Was geschah am 8. November?",
        "¿Qué pasó el 8 de noviembre de 2025?",
    ],
)
def test_a_question_for_a_day_alone_is_answered_by_what_was_said_then(query: str) -> None:
    now = datetime(2025, 11, 1, 9, tzinfo=UTC)
    memory = Memory(VolatileStorage(lambda: now), now=lambda: now)
    for number in range(1, 29):
        now = now.replace(day=number)
        memory.write(f"Kiln {number + 30} was lit, and what happened then was noted in report {number % 9}.")
    now = datetime(2026, 3, 24, 12, tzinfo=UTC)
    memory.write("Report 8 of November was lost.", "reports")
    found = memory.search(query)
    assert ["Kiln 38" in result.excerpt for result in found] == [True]
    assert found.answered


def test_a_search_of_some_days_shows_what_was_said_then_if_nothing_has_its_words() -> None:
    memory = Memory(VolatileStorage(at_noon), now=at_noon)
    days_of(memory)
    found = memory.search("zebra", since="2026-03-17", until="2026-03-20")
    assert [result.excerpt for result in found] == ["Ada left for Porto."]
    assert not found.answered
    assert memory.search("zebra", until="2025-03-20") == []
    assert [result.excerpt for result in memory.search("kiln", since="2026-03-16")] == ["The kiln smokes."]


def test_what_is_imported_without_a_day_has_none_until_it_is_written_anew(tmp_path: Path) -> None:
    older = tmp_path / "older"
    older.mkdir()
    (older / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine.\n")
    (older / "2026-02-03.md").write_text("# Log\n\nThe ferry was late.\n")
    migrate_memory_v1_to_v2(older, tmp_path / "new")
    with Memory.open(tmp_path / "new", "offline") as memory:
        days = {found.excerpt: found.date for found in memory.search("ferry")}
        assert days["The ferry leaves at nine."] is None
        assert days["The ferry was late."] == date(2026, 2, 3)
        assert "ferry leaves" not in str(memory.search("ferry", since="2026-01-01"))
        memory.split("ferry")
        assert memory.search("When does the ferry leave?")[0].date is None
        memory.replace_text("ferry", "nine", "ten")
        assert memory.search("When does the ferry leave?")[0].date == datetime.now(UTC).date()


def test_what_was_so_in_a_month_may_have_been_said_long_before() -> None:
    now = datetime(2026, 1, 5, 9, tzinfo=UTC)
    memory = Memory(VolatileStorage(lambda: now), now=lambda: now)
    said = {
        "2026-01-05": "The monthly rent of the small yellow studio by the canal is 900.",
        "2026-04-02": "We rent a van for the small yellow studio by the canal.",
        "2026-04-20": "The porter has the keys.",
    }
    for day, line in said.items():
        now = datetime.fromisoformat(f"{day}T09:00+00:00")
        memory.write(line, "studio", "append")
    assert (
        memory.search("How much was the monthly rent of the small yellow studio by the canal in April?")[0].excerpt
        == said["2026-01-05"]
    )


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("What was the extension of Hanne Brook in March?", "2026-02-05"),
        ("What was the extension of Hanne Brook on 3 March 2026?", "2026-02-05"),
        ("Which extension has Hanne Brook had since March?", "2026-06-02"),
        ("What is the extension of Hanne Brook?", "2026-06-02"),
        ("What was the extension of Hanne Brook before June?", "2026-02-05"),
        ("What was the extension of Hanne Brook until 1 June 2026?", "2026-02-05"),
        ("Welche Durchwahl hatte Hanne Brook in finance vor Juni?", "2026-02-05"),
    ],
)
def test_how_it_was_then_is_not_told_by_what_was_said_afterwards(query: str, day: str) -> None:
    now = datetime(2026, 2, 5, 9, tzinfo=UTC)
    memory = Memory(VolatileStorage(lambda: now), now=lambda: now)
    memory.write("Hanne Brook in finance releases what is stuck. Her extension is 3304.", "people", "append")
    now = datetime(2026, 6, 2, 9, tzinfo=UTC)
    memory.write("Hanne Brook has a new extension: 3361.", "people", "append")
    now = datetime(2026, 11, 15, 9, tzinfo=UTC)
    assert str(memory.search(query)[0].date) == day


def test_who_asks_for_what_was_so_before_a_day_is_not_told_what_names_it() -> None:
    now = datetime(2026, 3, 4, 9, tzinfo=UTC)
    memory = Memory(VolatileStorage(lambda: now), now=lambda: now)
    memory.write("Container logs are kept for 30 days.", "ops", "append")
    now = datetime(2026, 6, 2, 9, tzinfo=UTC)
    memory.write("Container logs are kept for 90 days as of June.", "ops", "append")
    found = memory.search("How long were container logs kept before June?")
    assert "30 days" in found[0].excerpt and found.answered
    assert "90 days" in memory.search("How long were container logs kept in June?")[0].excerpt
    assert "90 days" in memory.search("How long must container logs be kept before June?")[0].excerpt


def test_the_words_that_ask_for_the_past_need_no_answer_of_their_own() -> None:
    memory = Memory(VolatileStorage())
    for number in range(30):
        memory.write(f"Stall {number} sells lamp {number * 7} and ladder {number * 11}.", "market", "append")
    memory.write("The babysitter asks 8 euro.", "home", "append")
    found = memory.search("What did the babysitter originally ask, at the beginning, back then, before the summer?")
    assert (found.verdict, found[0].excerpt) == ("answered", "The babysitter asks 8 euro.")


def test_a_letter_takes_the_place_of_no_short_note() -> None:
    now = datetime(2026, 1, 5, 9, tzinfo=UTC)
    memory = Memory(VolatileStorage(lambda: now), now=lambda: now)
    meeting = "The daily stand-up is at 9:30 in the harbour room."
    memory.write(meeting, "team", "append")
    now = datetime(2026, 9, 1, 9, tzinfo=UTC)
    memory.write(
        "The bank writes that from now on maintenance stands in its calendar, daily from two to four in the morning, "
        "that payments which arrive by then are booked on the following day, that its room for visitors has moved to "
        "the second floor, and that all forms have to be signed by two people with a power of attorney.",
        "team",
        "append",
    )
    assert memory.search("When is the daily stand-up in the harbour room?")[0].excerpt == meeting


def test_a_later_text_that_shares_little_replaces_nothing() -> None:
    now = datetime(2026, 1, 5, 9, tzinfo=UTC)
    memory = Memory(VolatileStorage(lambda: now), now=lambda: now)
    agent = (
        "The letting agent is Rowan Corvane of Petch & Lamb, 0117 496 0142, repairs@example.org; he answers mails "
        "within a day, calls in the evening, and speaks Dutch."
    )
    for line in ("The agent of the band is Ada.", "Letting the dough rest is all.", "A phone is in the hall.", agent):
        memory.write(line, "flat", "append")
    now = datetime(2026, 6, 1, 9, tzinfo=UTC)
    memory.write(
        "Petch & Lamb write that from now on the boiler is serviced by Kestrel Heating instead, in May, and that both "
        "keys of the cellar go back to the porter.",
        "flat",
        "append",
    )
    assert memory.search("What is the phone number of the letting agent at Petch & Lamb?")[0].excerpt == agent


def test_what_is_told_later_below_a_dated_heading_has_its_own_day(clocked: Clocked) -> None:
    clocked.write("## Plan, 2026-01-05\n\n- The kiln is fired on Monday.\n- The glaze is blue.")
    model = ScriptedModel([calls(call("replace", page="shop", blocks="3", new_blocks="n1", reason="another day"))])
    clocked.now = LATER
    Memory(clocked.storage, model, now=lambda: clocked.now).write("- The kiln is fired on Friday.", "shop")
    assert "Friday.\n\n*Said on 2026-02-10* (1 block)\n" in clocked.memory.read("shop")
    assert clocked.told("kiln fired") == ("2026-02-10", "2026-01-05")
    clocked.write("- The wheel squeaks.", at=LAST)
    assert clocked.told("wheel squeaks")[0] == "2026-03-01"
    assert clocked.told("glaze blue")[0] == "2026-01-05"


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("## Plan, 2026-03-01", "- The wheel squeaks."),
        ("## Plan, March 2026", "- The wheel squeaks."),
        ("## Fair on 2026-05-09", "- The wheel squeaks."),
        ("## Plan, 2026-01-05", "- 2026-01-06 The wheel squeaks."),
        ("## Plan, 2026-01-05", "## Plan, 2026-02-10\n\n- The wheel squeaks."),
    ],
    ids=["same day", "a month with the day", "a day to come", "its own day", "its own heading"],
)
def test_no_line_tells_a_day_that_is_told_already(clocked: Clocked, heading: str, text: str) -> None:
    clocked.write(f"{heading}\n\n- The kiln is cold.")
    clocked.write(text, at=LAST)
    assert "Said on" not in clocked.memory.read("shop")
