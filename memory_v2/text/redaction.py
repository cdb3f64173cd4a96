"""Taking a text out of other texts: each place where it is gets a marker instead.

A text is found as its exact characters. A blank in it may also be a line break, with the marks of a quote or a list
around it; and it is found as JSON escapes it, and without Markdown, as in a summary. Where a summary was cut off in the
middle of it (`The key is sk-1…`), the part that is there is taken out too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Protocol

from memory_v2.text.words import plain

MARKER = "(forgotten)"
"""What is where a text was forgotten: valid in prose, in a link, in front matter and in a path."""
MIN_CUT = 6
"""How many characters of a text, cut off by `…`, are taken out as part of it. Fewer say little and are found often."""
MIN_CUT_LINE = 12
"""The same for a line: many lines begin alike."""
MAX_CUT = 240
"""The longest beginning of a text, in characters, that is anywhere: the longest description of a page."""

_CUT = "…"
_BREAK = r"[ \t]*(?:(?:\r?\n|\r(?!\n))[ \t>]*)+"
_BEFORE = re.compile(
    r"(?:\[n?\d{1,6}\][ \t]+)?[ \t>]*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]+)*(?:\[[ xX]\][ \t]+)?"
    r"(?:\[\[[^\]\r\n]*\]\][ \t]+[-–—:][ \t]+)?"
)
"""What may stand before a line: the number that a model is shown, the marks of a quote, a list, a heading, a task, and
the link of a listed page."""
_QUOTED = re.compile(r'"(?:[^"\\\r\n]|\\.)*"')
_LINES = re.compile(r"(\r?\n|\r)")


class Redaction(Protocol):
    """Takes something out of texts. Doing it again changes nothing more."""

    def text(self, text: str) -> str:
        """The text without it."""

    def summary(self, text: str) -> str:
        """The same for the beginning of a text on one line."""

    def path(self, path: str) -> str:
        """The path of a page without it."""


class TextRedaction:
    """Takes one text out, wherever it is. `marker` is there instead."""

    def __init__(self, text: str, marker: str = MARKER) -> None:
        self._marker = marker
        self._forms = tuple(sorted(_forms(text.strip()), key=len, reverse=True))
        self._pattern = re.compile("|".join(map(_flexible, self._forms)))

    @property
    def is_possible(self) -> bool:
        """Whether the marker does not itself hold the text."""
        return not self._pattern.search(self._marker)

    def text(self, text: str) -> str:
        """See `Redaction`."""
        while (found := self._pattern.sub(lambda _: self._marker, text)) != text:
            text = found  # the marker and what follows it may be the text again
        *parts, rest = text.split(_CUT)
        return _CUT.join([*map(self._without_beginning, parts), rest])

    summary = path = text

    def _without_beginning(self, part: str) -> str:
        for form in self._forms:
            line = " ".join(form.split())
            for length in range(min(len(line), MAX_CUT), MIN_CUT - 1, -1):
                if part.endswith(beginning := line[:length].rstrip(" ,;:-")):  # as `shorten` ends it
                    return part.removesuffix(beginning) + self._marker
        return part


class LineRedaction:
    """Takes whole lines out, and quotations of them. `lines` are lines or blocks, whose marks do not count."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._known = frozenset(core for line in lines if (core := line_core(line)))

    @cached_property
    def _by_start(self) -> dict[str, list[str]]:
        """The lines as summaries have them, longest first, by their first characters."""
        found: dict[str, list[str]] = {}
        for line in sorted({plain(core) for core in self._known}, key=len, reverse=True):
            found.setdefault(line[:MIN_CUT_LINE], []).append(line)
        return found

    def text(self, text: str) -> str:
        """See `Redaction`."""
        parts = _LINES.split(text)
        parts[::2] = map(self._line, parts[::2])
        return "".join(parts)

    def summary(self, text: str) -> str:
        """See `Redaction`. Such a text may join several lines."""
        if line_core(text) in self._known:
            return MARKER
        place = 0
        while place < len(text):
            if end := self._end_of_line(text, place):
                text = text[:place] + MARKER + text[end:]
                place += len(MARKER)
            place = text.find(" ", place) + 1 or len(text)
        return text

    def _end_of_line(self, text: str, place: int) -> int:
        """Where a line ends that is known and begins at a place in a summary; 0 if there is none."""
        rest = text[place:]
        for line in self._by_start.get(rest[:MIN_CUT_LINE], ()):
            if rest.startswith(line):
                return place + len(line)
            if rest.endswith(_CUT) and line.startswith(rest.removesuffix(_CUT)):
                return len(text)
        return 0

    def path(self, path: str) -> str:
        """See `Redaction`. A path is no line."""
        return path

    def _line(self, line: str) -> str:
        start, core = _BEFORE.match(line), line_core(line)
        if start and core in self._known:
            return line[: start.end()] + MARKER + line[len(line.rstrip()) :]
        if start and start[0].rstrip().endswith(("]] -", "]] –", "]] —", "]] :")):
            return start[0] + self.summary(line[start.end() :])
        return _QUOTED.sub(self._quotation, line) if '"' in line else line

    def _quotation(self, found: re.Match[str]) -> str:
        try:
            quoted = line_core(json.loads(found[0]))
        except ValueError:
            return found[0]
        return json.dumps(MARKER) if quoted in self._known else found[0]


def line_core(line: str) -> str:
    """The words of a line or a block on one line, without the marks before it."""
    start = _BEFORE.match(line)
    return " ".join(line[start.end() if start else 0 :].split())


def redacted_json(value: Any, redaction: Redaction) -> Any:
    """Plain JSON data with the strings redacted, names of fields included. A string may be JSON itself."""
    if isinstance(value, str):
        inner = _json_in(value)
        if inner is not None and (redacted := redacted_json(inner, redaction)) != inner:
            return json.dumps(redacted, ensure_ascii=False)
        return redaction.text(value)
    if isinstance(value, dict):
        return {redacted_json(key, redaction): redacted_json(one, redaction) for key, one in value.items()}
    return [redacted_json(one, redaction) for one in value] if isinstance(value, list) else value


def _json_in(text: str) -> Any:
    """The object or list that a string holds as JSON; `None` if it does not."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _forms(text: str) -> Iterator[str]:
    """The text itself, as JSON escapes it, and without Markdown."""
    yield text
    for is_ascii in (True, False):
        if (escaped := json.dumps(text, ensure_ascii=is_ascii)[1:-1]) != text:
            yield escaped
    bare = plain(text)
    if bare != " ".join(text.split()) and len(bare) >= MIN_CUT:
        yield bare


def _flexible(form: str) -> str:
    """A pattern in which each blank may be a line break, and each line break a blank."""
    parts = re.split(r"(\s+)", form)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = [f"(?:{re.escape(blank)}|{_BREAK}{'| ' if _LINES.search(blank) else ''})" for blank in parts[1::2]]
    return "".join(parts)
