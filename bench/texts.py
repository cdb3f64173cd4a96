"""Real and broken texts: `python -m bench.texts`. Each is written, looked for to the letter, searched for, and undone.

Three sources: every message of four chats of BEAM, every file of ten folders of notes, and texts that are generated:
any character that Unicode knows, dates in ten forms, and Markdown that is broken on purpose. They share one memory,
offline, which also holds the chats' dated lines, so that there is something to compare with.

A text stands to the letter if each of its lines stands on a page, or in a piece of a block that is too large for one.
Exits with status 1 if a text fails.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from bench.data import data_file
from memory_v2 import Memory
from memory_v2.errors import InvalidText
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import BYTE_ORDER_MARK, decode

CHATS = tuple(f"beam/100K/{number}/chat.json" for number in range(1, 5))
NOTES = ("actorforth", "brainx-v2", "clawd", "clawvault-own-vault", "dsm-french-docs", "duro", "memory-export")
MORE_NOTES = ("peru-ai", "pulsareon", "whatsapp-ai-agent-pt")
STANDING = 300
"""How many dated lines stand in the memory from the beginning."""
MAX_SHOWN = 10
DATES = (
    *("2026-05-27", "27.05.2026", "May 27", "May 27, 2026", "27 de mayo de 2026", "June 1 – June 9", "2026年5月27日"),
    *("Q2 2026", "27/5/26", "last Tuesday"),
)
BROKEN = (
    *(
        "```",
        "~~~~",
        "[[",
        "]]",
        "[a](",
        "---",
        "# ",
        "######",
        "- [ ] ",
        "1. ",
        "> > >",
        "| a | b |",
        "|--|--|",
        "<!--",
    ),
    *("<div>", "&amp;", "\\", "**", "`` ` ``", "![", "## Links", "## Metadata", "- [[memory]] - x", "size_bytes: 3"),
    *("\t", "\r", "\r\n", "\n\n", "\n", "  \n", "\u2028", "\x0b"),
)


@dataclass
class Tally:
    """What became of the texts of one source."""

    texts: int = 0
    refused: int = 0
    bytes: int = 0
    longest: float = 0.0
    failed: list[str] = field(default_factory=list)


def main() -> None:
    """Prints a row for each source. Exits with status 1 if a text fails."""
    parser = argparse.ArgumentParser(description="Real and broken texts are written, found, searched for and undone.")
    parser.add_argument("--generated", type=int, default=5_000)
    parser.add_argument("--every", type=int, default=1, help="take every so many texts of each source")
    chosen = parser.parse_args()
    sources = {"chats": messages(), "notes": notes(), "generated": generated(chosen.generated)}
    print(f"{'':12}{'texts':>8}{'refused':>9}{'KB':>8}{'seconds':>9}{'longest':>9}{'failed':>8}")
    failed = False
    for name, texts in sources.items():
        began, tally = time.perf_counter(), Tally()
        with Memory(VolatileStorage()) as memory:
            memory.write(
                "\n".join(f"- 2025-{n % 12 + 1:02}-{n % 28 + 1:02}: thing {n} was done" for n in range(STANDING))
            )
            for number, text in enumerate(texts):
                if number % chosen.every == 0:
                    _try(memory, text, tally)
        cells = f"{tally.texts:8,}{tally.refused:9}{tally.bytes // 1000:8,}{time.perf_counter() - began:9.1f}"
        print(f"{name:12}{cells}{tally.longest:9.2f}{len(tally.failed):8}", flush=True)
        for problem in tally.failed[:MAX_SHOWN]:
            print(f"    {problem}")
        failed = failed or bool(tally.failed)
    if failed:
        sys.exit(1)


def messages() -> Iterator[str]:
    """Every message of the chats."""
    for name in CHATS:
        for batch in json.loads(data_file(name).read_text("utf-8")):
            for turn in batch["turns"]:
                yield from (str(message["content"]) for message in turn)


def notes() -> Iterator[str]:
    """Every file of the folders of notes."""
    for name in (*NOTES, *MORE_NOTES):
        for file in sorted(data_file("README.md").parent.joinpath("notes", name).rglob("*")):
            if file.is_file():
                yield file.read_bytes().decode("utf-8", "replace")


def generated(count: int) -> Iterator[str]:
    """So many texts, the same each time: words of any characters, dates, and Markdown that is broken on purpose."""
    chance = random.Random(0)
    for _ in range(count):
        parts = [chance.choice((_word, _date, _broken))(chance) for _ in range(chance.randint(1, 40))]
        yield chance.choice(("", " ", "\n")).join(parts)


def _word(chance: random.Random) -> str:
    plane = chance.choice((0x80, 0x800, 0x10000, 0x110000))
    return "".join(chr(c) for _ in range(chance.randint(1, 8)) if not 0xD800 <= (c := chance.randrange(plane)) < 0xE000)


def _date(chance: random.Random) -> str:
    return chance.choice(DATES)


def _broken(chance: random.Random) -> str:
    return chance.choice(BROKEN)


def _try(memory: Memory, text: str, tally: Tally) -> None:
    tally.texts += 1
    tally.bytes += len(text.encode())
    before = _pages(memory)
    began = time.perf_counter()
    try:
        memory.write(text)
        if missing := _missing(text, memory):
            tally.failed.append(f"not to the letter: {missing!r} of {text[:60]!r}")
        if (asked := text[:400]).strip():
            found = memory.search(asked)
            if not found and any(unicodedata.category(c)[0] in "LN" for c in asked):
                tally.failed.append(f"not found: {text[:60]!r}")
        memory.undo()
        if _pages(memory) != before:
            tally.failed.append(f"not undone: {text[:60]!r}")
    except InvalidText:
        tally.refused += 1
    except Exception as error:  # noqa: BLE001 - whatever a text causes is what is looked for
        tally.failed.append(f"{type(error).__name__}: {error}: {text[:60]!r}")
    tally.longest = max(tally.longest, time.perf_counter() - began)


def _pages(memory: Memory) -> dict[str, bytes]:
    return {path: memory.storage.read(path).data for path in memory.storage.list_files()}


def _missing(text: str, memory: Memory) -> str | None:
    """The first line of a text that stands nowhere; in a block that was cut into pieces a line may be cut too. A byte
    order mark says how a file is encoded, and is no part of its text."""
    together = "\n".join(decode(data) for data in _pages(memory).values())
    lines = set(re.split(r"[\r\n]", together))
    for line in re.split(r"[\r\n]", text.removeprefix(BYTE_ORDER_MARK)):
        if line not in lines and line.strip() and line.strip() not in together and len(line) < 1_000:
            return line
    return None


if __name__ == "__main__":
    main()
