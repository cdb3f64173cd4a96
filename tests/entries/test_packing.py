"""Old entries of low importance are packed in the archive: many in a file, each to the byte, and all still there."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2 import Memory
from memory_v2.entries.entry_paths import MAX_BYTES, can_be_packed, entry_name, read_pack, stored_changes
from memory_v2.entries.files import open_index
from memory_v2.errors import InvalidSetting, NotAllowed, StorageConflict
from memory_v2.index.store import IndexStore
from memory_v2.operations.results import EntryResult
from memory_v2.storage.base import Stored
from memory_v2.storage.history import PageChange
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.days import UTC_DAYS
from tests.entries.made import files

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
HAWK = "entries/agents/hawk/memory"
PACK = f"{HAWK}/archive/packed/2026-02-001"
FIRST, SECOND = "hawk/obs-2026-02-15-001", "hawk/obs-2026-02-16-001"


def captured(memory: Memory) -> None:
    memory.entries.capture("The pixel of the shop was broken.", "hawk", date="2026-02-15", importance=0.1)
    memory.entries.capture(
        "It was broken until Tuesday.", "hawk", date="2026-02-16", importance=0.2, references=[f"corrects {FIRST}"]
    )
    memory.entries.capture("The shop moves to Porto.", "hawk", date="2026-02-16", importance=0.9)
    memory.entries.capture("The shop opens at nine.", "hawk", date="2026-02-17")
    memory.entries.capture("The shop has a new lamp.", "hawk", date="2026-05-20", importance=0.1)


def test_what_is_old_and_of_low_importance_is_packed_and_undo_brings_every_byte_back(
    memory: Memory, tmp_path: Path
) -> None:
    captured(memory)
    memory.entries.pick_up()
    before = files(tmp_path)
    shown = memory.entries.pack()
    assert [one.name for one in shown.planned] == [FIRST, SECOND]
    assert files(tmp_path) == before
    done = memory.entries.pack(apply=True)
    assert done == shown
    assert sorted(files(tmp_path)) == [
        f"{PACK}.md",
        *(f"{HAWK}/vault/{name}.md" for name in ("2026-02/obs-2026-02-16-002", "2026-02/obs-2026-02-17-001")),
        f"{HAWK}/vault/2026-05/obs-2026-05-20-001.md",
    ]
    assert memory.history()[0].first.kind == "pack"
    assert memory.entries.pack(apply=True).revision is None
    memory.undo()
    assert files(tmp_path) == before


def test_what_says_no_importance_is_packed_once_it_is_in_the_archive(memory: Memory) -> None:
    memory.entries.capture("The shop opens at nine.", "hawk", date="2026-02-17", decay="ttl-7d")
    assert not memory.entries.pack(apply=True).planned
    memory.entries.age(apply=True)
    assert [one.name for one in memory.entries.pack(apply=True).planned] == ["hawk/obs-2026-02-17-001"]
    assert memory.entries.list_entries(archived=True)[0].text == "The shop opens at nine.\n"


def test_a_packed_entry_is_found_shown_and_referred_to(memory: Memory) -> None:
    captured(memory)
    entry = memory.entries.read_entry(FIRST)
    assert memory.entries.pack(apply=True).revision
    assert memory.entries.read_entry(FIRST).text == entry.text
    assert memory.entries.read_entry("obs-2026-02-15-001" if memory.entries.store.agent == "hawk" else FIRST).archived
    assert [(one.relation, one.target) for one in memory.entries.referred_to_by(FIRST)] == [("corrects", SECOND)]
    assert not [one for one in memory.search("Was the pixel broken?") if one.path == PACK]
    hit = memory.search("Was the pixel broken?", archived=True)[0]
    assert isinstance(hit, EntryResult)
    assert (hit.entry, hit.path) == (FIRST, PACK)
    lines = (Path(memory.storage.where) / f"{PACK}.md").read_text().splitlines()
    assert lines[hit.lines[0] - 1 : hit.lines[1]] == ["The pixel of the shop was broken."]
    crossed = memory.search("pixel", archived=True, cross=True)
    assert {one.entry for one in crossed if isinstance(one, EntryResult)} >= {FIRST, SECOND}
    assert not memory.check()


def test_the_lines_of_a_hit_are_those_of_the_pack_after_an_edit_above_it(memory: Memory, tmp_path: Path) -> None:
    captured(memory)
    memory.entries.pack(apply=True)
    memory.search("until Tuesday", archived=True)
    file = tmp_path / f"{PACK}.md"
    file.write_text(file.read_text().replace("was broken.\n", "was broken.\nBy hand.\n"))
    hit = memory.search("until Tuesday", archived=True)[0]
    assert isinstance(hit, EntryResult)
    assert hit.entry == SECOND
    assert file.read_text().splitlines()[hit.lines[0] - 1] == "It was broken until Tuesday."
    assert memory.entries.list_entries(archived=True)[0].text == "The pixel of the shop was broken.\nBy hand.\n"


def test_the_header_of_a_packed_entry_can_be_changed_and_the_others_stay_to_the_byte(
    memory: Memory, tmp_path: Path
) -> None:
    captured(memory)
    memory.entries.pack(apply=True)
    before = (tmp_path / f"{PACK}.md").read_bytes()
    memory.entries.retract(FIRST, "it was the cache")
    entry = memory.entries.read_entry(FIRST)
    assert (entry.status, entry.retracted, entry.archived) == ("closed", "it was the cache", True)
    after = (tmp_path / f"{PACK}.md").read_bytes()
    assert after.replace(b"status: closed\nretracted: it was the cache\n", b"") == before
    memory.undo()
    assert (tmp_path / f"{PACK}.md").read_bytes() == before


def test_a_pack_takes_in_more_until_it_is_full(memory: Memory) -> None:
    long = "word " * (MAX_BYTES // 12)
    for turn in range(3):
        memory.entries.capture(f"{turn} {long}", "hawk", date=f"2026-02-1{turn}", importance=0.0)
        memory.entries.pack(apply=True)
    packs = memory.entries.store.stored.packs("hawk", "2026-02")
    assert [stamp.path.rpartition("-")[2] for stamp in packs] == ["001", "002"]
    assert all(stamp.size <= MAX_BYTES for stamp in packs)
    assert len(memory.entries.list_entries(archived=True)) == 3


def test_a_number_in_a_pack_is_not_taken_again(memory: Memory, tmp_path: Path) -> None:
    captured(memory)
    memory.entries.pack(apply=True)
    memory.entries.close()
    for file in (tmp_path / ".metadata").glob("entries.sqlite*"):
        file.unlink()
    assert memory.entries.capture("Something else.", "hawk", date="2026-02-15").id == "hawk/obs-2026-02-15-002"
    assert not memory.check()


def test_what_is_captured_while_entries_are_packed_is_kept(memory: Memory, tmp_path: Path) -> None:
    captured(memory)

    def capture() -> None:
        with Memory(LocalStorage(tmp_path), now=lambda: NOW) as other:
            for turn in range(40):
                other.entries.capture(f"Turn {turn}.", "hawk", date="2026-02-15", importance=0.1)

    writer = threading.Thread(target=capture)
    writer.start()
    while writer.is_alive():
        memory.entries.pack(apply=True)
    writer.join()
    memory.entries.pack(apply=True)
    texts = [one.text for one in memory.entries.list_entries(archived=True) if one.text.startswith("Turn")]
    assert sorted(texts) == sorted(f"Turn {turn}.\n" for turn in range(40))
    assert not memory.check()


def test_an_entry_that_looks_like_a_pack_keeps_its_own_file(memory: Memory) -> None:
    text = "How packs look:\n\n# Entry obs-2026-02-15-009\ntext"
    memory.entries.capture(text, "hawk", date="2026-02-15", importance=0.1)
    plan = memory.entries.pack(apply=True)
    assert not plan.planned
    assert [(one.kind, one.path) for one in plan.warnings] == [("not-packed", FIRST)]
    assert memory.entries.read_entry(FIRST).text == f"{text}\n"


def test_what_is_wrong_in_a_pack_is_told_with_file_and_line(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / f"{PACK}.md"
    file.parent.mkdir(parents=True)
    file.write_text(
        "# Old\n# Entry a/b\nlost?\n# Entry obs-2026-02-15-001\n---\ncreated: never\n---\nOne.\n\n"
        "# Entry obs-2026-02-15-001\nTwo.\n\n"
    )
    empty = tmp_path / f"{HAWK}/archive/packed/2026-03-001.md"
    empty.write_text("Nothing here.\n")
    own = tmp_path / f"{HAWK}/vault/obs-2026-02-15-001.md"
    own.parent.mkdir()
    own.write_text("Three.\n")
    found = {(one.kind, one.path, one.line) for one in memory.check()}
    assert found == {
        ("bad-pack", PACK, 2),
        ("bad-pack", PACK, 10),
        ("bad-date", PACK, 6),
        ("bad-pack", f"{HAWK}/archive/packed/2026-03-001", 1),
        ("same-id", PACK, 0),
        ("same-id", f"{HAWK}/vault/obs-2026-02-15-001", 0),
    }


def test_a_file_that_a_pack_hides_is_told(memory: Memory, tmp_path: Path) -> None:
    captured(memory)
    memory.entries.pack(apply=True)
    (tmp_path / PACK).mkdir()
    (tmp_path / PACK / "obs-2026-02-15-001.md").write_text("By hand.\n")
    (tmp_path / PACK / "obs-2026-02-15-009.md").write_text("Beside the pack.\n")
    assert [(one.kind, one.path) for one in memory.check()] == [("hidden-entry", f"{PACK}/obs-2026-02-15-001")]
    assert memory.entries.read_entry(FIRST).text == "The pixel of the shop was broken.\n"
    assert memory.entries.read_entry("hawk/obs-2026-02-15-009").text == "Beside the pack.\n"


def test_packs_are_brought_into_another_memory_and_into_a_checkpoint(memory: Memory, tmp_path: Path) -> None:
    captured(memory)
    memory.entries.pack(apply=True)
    given = {f"vault/{name.removeprefix('entries/')}": data for name, data in files(tmp_path).items()}
    with Memory(VolatileStorage(), now=lambda: NOW) as other:
        assert other.entries.import_files(given, apply=True).revision
        assert other.entries.list_entries(archived=True) == memory.entries.list_entries(archived=True)
        again = other.entries.import_files(given, apply=True)
        assert (again.revision, len(again.skipped)) == (None, 5)
    memory.checkpoints.create_checkpoint("packed")
    before = files(tmp_path)
    memory.entries.retract(FIRST, "no")
    memory.checkpoints.restore_checkpoint("packed")
    assert files(tmp_path) == before


def test_an_operation_whose_pack_has_changed_since_is_not_undone_alone(memory: Memory, tmp_path: Path) -> None:
    captured(memory)
    first = memory.entries.pack(apply=True).revision
    memory.entries.capture("The lamp is out.", "hawk", date="2026-02-20", importance=0.1)
    assert first is not None and memory.entries.pack(apply=True).revision
    before = files(tmp_path)
    with pytest.raises(NotAllowed):
        memory.undo(first)
    assert files(tmp_path) == before


def test_what_is_forgotten_goes_out_of_its_pack_and_the_other_entries_stay(memory: Memory, tmp_path: Path) -> None:
    captured(memory)
    memory.entries.pack(apply=True)
    memory.forget("pixel of the shop", apply=True)
    assert [one.text for one in memory.entries.list_entries(archived=True)][:2] == [
        "The (forgotten) was broken.\n",
        "It was broken until Tuesday.\n",
    ]
    assert b"pixel of the shop" not in b"".join(files(tmp_path).values())


def test_an_entry_that_is_called_as_packs_are_does_not_become_one(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / f"{HAWK}/vault/packed/2026-02-007.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\ncreated: 2026-02-01\ndecay: ttl-3d\n---\nOdd.\n")
    memory.entries.age(apply=True)
    entries = memory.entries.list_entries(archived=True)
    assert [(one.id, one.text) for one in entries] == [("hawk/2026-02-007", "Odd.\n")]
    assert not memory.check()


def test_a_pack_with_ends_of_lines_as_windows_has_them_is_read(memory: Memory, tmp_path: Path) -> None:
    captured(memory)
    memory.entries.pack(apply=True)
    file = tmp_path / f"{PACK}.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert memory.entries.read_entry(SECOND).text == "It was broken until Tuesday.\r\n"
    assert not memory.check()


def test_a_scan_of_the_entries_reads_a_pack_once(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        memory.entries.capture(f"Lamp {number} was broken.", "hawk", date="2026-02-15", importance=0.1)
    memory.entries.pack(apply=True)
    store, index = memory.entries.store, open_index(memory.storage, UTC_DAYS, IndexStore(None))
    asked: list[str] = []
    read = memory.storage.read

    def counted(path: str) -> Stored:
        asked.append(path)
        return read(path)

    monkeypatch.setattr(memory.storage, "read", counted)
    assert len(list(store.read_files())) == 20
    assert asked in ([PACK], [PACK] * 2)  # for the names in it, unless they are known, and for the entries
    asked.clear()
    index.refresh()
    assert len(index.files()) == 20
    assert asked == [PACK] * 2


@pytest.mark.parametrize("given", [{"older_than": 0}, {"older_than": -3}, {"importance": 2.0}])
def test_what_cannot_be_packed_by_is_refused(memory: Memory, given: dict[str, float]) -> None:
    with pytest.raises(InvalidSetting):
        memory.entries.pack(**given)  # type: ignore[arg-type]


DATA = st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"# Entry x", b"# Entry", b"---", b"\xff", b"\xef\xbb\xbf"]))


@given(st.lists(DATA.map(b"".join), min_size=1, max_size=4), st.data())
def test_entries_come_out_of_a_pack_to_the_byte(texts: list[bytes], chance: st.DataObject) -> None:
    kept = {entry_name("2026-02-15", turn): text for turn, text in enumerate(texts, 1)}
    kept = {name: text for name, text in kept.items() if can_be_packed(name, text)}
    pack: bytes | None = None
    for name, text in kept.items():
        [change] = stored_changes([PageChange(f"{PACK}/{name}", None, text)], lambda _: pack)  # noqa: B023
        pack = change.after
    while kept and pack is not None:
        assert {one.name: one.data for one in read_pack(pack).entries.values()} == kept
        name = chance.draw(st.sampled_from(sorted(kept)))
        with pytest.raises(StorageConflict):
            stored_changes([PageChange(f"{PACK}/{name}", b"other", None)], lambda _: pack)  # noqa: B023
        [change] = stored_changes([PageChange(f"{PACK}/{name}", kept.pop(name), None)], lambda _: pack)  # noqa: B023
        pack = change.after
    assert pack is None
