"""How what a search has found is shown, in a memory and in notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memory_v2.cli.show import style


def confidence(share: float) -> str:
    """How much of the question an answer tells, as a line."""
    return style(f"    confidence {share:.2f}", dim=True)


def points(signs: Iterable[tuple[str, float]]) -> Iterator[str]:
    """What an answer was ranked by, in lines: the most telling sign first."""
    for name, each in sorted(signs, key=lambda sign: -abs(sign[1])):
        yield style(f"    {each:+.2f}  {name}", dim=True)


def set_off(line: str, query: str) -> str:
    """The line with the words of the query in bold."""
    from memory_v2.index.found_words import places_of_words  # loads SQLite, which other verbs do without

    parts, end = [], 0
    for start, stop in places_of_words(line, query):
        parts += [line[end:start], style(line[start:stop], bold=True)]
        end = stop
    return "".join([*parts, line[end:]])
