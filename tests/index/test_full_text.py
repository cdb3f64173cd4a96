"""The index follows the pages, whoever changes them and whatever becomes of its file."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import strategies as st

from memory_v2.errors import StorageError
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.places import TOGETHER_BITS, pack_texts, read_places
from memory_v2.index.postings import ROW_BITS, rows_of_words
from memory_v2.index.store import FILE, IndexStore
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import readable, split_lines
from memory_v2.tree.page import Page, parse_page, read_page
from tests.tree.texts import EXAMPLES, markdown

ROOT = "# Memory\n\n- Silica uses pytest\n\n## Links\n\n- [[people]] - who is who\n"
PEOPLE = "# People\n\n- Ada likes tea (see [[memory]])\n- Bob likes milk\n"


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(tmp_path / "memory")
    storage.write("memory", ROOT.encode())
    storage.write("people", PEOPLE.encode())
    return storage


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def commit(storage: MemoryStorage, index: FullTextIndex, path: str, text: str) -> None:
    storage.write(path, text.encode())
    index.update([parse_page(path, text)], [])


def found(index: FullTextIndex, query: str) -> list[str]:
    return [hit.text for hit in index.search(query)]


def file_of(storage: LocalStorage, path: str) -> Path:
    return Path(storage.where) / f"{path}.md"


def test_a_refresh_tells_what_others_have_changed(storage: LocalStorage, cache: Path) -> None:
    index = FullTextIndex(storage, cache)
    assert set(index.refresh()) == {"memory", "people"}
    assert not index.refresh()
    file_of(storage, "memory").write_text(ROOT.replace("pytest", "ruff"))
    file_of(storage, "people").unlink()
    file_of(storage, "more").write_text("more tea\n")
    assert set(index.refresh()) == {"memory", "people", "more"}
    assert set(found(index, "pytest tea ruff")) == {"more tea", "- Silica uses ruff"}
    assert not index.refresh()


def test_a_commit_is_no_news_to_the_next_refresh(storage: LocalStorage, cache: Path) -> None:
    index = FullTextIndex(storage, cache)
    index.refresh()
    commit(storage, index, "people", PEOPLE + "- Cleo likes cocoa\n")
    assert not index.refresh()


def test_an_edit_of_the_same_size_right_after_a_commit_is_noticed(storage: LocalStorage, cache: Path) -> None:
    index = FullTextIndex(storage, cache)
    index.refresh()
    for number in range(20):
        commit(storage, index, "people", f"# People\n\nAda is {number:02}\n")
        file_of(storage, "people").write_text(f"# People\n\nBob is {number:02}\n")
        assert set(index.refresh()) == {"people"}
        assert found(index, "bob") == [f"Bob is {number:02}"]


def test_a_file_that_was_only_touched_is_not_another(storage: LocalStorage, cache: Path) -> None:
    index = FullTextIndex(storage, cache)
    index.refresh()
    os.utime(file_of(storage, "people"), (1, 1))
    assert not index.refresh()


def test_the_next_process_finds_the_index_as_it_was_left(storage: LocalStorage, cache: Path) -> None:
    FullTextIndex(storage, cache).refresh()
    assert not FullTextIndex(storage, cache).refresh()


def test_two_indexes_on_one_folder_see_each_others_commits(storage: LocalStorage, cache: Path) -> None:
    one, other = FullTextIndex(storage, cache), FullTextIndex(storage, cache)
    one.refresh()
    other.refresh()
    commit(storage, one, "people", PEOPLE + "- Cleo likes cocoa\n")
    assert found(other, "cocoa") == ["- Cleo likes cocoa"]
    assert not other.refresh()
    assert other.graph() == one.graph()
    commit(storage, other, "cocoa", "# Cocoa\n")
    assert [row.path for row in one.rows()] == ["cocoa", "memory", "people"]


TABLES = [
    "pages",
    "passages",
    "texts",
    "totals",
    "state",
    "links",
    "words_data",
    "words_idx",
    "above_data",
    "above_idx",
]


@pytest.mark.parametrize("table", TABLES)
def test_rows_that_are_missing_in_the_file_are_noticed_when_it_is_opened(
    storage: LocalStorage, cache: Path, table: str
) -> None:
    storage.write("many", "".join(f"- {number}a {number}b {number}c\n" for number in range(3_000)).encode())
    index = FullTextIndex(storage, cache)
    before = (index.search("silica tea 77b"), index.rows(), index.graph(), index.same(["Bob likes milk"]))
    index.close()
    with sqlite3.connect(cache / FILE) as file:
        file.execute(f"DELETE FROM {table}")
    file.close()
    again = FullTextIndex(storage, cache)
    again.refresh()
    assert (again.search("silica tea 77b"), again.rows(), again.graph(), again.same(["Bob likes milk"])) == before
    assert again.problems() == {}


def test_a_number_that_was_altered_in_the_file_keeps_nobody_from_answers(storage: LocalStorage, cache: Path) -> None:
    index = FullTextIndex(storage, cache)
    before = index.search("silica pytest tea", 50)
    index.close()
    with sqlite3.connect(cache / FILE) as file:
        file.execute("UPDATE passages SET first_line = 'x' WHERE id IN (SELECT id FROM passages LIMIT 2)")
    file.close()
    again = FullTextIndex(storage, cache)
    assert {hit.text for hit in again.search("silica pytest tea", 50)} == {hit.text for hit in before}
    assert again.problems() == {}


def test_a_text_that_was_altered_in_the_file_is_not_shown(storage: LocalStorage, cache: Path) -> None:
    FullTextIndex(storage, cache).refresh()
    with sqlite3.connect(cache / FILE) as file:
        [place] = [row >> ROW_BITS for row in rows_of_words(file, "pytest")]
        together = [
            number
            for (number,) in file.execute("SELECT id FROM passages ORDER BY id")
            if number >> TOGETHER_BITS == place >> TOGETHER_BITS
        ]
        stored = read_places(file, together)
        altered = [stored[one]._replace(text=stored[one].text.replace("pytest", "nobody")) for one in together]
        assert altered != [stored[one] for one in together]
        file.execute("UPDATE texts SET data = ? WHERE id = ?", (*pack_texts(altered), place >> TOGETHER_BITS))
    file.close()
    assert found(FullTextIndex(storage, cache), "pytest") == ["- Silica uses pytest"]


@pytest.mark.parametrize("data", ["zeroblob(50)", "x'00'", "substr(data, 5)", "''"])
def test_texts_that_cannot_be_expanded_are_made_anew(storage: LocalStorage, cache: Path, data: str) -> None:
    FullTextIndex(storage, cache).refresh()
    with sqlite3.connect(cache / FILE) as file:
        file.execute(f"UPDATE texts SET data = {data}")
    file.close()
    assert found(FullTextIndex(storage, cache), "pytest") == ["- Silica uses pytest"]


def test_the_index_of_another_version_is_made_anew(storage: LocalStorage, cache: Path) -> None:
    cache.mkdir()
    with sqlite3.connect(cache / FILE) as old:
        old.execute("CREATE TABLE pages (path)")
        old.execute("PRAGMA user_version = 77")
    old.close()
    assert found(FullTextIndex(storage, cache), "pytest") == ["- Silica uses pytest"]


def test_an_index_that_was_made_anew_is_as_small_as_it_can_be(storage: LocalStorage, cache: Path) -> None:
    for number in range(60):
        storage.write(f"page-{number}", "".join(f"- {number} {word}\n" for word in ROOT.split() * 20).encode())
    FullTextIndex(storage, cache).refresh()
    size = (cache / FILE).stat().st_size
    with sqlite3.connect(cache / FILE) as file:
        file.execute("VACUUM")
    file.close()
    assert (cache / FILE).stat().st_size == size


def test_an_index_that_cannot_be_made_smaller_answers(
    storage: LocalStorage, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_v2.index.store.BUSY_SECONDS", 0.0)
    index = FullTextIndex(storage, cache)
    index.refresh()
    reader = sqlite3.connect(cache / FILE, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM pages").fetchone()
    IndexStore(cache).compact()
    assert found(index, "pytest") == ["- Silica uses pytest"]
    reader.close()


def test_an_index_that_is_deleted_while_it_is_used_goes_on(storage: LocalStorage, cache: Path) -> None:
    index = FullTextIndex(storage, cache)
    index.refresh()
    (cache / FILE).unlink()
    cache.rmdir()
    assert found(index, "pytest") == ["- Silica uses pytest"]
    commit(storage, index, "people", PEOPLE + "- Cleo likes cocoa\n")
    index.refresh()
    assert set(found(index, "cocoa pytest")) == {"- Cleo likes cocoa", "- Silica uses pytest"}
    assert FullTextIndex(storage, cache).search("cocoa") == index.search("cocoa")


def test_where_there_is_no_folder_the_index_is_in_memory(storage: LocalStorage, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for folder in (None, tmp_path / "file", tmp_path / "file" / "below"):
        index = FullTextIndex(storage, folder)
        commit(storage, index, "people", PEOPLE + "- Cleo likes cocoa\n")
        assert set(found(index, "cocoa pytest")) == {"- Cleo likes cocoa", "- Silica uses pytest"}


def test_a_file_that_cannot_be_written_is_left_alone(storage: LocalStorage, cache: Path) -> None:
    (cache / FILE).mkdir(parents=True)
    assert found(FullTextIndex(storage, cache), "pytest") == ["- Silica uses pytest"]


def test_a_locked_index_holds_up_nobody(storage: LocalStorage, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_v2.index.store.BUSY_SECONDS", 0.05)
    FullTextIndex(storage, cache).refresh()
    holder = sqlite3.connect(cache / FILE, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    index = FullTextIndex(storage, cache)
    commit(storage, index, "people", PEOPLE + "- Cleo likes cocoa\n")
    assert set(found(index, "cocoa pytest")) == {"- Cleo likes cocoa", "- Silica uses pytest"}
    holder.execute("ROLLBACK")
    holder.close()
    assert set(FullTextIndex(storage, cache).refresh()) == {"people"}


def test_the_file_is_nobody_elses_to_read(storage: LocalStorage, cache: Path) -> None:
    FullTextIndex(storage, cache).refresh()
    assert (cache / FILE).stat().st_mode & 0o077 == 0


def test_a_failing_storage_is_not_taken_for_an_empty_one(storage: LocalStorage) -> None:
    class Failing(VolatileStorage):
        def stamps(self, below=""):  # type: ignore[no-untyped-def]
            raise StorageError("the disk is gone")

    with pytest.raises(StorageError, match="the disk is gone"):
        FullTextIndex(Failing(), None).search("anything")


def test_a_page_that_vanishes_while_it_is_read_is_none(storage: LocalStorage) -> None:
    class Vanishing(VolatileStorage):
        def read(self, path: str):  # type: ignore[no-untyped-def]
            self._file("gone").unlink(missing_ok=True)
            return super().read(path)

    vanishing = Vanishing()
    vanishing.write("gone", b"gone tea")
    vanishing.write("here", b"here tea")
    index = FullTextIndex(vanishing, None)
    assert found(index, "tea") == ["here tea"]
    assert [row.path for row in index.rows()] == ["here"]


def test_what_is_erased_is_gone_from_the_file_of_others_where_this_process_has_its_index_in_memory(
    storage: LocalStorage, cache: Path
) -> None:
    FullTextIndex(storage, cache).refresh()
    here = FullTextIndex(storage, None)
    here.refresh()
    pages = storage.list_files()
    for path in pages:
        storage.delete(path)
    here.erase(cache)
    with sqlite3.connect(cache / FILE) as file:
        assert file.execute("SELECT count(*) FROM texts").fetchone() == (0,)
        assert not file.execute("SELECT term FROM vocabulary").fetchall()
    file.close()
    assert b"pytest" not in (cache / FILE).read_bytes()


_PROCESS = """
import sys
from pathlib import Path
from memory_v2.index.full_text import FullTextIndex
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tree.page import parse_page

