"""A new user's first day, and a search some months later: the scenarios of the specification, through Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import memory_v2
from memory_v2 import Memory

FACTS = {
    "Silica": ["uses pytest for testing", "lints with ruff", "integrates with GitHub through its API", "runs in tmux"],
    "PersonalWebsite": ["is built with Astro", "is deployed by a push to main", "has a blog about gardening"],
    "Garden": ["has six raised beds", "needs compost in March", "grows tomatoes along the south wall"],
}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory")


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Memory, list[str]]:
    """A memory of facts about three subjects in turn, written until the root has been split; and what was written."""
    memory = Memory.open(tmp_path_factory.mktemp("grown") / "memory")
    written = []
    for number in range(400):
        subject = list(FACTS)[number % 3]
        fact = FACTS[subject][number // 3 % len(FACTS[subject])]
        text = f"{subject} {fact}, as was noted in entry {number} of the work log"
        written.append(text)
        if memory.write(text).split_triggered:
            return memory, written
    raise AssertionError("400 facts and no split")


def test_the_first_words_make_the_root(memory: Memory, tmp_path: Path) -> None:
    first = memory.write("I'm working on a Python project called Silica")
    assert (first.success, first.path, first.split_triggered, first.new_files) == (True, "memory", False, ())
    second = memory.write("Silica uses pytest for testing and ruff for linting")
    assert second.path == "memory"
    assert second.size_bytes == (tmp_path / "memory" / "memory.md").stat().st_size > first.size_bytes
    assert "I'm working on a Python project called Silica" in memory.read()
    assert "Silica uses pytest for testing and ruff for linting" in memory.read()


def test_at_ten_kilobytes_the_memory_splits_by_itself_and_keeps_every_word(grown: tuple[Memory, list[str]]) -> None:
    memory, written = grown
    pages = {info.path: memory.read(info.path) for info in memory.list_files()}
    assert len(pages) > 1
    assert all(len(text.encode()) <= 10_240 for text in pages.values())
    for text in written:
        assert sum(page.count(text) for page in pages.values()) == 1
    assert "## Links" in pages["memory"]
    assert {"silica", "personalwebsite", "garden"} & {path.split("/")[0] for path in pages}
    assert memory.check() == []


def test_a_search_finds_it_wherever_it_has_gone(grown: tuple[Memory, list[str]]) -> None:
    memory, _ = grown
    results = memory.search("How does Silica handle testing?")
    assert "Silica uses pytest for testing" in results[0].excerpt
    assert results[0].excerpt in memory.read(results[0].path)
    assert results[0].breadcrumb[0] == "memory"
    assert 0 < results[0].relevance_score <= 1


def test_months_later_the_tree_is_deep_and_still_whole(memory: Memory) -> None:
    memory.write("# Silica\n\nA Python agent framework.", path="projects/silica")
    memory.write("Silica's loop lives in agent.py", path="projects/silica/architecture")
    memory.write("Deploys run on Fridays", path="knowledge/devops")
    tree = {info.path: info for info in memory.list_files()}
    assert tree["projects/silica/architecture"].linked_from == ("projects/silica",)
    assert memory.graph().breadcrumb("projects/silica/architecture") == (
        "memory",
        "projects/silica",
        "projects/silica/architecture",
    )
    assert memory.search("Where does the loop of Silica live?")[0].path == "projects/silica/architecture"
    assert memory.check() == []


def test_the_functions_are_the_same_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICA_MEMORY_PATH", str(tmp_path / "memory"))
    result = memory_v2.write_memory("User prefers Python 3.11+")
    assert (result.path, result.split_triggered) == ("memory", False)
    memory_v2.write_memory("Silica uses pytest for testing", path="projects/silica")
    assert "User prefers Python 3.11+" in memory_v2.read_memory()
    assert memory_v2.read_memory("") == memory_v2.read_memory(None) == memory_v2.read_memory("memory")
    assert memory_v2.search_memory("Which Python does the user prefer?")[0].excerpt == "User prefers Python 3.11+"
    assert [info.path for info in memory_v2.list_memory_files()] == ["memory", "projects/silica"]
    assert memory_v2.get_memory_graph()["edges"] == [
        {"from": "memory", "to": "projects/silica", "label": "Silica uses pytest for testing"}
    ]
    assert memory_v2.split_memory("projects/silica").new_files == ()
    with pytest.raises(KeyError):
        memory_v2.read_memory("nowhere")
