"""One search over pages and entries, best first: an entry counts by its confidence and by the weight of its age."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_v2 import Memory
from memory_v2.entries.entry import Reference
from memory_v2.entries.files import EntryFiles
from memory_v2.errors import InvalidSetting
from memory_v2.index.entries import EntryIndex
from memory_v2.index.store import FILE, IndexStore
from memory_v2.models.base import Conversation, Reply
from memory_v2.models.scripted import ScriptedModel
from memory_v2.operations.results import EntryResult, SearchResults
from memory_v2.serialize import document
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tools import dispatch
from tests.operations.scenes import call, calls

NOW = datetime(2026, 2, 15, 12, tzinfo=UTC)


def entries_of(results: SearchResults) -> list[EntryResult]:
    return [one for one in results if isinstance(one, EntryResult)]


def ids(results: SearchResults) -> list[str]:
    return [one.entry for one in entries_of(results)]


def test_an_exact_entry_comes_before_a_vague_page_and_the_other_way_round(memory: Memory) -> None:
    memory.write("Insurance is sold by the harbour office. The harbour office opens at nine.", "office")
    memory.write("The lighthouse was repainted in white in May 2025.", "lighthouse")
    memory.entries.capture("Insurance CTR dropped 12% in the whole vertical.", "hawk")
    memory.entries.capture("The lighthouse was mentioned.", "hawk")
    first, *others = memory.search("insurance CTR dropped")
    assert isinstance(first, EntryResult)
    assert first.entry == "hawk/obs-2026-02-15-001"
    assert (first.excerpt, first.date) == ("Insurance CTR dropped 12% in the whole vertical.", NOW.date())
    assert "office" in [one.path for one in others]
    assert memory.replay().agrees
    shown = document(memory.search("office", only="pages"))
    assert {"entry", "factors", "archived"}.isdisjoint(shown["results"][0]) and "archived_left_out" not in shown
    assert memory.search("When was the lighthouse repainted white?")[0].path == "lighthouse"
    assert ids(memory.search("When was the lighthouse repainted white?")) == ["hawk/obs-2026-02-15-002"]
    told = dispatch(memory, "search_memory", {"query": "When was the lighthouse repainted?"}).text
    assert "entry hawk/obs-2026-02-15-002; said on 2026-02-15\nThe lighthouse was mentioned." in told
    assert "lighthouse, line 3" in told


def test_a_word_that_only_an_expired_entry_has_is_no_typing_error(memory: Memory) -> None:
    memory.write("The lighthouse was repainted in white.", "lighthouse")
    day = (NOW - timedelta(days=90)).date()
    memory.entries.capture("lightnouse is the new login.", "a", decay="linear-30d", date=day)
    results = memory.search("lightnouse")
    assert not results.answered and not results.respelled
    assert memory.search("ligthhouse").respelled == {"ligthhouse": "lighthouse"}


def test_the_score_of_an_entry_is_how_it_answers_times_its_confidence_times_its_weight(memory: Memory) -> None:
    day = (NOW - timedelta(days=15)).date()
    memory.entries.capture("The pump leaks at the valve.", "a", confidence=0.5, decay="linear-30d", date=day)
    memory.entries.capture("The pump leaks at the valve, too.", "b")
    sure, unsure = entries_of(memory.search("Where does the pump leak?"))
    assert (sure.agent, unsure.agent) == ("b", "a")
    told = unsure.factors
    assert (told.confidence, told.weight, told.decay) == (0.5, 0.5, "linear-30d")
    assert unsure.relevance_score == pytest.approx(told.answers * 0.25, abs=1e-3)
    assert (sure.factors.confidence, sure.factors.weight) == (1.0, 1.0)
    shown = document(memory.search("Where does the pump leak?"))
    assert shown["results"][1]["factors"] == {
        "answers": told.answers,
        "confidence": 0.5,
        "weight": 0.5,
        "decay": "linear-30d",
    }


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"agent": "hawk"}, ["hawk/obs-2026-02-10-001"]),
        ({"domain": "Technical"}, ["fury/obs-2026-02-12-001"]),
        ({"domain": "inbox"}, ["hawk/obs-2026-02-10-001"]),
        ({"tags": ["CTR"]}, ["hawk/obs-2026-02-10-001"]),
        ({"tags": ("ctr", "none")}, []),
        ({"tags": ["ctr, red"]}, ["hawk/obs-2026-02-10-001"]),
        ({"tags": ["ctr,none"]}, []),
        ({"min_confidence": 0.7}, ["hawk/obs-2026-02-10-001"]),
        ({"since": "2026-02-11", "only": "entries"}, ["fury/obs-2026-02-12-001"]),
        ({"until": "2026-02-11", "only": "entries"}, ["hawk/obs-2026-02-10-001"]),
        ({"source": "watch", "only": "entries"}, ["fury/obs-2026-02-12-001"]),
        ({"only": "pages"}, []),
    ],
)
def test_a_search_is_narrowed(memory: Memory, asked: dict[str, Any], found: list[str]) -> None:
    memory.write("The dashboard is red on Mondays.", "dashboards")
    memory.entries.capture("The dashboard is red.", "hawk", tags=["ctr", "red"], confidence=0.8, date="2026-02-10")
    fields = {"home": "technical", "confidence": 0.6, "source": "watchtower", "date": "2026-02-12"}
    memory.entries.capture("The dashboard is blue.", "fury", **fields)  # type: ignore[arg-type]
    results = memory.search("dashboard", **asked)
    assert ids(results) == found
    assert len(results) > len(found) if asked == {"only": "pages"} else len(results) == len(found)


@pytest.mark.parametrize(
    ("domain", "text"),
    [
        ("shard_technical", "The dashboard is blue."),
        ("Inbox", "The dashboard is red."),
        ("boards", "The dashboard is old."),
    ],
)
def test_entries_are_listed_by_their_home_which_an_answer_tells_too(memory: Memory, domain: str, text: str) -> None:
    memory.write("All dashboards.", "boards")
    memory.entries.capture("The dashboard is red.")
    memory.entries.capture("The dashboard is blue.", home="technical")
    memory.entries.capture("The dashboard is old.", home="boards")
    (listed,) = memory.entries.list_entries(domain=domain)
    (found,) = entries_of(memory.search("dashboard", domain=domain))
    assert (listed.text.strip(), found.excerpt) == (text, text)
    assert found.home == (listed.home or "")


def test_a_search_for_an_agent_has_what_all_share(memory: Memory) -> None:
    memory.entries.capture("The lamp is broken.", "hawk", confidence=0.9)
    memory.entries.promote(apply=True)
    memory.entries.capture("The lamp flickers.", "raven")
    assert set(ids(memory.search("lamp", agent="raven"))) == {
        "raven/obs-2026-02-15-001",
        "shared/hawk-obs-2026-02-15-001",
    }
    assert ids(memory.search("lamp", agent="shared")) == ["shared/hawk-obs-2026-02-15-001"]


def test_below_a_page_are_the_entries_whose_home_it_is(memory: Memory) -> None:
    memory.write("Silica is a dashboard.", "projects/silica")
    memory.entries.capture("The dashboard is red.", home="projects/silica")
    memory.entries.capture("The dashboard is blue.")
    assert ids(memory.search("dashboard", under="projects/silica")) == ["default/obs-2026-02-15-001"]


@pytest.mark.parametrize(
    "asked",
    [
        {"only": "neither"},
        {"only": "pages", "agent": "hawk"},
        {"only": "entries", "regex": True},
        {"agent": "a/b"},
        {"domain": "no-such-domain"},
        {"tags": "ctr"},
        {"tags": [3]},
        {"min_confidence": 2},
        {"min_confidence": "much"},
        {"cross": "yes"},
        {"archived": 1},
    ],
)
def test_what_cannot_be_meant_is_refused(memory: Memory, asked: dict[str, Any]) -> None:
    memory.write("A page.")
    with pytest.raises(InvalidSetting):
        memory.search("page", **asked)


def test_references_are_followed_one_step_both_ways(memory: Memory) -> None:
    capture = memory.entries.capture
    first = capture("The valve of the pump was replaced.", "hawk").id
    pump = capture("The pump leaks.", "hawk", references=[f"causes {first}"]).id
    bill = capture("The bill is 300.", "fury", references=[pump], confidence=0.5).id
    capture("Paid.", "fury", references=[bill])
    assert ids(memory.search("Does the pump leak")) == [pump, first]
    assert set(ids(memory.search("leaks"))) == {pump}
    crossed = memory.search("leaks", cross=True)
    assert crossed[0].context.startswith(f"entry {pump}")
    assert set(ids(crossed)) == {pump, first, bill}
    assert ids(crossed)[-1] == bill
    assert crossed[-1].relevance_score < crossed[1].relevance_score < crossed[0].relevance_score


def test_a_reference_to_a_domain_is_stored_with_the_home_and_followed_both_ways(memory: Memory) -> None:
    post = memory.entries.capture("Post on sharding - see shard technical for details.", home="insights").id
    note = memory.entries.capture("The nightly build, see shard technical.").id
    parser = memory.entries.capture("A bug of the parser in the Python code.").id
    memory.entries.route(apply=True)
    routed = memory.entries.read_entry(note)
    assert memory.entries.read_entry(parser).home == "technical"
    assert (routed.home, routed.references) == ("technical", (Reference("related", "technical"),))
    assert parser not in ids(memory.search("sharding"))
    assert parser in ids(memory.search("sharding", cross=True))
    assert post not in ids(memory.search("parser"))
    assert {note, post} < set(ids(memory.search("parser", cross=True)))


def test_what_a_reference_leads_to_is_told_with_the_lines_of_its_text(memory: Memory, tmp_path: Path) -> None:
    pump = memory.entries.capture("The pump leaks.").id
    memory.entries.capture("\ntags", tags=["valve"], references=[pump])
    *_, joined = memory.search("leaks", cross=True)
    lines = (tmp_path / f"{joined.path}.md").read_text().splitlines()
    assert joined.lines == (len(lines), len(lines))
    assert (lines[-1], joined.excerpt) == ("tags", "tags")


def test_an_entry_that_names_a_page_is_found_with_it(memory: Memory) -> None:
    memory.write("Zebras are striped.", "zebras")
    memory.entries.capture("Feed them hay, see [[zebras]].")
    assert ids(memory.search("striped")) == []
    assert ids(memory.search("striped", cross=True)) == ["default/obs-2026-02-15-001"]


def test_what_is_archived_is_left_out_and_counted(memory: Memory) -> None:
    memory.entries.capture("The pump leaks.", "old", decay="ttl-1d", date="2026-01-01")
    memory.entries.capture("The pump leaks again.", "new")
    memory.entries.age(apply=True)
    results = memory.search("pump leaks")
    assert ids(results) == ["new/obs-2026-02-15-001"]
    assert results.archived_left_out == 1
    assert document(results)["archived_left_out"] == 1
    shown = memory.search("pump leaks", archived=True)
    assert ids(shown) == ["new/obs-2026-02-15-001", "old/obs-2026-01-01-001"]
    assert [one.archived for one in entries_of(shown)] == [False, True]
    assert shown.archived_left_out == 0


def test_an_entry_whose_page_is_found_is_not_shown_twice(memory: Memory, tmp_path: Path) -> None:
    memory.write("The pump leaks at the valve.", "pump")
    memory.entries.capture("The pump leaks at the valve.", home="pump")
    [file] = tmp_path.rglob("obs-*.md")
    assert len(memory.search("Where does the pump leak?")) == 2
    file.write_text(file.read_text("utf-8").replace("home: pump", "home: pump\nconsolidated_into: [pump]"), "utf-8")
    memory.entries.store.index.expire()
    assert [one.path for one in memory.search("Where does the pump leak?")] == ["pump"]
    [alone] = entries_of(memory.search("Where does the pump leak?", only="entries"))
    assert alone.consolidated_into == ("pump",)


def test_an_entry_is_shown_if_the_page_that_it_was_worked_into_answers_less_well(
    memory: Memory, tmp_path: Path
) -> None:
    memory.write("# Cellar\n\nThe pump stands here.\n", "cellar")
    memory.entries.capture("The pump leaks at the red valve.", home="cellar")
    [file] = tmp_path.rglob("obs-*.md")
    file.write_text(
        file.read_text("utf-8").replace("home: cellar", "home: cellar\nconsolidated_into: [cellar]"), "utf-8"
    )
    results = memory.search("Does the pump leak at the red valve?")
    assert [one.path.split("/")[0] for one in results] == ["entries", "cellar"]


def test_a_memory_of_entries_only_answers(memory: Memory) -> None:
    memory.entries.capture("The build takes nine minutes.")
    results = memory.search("How long does the build take?")
    assert ids(results) == ["default/obs-2026-02-15-001"]
    assert results.answered
    assert not memory.search("Who likes the minutes of zebras in Africa?").answered


def test_an_entry_that_has_expired_answers_only_if_the_archive_is_asked_for(memory: Memory) -> None:
    memory.entries.capture("The build takes nine minutes.", "hawk", date="2026-01-03", decay="ttl-9d")
    question = "How long does the build take?"
    before = memory.search(question)
    assert ids(before) == ["hawk/obs-2026-01-03-001"]
    assert not before.answered
    assert memory.search(question, archived=True).answered
    memory.entries.age(apply=True)
    assert not memory.search(question).answered
    assert memory.search(question, archived=True).answered
    memory.entries.capture("The build takes eight minutes.", "hawk", decay="ttl-9d")
    assert memory.search(question).answered


@pytest.mark.parametrize("kind", ["local", "volatile"])
def test_what_is_captured_is_found_at_once(tmp_path: Path, kind: str) -> None:
    storage = LocalStorage(tmp_path) if kind == "local" else VolatileStorage()
    with Memory(storage, now=lambda: NOW) as memory:
        for number in range(20):
            entry = memory.entries.capture(f"Build {number} has passed, code{number}.").id
            assert ids(memory.search(f"code{number}")) == [entry]
        memory.undo()
        assert ids(memory.search("code19")) == []


def test_what_others_capture_and_edit_is_found(memory: Memory, tmp_path: Path) -> None:
    memory.entries.capture("The pump leaks.")
    assert ids(memory.search("pump"))
    with Memory(LocalStorage(tmp_path), now=lambda: NOW) as other:
        other.entries.capture("The valve is stuck.", "other")
    memory.entries.store.index._next_look = 0.0  # a second later
    assert ids(memory.search("valve")) == ["other/obs-2026-02-15-001"]
    file = next((tmp_path / "entries/agents/other").rglob("*.md"))
    with file.open("r+b") as opened:  # in its place, as some editors do
        data = opened.read().replace(b"stuck", b"loose")
        opened.seek(0)
        opened.write(data)
    memory.entries.store.index._next_look = 0.0
    assert ids(memory.search("valve loose")) == ["other/obs-2026-02-15-001"]
    assert entries_of(memory.search("valve loose"))[0].excerpt == "The valve is loose."
    file.unlink()
    memory.entries.store.index._next_look = 0.0
    assert ids(memory.search("valve")) == []


class CountingFiles(EntryFiles):
    """The files of entries, which counts those that are asked for their stamps."""

    asked = 0

    def stamps(self, below: str = "") -> Iterator[Any]:
        for stamp in super().stamps(below):
            CountingFiles.asked += 1
            yield stamp


def test_a_search_does_not_walk_over_all_files(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    for month in range(1, 8):
        folder = tmp_path / f"entries/agents/hawk/memory/vault/2025-{month:02}"
        folder.mkdir(parents=True)
        for number in range(1, 301):
            (folder / f"obs-2025-{month:02}-01-{number:03}.md").write_text(f"Build {month}-{number} has passed.")
        os.utime(folder, (1, 1))
    index = EntryIndex(storage, CountingFiles, IndexStore(None))
    index.refresh()
    assert CountingFiles.asked == 2_100
    time.sleep(0.1)  # the marks of folders that have just changed are not final
    index.expire()
    index.refresh()
    storage.write("entries/agents/hawk/memory/vault/2025-03/obs-2025-03-02-001", b"The pump leaks.")
    CountingFiles.asked = 0
    index.expire()
    index.refresh()
    assert CountingFiles.asked <= 301 + 500
    assert len(index.files()) == 2_101


def test_what_a_model_is_shown_has_entries_as_places_of_their_own(tmp_path: Path) -> None:
    seen: list[str] = []

    def answer(conversation: Conversation) -> Reply:
        seen.append(conversation.messages[0].prompt.text)  # type: ignore[union-attr]
        return calls(call("answer", results=[{"place": "p1", "score": 0.9, "context": "it leaks"}]))

    with Memory(LocalStorage(tmp_path), ScriptedModel(answer), now=lambda: NOW) as memory:
        memory.entries.capture("The pump leaks.", "hawk", confidence=0.5)
        results = memory.search("pump")
    assert "[p1] entry hawk/obs-2026-02-15-001 · 2026-02-15" in seen[0]
    assert ids(results) == ["hawk/obs-2026-02-15-001"]
    assert results.answered
    assert results[0].relevance_score == 0.9


def test_a_long_entry_is_found_by_what_stands_far_down_and_once(memory: Memory) -> None:
    lines = [f"- Item {number} of the inventory is fine." for number in range(80)]
    memory.entries.capture("\n".join([*lines[:70], "- The pump leaks at the valve.", *lines[70:]]))
    [found] = entries_of(memory.search("pump valve"))
    assert "The pump leaks" in found.excerpt
    assert len(found.excerpt) < 1_200


def test_what_is_forgotten_is_in_the_index_no_more(memory: Memory, tmp_path: Path) -> None:
    memory.entries.capture("The password is swordfish7.")
    assert ids(memory.search("swordfish7"))
    memory.close()
    assert b"swordfish7" in (tmp_path / ".metadata" / FILE).read_bytes()
    memory.forget(text="swordfish7", apply=True)
    memory.close()
    assert b"swordfish7" not in b"".join(one.read_bytes() for one in (tmp_path / ".metadata").glob(f"{FILE}*"))
    assert ids(memory.search("swordfish7")) == []


def test_an_index_that_is_damaged_is_filled_again(memory: Memory, tmp_path: Path) -> None:
    memory.entries.capture("The pump leaks.")
    assert ids(memory.search("pump"))
    memory.close()
    (tmp_path / ".metadata" / FILE).write_bytes(b"not a database" * 1_000)
    assert ids(memory.search("pump")) == ["default/obs-2026-02-15-001"]
    with sqlite3.connect(tmp_path / ".metadata" / FILE) as tables:
        assert tables.execute("SELECT count(*) FROM entries").fetchone() == (1,)


def test_plans_and_lists_read_only_what_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(LocalStorage(tmp_path), now=lambda: NOW) as memory:
        for number in range(5):
            memory.entries.capture(f"Build {number} has passed.", "hawk", importance=0.5)
        first = memory.entries.status()
    read: list[str] = []

    def counted(storage: LocalStorage, path: str) -> Any:
        read.append(path)
        return plain(storage, path)

    plain = LocalStorage.read
    monkeypatch.setattr(LocalStorage, "read", counted)
    time.sleep(0.1)
    with Memory(LocalStorage(tmp_path), now=lambda: NOW) as memory:
        assert memory.entries.status().homes == first.homes  # what has just changed is read once more
        read.clear()
        assert len(memory.entries.list_entries("hawk")) == 5
        assert memory.entries.age().planned == ()
        assert [path for path in read if "obs-" in path] == []
        memory.entries.capture("The pump leaks.", "fury")
        read.clear()
        assert len(memory.entries.list_entries()) == 6
        assert len([path for path in read if "obs-" in path]) == 1
