"""Watch a memory grow: `make demo`.

Half a year of an agent's notes, in three languages, is written note by note: without a path, a key or the network. The
memory decides where each note belongs, splits pages that grow too large, and then answers questions. It stays in
`.demo/memory`, as plain files to read and edit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from bench.data import HERE, own_texts
from memory_v2 import Memory

FOLDER = HERE / ".demo" / "memory"
SMALL = 4_096
"""The threshold, in bytes: these notes are too few to make a page split at the default."""
QUESTIONS = (
    "What must Nele not eat?",
    "How many people paid twice?",
    "On which days is Lumen deployed?",
    "Who has been on call in calendar week 27 since Mirela left?",
    "Which car do we drive?",
)
"""A fact, an event, a fact that has changed twice, one that follows from two notes, and one that no note tells."""


def main() -> None:
    """Writes the notes, shows the tree and asks questions."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.environ["SILICA_MEMORY_SIZE_THRESHOLD"] = str(SMALL)
    notes = own_texts("scenario")["texts"]
    with Memory.open(FOLDER) as memory:
        for note in notes:
            result = memory.write(note["text"], date=note["day"])
            grown = f", which grew too large: {', '.join(result.new_files)}" if result.new_files else ""
            print(f"{note['day']}  {note['text'].split(chr(10))[0][:60]:60}  → {result.path}{grown}")
    print(f"\n{len(notes)} notes written by the offline planner: no key, no network.")
    silica("tree")
    silica("check")
    for question in QUESTIONS:
        silica("search", "-n", "1", question)
    print(f"\nThe memory is in {FOLDER.relative_to(HERE)}: plain Markdown, yours to read and edit.")


def silica(*words: str) -> None:
    """Runs the command line, as a user would."""
    shown = " ".join(f"'{word}'" if " " in word else word for word in words)
    print(f"\n$ silica memory {shown}", flush=True)
    environment = {**os.environ, "SILICA_MEMORY_PATH": str(FOLDER), "PYTHONUTF8": "1"}
    subprocess.run([sys.executable, "-m", "memory_v2.cli", "memory", *words], env=environment, check=True)


if __name__ == "__main__":
    main()
