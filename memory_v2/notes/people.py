"""Who is named in a line: links to people, handles, names that head an item, and the names of an alias file.

Nobody's name is in the program. An e-mail address is no handle, and neither is a package such as `@scope/name`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from memory_v2.errors import UsageError
from memory_v2.notes.languages import CATEGORIES, bare, says
from memory_v2.text.words import folded

_CODE = re.compile(r"`[^`\n]*`")
_HANDLE = re.compile(r"(?<![\w.@/+-])@([A-Za-z0-9_](?:[\w-]|\.(?=\w)){1,38})(?![\w/@])")
_LINK = re.compile(
    r"\[\[(?:[^\[\]|#]*/)?(?:people|persons?|contacts?|personas?|pessoas|contatos|contactos|personnes|personen|kontakte)"
    r"/([^\[\]|#/]+)(?:#[^\[\]|]*)?(?:\|([^\[\]]+))?\]\]",
    re.I,
)
_NAME = r"[^\W\d_][\w.'’-]*(?: [^\W\d_(][\w.'’-]*){0,3}"
_FULL_NAME = r"[^\W\d_][\w.'’-]*(?: (?:(?:de|del|da|do|dos|van|von|bin|al|el|la) ){0,2}[^\W\d_a-zà-ÿ][\w.'’-]*){0,3}"
_BOLD_HEAD = re.compile(rf"(?:\*\*|__)\s*({_NAME})\s*[^\w\s*:：(-]{{0,3}}\s*(?:\([^)]*\))?\s*[:：]?\s*(?:\*\*|__)")
_PLAIN_HEAD = re.compile(rf"({_FULL_NAME})\s*(?:\([^)]{{1,60}}\))?\s*(?:[—–]|\s-\s|[:：])")
_CAPITAL = re.compile(r"[A-ZÀ-ÞΑ-ΩА-Я]|[^\x00-\u02ff]|.*[A-Z_\d]")
"""A name as people and their agents spell it: with a capital, in a script without them, or with a mark in it."""


def handles(text: str) -> list[str]:
    """The handles in a text, with their `@`, in order."""
    if "@" not in text:  # as in most lines
        return []
    return [f"@{found}" for found in dict.fromkeys(_HANDLE.findall(_CODE.sub(" ", text)))]


def linked(text: str) -> list[str]:
    """The people that a text links to, such as `[[people/ada]]`."""
    if "[[" not in text:
        return []
    return [(words or name).strip() for name, words in _LINK.findall(_CODE.sub(" ", text))]


def heading_name(text: str) -> str:
    """The name with which an item begins that tells of somebody: `**Ada** — keeps the books`; else an empty text. A
    label of a line (`**Problem**: …`) is none."""
    found = _BOLD_HEAD.match(text) or _PLAIN_HEAD.match(text)
    name = found[1].strip() if found else ""
    is_label = any(says(bare(name), category, "markers") for category in CATEGORIES)
    return name if _CAPITAL.match(name) and not is_label else ""


class Aliases:
    """The people of an alias file, each with the other names that stand for them."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        words = sorted(map(re.escape, names), key=lambda name: (-len(name), name))
        self._pattern = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)") if words else None

    def named(self, text: str) -> list[str]:
        """The people that a text names, by the names that the file has for them."""
        if self._pattern is None:
            return []
        return list(dict.fromkeys(self._names[found] for found in self._pattern.findall(folded(_CODE.sub(" ", text)))))

    def known(self, name: str) -> str:
        """The name that the file has for somebody; the same name if it has none."""
        return self._names.get(folded(name), name)


NO_ALIASES = Aliases({})


def read_aliases(file: Path) -> Aliases:
    """The alias file: on each line a name, `=`, and other names between commas. Raises `UsageError`."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the alias file {file}: {error}") from error
    names: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, others = (part.strip() for part in line.partition("="))
        if not name or (equals and not others):
            raise UsageError(f"line {number} of {file} must be: Name = another name, @handle")
        for one in (name, *filter(None, map(str.strip, others.split(",")))):
            names[folded(one)] = name
    return Aliases(names)
