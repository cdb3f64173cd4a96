"""Whatever happens in the middle of an import, the next run ends it, and nothing is brought in twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memory_v2.errors import ModelError, NotAllowed, StorageError, UsageError
from memory_v2.memory import Memory
from memory_v2.migrate import run as running
from memory_v2.migrate.formats import older_memory
from memory_v2.migrate.ledger import digest_of, status_of
from memory_v2.migrate.planning import check_apart, check_empty, make_plan
from memory_v2.migrate.run import Run, run
from memory_v2.models.base import Conversation, Reply, Usage
from memory_v2.models.offline import OfflinePlanner
from memory_v2.models.scripted import Answer, ScriptedModel
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.history import Change
from memory_v2.storage.s3.storage import S3Storage
from memory_v2.storage.volatile import VolatileStorage
from tests.crash.scenes import MOMENT
from tests.migrate.folder import scanned, write_files
from tests.operations.scenes import offline
from tests.properties.whole import clock, faults, pages_of
from tests.storage.s3_server import HOST, new_bucket, server

FILES = {
    **{f"cats/cat {n}.md": f"# Cat {n}\n\nThe cat number {n} likes {n} mice, and sleeps.\n" for n in range(8)},
    "big.md": "# Big\n\n" + "".join(f"## Part {n}\n\n{f'Sentence {n}. ' * 40}\n\n" for n in range(6)),
}
THRESHOLD = 2_048
PLANNER = OfflinePlanner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(running, "MAX_DOCUMENTS", 3)
    return write_files(tmp_path / "notes", FILES)


def brought(memory: Memory, folder: Path, max_cost: float | None = None) -> Run:
    return run(memory, scanned(folder), make_plan(memory, scanned(folder), folder), max_cost)


def still(storage: MemoryStorage) -> Memory:
    return Memory(storage, threshold=THRESHOLD, now=lambda: MOMENT)


def tree(memory: Memory) -> dict[str, bytes]:
    return {path: page.data for path, page in pages_of(memory.storage).items()}


class Failing(VolatileStorage):
    """A storage that fails at one of its changes."""

    def __init__(self, at: int) -> None:
        super().__init__(clock)
        self._left = at

    def commit(self, change: Change, check: Callable[[], object] | None = None) -> Change:
        self._left -= 1
        if not self._left:
            raise StorageError("no space left on the disk")
        return super().commit(change, check)


@pytest.mark.parametrize("at", range(1, 5))
def test_an_import_goes_on_after_the_storage_has_failed_anywhere(folder: Path, at: int) -> None:
    whole, memory = still(VolatileStorage(clock)), still(Failing(at))
    assert brought(whole, folder).error is None
    done = brought(memory, folder)
    assert isinstance(done.error, StorageError) or done.plan.degraded  # the latter: it was a split
    assert len(done.plan.steps) == len(FILES)
    again = still(memory.storage)
    assert brought(again, folder).error is None
    assert tree(again) == tree(whole) and not faults(pages_of(again.storage), THRESHOLD)
    assert brought(again, folder).plan.facts["totals"]["unchanged"] == len(FILES)


def test_what_was_not_reached_is_told(folder: Path) -> None:
    done = brought(still(Failing(3)), folder)
    assert str(done.error) == "no space left on the disk"
    assert done.plan.facts["totals"]["created"] == 3 and done.plan.facts["totals"]["failed"] == len(FILES) - 3
    assert {one.reason for one in done.plan.steps if status_of(one) == "failed"} == {
        "not brought in yet: no space left on the disk"
    }


def test_others_may_write_meanwhile(folder: Path) -> None:
    storage = VolatileStorage(clock)
    ended = threading.Event()

    def write() -> None:
        other, number = still(storage), 0
        while not ended.is_set() or number < 3:
            other.write(f"- line {number} of another writer", "others", "append")
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        done = brought(still(storage), folder)
    finally:
        ended.set()
        writer.join()
    assert done.error is None and done.plan.facts["totals"]["created"] == len(FILES)
    memory = still(storage)
    assert not faults(pages_of(storage), THRESHOLD) and "line 2 of another writer" in memory.read("others")


def test_two_imports_of_two_sources_may_run_at_once(folder: Path, tmp_path: Path) -> None:
    storage = VolatileStorage(clock)
    other = write_files(
        tmp_path / "other", {name.replace("cat", "dog"): f"{text}\nDogs.\n" for name, text in FILES.items()}
    )
    runs: list[Run] = []
    threads = [
        threading.Thread(target=lambda source=source: runs.append(brought(still(storage), source)))
        for source in (folder, other)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [done.plan.facts["totals"]["created"] for done in runs] == [len(FILES)] * 2
    assert not faults(pages_of(storage), THRESHOLD)
    assert brought(still(storage), other).plan.facts["totals"]["unchanged"] == len(FILES)


@pytest.mark.allow_hosts([HOST])
def test_a_bucket_takes_an_import_and_a_second_one_changes_nothing(folder: Path, tmp_path: Path) -> None:
    whole = still(VolatileStorage(clock))
    brought(whole, folder)
    with new_bucket() as bucket:
        memory = still(S3Storage(bucket, "team/memory", endpoint=server(), cache=tmp_path / "cache"))
        assert brought(memory, folder).plan.facts["totals"]["created"] == len(FILES)
        assert tree(memory) == tree(whole)
        assert brought(memory, folder).plan.facts["totals"]["unchanged"] == len(FILES)


def test_what_is_forgotten_goes_from_what_is_kept_of_imports(tmp_path: Path) -> None:
    memory = offline()
    folder = write_files(tmp_path, {"secret KX-4711.md": "# Plans\n\nSail to Skagen.\n", "a.md": "A.\n"})
    brought(memory, folder)
    memory.forget("KX-4711", apply=True)
    recorded = [revision.text for revision in memory.storage.history.revisions() if revision.kind == "import"]
    assert recorded and not any("KX-4711" in text for text in recorded)
    assert brought(memory, folder).plan.facts["totals"]["created"] == 0


def priced(answer: Callable[[Conversation], Answer] = PLANNER.respond) -> ScriptedModel:
    """A model that decides as the planner does, for a tenth of a dollar each time."""

    def respond(conversation: Conversation) -> Answer:
        reply = answer(conversation)
        return replace(reply, usage=Usage(1_000, 10), money=0.1) if isinstance(reply, Reply) else reply

    return ScriptedModel(respond, "anthropic:claude-sonnet-4-5")


def with_model(memory: Memory, model: ScriptedModel) -> Memory:
    return Memory(memory.storage, model, now=clock)


def test_a_model_works_in_what_is_small_and_the_rest_becomes_pages(tmp_path: Path) -> None:
    long = "# Boats\n\n" + "".join(f"The boat number {n} lies in the harbour of Fanø.\n\n" for n in range(30))
    folder = write_files(
        tmp_path, {"note.md": "Ada keeps the books.\n", "boats.md": long, "more.md": f"{long}One more.\n"}
    )
    memory, model = with_model(offline(), priced()), priced()
    memory = with_model(memory, model)
    plan = make_plan(memory, scanned(folder), folder)
    assert {step.name: (step.action, step.reason) for step in plan.steps} == {
        "boats.md": ("create", ""),
        "more.md": ("merge", "it is much like boats.md"),
        "note.md": ("merge", "it is small"),
    }
    assert plan.facts["requests"] == 2 and 0.0 < plan.facts["estimated_cost"] < 1.0
    done = run(memory, scanned(folder), plan)
    assert done.plan.facts["totals"]["merged"] == 2 and done.plan.cost.calls == len(model.sent) >= 2
    assert {one.first.kind for one in memory.history()} == {"import", "write"}
    text = "".join(map(memory.read, memory.storage.list_files()))
    assert "Ada keeps the books." in text and "note.md" in text
    assert brought(memory, folder).plan.facts["totals"]["unchanged"] == 3 and done.plan.cost.calls == len(model.sent)


def test_what_refers_to_others_or_is_referred_to_keeps_its_page_so_that_the_links_lead_somewhere(
    tmp_path: Path,
) -> None:
    files = {
        "ada.md": "Ada keeps the books.\n\nSee [him](work/bob.md).\n",
        "cat.md": "The cat is grey.\n",
        "work/bob.md": "Bob.\n",
    }
    folder, memory = write_files(tmp_path, files), with_model(offline(), priced())
    done = brought(memory, folder)
    assert {one.name: (status_of(one), one.target) for one in done.plan.steps} == {
        "ada.md": ("created", "ada"),
        "cat.md": ("merged", "cat"),
        "work/bob.md": ("created", "work/bob"),
    }
    assert "Related: [[work/bob|Bob]]" in memory.read("ada")


def test_the_log_of_a_day_stays_with_those_of_the_other_days_however_short_it_is(tmp_path: Path) -> None:
    files = {f"log/2026-05-0{day}.md": f"Day {day}.\n" for day in range(1, 4)}
    folder, memory = write_files(tmp_path, files), with_model(offline(), priced())
    done = brought(memory, folder)
    assert {one.target: status_of(one) for one in done.plan.steps} == {
        f"log/2026-05-0{day}": "created" for day in range(1, 4)
    }


def test_a_small_document_with_sections_of_its_own_keeps_them_on_a_page(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path, {"ada.md": "# Ada\n\n- Books\n\n## Context\n\nShe is new.\n", "bob.md": "# Bob\n\nBoats.\n"}
    )
    plan = make_plan(with_model(offline(), priced()), scanned(folder), folder)
    assert {step.name: step.action for step in plan.steps} == {"ada.md": "create", "bob.md": "merge"}


def test_a_document_that_a_model_worked_in_and_that_has_changed_is_worked_in_again(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"note.md": "Ada keeps the books.\n"})
    memory = with_model(offline(), priced())
    brought(memory, folder)
    write_files(folder, {"note.md": "Ada keeps the books.\n\nBob paints the boats.\n"})
    assert brought(memory, folder).plan.facts["totals"]["merged"] == 1
    assert "Bob paints the boats." in "".join(map(memory.read, memory.storage.list_files()))


def small_notes(folder: Path, number: int) -> Path:
    return write_files(
        folder, {f"note {n}.md": f"Fact {n}: the {n}th boat is {n} meters long.\n" for n in range(number)}
    )


def test_a_provider_that_fails_halfway_stops_the_import_and_the_next_run_goes_on(tmp_path: Path) -> None:
    folder = small_notes(tmp_path, 6)
    memory, answers = offline(), iter(range(2))

    def failing(conversation: Conversation) -> Answer:
        return PLANNER.respond(conversation) if next(answers, None) is not None else ModelError("no connection")

    done = brought(with_model(memory, priced(failing)), folder)
    assert isinstance(done.error, ModelError) and "no connection" in str(done.error)
    assert done.plan.facts["totals"]["merged"] == 3 and done.plan.facts["totals"]["failed"] == 3
    assert brought(with_model(memory, priced()), folder).plan.facts["totals"] == {
        **done.plan.facts["totals"],
        "merged": 3,
        "failed": 0,
        "unchanged": 3,
    }


def test_no_request_is_begun_after_the_limit_of_the_cost(tmp_path: Path) -> None:
    folder = small_notes(tmp_path, 6)
    memory, model = offline(), priced()
    done = brought(with_model(memory, model), folder, max_cost=0.15)
    assert isinstance(done.error, NotAllowed) and "the limit of 0.15 dollars was reached" in str(done.error)
    assert (
        len(model.sent) == 2 and done.plan.facts["totals"]["merged"] == 2 and done.plan.cost.money == pytest.approx(0.2)
    )


def test_a_source_in_the_memory_or_around_it_is_refused(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory", "offline")
    for source in (tmp_path / "memory", tmp_path / "memory" / "projects", tmp_path):
        with pytest.raises(UsageError, match="inside"):
            check_apart(memory, source)
    check_apart(memory, tmp_path / "notes")
    check_apart(Memory.open(tmp_path / "notes" / ".silica" / "memory", "offline"), tmp_path / "notes")


def test_a_memory_with_pages_of_its_own_is_not_empty_and_one_that_began_to_migrate_may_go_on(folder: Path) -> None:
    memory = offline()
    check_empty(memory, folder)
    brought(memory, folder)
    check_empty(memory, folder)
    with pytest.raises(NotAllowed, match="is not empty: add --merge"):
        check_empty(memory, folder.parent)


def test_the_older_memory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError, match="there is no older memory in"):
        older_memory()
    (tmp_path / ".silica" / "memory").mkdir(parents=True)
    assert older_memory() == tmp_path / ".silica" / "memory"
    (tmp_path / ".hdev" / "memory").mkdir(parents=True)
    assert older_memory() == tmp_path / ".hdev" / "memory"
    (tmp_path / ".silica" / "personas" / "coder" / "memory").mkdir(parents=True)
    assert older_memory("coder") == tmp_path / ".silica" / "personas" / "coder" / "memory"


def test_equal_texts_have_equal_digests() -> None:
    assert digest_of("a\udcff") == digest_of("a\udcff") != digest_of("a")


def test_each_document_that_a_model_divides_has_the_limits_of_an_operation(tmp_path: Path) -> None:
    words = ("boats", "roses", "clocks")
    parts = {
        word: "".join(f"## Of {word} {word}{n}\n\n{f'All {word} are old. ' * 60}\n\n" for n in range(12))
        for word in words
    }
    folder = write_files(tmp_path, {f"{word}.md": f"# {word}\n\n{text}" for word, text in parts.items()})
    memory = with_model(offline(), priced())
    done = brought(memory, folder)
    assert (
        done.plan.facts["totals"]["created"] == 3
        and len(done.plan.facts["operations"]) == 3
        and done.plan.cost.calls == 3
    )
    assert not done.plan.degraded


def test_a_document_that_cannot_be_worked_in_fails_alone(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"blank.md": "\u200b\n", "note.md": "Ada keeps the books.\n"})
    done = brought(with_model(offline(), priced()), folder)
    assert {one.name: status_of(one) for one in done.plan.steps} == {"blank.md": "failed", "note.md": "merged"}
    assert "the text is empty" in next(one.reason for one in done.plan.steps if status_of(one) == "failed")
