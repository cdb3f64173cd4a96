"""Front matter: the YAML between two `---` lines with which many notes begin, and what it says about its note.

Its form alone tells it from a rule that is followed by text, so a page is read without a YAML parser. Only the fields
are read with one, as plain words: tags, anchors and aliases do nothing, and YAML that is broken has no fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from itertools import islice
from typing import Any

from memory_v2.text.dates import find_dates
from memory_v2.text.days import DAY, iso_day

MAX_LINES = 200
"""Limits a front matter, in lines. What is longer is text; the longest in use list some dozens of tags."""
MAX_CHARACTERS = 10_000
"""Limits the front matter whose fields are read, in characters: parsing YAML is slow."""

_OPENING = re.compile(r"---[ \t]*\Z")
_CLOSING = re.compile(r"(?:---|\.\.\.)[ \t]*\Z")
_KEY = re.compile(r"""(?:"([^"]+)"|'([^']+)'|([^\W\d_][\w.-]*(?: [\w.-]+){0,3})) ?:(?:[ \t]+(.*))?\Z""")
_ITEM = re.compile(r"-(?:[ \t]|\Z)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_BEGINS_WITH_DAY = re.compile(rf"({DAY})(?![\d-])")
_DATE_KEYS = ("date", "created", "date created", "published", "pubdate", "datetime")
_USUAL_KEY = re.compile(
    r"alias(es)?|authors?|categor(y|ies)|created|cssclass(es)?|date|description|draft|id|keywords|lang|language|lastmod"
    r"|layout|license|linktitle|modified|name|parent|permalink|position|publish(ed)?|sidebar|slug|source|status|subtitle"
    r"|summary|tags?|template|title|toc|topics?|type|updated|url|version|weight",
    re.I,
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a front matter says about its note. Everything is empty if it says nothing, or cannot be read."""

    title: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    date: date | None = None
    description: str = ""


def read_front_matter(text: str) -> FrontMatter:
    """The fields of the front matter at the top of a text, or of a block that is one."""
    lines = _LINE_END.split(text.removeprefix("\ufeff").lstrip("\r\n"))
    end = front_matter_length(lines)
    inside = "\n".join(lines[1 : end - 1])
    return _fields(inside) if end and len(inside) <= MAX_CHARACTERS else FrontMatter()


def front_matter_length(lines: Iterable[str]) -> int:
    """How many of these lines, given without their line ends, are a front matter, both `---` lines included; 0 if they
    do not begin with one.

    Each line inside is `key: value`, or belongs to the key above it. There is no blank line below the first `---`. If
    there is one further down, or a comment, or if a key is not in lower case, one of the keys must be usual in front
    matter."""
    keys: list[str] = []
    is_plain, is_list = True, False
    for number, line in enumerate(islice(lines, MAX_LINES)):
        if number == 0:
            if not _OPENING.match(line):
                return 0
        elif keys and _CLOSING.match(line):
            is_usual = any(map(_USUAL_KEY.fullmatch, keys))
            return number + 1 if is_usual or is_plain else 0
        elif found := _KEY.match(line):
            keys.append(found[1] or found[2] or found[3])
            is_plain = is_plain and keys[-1] == keys[-1].lower() and " " not in keys[-1]
            is_list = not found[4] or found[4].startswith("#")
        elif not keys:
            return 0
        elif not line.strip(" \t") or line.startswith("#"):
            is_plain = False
        elif not (line[0] in " \t]}" or (is_list and _ITEM.match(line))):
            return 0
    return 0


class BrokenYaml(ValueError):
    """The YAML cannot be read; `line` is where, from 0."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.line = line


def compose_yaml(text: str) -> Any:
    """The nodes of this YAML, `None` if it is empty. No objects are made, so that nothing in it can do harm. Raises
    `BrokenYaml`."""
    import yaml

    loader = None
    try:
        loader = _loader()(text)
        return loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.context_mark or error.problem_mark
        raise BrokenYaml(str(error.problem), mark.line if mark else 0) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BrokenYaml("it is not YAML") from error
    finally:
        if loader is not None:
            loader.dispose()


@cache
def _loader() -> Any:
    """What makes nodes. What their words stand for is never asked, so it need not be worked out."""
    import yaml

    def nothing(*_: object) -> str:
        return ""

    methods = dict.fromkeys(("resolve", "descend_resolver", "ascend_resolver"), nothing)
    return type("NodeLoader", (getattr(yaml, "CBaseLoader", yaml.BaseLoader),), methods)


@lru_cache(maxsize=64)
def _fields(text: str) -> FrontMatter:
    """The fields in this YAML."""
    try:
        mapping = compose_yaml(text)
    except BrokenYaml:
        return FrontMatter()
    found: dict[str, tuple[str, ...]] = {}
    for key, value in mapping.value if mapping is not None and mapping.id == "mapping" else ():
        values = value.value if value.id == "sequence" else [value]
        said = (" ".join(node.value.split()) for node in values if node.id == "scalar")
        if key.id == "scalar":
            found.setdefault(key.value.casefold(), tuple(word for word in said if word not in ("", "~", "null")))
    return FrontMatter(
        title=next(iter(found.get("title") or found.get("name") or ()), ""),
        tags=_words(found.get("tags") or found.get("tag") or ()),
        aliases=_listed(found.get("aliases") or found.get("alias") or ()),
        date=next((day for key in _DATE_KEYS for value in found.get(key, ()) if (day := _day(value))), None),
        description=next(iter(found.get("description") or ()), ""),
    )


def _words(values: tuple[str, ...]) -> tuple[str, ...]:
    """The tags: items of a list, or words of one line between commas or blanks."""
    named = re.split(r",\s*|\s+", values[0]) if len(values) == 1 else values
    return tuple(name for value in named if (name := value.strip().lstrip("#")))


def _listed(values: tuple[str, ...]) -> tuple[str, ...]:
    named = values[0].split(",") if len(values) == 1 else values
    return tuple(name for value in named if (name := value.strip()))


def _day(value: str) -> date | None:
    """The one day that a value names."""
    if found := _BEGINS_WITH_DAY.match(value):
        return iso_day(found[1])
    spans = find_dates(value)
    return spans[0][0].start if len(spans) == 1 and spans[0][0].granularity == "day" else None
