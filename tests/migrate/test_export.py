"""What is exported is the tree: to the letter, readable elsewhere, and written whole or not at all."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.errors import StorageError, UsageError
from memory_v2.memory import Memory
from memory_v2.migrate.export import export, exported_data, exported_pages
from memory_v2.migrate.exported_page import file_text, read_file
from memory_v2.migrate.formats import scan_paths
from memory_v2.migrate.ledger import imported_from
from memory_v2.migrate.planning import make_plan
from memory_v2.migrate.run import run
from memory_v2.migrate.scan import Scan
from memory_v2.migrate.verify import verify
from memory_v2.tree.block import decode, parse_blocks
from memory_v2.tree.front_matter import read_front_matter
from tests.migrate.brought import brought, document, scan_of
from tests.operations.scenes import SMALL, offline
from tests.tree.texts import EXAMPLES, STEADY

HARD = {name: text for name, text in EXAMPLES.items() if text.strip("\ufeff \t\n")}
LONG = "# Log\n\n" + "".join(f"## Day {n}\n\nOn day {n} the {n}th leek was planted.\n\n" for n in range(60))
FRONT = "---\ntitle: Garden\nsource: mine\n---\n\n# Garden\n\nLeeks, see [[projects/silica|Silica]].\n"


def a_memory() -> Memory:
    memory = offline()
    memory.create("projects", "# Projects\n\nOne so far.\n")
    memory.write("# Silica (the *memory*)\n\nIt uses pytest.", path="projects/silica", mode="replace")
    memory.create("garden", FRONT)
    memory.write("Beans climb.", path="people/ada b", source="talks/2026-02-03.md")
    return memory


def read_again(folder: Path) -> Scan:
    files = sorted(folder.rglob("*.md"))
    names = [file.relative_to(folder).as_posix() for file in files]
    texts = [read_file(decode(file.read_bytes()))[1] for file in files]
    return scan_of(*(document(name, text) for name, text in zip(names, texts, strict=True) if text.strip()))


def test_entries_go_with_the_pages_in_every_form_and_come_back_as_entries(tmp_path: Path) -> None:
    memory = a_memory()
    odd = "entries/agents/hawk/memory/archive/obs-2026-02-01-001"
    captured = memory.entries.capture("CTR fell.\n\n# By 12%\n", "hawk", tags=["ctr"])
    memory.storage.write(odd, b"---\nown:   [ 1,2 ]\n---\nodd \xff\r\n")
    memory.entries.set_domains('[garden]\nkeywords = ["leek"]\n')
    paths = {stamp.path for stamp in memory.storage.stamps("entries")}
    done = export(memory, tmp_path / "out")
    assert (done.pages, done.entries, done.files) == (5, 2, 8)
    there = {path: (tmp_path / "out" / f"{path}.md").read_bytes() for path in paths}
    assert there == {path: memory.storage.read(path).data for path in paths}
    rows = [json.loads(line) for line in exported_data(memory, "jsonl")[0].splitlines()]
    told = {row["path"]: row.get("entry", {}) for row in rows if row["path"] in paths}
    assert told.keys() == paths
    assert told[odd]["text"] == "odd \udcff\r\n"
    assert captured.id in {one.get("id") for one in told.values()}
    whole = exported_data(memory, "file")[0].decode()
    assert whole.index("# Entries") < whole.index(captured.id) < whole.index("> # By 12%")
    [(_, scan)] = scan_paths([tmp_path / "out"])
    assert not [one for one in scan.documents if one.name.startswith("entries/")]
    assert {left.name for left in scan.left_out if "entries" in left.reason} == {f"{path}.md" for path in paths}


def contents(text: str) -> list[str]:
    return [block.content for block in parse_blocks(text)]


def test_a_folder_has_a_file_for_each_page_and_its_children_below_it(tmp_path: Path) -> None:
    done = export(a_memory(), tmp_path / "out")
    files = {file.relative_to(tmp_path / "out").as_posix() for file in (tmp_path / "out").rglob("*.md")}
    assert files == {"memory.md", "projects.md", "projects/silica.md", "garden.md", "people/ada b.md"}
    assert (done.pages, done.files) == (5, 5)


def test_pages_below_are_links_that_any_reader_follows(tmp_path: Path) -> None:
    export(a_memory(), tmp_path)
    assert "](people/ada%20b.md)" in (tmp_path / "memory.md").read_text("utf-8")
    assert "- [Silica (the memory)](projects/silica.md)" in (tmp_path / "projects.md").read_text("utf-8")


def test_what_the_program_knows_is_front_matter(tmp_path: Path) -> None:
    export(a_memory(), tmp_path)
    text = (tmp_path / "people" / "ada b.md").read_text("utf-8")
    assert read_front_matter(text).date == date(2026, 2, 3)
    assert 'source: "talks/2026-02-03.md"' in text or "source: talks/2026-02-03.md" in text
    garden = (tmp_path / "garden.md").read_text("utf-8")
    assert garden.startswith("---\ntitle: Garden\nsource: mine\nsilica_page: garden\n---\n")


def test_an_exported_folder_is_read_again_to_the_letter(tmp_path: Path) -> None:
    memory = a_memory()
    export(memory, tmp_path)
    again = {one.place: one.text for one in read_again(tmp_path).documents}
    assert again == {exported.page.path: exported.text for exported in exported_pages(memory)[0]}


@pytest.mark.parametrize("text", [LONG, LONG.replace("\n", "\r\n"), "# One\n\n" + 3_000 * "A long line. "])
def test_what_was_divided_is_whole_again_after_an_export_and_an_import(text: str, tmp_path: Path) -> None:
    memory = offline(SMALL)
    scan = scan_of(document("log.md", text))
    brought(memory, scan)
    export(memory, tmp_path)
    other = offline(SMALL)
    exported = read_again(tmp_path)
    assert verify(other, exported, brought(other, exported)).is_complete
    export(other, tmp_path, force=True)
    twice = [content for one in read_again(tmp_path).documents for content in contents(one.text)]
    assert {content.lstrip("# ") for content in contents(text)} <= {content.lstrip("# ") for content in twice}
    assert not list(tmp_path.rglob("part-*.md"))


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_hard_texts_are_found_and_keep_their_blocks(text: str, tmp_path: Path) -> None:
    memory, scan = offline(), scan_of(document("hard.md", text), document("hard/below.md", "# Below\n\nMore.\n"))
    assert verify(memory, scan, brought(memory, scan)).is_complete
    before = contents(next(exported.text for exported in exported_pages(memory)[0] if exported.page.path == "hard"))
    export(memory, tmp_path / "folder", "folder")
    documents = {one.place: one.text for one in read_again(tmp_path / "folder").documents}
    export(memory, tmp_path / "rows", "jsonl")
    rows = map(json.loads, (tmp_path / "rows").read_text("utf-8").splitlines())
    assert contents(documents["hard"]) == contents({row["path"]: row["text"] for row in rows}["hard"]) == before


@STEADY
@given(st.text(st.sampled_from("a\n-: #`|.<>!\r"), max_size=40))
def test_a_text_with_marks_of_the_export_in_it_is_not_cut(text: str) -> None:
    memory = offline()
    memory.create("a", f"# A\n\n{text}\n\n<!-- silica: the pages below -->\n\nx\n\n---\nsilica_page: b\n---\n")
    (exported,) = (exported for exported in exported_pages(memory)[0] if exported.page.path == "a")
    assert contents(read_file(file_text(exported))[1]) == contents(exported.text)


def test_one_file_has_the_pages_in_the_order_of_the_tree_with_lower_headings() -> None:
    data, _ = exported_data(a_memory(), "file")
    headings = [line for line in data.decode().splitlines() if line.startswith("#")]
    assert headings == ["# Memory", "## Projects", "### Silica (the *memory*)", "## Garden", "## Ada b"]
    assert "```yaml\ntitle: Garden\nsource: mine\n```" in data.decode()
    assert "*Source: talks/2026-02-03.md · 2026-02-03*" in data.decode()


def test_a_line_of_json_has_what_is_known_of_a_page() -> None:
    data, _ = exported_data(a_memory(), "jsonl")
    rows = {row["path"]: row for row in map(json.loads, data.splitlines())}
    assert next(iter(rows)) == "memory"
    assert rows["projects/silica"]["parent"] == "projects"
    assert rows["people/ada b"]["source"] == "talks/2026-02-03.md"
    assert rows["people/ada b"]["date"] == "2026-02-03"
    assert rows["garden"]["links"] == ["projects/silica"]
    assert rows["garden"]["text"] == FRONT


def test_a_place_that_is_taken_is_refused_unless_it_is_forced(tmp_path: Path) -> None:
    memory = a_memory()
    (tmp_path / "mine.md").write_text("mine")
    (tmp_path / "garden.md").write_text("mine too")
    with pytest.raises(UsageError, match="not empty"):
        export(memory, tmp_path)
    assert (tmp_path / "garden.md").read_text() == "mine too"
    export(memory, tmp_path, force=True)
    assert (tmp_path / "mine.md").read_text() == "mine"
    assert "Leeks" in (tmp_path / "garden.md").read_text("utf-8")
    with pytest.raises(UsageError, match="is a file"):
        export(memory, tmp_path / "mine.md")
    with pytest.raises(UsageError, match="is there already"):
        export(memory, tmp_path / "mine.md", "file")
    with pytest.raises(UsageError, match="is a folder"):
        export(memory, tmp_path, "jsonl")


@pytest.mark.parametrize("place", ["memory", "memory/out", "."])
def test_a_memory_is_not_exported_into_itself(place: str, tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory")
    memory.write("One.")
    with pytest.raises(UsageError, match="the memory itself"):
        export(memory, tmp_path / place, force=True)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that cannot be written")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StorageError, match="permission"):
        export(a_memory(), tmp_path / "out")


def test_a_failure_leaves_no_half_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "one.md").write_text("as it was")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StorageError, match="full"):
        export(a_memory(), tmp_path / "one.md", "file", force=True)
    assert [file.name for file in tmp_path.iterdir()] == ["one.md"]
    assert (tmp_path / "one.md").read_text() == "as it was"


def test_a_page_out_of_reach_is_exported_too(tmp_path: Path) -> None:
    memory = a_memory()
    memory.storage.write("lost", b"# Lost\n\nNobody links here.\n")
    export(memory, tmp_path)
    assert (tmp_path / "lost.md").exists()


def test_an_exported_memory_is_imported_again_page_by_page(tmp_path: Path) -> None:
    memory, other = a_memory(), offline()
    memory.write("On the root.", path="memory", mode="append")
    export(memory, tmp_path)
    ((source, scan),) = scan_paths([tmp_path])
    assert scan.format == "silica-export"
    assert run(other, scan, make_plan(other, scan, source)).error is None
    before, after = ({exported.page.path: exported for exported in exported_pages(one)[0]} for one in (memory, other))
    assert {path: exported.text for path, exported in before.items() if path != "memory"}.items() <= {
        path: exported.text for path, exported in after.items()
    }.items()
    ada, again = before["people/ada b"], after["people/ada b"]
    assert (again.text, again.source, again.day) == (ada.text, ada.source, ada.day)
    assert again.description.endswith(ada.description)
    assert "On the root." in after["memory"].text
    assert verify(other, scan, imported_from(other.storage, source)).is_complete


@pytest.mark.parametrize(
    "title", ["**Kilns** of [[memory|ours]]", "`kiln.py`: how it fires", "A kiln that " + "burns and " * 20 + "glows"]
)
def test_a_line_that_lists_a_page_is_the_same_after_an_export_and_an_import(title: str, tmp_path: Path) -> None:
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "kiln.md").write_text(f"# {title}\n\nIt is fired on Mondays, with oak.\n")
    told = set()
    for number in range(3):
        memory = offline()
        ((source, scan),) = scan_paths([tmp_path / str(number)])
        assert run(memory, scan, make_plan(memory, scan, source)).error is None
        (exported,) = (exported for exported in exported_pages(memory)[0] if exported.page.path != "memory")
        told.add(exported.description)
        export(memory, tmp_path / str(number + 1))
    assert len(told) == 1


def test_a_root_without_a_text_is_left_out_of_an_import(tmp_path: Path) -> None:
    export(a_memory(), tmp_path)
    ((_, scan),) = scan_paths([tmp_path])
    assert [(one.name, one.is_expected) for one in scan.left_out] == [("memory.md", True)]
    (tmp_path / "mine.md").write_text("A file of mine.\n")
    ((_, scan),) = scan_paths([tmp_path])
    assert "A file of mine.\n" in {one.text for one in scan.documents}
