"""The word lists say what they are for, and nobody pays for them who does not need them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import memory_v2
from memory_v2.text.lists import read_words

FILES = sorted(file for file in Path(memory_v2.__file__).parent.rglob("*.txt") if file.parent.name != "dense")
"""All but the vocabulary of a model, whose lines are numbered; `NOTICE` says what that is."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_word_list_says_what_it_is_for(file: Path) -> None:
    comment, _, _ = file.read_text("utf-8").partition("\n")
    assert comment.startswith("# ") and comment.endswith(".")
    assert read_words(file) and not any("#" in word for word in read_words(file))


def test_importing_the_package_and_reading_a_page_read_no_word_list() -> None:
    code = (
        "import sys, memory_v2\nopened = []\n"
        "sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == 'open' else None)\n"
        "import memory_v2.text.words, memory_v2.text.speakers, memory_v2.models.offline\n"
        "try:\n    memory_v2.Memory.open('/nowhere/at/all').read()\n"
        "except memory_v2.PageNotFound:\n    pass\n"
        "print('\\n'.join(name for name in opened if name.endswith('.txt')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
