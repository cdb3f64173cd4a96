"""Dividing an index offline: links that belong together move to a page between."""

from __future__ import annotations

import re
from typing import Any

from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline.naming import Names, describe, name_for, telling_terms
from memory_v2.text.plain import plain
from memory_v2.tree.numbers import show_numbers
from memory_v2.tree.page import Entry

PER_GROUP = 12
MOST_GROUPS = 14
_DATED = re.compile(r"(\d{4})(-\d{2})?(-\d{2})?\b")


def group_links(brief: SplitBrief, names: Names) -> list[dict[str, Any]]:
    """The children that take links: by year or month where pages are dated, else by the alphabet."""
    entries = brief.view.page.entries
    children = []
    for name, title, numbers in _groups(
        entries, max(PER_GROUP, -(-len(entries) // MOST_GROUPS)) if brief.crowded else max(2, -(-len(entries) // 2))
    ):
        members = [entries[n - 1] for n in numbers]
        inside = [f"{plain(e.description)} {e.target.rsplit('/', 1)[-1].replace('-', ' ')}" for e in members]
        outside = [plain(e.description) for n, e in enumerate(entries, 1) if n not in numbers]
        terms = telling_terms(inside, outside, 8)
        chosen = name_for([name] if name else terms, names, plain(members[0].target))
        shown = title or ", ".join(terms[:3]) or chosen
        children.append(
            {
                "name": chosen,
                "title": (shown[:1].upper() + shown[1:])[:110],
                "description": describe(title or terms[0] if terms else chosen, [*terms, *inside]) or chosen,
                "links": show_numbers(numbers, "L"),
            }
        )
    return children


def _groups(entries: tuple[Entry, ...], per_group: int) -> list[tuple[str, str, list[int]]]:
    """Name, title and links of each group; links that are few of their kind stay."""
    dated: dict[str, list[int]] = {}
    others: list[int] = []
    for number, entry in enumerate(entries, 1):
        found = _DATED.match(entry.target.rsplit("/", 1)[-1])
        if found and found[2]:
            dated.setdefault(found[1] if not found[3] else found[1] + found[2], []).append(number)
        else:
            others.append(number)
    others += [numbers[0] for numbers in dated.values() if len(numbers) == 1]
    groups = [(name, name, numbers) for name, numbers in sorted(dated.items()) if len(numbers) > 1]
    remaining = len(entries) - sum(len(numbers) - 1 for _, _, numbers in groups)
    if remaining <= per_group:
        return groups
    others = sorted(others, key=lambda n: (entries[n - 1].target.casefold(), n))
    parts = max(1, -(-len(others) // per_group))
    step = -(-len(others) // parts) if others else 1
    return groups + [("", "", sorted(others[i : i + step])) for i in range(0, len(others), step)]
