"""Word lists as data files: words between blanks, and lines that begin with `#` for what the list is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

DATA = Path(__file__).with_name("data")


def read_words(file: Path) -> frozenset[str]:
    """The words in a file. Read it once, and only when a word of it is needed."""
    return frozenset(word for line in _lines(file) for word in line.split())


def read_phrases(file: Path) -> frozenset[str]:
    """The phrases in a file: they end at commas and at line ends. Read it once, and only when it is needed."""
    return frozenset(filter(None, (phrase.strip() for line in _lines(file) for phrase in line.split(","))))


def read_pairs(file: Path) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """The phrases before and after the colon of each line of a file."""
    sides = ([{*map(str.strip, side.split(","))} for side in line.split(":")] for line in _lines(file))
    return tuple((frozenset(first), frozenset(second)) for first, second in sides)


def _lines(file: Path) -> Iterator[str]:
    return (line for line in file.read_text("utf-8").splitlines() if not line.startswith("#"))


def _words(name: str) -> Callable[[], frozenset[str]]:
    return cache(partial(read_words, DATA / name))


def _phrases(name: str) -> Callable[[], frozenset[str]]:
    return cache(partial(read_phrases, DATA / name))


def _pairs(name: str) -> Callable[[], tuple[tuple[frozenset[str], frozenset[str]], ...]]:
    return cache(partial(read_pairs, DATA / name))


stopwords = _words("stopwords.txt")
"""Function words of English, Spanish, Portuguese, French and German, as `words` gives them."""
fillers = _words("fillers.txt")
"""Words that English speakers put into chat without saying anything; the stem of a filler is a filler too."""
opposites = _words("opposites.txt")
"""Stopwords that tell two facts apart, such as `before` and `after`."""
roles = _words("roles.txt")
"""Roles that speak in a transcript, such as `user`."""
askers = _words("askers.txt")
"""Roles of those who talk to an assistant, such as `user`."""
headings = _words("headings.txt")
"""Words of headings that stand in notes of any kind, such as `summary`, in lower case."""
forms = _words("forms.txt")
"""Labels of forms and logs, as slugs, such as `next-steps`: what is behind them differs from day to day."""
labels = _words("labels.txt")
"""Words that stand before a colon in notes and name no speaker, such as `status`."""
empty_names = _words("empty-names.txt")
"""Words that say nothing about a page when they are its name, such as `misc`."""
replacing = _phrases("replacing.txt")
"""Phrases that say that something takes the place of something else, such as `no longer`."""
present = _phrases("present.txt")
"""Phrases that say that a line speaks of the present, such as `as of`."""
past = _phrases("past.txt")
"""Phrases with which a question asks for what was so before, such as `used to`."""
past_tense = _pairs("past-tense.txt")
"""Words for a time, such as `before`, each line of a language with its words in the past tense, such as `was`."""
particles = _words("particles.txt")
"""Chinese characters of the grammar, such as `的`."""
asking = _words("asking.txt")
"""Chinese characters and pairs of them that ask, such as `哪`."""
interrogatives = _words("interrogatives.txt")
"""Words that begin a question, such as `when`."""
happened = _words("happened.txt")
"""Words of a question that asks for a day and nothing else."""
weekdays = _words("weekdays.txt")
"""The days of the week."""


@cache
def synonyms() -> Sequence[Sequence[str]]:
    """Groups of everyday English words for the same thing: `photo`, `picture`."""
    return [line.split() for line in _lines(DATA / "synonyms.txt")]


@cache
def kinds() -> Sequence[tuple[Sequence[str], Sequence[str]]]:
    """English words for a kind of thing, each with words for things of that kind: `pet` with `dog` and `cat`."""
    split = (line.split(":") for line in _lines(DATA / "kinds.txt"))
    return [(names.split(), members.split()) for names, members in split]


@cache
def irregular() -> Mapping[str, str]:
    """The English verb of each irregular form of one: `buy` of `bought`."""
    verbs = (line.split() for line in _lines(DATA / "irregular.txt"))
    return {form: verb for verb, *forms in verbs for form in forms}
