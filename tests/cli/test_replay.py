"""Whether what was decided would come out the same again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .program import Program
from .test_records import PLACED, changed, refused, scripted, traces


def test_the_last_operation_is_replayed_and_agrees(grown: Program) -> None:
    scripted(grown, PLACED).write("Grace writes compilers.")
    (file,) = traces(grown)
    before = grown.files()
    replayed = grown.quick("replay")
    assert (replayed.code, replayed.text, replayed.err) == (0, f"{file.stem} agrees: 1 page, byte for byte\n", "")
    assert grown.files() == before
    assert traces(grown) == [file]
    grown.quick("merge", "nowhere")
    assert grown.done("replay").endswith(" agrees: nothing changes\n")


def test_a_replay_that_differs_tells_each_difference_and_ends_with_1(grown: Program) -> None:
    grown.done("write", "--to", "log", "--mode", "append", "Grace writes compilers.")
    (file,) = traces(grown)

    def pretend(event: dict[str, Any]) -> None:
        for change in event.get("pages", ()):
            change["after"] += "More than that.\n"

    other = grown.home / "other.jsonl"
    other.write_text(changed(file, pretend))
    for page in ("memory", "log"):
        grown.page(page, (grown.folder / f"{page}.md").read_bytes() + b"More than that.\n")
    replayed = grown.quick("replay", str(other))
    assert (replayed.code, replayed.err) == (1, "")
    assert replayed.text.splitlines() == [
        "other differs: log is not what it was",
        "other differs: memory is not what it was",
    ]
    told = grown.quick("replay", str(other), "--json")
    assert told.code == 1
    assert told.json == {
        "trace": "other",
        "operation": "write",
        "agrees": False,
        "pages": ["log", "memory"],
        "differences": ["log is not what it was", "memory is not what it was"],
    }


def test_a_trace_in_a_file_is_replayed(grown: Program) -> None:
    grown.done("search", "pytest")
    (file,) = traces(grown)
    moved = grown.home / "moved"
    moved.write_bytes(file.read_bytes())
    for name in (str(file), str(moved)):
        assert grown.done("replay", name) == f"{Path(name).stem} agrees: the same places are found\n"
    assert grown.run("replay", "moved").text == "moved agrees: the same places are found\n"
    assert grown.quick("replay", "--json", str(moved)).json["agrees"] is True
    refused(grown.quick("replay", "x" * 5_000), "no trace")
    refused(grown.quick("replay", str(grown.folder / "people.md")), "people.md is no trace")


def test_the_word_last_is_no_file(grown: Program) -> None:
    (grown.home / "last").write_text("no trace")
    grown.done("search", "pytest")
    assert grown.run("replay", "last").code == 0
