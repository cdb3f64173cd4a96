"""Small stores, and one operation on each: what the tests of crashes interrupt."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage

THRESHOLD = 2_048
MOMENT = datetime(2026, 3, 1, tzinfo=UTC)

NEW = "- the lighthouse keeper of Skagen retires in October 2027"
"""The text that is being written."""

_TOPICS = {
    "Boats": ["the ferry to Fanø leaves at {}:15", "Ines repairs the jetty for {} euros", "sail number {} is blue"],
    "Deploys": ["release {} needs a signed tag", "staging is rebuilt after {} days", "the pipeline takes {} minutes"],
    "Garden": ["{} tulips stand by the kiln", "the apple tree was cut {} times", "water the ledger roses at {}"],
}


def notes(first: int, last: int) -> str:
    """A text of three sections, with a line of each for every number."""
    sections = (
        f"## {topic}\n\n" + "".join(f"- {line.format(n)}\n" for n in range(first, last) for line in lines)
        for topic, lines in _TOPICS.items()
    )
    return "\n".join(sections)


def opened(folder: Path) -> Memory:
    """The memory in a folder, as a process opens it. Its clock stands still, so equal operations give equal bytes."""
    return Memory(LocalStorage(folder), threshold=THRESHOLD, now=lambda: MOMENT)


@dataclass(frozen=True, slots=True)
class Scene:
    """A store, made by `prepare`; perhaps somebody edits it `by_hand`; then the operation on it that `act` is."""

    name: str
    prepare: Callable[[Memory], object]
    act: Callable[[Memory], object]
    by_hand: Callable[[Path], object] = lambda folder: None

    def __str__(self) -> str:
        return self.name


def _nothing(memory: Memory) -> None:
    """A folder with nothing in it."""


def _made_by_hand(memory: Memory) -> None:
    """Pages that somebody has put there, or a version of this program that kept no history."""
    folder = _folder(memory)
    (folder / "work").mkdir()
    (folder / "memory.md").write_text(f"# Memory\n\n{notes(10, 11)}\n## Links\n\n- [[work/deploys]] - releases\n")
    (folder / "work" / "deploys.md").write_text(f"# Deploys\n\n{notes(20, 21)}")


def _one_page(memory: Memory) -> None:
    memory.write(f"# Memory\n\n{notes(10, 12)}", "memory")


def _small_tree(memory: Memory) -> None:
    _one_page(memory)
    memory.write(notes(20, 21), "work/deploys", "append")
    memory.write("- staging has 4 cores, see [[work/deploys]]", "work/deploys/staging", "append")


def _nearly_full(memory: Memory) -> None:
    memory.write(f"# Memory\n\n{notes(10, 15)}", "memory")


def _split_write(memory: Memory) -> None:
    _nearly_full(memory)
    _append_much(memory)


def _several_writes(memory: Memory) -> None:
    _small_tree(memory)
    memory.write("- Ines sold the blue boat", "memory", "append")
    memory.write("- staging has 8 cores now", "work/deploys/staging", "append")
    memory.delete("work/deploys")


def _broken(memory: Memory) -> None:
    """Somebody has edited by hand: a page that nothing lists; one that is too large, with an entry of no page."""
    _small_tree(memory)
    folder = _folder(memory)
    (folder / "stray.md").write_text(f"# Stray\n\n{notes(30, 31)}")
    page = folder / "work" / "deploys.md"
    entry = "## Links\n\n- [[nowhere]] - a page that is gone\n"
    page.write_text(page.read_text().replace("## Links\n", f"{notes(31, 36)}\n{entry}"))
    memory.history()  # the edits are noticed: that is a scene of its own


def _entries(memory: Memory) -> None:
    """Entries of two homes; a plan for them was shown."""
    _small_tree(memory)
    memory.entries.capture("The pipeline needs a token since Monday.", "hawk", home="work/deploys", date="2026-02-27")
    memory.entries.capture("Ines is back from Fanø.", "hawk", home="people", date="2026-02-27")
    memory.entries.capture(f"What the ferry costs.\n\n{notes(30, 32)}", "shield", home="people", date="2026-02-28")
    memory.entries.pick_up()
    memory.entries.consolidate()


def _edit(folder: Path) -> None:
    page = folder / "memory.md"
    page.write_text(page.read_text().replace("- sail number 10 is blue\n", "- sail number 10 is red, says Ines\n"))


def _folder(memory: Memory) -> Path:
    return Path(memory.storage.where)


def _append_much(memory: Memory) -> object:
    return memory.write(f"{NEW}\n\n{notes(50, 53)}", "memory", "append")


def _restore_page(memory: Memory) -> object:
    return memory.restore(memory.history("work/deploys")[1].id, "work/deploys")


def _restore_tree(memory: Memory) -> object:
    return memory.restore(memory.history()[-2].id)


def _with_entries(memory: Memory) -> None:
    """A page, entries that expire, say the same and are sure, and a checkpoint of before."""
    memory.write("Silica uses pytest.")
    memory.entries.capture("The keeper of Skagen is ill.", "hawk", date="2026-01-02", decay="linear-3d", confidence=0.9)
    memory.checkpoints.create_checkpoint("before")
    memory.entries.capture("The ferry is late.", "hawk", date="2026-01-03")
    folder = _folder(memory) / "entries" / "agents" / "hawk" / "memory" / "vault"
    (folder / "obs-2026-01-03-009.md").write_text("---\n---\nThe ferry is late.\n")
    memory.check()


def _with_packs(memory: Memory) -> None:
    """A pack that has room, and entries for it and for another one."""
    texts = ("The keeper of Skagen was ill.", "The ferry was late.", "The lamp of the mole was out.")
    for day, text in zip(("2025-10-02", "2025-10-03", "2025-11-04"), texts, strict=True):
        memory.entries.capture(text, "hawk", date=day, importance=0.1)
        if day == "2025-10-02":
            memory.entries.pack(apply=True)
    memory.check()


SCENES = (
    Scene("first write of all", _nothing, lambda memory: memory.write(NEW)),
    Scene("first write of ours", _made_by_hand, lambda memory: memory.write(NEW, "work/deploys", "append")),
    Scene("write to one page", _one_page, lambda memory: memory.write(NEW)),
    Scene("write that makes a page", _one_page, lambda memory: memory.write(NEW, "people/keepers")),
    Scene("write and split", _nearly_full, _append_much),
    Scene("append", _small_tree, lambda memory: memory.write(NEW, "work/deploys", "append")),
    Scene("replace", _small_tree, lambda memory: memory.write(NEW, "work/deploys", "replace")),
    Scene("split by hand", _nearly_full, lambda memory: memory.split("memory")),
    Scene("merge", _small_tree, lambda memory: memory.merge("work/deploys/staging")),
    Scene("rename with pages below", _small_tree, lambda memory: memory.rename("work/deploys", "operations")),
    Scene("delete", _small_tree, lambda memory: memory.delete("work/deploys")),
    Scene("undo of write and split", _split_write, lambda memory: memory.undo()),
    Scene("restore of a page", _several_writes, _restore_page),
    Scene("restore of the tree", _several_writes, _restore_tree),
    Scene("check --apply", _broken, lambda memory: memory.checkup(apply=True)),
    Scene("packing the history", _several_writes, Memory.pack_history),
    Scene("edit by hand is noticed", _small_tree, lambda memory: memory.history(), _edit),
    Scene("consolidation", _entries, lambda memory: memory.entries.consolidate(apply=True)),
    Scene("ageing of entries", _with_entries, lambda memory: memory.entries.age(apply=True)),
    Scene("packing of entries", _with_packs, lambda memory: memory.entries.pack(apply=True)),
    Scene("sharing of entries", _with_entries, lambda memory: memory.entries.promote(apply=True)),
    Scene("duplicates of entries", _with_entries, lambda memory: memory.entries.dedupe(apply=True)),
    Scene("retracting an entry", _with_entries, lambda memory: memory.entries.retract("hawk/obs-2026-01-03-001", "no")),
    Scene("back to a checkpoint", _with_entries, lambda memory: memory.checkpoints.restore_checkpoint("before")),
)


def prepared(scene: Scene, folder: Path) -> Path:
    """The folder with the store of a scene in it."""
    folder.mkdir(parents=True, exist_ok=True)
    with opened(folder) as memory:
        scene.prepare(memory)
    return folder


def copied(folder: Path, to: Path) -> Path:
    """A copy of a store, as another process finds it."""
    shutil.copytree(folder, to, copy_function=_copy)
    return to


def _copy(source: str, target: str) -> None:
    if "/objects/" in source:  # which git never changes, so that both may be one file
        os.link(source, target)
        return
    with open(source, "rb") as read, open(target, "wb") as written:
        written.write(read.read())
    os.chmod(target, os.stat(source).st_mode)
