"""What a check finds, with page and line, and what it mends."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from memory_v2.memory import Memory
from memory_v2.operations.check import known_targets
from memory_v2.operations.draft import Draft
from memory_v2.operations.page_lines import outdated_lines
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tree.block import Block
from memory_v2.tree.headings import digest
from tests.operations.scenes import SMALL, body, offline
from tests.properties.whole import faults, pages_of, stands

T = TypeVar("T")
METADATA = "## Metadata\n\nlast_updated: 2026-01-01T00:00:00Z\nsize_bytes: 1\n"


def made_of(pages: dict[str, str], threshold: int = SMALL) -> Memory:
    memory = offline(threshold)
    for path, text in pages.items():
        memory.storage.write(path, text.encode("utf-8", "surrogateescape"))
    return memory


def kinds(memory: Memory) -> list[tuple[str, str, int]]:
    return [(finding.kind, finding.path, finding.line) for finding in memory.check()]


def test_an_empty_memory_and_a_whole_one_have_nothing_to_find() -> None:
    memory = offline()
    assert memory.check() == []
    memory.write("A fact.", "a/b")
    assert memory.check() == []
    result = memory.checkup(apply=True)
    assert result.findings == ()
    assert result.mended == ()
    assert result.changes is not None
    assert result.changes.revisions == ()


BROKEN: dict[str, tuple[dict[str, str], list[tuple[str, str, int]]]] = {
    "no root": ({"a": "# A\n", "b/c": "# C\n"}, [("no-root", "memory", 0)]),
    "out of reach": ({"memory": "# M\n", "a": "# A\n"}, [("unreachable", "a", 0)]),
    "a circle out of reach": (
        {"memory": "# M\n", "a": "[[b]]\n", "b": "[[a]]\n"},
        [("unreachable", "a", 0), ("unreachable", "b", 0)],
    ),
    "a child that is not there": (
        {"memory": f"# M\n\n## Links\n\n- [[a]] - words\n- [[ghost]] - boo\n\n{METADATA}", "a": "# A\n"},
        [("broken-link", "memory", 6)],
    ),
    "a page too large": ({"memory": "# M\n\n" + "A fact of many.\n\n" * 200}, [("too-large", "memory", 0)]),
    "more links than fit on a page": (
        {"memory": "# M\n\n## Links\n\n" + "".join(f"- [[p{n}]] - page {n}\n" for n in range(200))}
        | {f"p{n}": f"# P{n}\n" for n in range(200)},
        [("too-large", "memory", 0)],
    ),
}


@pytest.mark.parametrize(("pages", "found"), BROKEN.values(), ids=BROKEN.keys())
def test_what_is_broken_is_found_and_mended(pages: dict[str, str], found: list[tuple[str, str, int]]) -> None:
    memory = made_of(pages)
    assert kinds(memory) == found
    assert all(finding.severity == "error" and finding.mend for finding in memory.check())
    before = {path: page.data for path, page in pages_of(memory.storage).items()}
    assert {path: memory.storage.read(path).data for path in before} == before, "a check alone changes nothing"
    result = memory.checkup(apply=True)
    assert [finding for finding in result.findings if finding.severity == "error"] == []
    assert faults(pages_of(memory.storage), SMALL) == []
    assert [(finding.kind, finding.path, finding.line) for finding in result.mended] == found
    assert result.changes is not None
    assert result.changes.revisions
    assert memory.checkup(apply=True).mended == ()


NOTICED = {
    "a merge that was left as it is": (
        {"memory": "# M\n\none\n\n<<<<<<< HEAD\nAda signs.\n=======\nBo signs.\n>>>>>>> other\n"},
        [("conflict", "memory", 5)],
    ),
    "a merge with more marks than it needs": (
        {"memory": "# M\n\n<<<<<<< a\none\n\n<<<<<<< a\ntwo\n=======\n=======\nthree\n>>>>>>> b\n>>>>>>> b\n"},
        [("conflict", "memory", 6)],
    ),
    "a merge that is an example": ({"memory": "# M\n\n```\n<<<<<<< a\n=======\n>>>>>>> b\n```\n"}, []),
    "a merge below an example that has no end": (
        {"memory": "# M\n\n```\n<<<<<<< a\n```\n\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"},
        [("conflict", "memory", 7)],
    ),
    "another version of a page": (
        {
            "memory": "# M\n\n[[q]] [[q.sync-conflict-20261101-120000-ABCDEFG]]\n"
            "[[q (Ada's conflicted copy 2026-11-01)]]\n",
            "q": "text\n",
            "q.sync-conflict-20261101-120000-ABCDEFG": "text\n",
            "q (Ada's conflicted copy 2026-11-01)": "text\n",
        },
        [
            ("conflict-copy", "q (Ada's conflicted copy 2026-11-01)", 0),
            ("conflict-copy", "q.sync-conflict-20261101-120000-ABCDEFG", 0),
        ],
    ),
    "a link that names no page": ({"memory": "# M\n\ntext\nsee [[ghost]] there\n"}, [("dangling-link", "memory", 4)]),
    "bytes that are not UTF-8": ({"memory": "# M\n\na \udcff\udcfe b\n"}, [("not-utf8", "memory", 3)]),
    "a heading with nothing below it": (
        {"memory": "# M\n\n## One\n\n### Two\n\n## Three\n\ntext\n"},
        [("empty-section", "memory", 5)],
    ),
    "a part of a section that is on no other page": (
        {"memory": f"# M\n\n## One\n\ntext\n\n{METADATA}repeated_headings: {digest(Block('## One', 'heading', 2))}\n"},
        [("orphaned-section", "memory", 0)],
    ),
    "lines after a lone CR": ({"memory": "# M\r\rone\r[[ghost]]\r"}, [("dangling-link", "memory", 4)]),
}


@pytest.mark.parametrize(("pages", "found"), NOTICED.values(), ids=NOTICED.keys())
def test_what_is_for_a_person_to_decide_is_told_and_left(
    pages: dict[str, str], found: list[tuple[str, str, int]]
) -> None:
    memory = made_of(pages)
    assert kinds(memory) == found
    assert all(finding.severity == "notice" and not finding.mend for finding in memory.check())
    before = memory.storage.read("memory").data
    memory.checkup(apply=True)
    assert memory.storage.read("memory").data == before


def test_marks_of_merges_without_an_end_are_not_compared_each_with_each() -> None:
    memory = made_of({"memory": "# M\n\n" + "<<<<<<< a\n\n=======\n\n" * 3_000}, 100_000)
    assert kinds(memory) == []


def test_a_part_of_a_large_block_that_was_damaged_by_hand_is_told() -> None:
    memory = offline(SMALL)
    memory.write("word " * 1_200)
    part = next(path for path, page in pages_of(memory.storage).items() if page.piece is not None)
    memory.storage.write(part, memory.storage.read(part).data.replace(b"word word word", b"word", 30))
    assert ("damaged-piece", part, 0) in kinds(memory)


def test_a_part_of_a_large_block_that_is_missing_is_told() -> None:
    memory = offline(SMALL)
    memory.write("word " * 1_200)
    parts = [path for path, page in pages_of(memory.storage).items() if page.piece is not None]
    memory.storage.delete(parts[1])
    memory.checkup(apply=True)
    assert [finding.kind for finding in memory.check()] == ["missing-piece"]


LARGE_BY_HAND = {
    "an entry": f"# M\n\n## Links\n\n- [[a]] - {'very long words ' * 300}\n\n{METADATA}",
    "many entries": "# M\n\n## Links\n\n" + "".join(f"- [[a]] - {'long words ' * 20}{n}\n" for n in range(30)),
    "a key of metadata": f"# M\n\n[[a]]\n\n{METADATA}note: {'very long words ' * 300}\n",
    "many keys of metadata": f"# M\n\n[[a]]\n\n{METADATA}" + "".join(f"key{n}: {'words ' * 9}\n" for n in range(60)),
    "a title": f"# {'very long title ' * 300}\n\n[[a]]\n",
    "a deep list": "# M\n\n[[a]]\n\n" + "".join(f"{'  ' * n}- level {n}\n" for n in range(60)) + "\nAfter.\n\n" * 200,
    "an open fence": "# M\n\n[[a]]\n\n```\n" + "line of code\n" * 400,
    "an open comment": "# M\n\n[[a]]\n\n<!--\n" + "line of a comment\n\n" * 300,
    "one line": "# M\n\n[[a]]\n\n" + "x" * 9_000,
    "a quote": "# M\n\n[[a]]\n\n" + "> quoted words\n" * 400,
    "a table": "# M\n\n[[a]]\n\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 600,
    "bytes that are not UTF-8": "# M\n\n[[a]]\n\n" + "\udcff\udcfe" * 3_000,
    "nothing but blank lines": "# M\n\n[[a]]\n" + "\n" * 5_000,
    "nothing but rules": "# M\n\n[[a]]\n\n" + "---\n\n" * 800,
    "nothing but headings": "# M\n\n[[a]]\n\n" + "## The same heading\n\n" * 200,
}


@pytest.mark.parametrize("text", LARGE_BY_HAND.values(), ids=LARGE_BY_HAND.keys())
def test_whatever_a_person_makes_too_large_is_divided(text: str) -> None:
    memory = made_of({"memory": text, "a": "# A\n"})
    result = memory.checkup(apply=True)
    assert [finding for finding in result.findings if finding.severity == "error"] == []
    assert faults(pages_of(memory.storage), SMALL) == []


@pytest.mark.parametrize("text", LARGE_BY_HAND.values(), ids=LARGE_BY_HAND.keys())
def test_a_write_succeeds_on_whatever_a_person_made(text: str) -> None:
    memory = made_of({"memory": text, "a": "# A\n"})
    memory.write("A new fact about zebras.")
    assert stands(memory, "A new fact about zebras.")


def test_what_a_person_writes_below_the_metadata_is_moved_above_it() -> None:
    memory = made_of({"memory": "# M\n\nFirst.\n"})
    memory.write("Second.", "memory")
    memory.storage.write("memory", memory.storage.read("memory").data + b"\nBuy milk.\n")
    assert ("misplaced-section", "memory", 0) in kinds(memory)
    assert memory.checkup(apply=True).findings == ()
    body, _, notes = memory.read().partition("## Metadata")
    assert "First." in body
    assert "Buy milk." in body
    assert notes.count("last_updated") == 1


def renamed(memory: Memory, **places: str) -> None:
    """Renames pages as a person does, in one go."""
    data = {new: memory.storage.read(old).data for old, new in places.items()}
    for old in places:
        memory.storage.delete(old)
    for new, text in data.items():
        memory.storage.write(new, text)


def test_links_and_descriptions_follow_a_page_that_was_renamed_by_hand() -> None:
    memory = offline()
    memory.write("# Apples\n\nAbout apples.", "apples")
    memory.write("A child of apples.", "apples/red")
    memory.write("See [[apples|the fruit]].", "pears")
    before = body(memory, "memory")
    renamed(memory, apples="fruit/apples")
    assert [(f.kind, f.path) for f in memory.check() if f.kind == "broken-link"] == [
        ("broken-link", "memory"),
        ("broken-link", "pears"),
    ]
    assert memory.checkup(apply=True).findings == ()
    pages = pages_of(memory.storage)
    assert ("fruit/apples", "About apples.") in [(c.target, c.description) for c in pages["memory"].children]
    assert body(memory, "memory") == before
    assert "[[fruit/apples|the fruit]]" in memory.read("pears")
    assert pages["apples/red"].properties["split_from"] == "fruit/apples"
    assert [(c.target, c.description) for c in pages["fruit/apples"].children] == [("apples/red", "A child of apples.")]


def test_a_renamed_page_is_followed_through_later_edits_and_renames() -> None:
    memory = offline()
    memory.write("# Apples\n\nAbout apples.", "apples")
    renamed(memory, apples="fruit")
    memory.check()
    renamed(memory, fruit="food")
    memory.check()
    memory.storage.write("food", memory.storage.read("food").data.replace(b"About", b"All about"))
    assert memory.checkup(apply=True).findings == ()
    [child] = pages_of(memory.storage)["memory"].children
    assert (child.target, child.description) == ("food", "About apples.")


RENAMED: dict[str, tuple[Callable[[Memory], object], set[tuple[str, str]]]] = {
    "it is written to": (lambda memory: memory.write("More.", "fruit", "append"), {("fruit", "About apples.")}),
    "text is worked into it": (lambda memory: memory.write("Ada eats them.", "fruit"), {("fruit", "About apples.")}),
    "it is renamed": (lambda memory: memory.rename("fruit", "food/fruit"), {("food/fruit", "About apples.")}),
    "it is deleted": (lambda memory: memory.delete("fruit"), set()),
    "it is merged": (lambda memory: memory.merge("fruit"), set()),
    "its old path is written to": (
        lambda memory: memory.write("A new one.", "apples"),
        {("fruit", "About apples."), ("apples", "A new one.")},
    ),
    "the page above is written to": (lambda memory: memory.write("x", "memory"), {("fruit", "About apples.")}),
}


@pytest.mark.parametrize(("act", "expected"), RENAMED.values(), ids=RENAMED)
def test_a_renamed_page_keeps_its_description_whatever_is_done_before_it_is_mended(
    act: Callable[[Memory], object], expected: set[tuple[str, str]]
) -> None:
    memory = offline()
    memory.write("About apples.", "apples")
    memory.write("# Pears\n\nAbout pears.", "pears")
    renamed(memory, apples="fruit")
    act(memory)
    assert memory.checkup(apply=True).findings == ()
    children = {(child.target, child.description) for child in pages_of(memory.storage)["memory"].children}
    assert children == expected | {("pears", "About pears.")}
    assert "`[[" not in memory.read()


def test_a_page_of_which_there_are_two_copies_now_is_not_taken_for_renamed() -> None:
    memory = offline()
    memory.write("# Apples\n\nAbout apples.", "apples")
    data = memory.storage.read("apples").data
    memory.storage.delete("apples")
    memory.storage.write("one", data)
    memory.storage.write("two", data)
    memory.checkup(apply=True)
    assert "- `[[apples]]` - About apples." in body(memory)
    assert {child.target for child in pages_of(memory.storage)["memory"].children} == {"one", "two"}


def test_a_folder_that_became_a_symbolic_link_loses_no_link_to_its_pages(tmp_path: Path) -> None:
    memory = Memory(LocalStorage(tmp_path / "memory"))
    memory.write("# Plums\n\nThey are ripe.", "fruit/plums")
    (tmp_path / "memory/fruit").rename(tmp_path / "elsewhere")
    (tmp_path / "memory/fruit").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    before = memory.read()
    assert [finding.kind for finding in memory.checkup(apply=True).findings] == ["stray-file"]
    assert memory.read() == before
    assert "[[fruit/plums]]" in before


def decomposed(folder: Path, path: str, text: str) -> Path:
    file = folder / f"{unicodedata.normalize('NFD', path)}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def test_files_whose_names_a_mac_has_decomposed_become_pages_and_links_lead_there(tmp_path: Path) -> None:
    memory = offline(storage=LocalStorage(tmp_path))
    memory.write("See [[Größe]] for the sizes.", "memory")
    files = [decomposed(tmp_path, path, f"# Maß\n\nXylit: {path}.\n") for path in ("Größe", "Öl/Süß")]
    found = [(finding.kind, finding.severity, bool(finding.mend)) for finding in memory.check()]
    assert found == [("decomposed-name", "error", True)] * 2
    assert all(file.exists() for file in files), "a check alone renames nothing"
    assert memory.search("Xylit") == []
    checkup = memory.checkup(apply=True)
    assert checkup.findings == ()
    assert [finding.kind for finding in checkup.mended] == ["decomposed-name"] * 2
    assert not any(file.exists() for file in files)
    assert not files[1].parent.exists()
    assert {hit.path for hit in memory.search("Xylit")} == {"Größe", "Öl/Süß"}
    assert faults(pages_of(memory.storage), SMALL) == []
    memory.undo()
    assert memory.read("Öl/Süß") == "# Maß\n\nXylit: Öl/Süß.\n"
    assert [finding.kind for finding in memory.check()] == ["unreachable"]


def test_a_decomposed_name_is_left_if_its_page_is_there_or_another_file_takes_it(tmp_path: Path) -> None:
    memory = offline(storage=LocalStorage(tmp_path))
    memory.write("Das Maß ist 3.", "Größe")
    files = [decomposed(tmp_path, path, f"{path} ist 4.\n") for path in ("Größe", "größe", "größe/x", "a?ö")]
    page = memory.read("Größe")
    assert {finding.kind for finding in memory.check()} == {"stray-file"}
    assert memory.checkup(apply=True).mended == ()
    assert all(file.exists() for file in files)
    assert memory.read("Größe") == page


def with_lost_page(folder: Path) -> Memory:
    """A memory with a page to which nothing leads."""
    memory = offline(storage=LocalStorage(folder))
    memory.write("Leeks are planted in April.", "garden")
    memory.write("The kiln is hot.", "kiln")
    (folder / "lost.md").write_text("# Lost\n\nNothing leads here.\n")
    return memory


def then(function: Callable[..., T], act: Callable[[], object]) -> Callable[..., T]:
    """The function, after whose second call something happens: the first is that of the look before a repair, or of
    settling conflicts."""
    calls: list[T] = []

    def called(*arguments: Any) -> T:
        calls.append(function(*arguments))
        if len(calls) == 2:
            act()
        return calls[-1]

    return called


def test_a_page_that_is_made_while_links_are_checked_stays_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = with_lost_page(tmp_path), offline(storage=LocalStorage(tmp_path))
    made = then(known_targets, lambda: other.write("It is warm.", "garden/kiln"))
    monkeypatch.setattr("memory_v2.operations.check.known_targets", made)
    memory.checkup(apply=True)
    assert "\n- [[garden/kiln]]" in memory.read("garden") and "`" not in memory.read("garden")
    assert memory.check() == []


def test_a_page_that_is_made_while_lost_pages_are_looked_for_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unreachable = Draft.unreachable
    with Memory(LocalStorage(tmp_path)) as memory, Memory(LocalStorage(tmp_path)) as other:
        memory.write("Leeks are planted in April.", "garden")
        (tmp_path / "lost.md").write_text("# Lost\n\nNothing leads here.\n")

        def made(draft: Draft, *given: Any) -> frozenset[str]:
            monkeypatch.undo()
            (tmp_path / "dropped.md").write_text("# Dropped\n\nNor here.\n")
            other.search("dropped")
            return unreachable(draft, *given)

        monkeypatch.setattr(Draft, "unreachable", made)
        memory.checkup(apply=True)
        memory.checkup(apply=True)
        assert "[[lost]]" in memory.read() and "[[dropped]]" in memory.read()


def test_a_page_that_is_removed_while_all_are_repaired_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = with_lost_page(tmp_path)
    monkeypatch.setattr(Draft, "paths", then(Draft.paths, (tmp_path / "kiln.md").unlink))
    memory.checkup(apply=True)
    monkeypatch.undo()
    memory.checkup(apply=True)
    assert "[[lost]]" in memory.read() and memory.check() == []


def test_a_repair_that_another_writer_comes_before_is_made_on_what_that_one_has_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = with_lost_page(tmp_path), offline(storage=LocalStorage(tmp_path))

    def write() -> None:
        other.write("Chard is sown in May.", "garden", "append")
        other.write("It is warm.", "memory", "append")

    monkeypatch.setattr("memory_v2.operations.check.outdated_lines", then(outdated_lines, write))
    memory.checkup(apply=True)
    assert "[[lost]]" in memory.read() and "It is warm." in memory.read() and "Chard" in memory.read("garden")
    assert memory.check() == []
