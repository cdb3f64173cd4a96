"""Watch a memory grow: `make demo`.

Real Markdown is written piece by piece, as by an agent that learns gradually, without a path, key or network. The
memory decides where each piece belongs, splits pages that grow too large, and then answers questions. It stays in
`.demo/memory`, as plain files to read and edit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

from bench.data import HERE, data_folder
from memory_v2 import Memory
from memory_v2.tree.block import parse_blocks

MAX_AT_ONCE = 2_500
"""Limits a text that is written at once, in characters; longer ones are written section by section."""
SMALL = 3_072
"""The threshold for the project's own pages, in bytes: they are too short to be split at the default."""
FOLDER = HERE / ".demo" / "memory"
OWN = ("README.md", "docs/concepts.md", "docs/format.md", "docs/decisions.md", "CHANGELOG.md")
OWN_QUESTIONS = (
    "What happens when a page grows too large?",
    "How can a file and a folder have the same name?",
    "What is the offline planner?",
    "Which exit code means that a page was not found?",
    "Why is a page shown to a model as numbered blocks?",
)
NOTES_QUESTIONS = (
    "Which timezone is Juan Carlos in?",
    "Which rule of governance holds for sub-agents?",
    "When was Peru born?",
)


def main() -> None:
    """Writes the texts, shows the tree and asks questions."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    notes = data_folder() / "notes" / "peru-ai"
    if not notes.is_dir():
        os.environ["SILICA_MEMORY_SIZE_THRESHOLD"] = str(SMALL)
        print(f"The demo writes this project's own pages. They are short, so a page is split at {SMALL:,} bytes.")
    memory = Memory.open(FOLDER)
    files = [HERE / name for name in OWN if (HERE / name).is_file()]
    if notes.is_dir():
        files += [notes / "MEMORY.md", notes / "USER.md", *sorted((notes / "memory").glob("*.md"))]
    written = splits = 0
    for file in files:
        print(f"\n{file.name}")
        for text in pieces(file.read_text("utf-8")):
            result = memory.write(text)
            written += 1
            splits += result.split_triggered
            if result.new_files:
                print(f"  a page grew too large; new pages: {', '.join(result.new_files)}")
    print(f"\n{written} pieces written, {splits} times a page was split, by the offline planner: no key, no network.")
    silica("tree")
    silica("check")
    questions = (*NOTES_QUESTIONS, *OWN_QUESTIONS) if notes.is_dir() else OWN_QUESTIONS
    for question in questions[:5]:
        silica("search", "-n", "1", question)
    print(f"\nThe memory is in {FOLDER.relative_to(HERE)}: plain Markdown, yours to read and edit.")


def pieces(text: str) -> Iterator[str]:
    """A short text as a whole, a long one section by section."""
    piece = ""
    for block in parse_blocks(text):
        if block.kind == "heading" and block.level <= 2 and piece.strip() and len(text) > MAX_AT_ONCE:
            yield piece
            piece = ""
        piece += block.text
    if piece.strip():
        yield piece


def silica(*words: str) -> None:
    """Runs the command line, as a user would."""
    shown = " ".join(f"'{word}'" if " " in word else word for word in words)
    print(f"\n$ silica memory {shown}", flush=True)
    environment = {**os.environ, "SILICA_MEMORY_PATH": str(FOLDER), "PYTHONUTF8": "1"}
    subprocess.run([sys.executable, "-m", "memory_v2.cli", "memory", *words], env=environment, check=True)


if __name__ == "__main__":
    main()
