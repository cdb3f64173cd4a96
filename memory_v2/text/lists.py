"""Word lists as data files: words between blanks, and lines that begin with `#` for what the list is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

DATA = Path(__file__).with_name("data")


def read_words(file: Path) -> frozenset[str]:
    """The words in a file. Read it once, and only when a word of it is needed."""
    lines = file.read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def read_phrases(file: Path) -> frozenset[str]:
    """The phrases in a file: they end at commas and at line ends. Read it once, and only when it is needed."""
    lines = file.read_text("utf-8").splitlines()
    found = (phrase.strip() for line in lines if not line.startswith("#") for phrase in line.split(","))
    return frozenset(filter(None, found))


@cache
def stopwords() -> frozenset[str]:
    """Function words of English, Spanish, Portuguese, French and German, as `words` gives them."""
    return read_words(DATA / "stopwords.txt")


@cache
def fillers() -> frozenset[str]:
    """Words that English speakers put into chat without saying anything; the stem of a filler is a filler too."""
    return read_words(DATA / "fillers.txt")


@cache
def opposites() -> frozenset[str]:
    """Stopwords that tell two facts apart, such as `before` and `after`."""
    return read_words(DATA / "opposites.txt")


@cache
def roles() -> frozenset[str]:
    """Roles that speak in a transcript, such as `user`."""
    return read_words(DATA / "roles.txt")


@cache
def askers() -> frozenset[str]:
    """Roles of those who talk to an assistant, such as `user`."""
    return read_words(DATA / "askers.txt")


@cache
def headings() -> frozenset[str]:
    """Words of headings that stand in notes of any kind, such as `summary`, in lower case."""
    return read_words(DATA / "headings.txt")


@cache
def forms() -> frozenset[str]:
    """Labels of forms and logs, as slugs, such as `next-steps`: what is behind them differs from day to day."""
    return read_words(DATA / "forms.txt")


@cache
def labels() -> frozenset[str]:
    """Words that stand before a colon in notes and name no speaker, such as `status`."""
    return read_words(DATA / "labels.txt")


@cache
def empty_names() -> frozenset[str]:
    """Words that say nothing about a page when they are its name, such as `misc`."""
    return read_words(DATA / "empty-names.txt")


@cache
def replacing() -> frozenset[str]:
    """Phrases that say that something takes the place of something else, such as `no longer`."""
    return read_phrases(DATA / "replacing.txt")


@cache
def present() -> frozenset[str]:
    """Phrases that say that a line speaks of the present, such as `as of`."""
    return read_phrases(DATA / "present.txt")


@cache
def past() -> frozenset[str]:
    """Phrases with which a question asks for what was so before, such as `used to`."""
    return read_phrases(DATA / "past.txt")


@cache
def particles() -> frozenset[str]:
    """Chinese characters of the grammar, such as `的`."""
    return read_words(DATA / "particles.txt")


@cache
def asking() -> frozenset[str]:
    """Chinese characters and pairs of them that ask, such as `哪`."""
    return read_words(DATA / "asking.txt")


@cache
def interrogatives() -> frozenset[str]:
    """Words that begin a question, such as `when`."""
    return read_words(DATA / "interrogatives.txt")


@cache
def happened() -> frozenset[str]:
    """Words of a question that asks for a day and nothing else."""
    return read_words(DATA / "happened.txt")


@cache
def weekdays() -> frozenset[str]:
    """The days of the week."""
    return read_words(DATA / "weekdays.txt")


@cache
def times() -> frozenset[str]:
    """Words that speak of a time, as `yesterday` does, or that are part of it, as `week` is of `last week`."""
    return read_words(DATA / "times.txt")


@cache
def synonyms() -> Sequence[Sequence[str]]:
    """Groups of everyday English words for the same thing: `photo`, `picture`."""
    return [line.split() for line in _lines("synonyms.txt")]


@cache
def kinds() -> Sequence[tuple[Sequence[str], Sequence[str]]]:
    """English words for a kind of thing, each with words for things of that kind: `pet` with `dog` and `cat`."""
    split = (line.split(":") for line in _lines("kinds.txt"))
    return [(names.split(), members.split()) for names, members in split]


@cache
def irregular() -> Mapping[str, str]:
    """The English verb of each irregular form of one: `buy` of `bought`."""
    verbs = (line.split() for line in _lines("irregular.txt"))
    return {form: verb for verb, *forms in verbs for form in forms}


def _lines(name: str) -> Iterator[str]:
    return (line for line in (DATA / name).read_text("utf-8").splitlines() if not line.startswith("#"))
