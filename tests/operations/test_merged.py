"""Pages that git has merged: conflicts in the program's sections are settled, those of the text are a person's."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_v2.errors import NotAllowed
from memory_v2.memory import Memory
from memory_v2.tree.page import parse_page
from tests.operations.scenes import offline

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the conflicts are those that git leaves")

OLD, EARLIER, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"
STYLES = ("merge", "diff3")


def page(text: str, links: str, when: str, more: str = "") -> str:
    listed = f"## Links\n\n{links}\n" if links else ""
    above = f"# M\n\n{text}\n{listed}"
    return f"{above}## Metadata\n\nlast_updated: {when}\nsize_bytes: {len(above)}\n{more}"


Merge = Callable[[str, str, str], str]


@pytest.fixture(params=STYLES)
def merge(request: pytest.FixtureRequest, tmp_path: Path) -> Merge:
    def merged(ours: str, base: str, theirs: str) -> str:
        for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
            (tmp_path / name).write_bytes(text.encode())
        style = [] if request.param == "merge" else [f"--{request.param}"]
        command = ["git", "merge-file", "-p", *style, "ours", "base", "theirs"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode > 0, "there is a conflict"
        return done.stdout.decode()

    return merged


def holding(text: str, *others: str) -> Memory:
    memory = offline()
    for path in others:
        memory.storage.write(path, f"# {path.upper()}\n".encode())
    memory.storage.write("memory", text.encode())
    return memory


def kinds(memory: Memory) -> list[str]:
    return [finding.kind for finding in memory.check()]


FIRST = "".join(f"- Fact {n} of the first half.\n" for n in range(6))
LAST = "".join(f"- Fact {n} of the other half.\n" for n in range(6))


def test_a_conflict_of_the_metadata_alone_is_settled_and_the_text_keeps_its_bytes(merge: Merge) -> None:
    base = page(FIRST + "\n" + LAST, "", OLD)
    ours, theirs = page("- Ours.\n" + FIRST + "\n" + LAST, "", LATER), page(FIRST + "- Theirs.\n\n" + LAST, "", EARLIER)
    memory = holding(text := merge(ours, base, theirs))
    assert kinds(memory) == ["section-conflict"]
    checkup = memory.checkup(apply=True)
    assert [finding.kind for finding in checkup.mended] == ["section-conflict"]
    assert checkup.changes is not None
    assert len(checkup.changes.revisions) == 1
    assert memory.read() == page("- Ours.\n" + FIRST + "- Theirs.\n\n" + LAST, "", LATER)
    assert memory.check() == []
    memory.undo()
    assert memory.read() == text


def test_both_sides_have_the_same_bytes_when_it_is_settled(merge: Merge) -> None:
    base = page(FIRST, "- [[a]] - one\n", OLD)
    sides = (
        page(FIRST, "- [[a]] - one\n- [[b]] - two\n", EARLIER),
        page(FIRST, "- [[a]] - one\n- [[c]] - three\n", LATER),
    )
    settled = set()
    for ours, theirs in (sides, sides[::-1]):
        memory = holding(merge(ours, base, theirs), "a", "b", "c")
        memory.checkup(apply=True)
        settled.add(memory.read())
    assert len(settled) == 1


def test_children_of_both_sides_are_listed_once_as_the_newer_side_describes_them(merge: Merge) -> None:
    base = page(FIRST, "- [[a]] - one\n", OLD)
    ours = page(FIRST, "- [[a]] - one, of old\n- [[b]] - two\n", EARLIER, "mine: kept\n")
    theirs = page(FIRST, "- [[a]] - one, of late\n- [[c]] - three\n", LATER)
    memory = holding(merge(ours, base, theirs), "a", "b", "c")
    memory.checkup(apply=True)
    links = "- [[a]] - one, of late\n- [[c]] - three\n- [[b]] - two\n"
    assert memory.read() == page(FIRST, links, LATER, "mine: kept\n")
    assert memory.check() == []


def test_the_first_children_of_both_sides_are_kept(merge: Merge) -> None:
    ours, theirs = page(FIRST, "- [[a]] - one\n", LATER), page(FIRST, "- [[b]] - two\n", EARLIER)
    memory = holding(merge(ours, page(FIRST, "", OLD), theirs), "a", "b")
    memory.checkup(apply=True)
    assert memory.read() == page(FIRST, "- [[a]] - one\n- [[b]] - two\n", LATER)


def test_a_conflict_of_the_text_stays_also_if_it_reaches_into_the_metadata(merge: Merge) -> None:
    ours, theirs = page(FIRST + "- Ours.\n", "", EARLIER), page(FIRST + "- Theirs.\n", "", LATER)
    memory = holding(merge(ours, page(FIRST, "", OLD), theirs))
    assert sorted(kinds(memory)) == ["conflict", "section-conflict"]
    memory.checkup(apply=True)
    assert kinds(memory) == ["conflict"]
    now = parse_page("memory", memory.read())
    body = now.body
    marks = [body.index(mark) for mark in ("<<<<<<< ", "- Ours.\n", "\n=======\n", "- Theirs.\n", "\n>>>>>>> ")]
    assert marks == sorted(marks)
    assert "## Metadata" not in body
    assert now.properties == {"last_updated": LATER, "size_bytes": str(len(body))}


def test_what_nobody_can_settle_is_left_and_a_write_there_is_refused(merge: Merge) -> None:
    ours, theirs = page(FIRST, "", EARLIER, "owner: Ada\n"), page(FIRST, "", LATER, "owner: Bo\n")
    memory = holding(text := merge(ours, page(FIRST, "", OLD, "owner: none\n"), theirs), "a")
    assert set(kinds(memory)) == {"conflict", "unreachable"}
    with pytest.raises(NotAllowed, match="check --apply"):
        memory.write("A new fact about zebras.", "memory")
    assert memory.read() == text
    memory.edit("memory", page(FIRST, "- [[a]]\n", LATER, "owner: Bo\n"), text)
    memory.write("A new fact about zebras.", "memory")
    assert memory.check() == []


def test_an_example_of_a_conflict_and_one_of_the_text_alone_change_no_section() -> None:
    text = page(f"```\n<<<<<<< a\n## Metadata\n\nlast_updated: {OLD}\n=======\n>>>>>>> b\n```\n", "", OLD)
    memory = holding(text)
    assert memory.checkup(apply=True).findings == ()
    assert memory.read() == text


def test_an_editor_may_mend_a_page_below_whose_sections_somebody_wrote() -> None:
    memory = holding(page(FIRST, "", OLD) + "\nBuy milk.\n")
    memory.edit("memory", page(FIRST + "- Buy oat milk.\n", "", OLD), memory.read())
    assert "- Buy oat milk.\n" in memory.read()
