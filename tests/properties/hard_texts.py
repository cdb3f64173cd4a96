"""Texts that are hard to keep, as hypothesis strategies.

Any character that Unicode knows, dates in ten forms, Markdown that is broken on purpose, imitations of the program's
own sections, and scripts that are cut into words or folded in their own way.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import date, timedelta
from typing import Literal, TypeAlias, get_args

from hypothesis import strategies as st

from tests.tree.texts import markdown

Category: TypeAlias = Literal[
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
    "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn",
]  # fmt: skip
CATEGORIES: tuple[Category, ...] = get_args(Category)
"""All general categories of Unicode but surrogates, which no text may contain."""
characters = st.one_of([st.characters(categories=[category]) for category in CATEGORIES])
"""Any character. A rare category comes as often as a large one."""

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December"),
)
MESES = (
    *("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre"),
    *("noviembre", "diciembre"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _english(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.day}"


DATE_FORMS: tuple[Callable[[date], str], ...] = (
    lambda day: day.isoformat(),
    lambda day: f"{day.day:02}.{day.month:02}.{day.year}",
    lambda day: f"{day.day}/{day.month}/{day.year % 100:02}",
    _english,
    lambda day: f"{_english(day)}, {day.year}",
    lambda day: f"{day.day} de {MESES[day.month - 1]} de {day.year}",
    lambda day: f"{_english(day)} – {_english(day + timedelta(8))}",
    lambda day: f"{day.year}年{day.month}月{day.day}日",
    lambda day: f"Q{(day.month + 2) // 3} {day.year}",
    lambda day: f"last {WEEKDAYS[day.weekday()]}",
)
dates = st.builds(
    lambda form, day: form(day), st.sampled_from(DATE_FORMS), st.dates(date(1970, 1, 1), date(2039, 12, 1))
)
"""A day in one of ten forms."""

MARKS = (
    *("```", "~~~~", "````py", "[[", "]]", "[a](", "![", "---", "===", "# ", "######", "- [ ] ", "1. ", "> > >"),
    *("| a | b |", "|--|--|", "<!--", "-->", "<div>", "<pre>", "<![CDATA[", "&amp;", "\\", "**", "`` ` ``", "[x]: /y"),
    *("    ", "\t- "),
    *("## Links", "## Metadata", "- [[memory]] - x", "size_bytes: 3", "piece: 1 of 2, 3 bytes of fence"),
    *("\t", "\r", "\r\n", "\n\n", "\n", "  \n", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\ufeff", "\0"),
)  # fmt: skip
marks = st.sampled_from(MARKS)

plain_words = st.text(st.characters(categories=["Ll", "Lu"], max_codepoint=0x24F), min_size=2, max_size=9)
lines = st.lists(plain_words, min_size=1, max_size=6).map(" ".join)
any_words = st.text(characters, min_size=1, max_size=8)
chinese = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=12)
thai = st.text(
    st.characters(min_codepoint=0x0E01, max_codepoint=0x0E4E, categories=["L", "M"]), min_size=1, max_size=12
)
jamo = st.text(st.characters(min_codepoint=0x1100, max_codepoint=0x11FF), min_size=1, max_size=9)
right_to_left = st.text(
    st.one_of(
        st.characters(min_codepoint=0x05D0, max_codepoint=0x06FF, categories=["L", "M", "N"]),
        st.sampled_from(" \u200f\u202e\u2067\u2069"),
    ),
    min_size=1,
    max_size=12,
)
lone_marks = st.text(st.characters(categories=["Mn", "Me"]), min_size=1, max_size=4)
emoji = st.lists(
    st.sampled_from(["👩\u200d💻", "🏴\u200d☠️", "👨\u200d👩\u200d👧", "🇩🇪", "👍🏽", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "☕"]), min_size=1, max_size=5
).map("".join)
accented = st.text(st.sampled_from("äéñçåőÄÉΐșậ가"), min_size=1, max_size=6)
twins = accented.map(lambda word: f"{unicodedata.normalize('NFC', word)} {unicodedata.normalize('NFD', word)}")

STRUCTURES: dict[str, st.SearchStrategy[str]] = {
    "nested list": st.lists(st.tuples(st.integers(0, 5), lines), min_size=1, max_size=8).map(
        lambda items: "".join(f"{'  ' * depth}- {line}\n" for depth, line in items)
    ),
    "table": st.lists(lines, min_size=1, max_size=5).map(
        lambda rows: "| a | b |\n|---|---|\n" + "".join(f"| {row} | `x\\|y` |\n" for row in rows)
    ),
    "open fence": st.builds("{}\n\n```py\n# {}\n\n- [[{}]]".format, lines, lines, plain_words),
    "open comment": st.builds("<!-- {}\n\n# {}\n".format, lines, lines),
    "front matter": st.builds(
        "---\ntitle: {}\ntags: [{}]\n---\n\n# {}\n\n{}\n".format, lines, plain_words, lines, lines
    ),
    "setext": st.builds("{}\n=====\n\n{}\n\n{}\n---\n".format, lines, lines, lines),
    "links in the middle": st.builds(
        "{}\n\n## Links\n\n- [[{}]] - {}\n\n{}\n".format, lines, plain_words, lines, lines
    ),
    "metadata in the middle": st.builds("{}\n\n## Metadata\n\nlast_updated: {}\n\n{}".format, lines, dates, lines),
    "sections at the end": st.builds(
        "{}\n\n## Links\n\n- [[{}]]\n\n## Metadata\n\nlast_updated: {}\npiece: {} of 2, 9 bytes of fence\n".format,
        lines, plain_words, dates, st.integers(0, 3),
    ),
    "repeated headings": st.builds("{}\n\n## Metadata\n\nrepeated_headings: {}\n".format, lines, plain_words),
    "order mark": st.builds("\ufeff# {}\n\n\ufeff{}\ufeff\n".format, lines, lines),
    "form feeds": st.builds("{}\x0c{}\x0b{}\n\x0c\n".format, lines, lines, lines),
    "trailing white space": st.builds("  {}  \n\t{}\t\n   \n".format, lines, lines),
    "references": st.builds("[{}]: /{} '{}\n{}'\n\n{}\n".format, plain_words, plain_words, plain_words, lines, lines),
    "empty headings": st.builds("## {}\n\n## {}\n\n###\n\n#\n".format, lines, lines),
    "log": st.lists(st.tuples(dates, lines), min_size=1, max_size=8).map(
        lambda days: "".join(f"- {day}: {line}\n" for day, line in days)
    ),
    "dialogue": st.lists(lines, min_size=2, max_size=6).map(
        lambda said: "".join(f"{('Ada', 'Bob')[n % 2]}: {line}?\n" for n, line in enumerate(said))
    ),
    "deep": st.builds(lambda depth, line: f"{'> - ' * depth}{line}\n", st.integers(1, 60), lines),
    "long line": st.builds(lambda line, times: f"{line} " * times, lines, st.integers(40, 400)),
    "long unbroken": st.builds(lambda word, times: word * times, any_words, st.integers(40, 2_000)),
    "long fence": st.builds(lambda line, times: "```\n" + f"{line}\n" * times + "```\n", lines, st.integers(20, 900)),
    "many items": st.builds(
        lambda line, times: "".join(f"- {n} {line}\n" for n in range(times)), lines, st.integers(20, 300)
    ),
    "many sections": st.builds(
        lambda line, times: "".join(f"## {line} {n}\n\n{n} {line}\n\n" for n in range(times)),
        lines, st.integers(5, 120),
    ),
}  # fmt: skip
"""What people write and what breaks, by name. Their small parts are generated, so no two are alike."""

scripts = st.one_of(any_words, chinese, thai, jamo, right_to_left, lone_marks, emoji, twins)
structures = st.one_of(list(STRUCTURES.values()))
_parts = st.one_of(lines, scripts, dates, marks, structures)
_mixed = st.lists(_parts, min_size=1, max_size=12).flatmap(
    lambda parts: st.sampled_from(("", " ", "\n", "\n\n", "\r\n", "\r")).map(lambda between: between.join(parts))
)
_line_ends = st.builds(lambda text, end: text.replace("\n", end), _mixed, st.sampled_from(("\r\n", "\r")))
_halves = st.builds("{}{}".format, lines, st.characters(categories=["Cs"]))

texts = st.one_of(_mixed, _mixed, _mixed, structures, scripts, _line_ends, markdown, _halves)
"""Any of these texts, and mixes of them. Some are refused: those with half of a surrogate pair, and empty ones."""
