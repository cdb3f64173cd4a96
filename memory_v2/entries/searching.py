"""Searching pages and entries at once."""

from __future__ import annotations

from dataclasses import replace

from memory_v2.entries.domains import domains
from memory_v2.entries.entry import INBOX, SHARED, domain_named
from memory_v2.entries.entry_files import EntryFiles
from memory_v2.entries.places import check_agent
from memory_v2.entries.recall import Recall, Wanted
from memory_v2.entries.store import EntryStore
from memory_v2.errors import InvalidSetting
from memory_v2.operations.context import Context
from memory_v2.operations.operation import operation
from memory_v2.operations.results import SearchResults
from memory_v2.operations.search import search as search_tree
from memory_v2.operations.search_request import SearchRequest
from memory_v2.operations.texts import checked_day
from memory_v2.validate import share_given

OF_ENTRIES = ("agent", "domain", "tags", "min_confidence")
"""What is asked of entries only, for pages have none of it."""


@operation("search", recorded=True)
def search(context: Context, asked: SearchRequest) -> SearchResults:
    """The best answers of pages and entries to what is asked, best first, as `operations.search` finds them. An agent,
    a domain, tags and a confidence are what entries have: with one of them, no page is searched. Raises
    `InvalidSetting` too."""
    asked = replace(asked, tags=tuple(tag.strip() for tag in asked.tags))
    entries_only = _is_for_entries_only(asked)
    index = context.index.entries
    recall = None
    is_for_both = asked.only != "pages" and asked.near is None and not asked.regex
    if entries_only or (is_for_both and index.may_have_entries):
        wanted = _wanted(context, asked)
        index.refresh()
        recall = Recall(index, context.calendar, wanted, EntryFiles(context.storage), asked.max_results, entries_only)
    results = search_tree(context, asked, recall)
    if recall:
        results.archived_left_out = recall.left_out or 0
    return results


def _is_for_entries_only(asked: SearchRequest) -> bool:
    """Whether pages are left out. Raises `InvalidSetting` if what is asked does not go together."""
    told = next((name for name in OF_ENTRIES if getattr(asked, name) not in (None, ())), None)
    entries_only = asked.only == "entries" or told is not None
    if asked.only == "pages" and told:
        raise InvalidSetting(f"pages have no {told}: leave it out, or search entries too")
    if entries_only and (asked.near is not None or asked.regex):
        raise InvalidSetting(f"{'regex' if asked.regex else 'near'} finds pages only: leave it out to search entries")
    for name, value in (("cross", asked.cross), ("archived", asked.archived)):
        if not isinstance(value, bool):
            raise InvalidSetting(f"{name} must be True or False, not {value!r}")
    if asked.only not in (None, "pages", "entries"):
        raise InvalidSetting(f"only must be pages or entries, not {asked.only!r}")
    return entries_only


def _wanted(context: Context, asked: SearchRequest) -> Wanted:
    """Which entries are asked for. Raises `InvalidSetting`."""
    least = asked.min_confidence
    return Wanted(
        agent=asked.agent if asked.agent in (None, SHARED) else check_agent(asked.agent),
        home=None if asked.domain is None else _home(context, asked.domain),
        under=asked.under.rstrip("/") if isinstance(asked.under, str) else None,
        tags=tuple(asked.tags),
        min_confidence=None if least is None else share_given("min_confidence", least),
        since=checked_day("since", asked.since),
        until=checked_day("until", asked.until),
        source=asked.source.strip() if isinstance(asked.source, str) else "",
        archived=asked.archived,
        crossed=asked.cross,
    )


def _home(context: Context, domain: object) -> str:
    """The home that is meant: a domain by its name, the inbox, or a page. Raises `InvalidSetting` for any other."""
    if not isinstance(domain, str):
        raise InvalidSetting(f"domain must be the name of a domain, not {domain!r}")
    if domain.strip().casefold() == INBOX:
        return ""
    known = domains(EntryStore(context.storage, context.calendar)).domains
    if (found := domain_named(domain, known)) is not None:
        return found.name
    if domain in context.index.graph().pages:
        return domain
    names = ", ".join(one.name for one in known)
    raise InvalidSetting(f"there is no domain {domain!r}: the domains are {names} and {INBOX}")
