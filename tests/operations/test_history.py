"""What the history knows of pages that came and went, and of the text of a write."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from memory_v2.errors import NotAllowed
from memory_v2.memory import Memory
from memory_v2.models.base import Reply
from memory_v2.models.scripted import ScriptedModel
from memory_v2.storage.history import Revision
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage
from tests.operations.scenes import body, call, calls, offline, scripted
from tests.operations.test_recovery import Dead, DyingNotes
from tests.properties.whole import clock


def tree(storage: VolatileStorage) -> dict[str, bytes]:
    return {path: storage.read(path).data for path in storage.list_files()}


def test_a_root_that_was_made_anew_is_taken_away_again() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Porto is on the Douro.", "porto")
    storage.delete("memory")
    before = tree(storage)
    memory.write("Lisbon is on the Tagus.", "memory")
    memory.undo()
    assert tree(storage) == before


def test_a_page_that_nothing_linked_to_may_be_as_it_was() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Lisbon is on the Tagus.")
    storage.write("by-hand", b"# By hand\r\n\r\nMine.\r\n")
    before = tree(storage)
    memory.write("Porto is on the Douro.", "by-hand")
    moment = memory.history()[1].id
    memory.undo()
    assert tree(storage) == before
    memory.write("Faro is on the sea.", "by-hand")
    memory.restore(moment)
    assert tree(storage) == before


def test_a_link_that_led_nowhere_before_a_page_was_made_may_do_so_again() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Lisbon is on the Tagus, unlike [[porto]].", "lisbon")
    memory.checkpoints.create_checkpoint("before")
    before, moment = tree(storage), memory.history()[0].id
    for make in (memory.create, lambda path, text: memory.write(text, path)):
        make("porto", "Porto is on the Douro.")
        memory.undo()
        assert tree(storage) == before
        make("porto", "Porto is on the Douro.")
        memory.restore(moment)
        assert tree(storage) == before
        make("porto", "Porto is on the Douro.")
        memory.checkpoints.restore_checkpoint("before")
        assert tree(storage) == before


def test_a_page_to_which_others_have_linked_since_is_not_taken_away() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Lisbon is on the Tagus, unlike [[porto]].", "lisbon")
    memory.write("Faro is on the sea.", "faro")
    made = memory.create("porto", "Porto is on the Douro.").revision
    memory.replace_text("faro", "sea.", "sea, unlike [[porto]].")
    before = tree(storage)
    with pytest.raises(NotAllowed, match="other pages link"):
        memory.undo(made)
    assert tree(storage) == before


def test_a_page_that_others_hang_on_by_now_is_not_taken_away() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Lisbon is on the Tagus.")
    memory.write("Porto is on the Douro.", "towns")
    memory.write("Faro is on the sea.", "towns/faro")
    before = tree(storage)
    with pytest.raises(NotAllowed, match="was changed after"):
        memory.undo(memory.history()[1].id)
    assert tree(storage) == before


def test_a_page_that_is_brought_back_does_not_list_what_is_not_there_any_more() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Lisbon is on the Tagus.")
    memory.write("Porto is on the Douro.", "porto")
    memory.write("Faro is on the sea.", "faro")
    moment = memory.history()[0].id
    memory.delete("porto")
    memory.restore(moment, "memory")
    assert memory.check() == []
    assert "[[faro]]" in memory.read()


KNOWN = "The red flowerpot stands on the balcony."
ODD = "\nThe red   flowerpot stands\n  on the balcony.\n\n\n"


def newest(memory: Memory) -> Revision:
    return next(iter(memory.storage.history.revisions()))


def test_a_text_that_is_nothing_new_is_an_operation_of_the_history_to_the_letter() -> None:
    memory = offline()
    memory.write(KNOWN)
    before = memory.read()
    assert memory.write(ODD).outcome == "nothing new"
    assert (newest(memory).text, newest(memory).kind, newest(memory).paths) == (ODD, "write", ())
    assert newest(memory).why[0].startswith("said already")
    done = memory.history()
    assert [(one.first.text, one.paths) for one in done] == [(ODD, ()), ("", ("memory",))]
    operation, change = memory.show(done[0].id)
    assert (operation.to_dict()["changed_pages"], operation.first.to_dict()["text"], bool(change)) == ((), ODD, False)
    assert memory.read() == before
    assert memory.history("memory") == done[1:]


def test_what_changed_no_page_cannot_be_undone_and_stands_in_no_undos_way() -> None:
    memory = offline()
    memory.write(KNOWN)
    memory.write(KNOWN)
    with pytest.raises(NotAllowed, match="has changed no page"):
        memory.undo(memory.history()[0].id)
    memory.undo()
    assert memory.list_files() == []


def test_a_text_told_in_a_models_own_words_is_in_the_history_to_the_letter() -> None:
    own = "The flowerpot on the balcony: red."
    memory, _ = scripted(offline(), calls(call("insert", page="memory", after=1, text=own)))
    memory.write(KNOWN)
    assert own in body(memory)
    assert (newest(memory).text, newest(memory).paths) == (KNOWN, ("memory",))


def test_git_shows_the_text(tmp_path: Path) -> None:
    with Memory(LocalStorage(tmp_path / "memory"), now=clock) as memory:
        memory.write(KNOWN)
        memory.write(ODD)
        assert newest(memory).text == ODD
    git = ["git", "--git-dir", str(tmp_path / "memory/.metadata/history.git")]
    log = subprocess.run([*git, "log", "-1", "--format=%B"], capture_output=True, check=True, text=True).stdout
    assert "> The red   flowerpot stands\n>   on the balcony.\n" in log
    subprocess.run([*git, "fsck", "--strict"], capture_output=True, check=True)


@pytest.mark.parametrize("recorded", [True, False])
def test_a_write_that_is_killed_before_its_note_is_cleared_is_recorded_once(
    recorded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write(KNOWN)
    notes = storage.state = DyingNotes()
    record = storage.history.record

    def die(*change: object) -> str:
        if recorded:
            record(*change)  # type: ignore[arg-type]
        notes.is_dead = True
        raise Dead

    with monkeypatch.context() as patched, pytest.raises(Dead):
        patched.setattr(storage.history, "record", die)
        said = call("nothing_new", blocks="n1", said_in=[{"page": "memory", "blocks": 2}])
        Memory(storage, ScriptedModel([Reply(tool_calls=(said,))]), now=clock).write(ODD)
    notes.is_dead = False
    assert notes.names("pending") != []
    found = Memory(storage, now=clock).recover()
    assert [(one.kind, one.outcome) for one in found] == [("write", "the text stood there already")]
    assert [one.text for one in storage.history.revisions()] == [ODD, ""]
    assert notes.names("pending") == []
    assert storage.interrupted() is None
