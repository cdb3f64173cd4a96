"""Entries: by domain, agent and tag, in the order of their age or their importance; and each alone."""

from __future__ import annotations

from datetime import date, datetime

from memory_v2.entries.decay import weight
from memory_v2.entries.entry import INBOX, Entry
from memory_v2.view.markdown import to_html
from memory_v2.view.pages import pages_at
from memory_v2.view.visit import Visit
from memory_v2.view.web import Response

MOST_ENTRIES = 50
"""Entries that are shown at once."""
UNSAID = 0.5
"""The importance of an entry that says none, as in the status of a domain."""


def entries(visit: Visit) -> Response:
    """The entries that fit, with the domains, agents and tags there are."""
    visit.require_entries()
    home, agent, tag, order = (visit.asked(name) for name in ("domain", "agent", "tag", "order"))
    archived = visit.asked("archived") != ""
    known = visit.memory.entries.list_entries(archived=archived)
    fitting = [
        entry
        for entry in known
        if (not home or (entry.home or INBOX) == home)
        and (not agent or entry.space == agent)
        and (not tag or tag.casefold() in map(str.casefold, entry.tags))
    ]
    fitting.sort(key=lambda entry: (_day(entry, visit), entry.id), reverse=True)
    if order == "importance":
        fitting.sort(key=lambda entry: -(UNSAID if entry.importance is None else entry.importance))
    elif order == "oldest":
        fitting.reverse()
    shown, place = visit.part(fitting, MOST_ENTRIES)
    return visit.show(
        "entries",
        entries=[(entry, _day(entry, visit), weight(entry, visit.calendar)) for entry in shown],
        homes=sorted({entry.home or INBOX for entry in known}),
        agents=sorted({entry.space for entry in known}),
        asked={"domain": home, "agent": agent, "tag": tag, "order": order, "archived": "yes" if archived else ""},
        known=len(known),
        **place,
    )


def entry(visit: Visit, name: str) -> Response:
    """An entry with all that its header says, and what refers to it."""
    visit.require_entries()
    read = visit.memory.entries.read_entry(name)
    graph = visit.memory.graph()
    return visit.show(
        "entry",
        entry=read,
        day=_day(read, visit),
        html=to_html(read.text, pages_at(visit, graph)),
        weight=weight(read, visit.calendar),
        referring=visit.memory.entries.referred_to_by(read.id),
        pages=graph.pages,
    )


def _day(entry: Entry, visit: Visit) -> date:
    observed = entry.observed_at
    return visit.calendar.day(observed) if isinstance(observed, datetime) else observed
