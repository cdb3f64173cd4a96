"""The history: a timeline, each change with its differences, undoing a change, and restoring a page."""

from __future__ import annotations

from itertools import groupby

from memory_v2.operations.history import PastOperation
from memory_v2.text.calendar import iso_day
from memory_v2.view.visit import Visit
from memory_v2.view.web import Response, see

MOST_CHANGES = 40
"""Changes that the timeline shows at once."""
MOST_LINES = 300
"""Lines of the difference of a page that are shown at first."""
MOST_PAGES = 60
"""Pages of a change whose differences are shown at once."""


def timeline(visit: Visit) -> Response:
    """All changes, newest first, by day; of one page, or of one day, if that is asked for."""
    path, day = visit.asked("page"), iso_day(visit.asked("day"))
    operations = visit.memory.history(path or None)
    if day:
        operations = [past for past in operations if visit.calendar.day(past.when) == day]
    first = visit.number("from")
    shown = operations[first : first + MOST_CHANGES]
    days = [(when, list(group)) for when, group in groupby(shown, lambda past: visit.calendar.day(past.when))]
    return visit.show("history", days=days, path=path, day=day, first=first, most=MOST_CHANGES, count=len(operations))


def change(visit: Visit, revision: str) -> Response:
    """A change: what, why, by whom, and each page before and after."""
    return _change(visit, revision)


def _change(visit: Visit, revision: str, problem: str = "", status: int = 200) -> Response:
    past, changed = visit.memory.show(revision)
    first = visit.number("from")
    later = visit.memory.diff(past.id)
    return visit.show(
        "change",
        status,
        past=past,
        pages=changed.pages[first : first + MOST_PAGES],
        count=len(changed.pages),
        first=first,
        most=MOST_PAGES,
        lines=1_000_000 if visit.asked("all") else MOST_LINES,
        traces=_traces(visit, past),
        later={page.path for page in later.pages},
        problem=problem,
        done=visit.asked("done"),
    )


def _traces(visit: Visit, past: PastOperation) -> list[str]:
    """The traces of a change: their names end in the id of its operation."""
    operation = past.first.operation
    return [name for name in visit.memory.traces() if operation and name.endswith(f"-{operation}")]


def undo(visit: Visit) -> Response:
    """Takes a change back; the change that does so is shown, and can be taken back too."""
    revision = visit.request.form.get("revision", "")
    result = visit.memory.undo(revision)
    return see(visit.at("history", result.revision, done="undone"))


def restore(visit: Visit) -> Response:
    """Puts a page back as it was after a change."""
    form = visit.request.form
    result = visit.memory.restore(form.get("revision", ""), form.get("path", "") or None)
    if not result.revision:
        return see(visit.at("page", result.path))
    return see(visit.at("history", result.revision, done="restored"))


def compare(visit: Visit) -> Response:
    """What has changed between a change and another, or now."""
    old, new = visit.asked("old"), visit.asked("new")
    changed = visit.memory.diff(old, new or None)
    return visit.show(
        "compare",
        old=old,
        new=new,
        pages=changed.pages[:MOST_PAGES],
        count=len(changed.pages),
        lines=MOST_LINES,
    )
