"""Where an older memory is, and whether a memory may take in what is there."""

from __future__ import annotations

from pathlib import Path

from memory_v2.errors import NotAllowed, UsageError
from memory_v2.locations import persona_memory
from memory_v2.memory import Memory
from memory_v2.migrate.ledger import Ledger

OLDER = ("~/.hdev/memory", "~/.silica/memory")
"""Where older versions kept a memory, besides those of personas."""
PERSONA = "default"
"""The persona that an older version takes if none is named."""


def older_memory(persona: str | None = None) -> Path:
    """The folder of the older memory: that of a persona, or else the first one there is. Raises `UsageError` if there
    is none."""
    own = persona_memory(persona or PERSONA).with_name("memory")
    places = [own] if persona else [own, *(Path(place).expanduser() for place in OLDER)]
    if found := next((place for place in places if place.is_dir()), None):
        return found
    looked = " or ".join(map(str, places))
    raise UsageError(f"there is no older memory in {looked}; name its folder with --from")


def check_apart(memory: Memory, source: Path) -> None:
    """Raises `UsageError` if the source is the memory's own folder, or in it, or has it among its notes."""
    source, target = source.resolve(), Path(memory.storage.where).resolve()
    if source.is_relative_to(target):
        raise UsageError(f"{source} is inside the memory {target}: name another folder, or another memory")
    if target.is_relative_to(source) and not any(p.startswith(".") for p in target.relative_to(source).parts):
        raise UsageError(f"the memory {target} is inside {source}: move it, or name another one")


def check_empty(memory: Memory, source: Path) -> None:
    """Raises `NotAllowed` if the memory has pages, and none of them came from this source."""
    if memory.storage.list_files() and not Ledger(memory.storage, source).read():
        raise NotAllowed(f"{memory.storage.where} is not empty: add --merge to bring {source} in beside what is there")
