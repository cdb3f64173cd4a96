"""Long work says how far it is."""

from __future__ import annotations

from pathlib import Path

from memory_v2 import Memory
from memory_v2.progress import heard_by
from memory_v2.storage.local.storage import LocalStorage


def test_taking_in_a_folder_checking_it_and_splitting_are_counted(tmp_path: Path) -> None:
    for number in range(120):
        (tmp_path / f"note-{number}.md").write_text(f"# Note {number}\n\nThe lantern {number} is new.\n", "utf-8")
    heard: list[tuple[str, int, int]] = []
    with Memory(LocalStorage(tmp_path), threshold=2_048) as memory, heard_by(lambda *told: heard.append(told)):
        assert memory.search("lantern")
        assert [told for told in heard if told[0] == "pages indexed"] == [
            *(("pages indexed", done, 120) for done in (50, 100, 120))
        ]
        memory.check()
        assert [told for told in heard if told[0] == "pages checked"][-1] == ("pages checked", 120, 120)
        memory.write("The lamp is new.")
        splits = [done for what, done, _ in heard if what == "pages split"]
        assert splits == [*range(1, len(splits) + 1)] != []
