"""Word lists as data files: words between blanks, and lines that begin with `#` for what the list is."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_DATA = Path(__file__).with_name("data")


def read_words(file: Path) -> frozenset[str]:
    """The words in a file. Read it once, and only when a word of it is needed."""
    lines = file.read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@cache
def stopwords() -> frozenset[str]:
    """Function words of English, Spanish, Portuguese, French and German, as `words` gives them."""
    return read_words(_DATA / "stopwords.txt")


@cache
def fillers() -> frozenset[str]:
    """Words that English speakers put into chat without saying anything; the stem of a filler is a filler too."""
    return read_words(_DATA / "fillers.txt")


@cache
def general() -> frozenset[str]:
    """Words so general that a fact can be retold without them, and their stems."""
    from memory_v2.text.words import stem

    found = read_words(_DATA / "general.txt")
    return found | {stem(word) for word in found}


@cache
def opposites() -> frozenset[str]:
    """Stopwords that tell two facts apart, such as `before` and `after`."""
    return read_words(_DATA / "opposites.txt")


@cache
def roles() -> frozenset[str]:
    """Roles that speak in a transcript, such as `user`."""
    return read_words(_DATA / "roles.txt")


@cache
def labels() -> frozenset[str]:
    """Words that stand before a colon in notes and name no speaker, such as `status`."""
    return read_words(_DATA / "labels.txt")


@cache
def empty_names() -> frozenset[str]:
    """Words that say nothing about a page when they are its name, such as `misc`."""
    return read_words(_DATA / "empty-names.txt")
