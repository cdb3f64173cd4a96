"""Entries are worked into pages: nothing is lost, each says where it went, each line says where it came from, and what
is carried out is what was shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_v2 import Memory
from memory_v2.errors import InvalidSetting, ModelError, StorageConflict
from memory_v2.models.base import Conversation, Reply, ToolCall
from memory_v2.models.scripted import ScriptedModel
from memory_v2.settings import Limits
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.page import parse_page, sources_of
from tests.entries.made import answering, files

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
Calls = list[tuple[str, dict[str, Any]]]


def with_model(memory: Memory, decide: Callable[[Conversation], Reply], **setting: Any) -> Memory:
    return Memory(memory.storage, ScriptedModel(decide), now=lambda: NOW, **setting)


def week(memory: Memory) -> None:
    memory.write("# Silica\n\nSilica is tested with pytest.\n", "projects/silica")
    entries = memory.entries
    entries.capture("Lesson: test the restore.", "hawk", home="insights", date="2026-02-15", tags=["backup"])
    entries.capture("Coverage is 90%.", "hawk", home="projects/silica", date="2026-02-16")
    entries.capture("Restores take 4 hours.", "shield", home="insights", date="2026-02-17")
    entries.capture("Soup for lunch.", "shield", date="2026-02-17")


def line_source(memory: Memory, path: str, words: str) -> str:
    """The source of the block of a page that has these words."""
    page = parse_page(path, memory.read(path))
    sources = zip(page.blocks, sources_of(page), strict=True)
    return next(source.name for block, source in sources if words in block.content)


def test_each_entry_stands_on_the_page_of_its_home_and_both_say_so(memory: Memory) -> None:
    week(memory)
    done = memory.entries.consolidate(apply=True)
    assert [(one.name, one.reason, tuple(one.facts["pages"])) for one in done.of("work in")] == [
        ("hawk/obs-2026-02-16-001", "to the letter", ("projects/silica",)),
        ("hawk/obs-2026-02-15-001", "to the letter", ("insights",)),
        ("shield/obs-2026-02-17-001", "to the letter", ("insights",)),
    ]
    assert memory.entries.read_entry("hawk/obs-2026-02-15-001").consolidated_into == ("insights",)
    assert line_source(memory, "insights", "test the restore") == "entries/hawk/obs-2026-02-15-001"
    assert line_source(memory, "insights", "4 hours") == "entries/shield/obs-2026-02-17-001"
    assert line_source(memory, "projects/silica", "90%") == "entries/hawk/obs-2026-02-16-001"
    found = memory.search("How long do restores take?")[0]
    assert (found.source, found.date) == ("entries/shield/obs-2026-02-17-001", date(2026, 2, 17))
    assert memory.check() == []


def test_one_operation_holds_pages_and_headers_and_undo_takes_it_back(memory: Memory, tmp_path: Path) -> None:
    week(memory)
    memory.entries.pick_up()
    before = files(tmp_path)
    done = memory.entries.consolidate(apply=True)
    operation = memory.history()[0]
    assert (operation.first.kind, len(operation.revisions), operation.id) == ("consolidate", 1, done.revision)
    assert {"insights", "memory", "projects/silica"} < set(operation.paths)
    memory.undo()
    assert files(tmp_path) == before
    assert len(memory.entries.consolidate(apply=True).of("work in")) == 3


def test_a_plan_changes_nothing_and_is_what_is_carried_out(memory: Memory, tmp_path: Path) -> None:
    week(memory)
    before = files(tmp_path)
    shown = memory.entries.consolidate()
    assert files(tmp_path) == before
    done = memory.entries.consolidate(apply=True)
    assert done == shown
    after = files(tmp_path)
    assert {change.path: change.after for change in shown.changes if "entries/" not in change.path} == {
        path.removesuffix(".md"): data
        for path, data in after.items()
        if before.get(path) != data and "entries/" not in path
    }


def test_a_second_run_does_nothing(memory: Memory, tmp_path: Path) -> None:
    week(memory)
    memory.entries.consolidate(apply=True)
    before, past = files(tmp_path), len(memory.history())
    again = memory.entries.consolidate(apply=True)
    assert (again.of("work in"), again.revision, again.facts["inbox"]) == ((), None, 1)
    assert memory.entries.consolidate().of("work in") == ()
    assert (files(tmp_path), len(memory.history())) == (before, past)


def test_the_inbox_is_left_unless_it_is_asked_for(memory: Memory) -> None:
    week(memory)
    shown = memory.entries.consolidate()
    assert (shown.facts["inbox"], len(shown.of("work in"))) == (1, 3)
    done = memory.entries.consolidate("inbox", apply=True)
    assert [one.name for one in done.of("work in")] == ["shield/obs-2026-02-17-002"]
    assert "Soup for lunch." in memory.read()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"home": "insights"}, ["hawk/obs-2026-02-15-001", "shield/obs-2026-02-17-001"]),
        ({"home": "Projects/Silica"}, ["hawk/obs-2026-02-16-001"]),
        ({"agent": "shield"}, ["shield/obs-2026-02-17-001"]),
        ({"since": "2026-02-16"}, ["hawk/obs-2026-02-16-001", "shield/obs-2026-02-17-001"]),
        ({"until": date(2026, 2, 15)}, ["hawk/obs-2026-02-15-001"]),
        ({"since": "2026-02-16", "until": "2026-02-16"}, ["hawk/obs-2026-02-16-001"]),
        ({"agent": "nobody"}, []),
    ],
)
def test_only_what_is_asked_for_is_worked_in(memory: Memory, asked: dict[str, Any], found: list[str]) -> None:
    week(memory)
    assert [one.name for one in memory.entries.consolidate(**asked).of("work in")] == found


@pytest.mark.parametrize("asked", [{"home": "gardens"}, {"since": "soon"}, {"agent": "a/b"}])
def test_what_cannot_be_asked_for_is_refused(memory: Memory, asked: dict[str, Any]) -> None:
    week(memory)
    with pytest.raises(InvalidSetting):
        memory.entries.consolidate(**asked)


@pytest.mark.parametrize("what", ["projects/silica", "obs-2026-02-16-001", "gone"])
def test_a_plan_is_refused_if_a_page_or_an_entry_has_changed_since(memory: Memory, tmp_path: Path, what: str) -> None:
    week(memory)
    memory.entries.consolidate()
    file = next(tmp_path.rglob("obs-2026-02-16-001.md"))
    if what == "projects/silica":
        memory.write("Silica is fast.", what, "append")
    elif what == "gone":
        file.unlink()
    else:
        file.write_text(file.read_text().replace("90%", "91%"))
    before = files(tmp_path)
    with pytest.raises(StorageConflict, match=rf"'memory'|{what}" if what != "gone" else "obs-2026-02-16-001"):
        memory.entries.consolidate(apply=True)
    assert files(tmp_path) == before
    memory.entries.consolidate()
    assert memory.entries.consolidate(apply=True).revision


def test_a_home_of_which_nothing_is_left_is_done(memory: Memory) -> None:
    week(memory)
    memory.entries.consolidate("insights", apply=True)
    assert memory.entries.consolidate("insights", apply=True).of("work in") == ()
    assert memory.entries.consolidate("strategy").of("work in") == ()


def test_what_was_captured_since_is_left_for_the_next_plan(memory: Memory) -> None:
    week(memory)
    memory.entries.consolidate()
    late = memory.entries.capture("Restores need a second person.", "hawk", home="insights").id
    assert late not in [one.name for one in memory.entries.consolidate(apply=True).of("work in")]
    assert [one.name for one in memory.entries.consolidate(apply=True).of("work in")] == [late]


def test_a_plan_for_other_entries_or_another_model_is_not_carried_out(memory: Memory) -> None:
    week(memory)
    memory.entries.consolidate()
    place = ("place", {"page": "projects/silica", "blocks": "n1"})
    live = with_model(memory, answering(place))
    done = live.entries.consolidate("projects/silica", apply=True)
    assert (done.decided_by, len(done.of("work in"))) == ("scripted", 1)


def test_a_plan_that_is_not_to_be_read_is_made_again(memory: Memory) -> None:
    week(memory)
    memory.entries.consolidate()
    kept = json.loads(memory.storage.state.read("plans/consolidate") or b"")
    other = {**kept, "steps": [{**one, "state": "new"} for one in kept["steps"]]}
    for damaged in (
        b"{",
        b"[]",
        b'{"asked": 1}',
        json.dumps(other).encode(),
        json.dumps({**kept, "steps": [{}]}).encode(),
    ):
        memory.storage.state.write("plans/consolidate", damaged)
        assert len(memory.entries.consolidate(apply=True).of("work in")) == 3
        memory.undo()


def test_forgetting_takes_a_text_out_of_a_plan_that_is_kept(memory: Memory) -> None:
    week(memory)
    memory.entries.consolidate()
    memory.forget("Restores take 4 hours.", apply=True)
    assert b"Restores take 4 hours" not in (memory.storage.state.read("plans/consolidate") or b"")
    memory.entries.consolidate(apply=True)
    assert memory.check() == []
    assert "4 hours" not in "".join(map(memory.read, memory.storage.list_files()))


# a model decides


def test_a_model_sees_each_entry_with_its_day_and_by_whom_and_carrying_out_asks_none(memory: Memory) -> None:
    week(memory)
    asked: list[str] = []
    place = ("place", {"page": "insights", "blocks": "n1-n2"})
    live = with_model(memory, answering(place, told=asked))
    shown = live.entries.consolidate("insights")
    assert (shown.decided_by, shown.degraded, len(asked)) == ("scripted", "", 1)
    done = live.entries.consolidate("insights", apply=True)
    assert len(asked) == 1
    assert done == shown
    assert done.cost.calls == 0
    assert "noted 2026-02-15 by hawk · backup\n[n1] Lesson: test the restore." in asked[0]
    assert "noted 2026-02-17 by shield\n[n2] Restores take 4 hours." in asked[0]


def test_what_has_changed_is_told_once_with_what_was_before(memory: Memory) -> None:
    memory.entries.capture("Deploys run on Tuesdays.", "hawk", home="technical", date="2026-02-15")
    memory.entries.capture("Deploys run on Thursdays now.", "hawk", home="technical", date="2026-02-20")
    told = "- Deploys run on Thursdays now, since 2026-02-20 (before: on Tuesdays)"
    live = with_model(memory, answering(("insert", {"page": "technical", "after": 1, "text": told})))
    done = live.entries.consolidate(apply=True)
    assert [one.reason for one in done.of("work in")] == ["in other words"] * 2
    assert (done.decided_by, done.degraded) == ("scripted", "")
    assert memory.read("technical").count("Deploys") == 1
    assert line_source(memory, "technical", "Thursdays") == (
        "entries/hawk/obs-2026-02-15-001, entries/hawk/obs-2026-02-20-001"
    )
    assert all(entry.consolidated_into == ("technical",) for entry in memory.entries.list_entries())


def test_what_is_so_again_is_worked_in_again(memory: Memory) -> None:
    for day, on in ((15, "Tuesdays"), (20, "Thursdays"), (25, "Tuesdays"), (26, "Tuesdays")):
        memory.entries.capture(f"Deploys run on {on}.", "hawk", home="technical", date=f"2026-02-{day}")
        memory.entries.consolidate(apply=True)
    assert re.findall("Deploys run on (.*)\\.", memory.read("technical")) == ["Tuesdays", "Thursdays", "Tuesdays"]


def test_an_entry_that_repeats_another_one_is_named_and_both_are_the_source(memory: Memory) -> None:
    memory.entries.capture("The quota is 50,000 events.", "hawk", home="technical", date="2026-02-15")
    memory.entries.capture("50,000 events: the quota.", "shield", home="technical", date="2026-02-16")
    calls: Calls = [
        ("place", {"page": "technical", "blocks": "n1"}),
        ("same_as", {"blocks": "n2", "said_in": "n1"}),
    ]
    done = with_model(memory, answering(*calls)).entries.consolidate(apply=True)
    assert [(one.reason, tuple(one.facts["pages"])) for one in done.of("work in")] == [
        ("to the letter", ("technical",)),
        ("said already", ("technical",)),
    ]
    assert memory.read("technical").count("50,000") == 1
    assert line_source(memory, "technical", "50,000") == (
        "entries/hawk/obs-2026-02-15-001, entries/shield/obs-2026-02-16-001"
    )


@pytest.mark.parametrize(
    ("calls", "problem"),
    [
        ([("place", {"page": "technical", "blocks": "n1"}), ("same_as", {"blocks": "n2", "said_in": "n1"})], "42"),
        ([("same_as", {"blocks": "n2", "said_in": "n2"})], "left out itself"),
        ([("place", {"page": "technical", "blocks": "n1"})], "n2 is nowhere yet"),
        ([("insert", {"page": "technical", "after": 1, "text": "- Build 41 passed"})], "n2 is nowhere yet"),
        ([("insert", {"page": "technical", "after": 1, "text": "- Build 43 passed"})], "43"),
        ([("remove", {"page": "memory", "blocks": "2", "reason": "it is old"})], "nowhere"),
    ],
)
def test_an_entry_that_would_be_lost_is_sent_back_and_then_filed_by_the_planner(
    memory: Memory, calls: Calls, problem: str
) -> None:
    memory.write("# Memory\n\nWhat we know.\n", "memory", "replace")
    memory.entries.capture("Build 41 passed.", "hawk", home="technical", date="2026-02-15")
    memory.entries.capture("Build 42 passed.", "hawk", home="technical", date="2026-02-16")
    told: list[str] = []
    done = with_model(memory, answering(*calls, told=told)).entries.consolidate(apply=True)
    assert any(problem in one for one in told), told
    assert (done.decided_by, "refused" in done.degraded) == ("offline", True)
    page = memory.read("technical")
    assert "Build 41 passed." in page
    assert "Build 42 passed." in page
    assert "What we know." in memory.read()


def test_what_a_later_decision_takes_out_again_is_filed_by_the_planner(memory: Memory) -> None:
    memory.write("# Silica\n\nSilica is tested with pytest.\n", "projects/silica")
    memory.entries.capture("Silica has 40 pages.", "hawk", home="projects/silica", date="2026-02-15")
    memory.entries.capture("Silica is loved.", "hawk", home="insights", date="2026-02-16")

    def decide(conversation: Conversation) -> Reply:
        goal = conversation.messages[0].prompt.text.rpartition("=====")[2]  # type: ignore[union-attr]
        calls = [ToolCall("place", {"page": "projects/silica", "blocks": "n1"})]
        if "`insights`" in goal:
            calls.append(ToolCall("remove", {"page": "projects/silica", "blocks": "3", "reason": "it is boring"}))
        return Reply("", tuple(calls), stop_reason="tool_use")

    done = with_model(memory, decide).entries.consolidate(apply=True)
    assert "Silica has 40 pages." in memory.read("projects/silica")
    assert line_source(memory, "projects/silica", "40 pages") == "entries/hawk/obs-2026-02-15-001"
    assert [(one.name, one.reason) for one in done.of("work in")] == [
        ("hawk/obs-2026-02-15-001", "to the letter"),
        ("hawk/obs-2026-02-16-001", "to the letter"),
    ]
    assert "filed again" in done.degraded
    assert any("it is boring" in why for why in memory.history()[0].first.why)


def test_a_model_that_fails_is_told_and_not_asked_for_the_next_home(memory: Memory) -> None:
    week(memory)
    asked: list[int] = []

    def fails(conversation: Conversation) -> Reply:
        asked.append(1)
        raise ModelError("the provider is down")

    done = with_model(memory, fails).entries.consolidate(apply=True)
    assert len(asked) == 1
    assert done.decided_by == "offline"
    assert "the provider is down" in done.degraded
    assert len(done.of("work in")) == 3
    assert memory.history()[0].first.degraded == done.degraded


def test_the_limits_are_those_of_each_home(memory: Memory) -> None:
    week(memory)

    def decide(conversation: Conversation) -> Reply:
        task = conversation.brief
        page = task.path or task.home  # type: ignore[union-attr]
        blocks = f"n1-n{len(task.blocks)}"  # type: ignore[union-attr]
        return Reply("", (ToolCall("place", {"page": page, "blocks": blocks}),), stop_reason="tool_use")

    done = with_model(memory, decide, limits=Limits(turns=1)).entries.consolidate(apply=True)
    assert (done.decided_by, done.degraded, done.cost.calls) == ("scripted", "", 2)


def test_what_a_model_was_shown_is_in_the_trace_and_no_rehearsed_change(memory: Memory) -> None:
    week(memory)
    place = ("place", {"page": "insights", "blocks": "n1-n2"})
    live = with_model(memory, answering(place))
    shown = live.entries.consolidate("insights")
    events = live.trace(shown.trace).events
    assert [one["task"] for one in events if one["event"] == "ask"] == ["consolidate"]
    assert not [one for one in events if one["event"] == "commit"]
    done = live.entries.consolidate("insights", apply=True)
    assert [len(one["pages"]) for one in live.trace(done.trace).of("commit")] == [4]


# entries of all kinds


def test_what_the_tree_says_already_is_named_and_not_written_again(memory: Memory) -> None:
    week(memory)
    memory.entries.capture("Silica is tested with pytest.", "hawk", home="projects/silica", date="2026-02-18")
    done = memory.entries.consolidate("projects/silica", apply=True)
    assert [one.reason for one in done.of("work in")] == ["to the letter", "said already"]
    assert memory.entries.read_entry("hawk/obs-2026-02-18-001").consolidated_into == ("projects/silica",)
    assert memory.read("projects/silica").count("pytest") == 1


def test_only_what_says_the_same_on_the_same_day_is_told_once_offline(memory: Memory) -> None:
    for agent, day in (("hawk", "2026-02-15"), ("shield", "2026-02-15"), ("hawk", "2026-02-16")):
        memory.entries.capture("The build passed.", agent, home="technical", date=day)
    done = memory.entries.consolidate(apply=True)
    assert [one.reason for one in done.of("work in")] == ["to the letter", "said already", "to the letter"]
    assert memory.read("technical").count("The build passed.") == 2
    assert line_source(memory, "technical", "The build") == (
        "entries/hawk/obs-2026-02-15-001, entries/shield/obs-2026-02-15-001"
    )
    assert "entries/hawk/obs-2026-02-16-001" in memory.read("technical")


def test_a_page_that_an_entry_of_a_domain_names_gets_it(memory: Memory) -> None:
    memory.write("# Lighthouse\n\nThe Lighthouse project maps the coast.\n", "projects/lighthouse")
    memory.entries.capture("Lighthouse needs a new lamp.", "hawk", home="technical", date="2026-02-15")
    assert memory.entries.consolidate(apply=True).of("work in")[0].facts["pages"] == ["projects/lighthouse"]
    assert not memory.storage.exists("technical")
    assert "technical" not in memory.read()


def test_a_home_that_is_a_page_still_to_come_is_made(memory: Memory) -> None:
    memory.entries.capture("The boat is blue.", "hawk", home="boats/ferry", date="2026-02-15")
    memory.entries.consolidate(apply=True)
    assert "The boat is blue." in memory.read("boats/ferry")
    assert memory.check() == []


def test_a_home_that_can_be_no_page_is_told_and_its_entry_left(memory: Memory, tmp_path: Path) -> None:
    week(memory)
    file = next(tmp_path.rglob("obs-2026-02-16-001.md"))
    file.write_text(file.read_text().replace("home: projects/silica", "home: ../etc"))
    done = memory.entries.consolidate(apply=True)
    assert [(one.kind, one.path) for one in done.warnings] == [("unknown-home", "hawk/obs-2026-02-16-001")]
    assert len(done.of("work in")) == 2


def test_an_entry_of_several_blocks_is_kept_to_the_letter(memory: Memory) -> None:
    text = "Three things:\n\n- one\n- two\n\n```sh\nmake\n```\n"
    memory.entries.capture(text, "hawk", home="technical", date="2026-02-15")
    memory.entries.capture("- three", "hawk", home="technical", date="2026-02-16")
    memory.entries.consolidate(apply=True)
    page = memory.read("technical")
    assert text in page
    assert line_source(memory, "technical", "three") == "entries/hawk/obs-2026-02-16-001"
    for words in ("Three things", "one", "make"):
        assert line_source(memory, "technical", words) == "entries/hawk/obs-2026-02-15-001"


def test_archived_and_closed_entries_and_copies_and_what_cannot_be_changed_are_left(
    memory: Memory, tmp_path: Path
) -> None:
    week(memory)
    memory.entries.retract(memory.entries.capture("It is slow.", "hawk", home="insights").id, "it is not")
    memory.entries.promote(only="hawk/obs-2026-02-15-001", apply=True)
    broken = next(tmp_path.rglob("obs-2026-02-16-001.md"))
    broken.write_text(broken.read_text().replace("home:", "home: [", 1))
    vault = next(tmp_path.rglob("shield/memory/vault/*/obs-2026-02-17-001.md"))
    archive = tmp_path / "entries/agents/shield/memory/archive/obs-2026-02-17-001.md"
    archive.parent.mkdir(parents=True)
    vault.rename(archive)
    assert [one.name for one in memory.entries.consolidate().of("work in")] == ["hawk/obs-2026-02-15-001"]


def test_an_entry_of_the_future_is_told_without_its_day(memory: Memory) -> None:
    memory.entries.capture("The fair opens.", "hawk", home="projects", date="2026-02-15")
    file = Path(memory.storage.where) / "entries/agents/hawk/memory/vault/2026-02/obs-2026-02-15-001.md"
    file.write_text(file.read_text().replace("created: 2026-02-15", "created: 2027-01-01"))
    memory.entries.consolidate(apply=True)
    assert "*Source: entries/hawk/obs-2026-02-15-001*" in memory.read("projects")
    assert "2027" not in memory.read("projects")


def test_many_entries_are_worked_in_by_several_decisions_and_split(tmp_path: Path) -> None:
    with Memory(LocalStorage(tmp_path), now=lambda: NOW, threshold=2_048) as memory:
        for number in range(60):
            memory.entries.capture(f"Kiln {number} was fired {number * 7} times.", "hawk", home="technical")
        shown = memory.entries.consolidate()
        assert len(shown.facts["decisions"]) == 2
        memory.entries.consolidate(apply=True)
        pages = {path: memory.read(path) for path in memory.storage.list_files()}
        for entry in memory.entries.list_entries():
            assert any(entry.text.strip() in pages[path] for path in entry.consolidated_into)
            assert any(entry.text.strip() in text and f"entries/{entry.id}" in text for text in pages.values())
        assert max(len(text.encode()) for text in pages.values()) < 2_048 + 500
        assert memory.check() == []


def test_a_memory_that_is_kept_nowhere_can_do_it_too() -> None:
    memory = Memory(VolatileStorage(lambda: NOW), now=lambda: NOW)
    week(memory)
    shown = memory.entries.consolidate()
    assert memory.entries.consolidate(apply=True) == shown
    assert "test the restore" in memory.read("insights")
