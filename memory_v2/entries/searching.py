"""Searching pages and entries at once."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Literal

from memory_v2.entries.area import Area
from memory_v2.entries.arguments import share_given
from memory_v2.entries.domains import INBOX, domain_named
from memory_v2.entries.entry import SHARED
from memory_v2.entries.places import check_agent
from memory_v2.entries.recall import Recall, Wanted
from memory_v2.entries.stored import EntryFiles
from memory_v2.errors import InvalidSetting
from memory_v2.operations.context import Context
from memory_v2.operations.results import SearchResults
from memory_v2.operations.search import search as search_tree
from memory_v2.operations.texts import checked_day


def search(
    context: Context,
    query: str,
    max_results: int = 10,
    max_tokens: int | None = None,
    under: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    source: str | None = None,
    near: str | None = None,
    steps: int = 1,
    regex: bool = False,
    only: Literal["pages", "entries"] | None = None,
    agent: str | None = None,
    domain: str | None = None,
    tags: Iterable[str] = (),
    min_confidence: float | None = None,
    cross: bool = False,
    archived: bool = False,
) -> SearchResults:
    """The best answers of pages and entries, best first, as `operations.search` finds them. An agent, a domain, tags
    and a confidence are what entries have: with one of them, no page is searched. Raises `InvalidSetting` too."""
    tags = tuple(tag.strip() for tag in tags)
    of_entries = {"agent": agent, "domain": domain, "tags": tags or None, "min_confidence": min_confidence}
    asked = next((name for name, value in of_entries.items() if value is not None), None)
    entries_only = only == "entries" or asked is not None
    if only == "pages" and asked:
        raise InvalidSetting(f"pages have no {asked}: leave it out, or search entries too")
    if entries_only and (near is not None or regex):
        raise InvalidSetting(f"{'regex' if regex else 'near'} finds pages only: leave it out to search entries")
    for name, value in (("cross", cross), ("archived", archived)):
        if not isinstance(value, bool):
            raise InvalidSetting(f"{name} must be True or False, not {value!r}")
    if only not in (None, "pages", "entries"):
        raise InvalidSetting(f"only must be pages or entries, not {only!r}")
    index = context.open_entries()
    recall = None
    if entries_only or (only != "pages" and near is None and not regex and index.may_have_entries):
        wanted = Wanted(
            agent=agent if agent in (None, SHARED) else check_agent(agent),
            home=None if domain is None else _home(context, domain),
            under=under.rstrip("/") if isinstance(under, str) else None,
            tags=tags,
            min_confidence=None if min_confidence is None else share_given("min_confidence", min_confidence),
            since=checked_day("since", since),
            until=checked_day("until", until),
            source=source.strip() if isinstance(source, str) else "",
            archived=archived,
            crossed=cross,
        )
        index.refresh()
        recall = Recall(index, context.calendar, wanted, EntryFiles(context.storage), max_results, entries_only)
    results = search_tree(
        context, query, max_results, max_tokens, under, since, until, source, near, steps, regex, recall
    )
    if recall:
        results.archived_left_out = recall.left_out or 0
    return results


def _home(context: Context, domain: object) -> str:
    """The home that is meant: a domain by its name, the inbox, or a page. Raises `InvalidSetting` for any other."""
    from memory_v2.entries.upkeep import domains  # start-up that no other search should pay

    if not isinstance(domain, str):
        raise InvalidSetting(f"domain must be the name of a domain, not {domain!r}")
    if domain.strip().casefold() == INBOX:
        return ""
    known = domains(Area(context.storage, context.calendar)).domains
    if (found := domain_named(domain, known)) is not None:
        return found.name
    if domain in context.index.graph().pages:
        return domain
    names = ", ".join(one.name for one in known)
    raise InvalidSetting(f"there is no domain {domain!r}: the domains are {names} and {INBOX}")