folder, cache, number = sys.argv[1:]
storage = LocalStorage(Path(folder))
index = FullTextIndex(storage, Path(cache))
for turn in range(10):
    text = f"# Page\\n\\n- process {number} turn {turn}\\n"
    storage.write(f"page-{number}", text.encode())
    index.update([parse_page(f"page-{number}", text)], [])
    index.refresh()
    hits = [hit.text for hit in index.search(f"process {number} turn {turn}", 100)]
    assert f"- process {number} turn {turn}" in hits, hits
"""


def test_a_search_may_be_kept_to_some_pages(storage: LocalStorage, cache: Path) -> None:
    index = FullTextIndex(storage, cache)
    assert {hit.path for hit in index.search("silica likes")} == {"memory", "people"}
    assert {hit.path for hit in index.search("silica likes", within={"people", "nowhere"})} == {"people"}
    assert index.search("silica likes", within=[]) == []
    assert len(index.search("likes", 1)) == 1
    assert index.search("likes", 0) == []


def test_texts_that_are_there_in_other_dress_are_the_same(storage: LocalStorage, cache: Path) -> None:
    index = FullTextIndex(storage, cache)
    texts = ["silica  uses **pytest**.", "* Bob likes milk\n", "Bob likes tea", "## People", "", "---"]
    assert index.same(texts) == {texts[0]: ("memory", 2), texts[1]: ("people", 3)}
    commit(storage, index, "people", "# People\n")
    assert index.same(texts) == {texts[0]: ("memory", 2), texts[3]: ("people", 1)}


def test_rows_tell_what_is_known_of_each_page(storage: LocalStorage, cache: Path) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    index = FullTextIndex(storage, cache)
    page = parse_page("people", PEOPLE).stamped(moment)
    storage.write("people", page.data)
    index.update([page], [])
    [memory, people] = index.rows()
    assert (people.path, people.title, people.size, people.last_updated) == ("people", "People", page.size, moment)
    assert memory.last_updated == storage.get_modified_time("memory")


def test_the_date_of_a_hit_is_else_that_of_the_last_change(storage: LocalStorage, cache: Path) -> None:
    [hit] = FullTextIndex(storage, cache).search("pytest")
    assert hit.date == storage.get_modified_time("memory").date()


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES)
def test_an_excerpt_is_what_stands_in_the_lines_it_names(text: str) -> None:
    storage = VolatileStorage()
    storage.write("page", parse_page("page", text).data)
    lines = split_lines(readable(text))
    for hit in FullTextIndex(storage, None).search(text, 100, child_links=True):
        assert hit.text in "".join(lines[hit.first_line - 1 : hit.last_line])


def test_surroundings_end_with_the_page_and_with_the_heading() -> None:
    storage = VolatileStorage()
    talk = "- Ann: Hello, Bob!\n- Bob: Hello, Ann!\n- Ann: How are you?\n- Bob: I am well, thank you.\n"
    storage.write("a", f"## 1 May 2023\n\n{talk}- Ann: Do you like zebras?\n\n## 2 May 2023\n\n{talk}".encode())
    storage.write("b", talk.encode())
    hits = FullTextIndex(storage, None).search("zebras", 100)
    assert {(hit.path, hit.section) for hit in hits} == {("a", ("1 May 2023",))}
    assert hits[0].text == "- Ann: Do you like zebras?"


_paths = st.sampled_from(["memory", "a", "b", "b/c"])
_texts = st.one_of(
    markdown, st.sampled_from([ROOT, PEOPLE, "- Ann: Hi, Bob!\n- Bob: Hi, Ann!\n- Ann: Tea?\n- Bob: Yes!\n"])
)
_QUERIES = ["words here item", "title nested code", "tea", "Ann", "[[a]] - words", "2026-01-01", "日本語"]


def _pages(storage: MemoryStorage) -> list[Page]:
    return [read_page(path, storage.read(path).data) for path in storage.list_files()]
