"""Somebody edits a page between a crash and the next start: the edit stays, nothing is lost, and the tree is whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2.memory import Memory
from memory_v2.storage.local.git_history import FOLDER
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.local.walk import METADATA
from tests.crash.boundaries import Boundary, watched
from tests.crash.holds import AFTERWARDS, age, leftovers, look, unhurried
from tests.crash.scenes import NEW, SCENES, Scene, copied, opened, prepared
from tests.effort import effort
from tests.properties.whole import missing, pages_of, stands, texts_of

BY_HAND = "- somebody has written this by hand: the heron is back"

CHANGES_OF_PAGES = ("replace", "link", "unlink")
WRITES = ("write that makes a page", "write and split", "append", "replace")
REMOVES = ("replace", "delete", "undo of write and split", "restore of a page", "restore of the tree")
KEEPS = ("write that makes a page", "write and split", "append", "split by hand", "merge", "rename with pages below")


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    with unhurried():
        yield


@pytest.mark.parametrize("scene", [s for s in SCENES if s.name in (*KEEPS, *REMOVES)], ids=str)
def test_a_page_of_an_interrupted_change_that_is_edited_by_hand_is_kept_as_it_was_edited(
    scene: Scene, tmp_path: Path
) -> None:
    states = interrupted(scene, tmp_path)
    assert len(states) > 1  # with no page stored, with all of them
    with opened(copied(tmp_path / "store", tmp_path / "before")) as memory:
        had = blocks_of(memory)
    wrong = []
    for number, state in enumerate(states):
        paths = paths_of_the_change(state)
        chosen = [paths[number % len(paths)], paths[-1 - number % len(paths)]]
        for path in set(chosen[: effort(1, 2)]):
            folder = copied(state, tmp_path / f"{number}-{path.replace('/', '-')}")
            edit(folder / f"{path}.md")
            wrong += [f"{path} edited in {state.name}: {problem}" for problem in problems(scene, folder, had)]
    assert not wrong, "\n".join(wrong)


def problems(scene: Scene, folder: Path, had: set[str]) -> Iterator[str]:
    """What does not hold when the memory in a folder is used again."""
    age(folder)
    with opened(folder) as memory:
        standing = {*had, *blocks_of(memory)}
        shown = look(memory)
        if not stands(memory, BY_HAND):
            yield "the edit is gone"
        for lost in missing(standing, texts_of(pages_of(memory.storage))):
            if scene.name in KEEPS or not was_in_history(memory, lost):
                yield f"lost: {lost}"
        if scene.name in WRITES and (found := times(memory, NEW)) != 1:
            yield f"the text is there {found} times"
        yield from (finding for finding in shown.findings if not finding.startswith("notice"))
        yield from (f"left behind: {name}" for name in leftovers(folder))
        memory.write(AFTERWARDS)
        if not stands(memory, AFTERWARDS):
            yield "what is written afterwards is not in the tree"


def interrupted(scene: Scene, folder: Path) -> list[Path]:
    """The store of a scene as a kill leaves it with a change that is recorded and not checked out: before each page
    that is stored or removed, and behind the last."""
    store = prepared(scene, folder / "store")
    live = copied(store, folder / "live")
    states: list[Path] = []
    has_stored = False

    def at_boundary(boundary: Boundary) -> None:
        nonlocal has_stored
        if boundary.place.startswith(f"{METADATA}/{FOLDER}/objects") or LocalStorage(live).interrupted() is None:
            has_stored = False
            return
        is_of_a_page = not boundary.place.startswith(METADATA)
        if is_of_a_page and boundary.action in CHANGES_OF_PAGES and boundary.place.endswith((".md", ".tmp")):
            states.append(copied(live, folder / f"state-{boundary.number}-{boundary.action}"))
            has_stored = True
        elif not is_of_a_page and has_stored:
            states.append(copied(live, folder / f"state-{boundary.number}-all-stored"))
            has_stored = False

    with opened(live) as memory, watched(live, at_boundary):
        scene.act(memory)
    return states


def paths_of_the_change(folder: Path) -> tuple[str, ...]:
    revision = LocalStorage(folder).interrupted()
    assert revision is not None
    return revision.paths


def edit(file: Path) -> None:
    """What somebody does with an editor: a line more; a page that is not there is made."""
    if file.exists():
        file.write_text(file.read_text().replace("\n\n", f"\n\n{BY_HAND}\n", 1))
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# By hand\n\n{BY_HAND}\n")


def blocks_of(memory: Memory) -> set[str]:
    """The lines that people wrote; but for those with a link, which leads elsewhere when its page is renamed."""
    blocks = (block for page in pages_of(memory.storage).values() for block in page.blocks)
    return {block.content for block in blocks if block.kind == "item" and "[[" not in block.content}


def was_in_history(memory: Memory, text: str) -> bool:
    kept = memory.storage.history
    return any(text.encode() in data for entry in kept.revisions() for data in kept.pages(entry.id).values())


def times(memory: Memory, text: str) -> int:
    return sum(page.body.count(text) for page in pages_of(memory.storage).values())
