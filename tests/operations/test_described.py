"""The line by which a page is listed stays true when the page changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import ToolProblem
from memory_v2.memory import Memory
from memory_v2.models.base import Reply, ToolCall
from memory_v2.operations.guard import check_description, stale_values
from memory_v2.storage.volatile import VolatileStorage
from tests.operations.scenes import call, calls, problems, scripted
from tests.operations.test_decided_again import meanwhile
from tests.properties.whole import clock

LINE = "Silica: deploys on Tuesdays, Python 3.11"
LASTING = "Silica: when it is deployed, and its Python"
NEW = "Silica deploys on Wednesdays since 2026-03-01.\n"


def silica(line: str = LINE, traces_in: Path | None = None) -> VolatileStorage:
    storage = VolatileStorage(clock, traces_in)
    storage.write("memory", f"# Memory\n\nNotes.\n\n## Links\n\n- [[silica]] - {line}\n".encode())
    storage.write("silica", b"# Silica\n\n- It deploys on Tuesdays.\n- It runs on Python 3.11.\n")
    return storage


def told(storage: VolatileStorage) -> Memory:
    return Memory(storage, now=clock)


def change(**how: Any) -> ToolCall:
    said: dict[str, Any] = {"text": "- Silica deploys on Wednesdays since 2026-03-01 (before: on Tuesdays)."}
    return call("replace", page="silica", blocks="2", reason="the day has changed", **(how or said))


DESCRIBE = call("describe", page="silica", description=LASTING)


def line_of(memory: Memory) -> str:
    return next(line for line in memory.read().splitlines() if line.startswith("- [[silica]]"))


def test_the_line_of_each_page_is_shown() -> None:
    memory, model = scripted(told(silica()), calls(call("place", blocks="n1", page="silica")))
    memory.write(NEW)
    assert f"listed on memory as: {LINE}" in model.sent[0].messages[0]


@pytest.mark.parametrize("how", [{}, {"new_blocks": "n1"}], ids=["own words", "to the letter"])
def test_a_replaced_value_in_the_line_is_told_once(how: dict[str, Any]) -> None:
    memory, model = scripted(told(silica()), calls(change(**how)), calls(DESCRIBE))
    result = memory.write(NEW)
    assert "tuesdays" in model.sent[1].messages[-1]
    assert "describe" in model.sent[1].messages[-1]
    assert (len(model.sent), result.decided_by) == (2, "scripted")
    assert LASTING in line_of(memory)


def test_a_removed_value_is_told_too() -> None:
    memory, model = scripted(
        told(silica()),
        calls(
            call("remove", page="silica", blocks="2", reason="taken back"), call("place", blocks="n1", page="memory")
        ),
        Reply("Done."),
    )
    memory.write("Forget the day of the deploys.\n")
    assert "silica is still listed with tuesdays" in model.sent[1].messages[-1]


@pytest.mark.parametrize(
    ("before", "after", "line", "stale"),
    [
        ("- It deploys on Tuesdays.", "- It deploys on Fridays (before: on Tuesdays).", "deploys on Tuesdays", True),
        ("- It deploys each Tuesday.", "- It deploys each Friday.", "deploys on Tuesdays", True),
        ("- Node 20 since 2025-01-10", "- Node 22 (before: Node 20 since 2025-01-10)", "runs on Node 20", True),
        ("- The port is `8080`.", "- The port is `9090`.", "listens on 8080", True),
        ("- Ask Dana.", "- Ask Tomasz, previously Dana.", "kept by Dana", True),
        ("- Sie wird von Dana gepflegt.", "- Sie wird von Tomasz gepflegt (before: Dana).", "gepflegt von Dana", True),
        ("- It runs in Porto (asked by Dana).", "- It runs in Oslo (asked by Dana; before: Porto).", "for Dana", False),
        ("- It deploys on Tuesdays.", "- It deploys on Tuesdays and Fridays.", "deploys on Tuesdays", False),
        ("- It deploys on Tuesdays.", "- It deploys on Fridays.", "when it is deployed", False),
        ("- The port is 80.", "- The port is 81.", "listens on 8080", False),
    ],
)
def test_a_value_is_stale_if_it_is_only_what_was_so_before(before: str, after: str, line: str, stale: bool) -> None:
    assert bool(stale_values(line, before, after, after)) == stale


def test_a_model_is_asked_again_if_somebody_else_has_described_the_page() -> None:
    storage = silica()

    def act() -> None:
        storage.write("memory", storage.read("memory").data.replace(LINE.encode(), b"Silica, by Dana"))

    memory, model = meanwhile(storage, act, calls(change(), DESCRIBE), calls(change()))
    memory.write(NEW)
    assert (len(model.sent), line_of(memory)) == (2, "- [[silica]] - Silica, by Dana")


def test_a_page_that_no_page_lists_has_no_description(tmp_path: Path) -> None:
    wrong = call("describe", page="memory", description="Notes about Silica")
    memory, _ = scripted(told(silica(traces_in=tmp_path)), calls(call("place", blocks="n1", page="silica"), wrong))
    result = memory.write(NEW)
    assert "no page lists memory" in problems(memory, result)[0]


def test_a_text_for_one_page_changes_only_its_own_line(tmp_path: Path) -> None:
    storage = silica(traces_in=tmp_path)
    storage.write("garden", b"# Garden\n\nTomatoes.\n")
    storage.write("memory", storage.read("memory").data + b"- [[garden]] - Tomatoes\n")
    other = call("describe", page="garden", description="Tomatoes of the garden")
    memory, _ = scripted(told(storage), calls(change(), DESCRIBE, other), Reply("Done."))
    result = memory.write(NEW, "silica")
    assert "goes to the page silica" in problems(memory, result)[0]
    assert LASTING in line_of(memory)
    assert "- [[garden]] - Tomatoes\n" in memory.read()


@pytest.mark.parametrize(
    "description",
    [
        "when and how it is deployed",
        "Silica: decisions, owners — and how it is deployed",
        "Deployment; who keeps Silica",
    ],
)
def test_a_description_may_use_lasting_words(description: str) -> None:
    assert check_description(description, ["Silica deploys on Tuesdays.", "silica"]) == description


@pytest.mark.parametrize("description", ["Sure, here you are", "Silica zqx3108w", "what a lovely afternoon it was"])
def test_a_description_that_is_not_about_the_page_is_refused(description: str) -> None:
    with pytest.raises(ToolProblem):
        check_description(description, ["Silica deploys on Tuesdays.", "silica"])
