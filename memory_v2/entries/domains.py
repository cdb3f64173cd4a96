"""The domains that entries are routed to: a file that people edit.

The package brings five, with keywords in six languages. A memory has a file of its own only once they were edited; it
is then the whole truth. A storage keeps Markdown, so there the TOML is in a fence of `entries/domains.md`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from memory_v2.agent.operation import operation
from memory_v2.entries.entry import INBOX, Domain
from memory_v2.entries.store import DOMAINS_PAGE, EntryStore
from memory_v2.errors import InvalidSetting
from memory_v2.storage.history import PageChange
from memory_v2.tree.block import decode, encode, parse_blocks, split_lines
from memory_v2.tree.path import is_page_path

_DEFAULTS = Path(__file__).with_name("data") / "domains.toml"
_FIELDS = ("title", "description", "keywords")
_BONUS = "importance_bonus"
_TOML = re.compile(r" {0,3}(?:`{3,}|~{3,})\s*toml\b", re.I)


@dataclass(frozen=True, slots=True)
class DomainFile:
    """The domains in a file, how much the importance of a domain counts in routing (twice in DARYL's formula), and the
    file's text."""

    domains: tuple[Domain, ...]
    importance_bonus: float = 0.0
    text: str = ""


@operation("domains")
def domains(store: EntryStore) -> DomainFile:
    """The domains that entries are routed to. Raises `InvalidSetting` if the page of the memory is not valid."""
    page = store.data(DOMAINS_PAGE)
    return default_domains() if page is None else stored_domains(decode(page), f"{DOMAINS_PAGE}.md")


@operation("set_domains", changes="entries")
def set_domains(store: EntryStore, text: str) -> DomainFile:
    """Stores other domains, given as TOML; what was routed keeps its home. Raises `InvalidSetting`, `StorageError`."""
    found = read_domains(text, "the domains")
    before, after = store.data(DOMAINS_PAGE), encode(domains_page(text))
    if before != after:
        names = ", ".join(domain.name for domain in found.domains)
        store.commit("domains", names, [PageChange(DOMAINS_PAGE, before, after)])
    return found


@cache
def default_domains() -> DomainFile:
    """The five domains that the package brings."""
    return read_domains(_DEFAULTS.read_text("utf-8"), _DEFAULTS.name)


def read_domains(text: str, file: str) -> DomainFile:
    """The domains in a file. Raises `InvalidSetting`, naming the file and what in it is not valid: half a file would
    route entries to wrong homes."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(f"{file} is not valid TOML: {error}; correct it, or remove it for the defaults") from error
    bonus = tables.pop(_BONUS, 0.0)
    if isinstance(bonus, bool) or not isinstance(bonus, int | float) or not 0 <= bonus < 100:
        raise InvalidSetting(f"{file}: {_BONUS} is a number from 0 to 100")
    try:
        found = tuple(_domain(name, table) for name, table in tables.items())
    except ValueError as error:
        raise InvalidSetting(f"{file}: {error}") from error
    if not found:
        raise InvalidSetting(f"{file} has no domain; add one, or remove the file for the defaults")
    return DomainFile(found, float(bonus), text)


def stored_domains(page: str, file: str) -> DomainFile:
    """The domains in a Markdown page: its first fence of TOML. Raises `InvalidSetting`, with the line of the page."""
    before, text = _fence(page)
    if text is None:
        raise InvalidSetting(f"{file} has no fence ```toml; add one with the domains, or remove the file")
    return replace(read_domains("\n" * before + text, file), text=text)


def with_domains(text: str, added: Iterable[Domain]) -> str:
    """The domains in this TOML, and others. Raises `InvalidSetting` if one of them can be no domain."""
    for one in added:
        keywords = f"[{', '.join(map(_quoted, one.keywords))}]"
        lines = (f"title = {_quoted(one.title)}", f"description = {_quoted(one.description)}", f"keywords = {keywords}")
        text = "\n".join([text.rstrip("\n"), "", f"[{_quoted(one.name)}]", *lines, ""])
    return read_domains(text, "the domains").text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def domains_page(text: str) -> str:
    """The Markdown page that holds this TOML."""
    end = "" if text.endswith("\n") else "\n"
    return f"# Domains\n\nWhere entries are routed to, and by which keywords.\n\n```toml\n{text}{end}```\n"


def _fence(page: str) -> tuple[int, str | None]:
    """How many lines are before the text of the first fence of TOML, and that text."""
    before = 0
    for block in parse_blocks(page):
        lines = split_lines(block.text)
        if block.kind == "fence" and _TOML.match(lines[0]):
            content = split_lines(block.content)
            closed = len(content) > 1 and content[-1].lstrip().startswith(("```", "~~~"))
            return before + 1, "".join(content[1 : -1 if closed else None])
        before += len(lines)
    return 0, None


def _domain(name: str, table: Any) -> Domain:
    """A domain. Raises `ValueError`."""
    if not isinstance(table, dict):
        raise ValueError(f"{name!r} is not a table such as [{name}]")
    if not is_page_path(name) or "/" in name or name != name.casefold() or name == INBOX:
        raise ValueError(f"{name!r} cannot be the name of a domain: use one word in lower case")
    if unknown := [key for key in table if key not in _FIELDS]:
        raise ValueError(f"{name}.{unknown[0]} is none of {', '.join(_FIELDS)}")
    for key in _FIELDS[:2]:
        if not isinstance(table.get(key, ""), str):
            raise ValueError(f"{name}.{key} is not a text")
    keywords = table.get("keywords", [])
    lists = keywords if isinstance(keywords, dict) else {"keywords": keywords}  # one for each language, or one
    for key, listed in lists.items():
        if not isinstance(listed, list) or not all(isinstance(word, str) for word in listed):
            raise ValueError(f"{name}.{key} is not a list of texts")
    words = dict.fromkeys(word.strip() for listed in lists.values() for word in listed)
    return Domain(
        name, table.get("title") or name.capitalize(), table.get("description", ""), tuple(filter(None, words))
    )
