"""What is old by its own words: said as of a day long past, expired, or open for long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from memory_v2.notes.audit.context import AuditContext, is_index
from memory_v2.notes.audit.findings import NoteFinding, about_item
from memory_v2.notes.extract import Extracted, by_day
from memory_v2.notes.languages import bare, pattern, says
from memory_v2.notes.note import Item
from memory_v2.text.dates import find_dates
from memory_v2.text.days import days_before
from memory_v2.text.words import shorten
from memory_v2.tree.alike import alike

_PARTS = re.compile(r"[()（）:：|/—–]|\s-\s")
_TIME = re.compile(r"[\W_]*\d{1,2}:\d\d")
AFTER = 24
"""How many characters behind `as of` its day begins at most."""
LEAST_LOGS = 3
"""How many logs there are at least that do not have a name, for that to be worth telling."""
_NAME = re.compile(r"@?[^\W\d_][\w.'’-]{2,}(?: [^\W\d_][\w.'’-]*){0,3}")
"""A name of a person or a thing; no address and no code."""
SHOWN = 80
"""How much of an item is shown, in characters."""


def stale(context: AuditContext) -> Iterator[NoteFinding]:
    """What a lasting note says as of a day long past, or until a day that is past."""
    lasting = {note.name for note in context.lasting}
    for note, item in context.statements:
        if note.name not in lasting:
            continue
        words = bare(item.text)
        for field, days in (("as of", context.policy.stale_days), ("until", 0)):
            day = day_after(words, field) if says(words, "ageing", field) else None
            if day and day < days_before(context.today, days):
                ago = (context.today - day).days
                what = f"of {day}, {ago} days ago" if field == "as of" else f"over since {day}"
                yield about_item("stale", note, item, f"{what}: {shorten(item.text, SHOWN)}", day=day)
                break


def day_after(words: str, field: str) -> date | None:
    """The latest day that is behind such a phrase."""
    days = []
    for found in pattern("ageing", field).finditer(words):
        behind = words[found.end() :]
        days += [span.start for span, start, _ in find_dates(behind) if start <= AFTER and span.granularity == "day"]
    return max(days, default=None)


def unfinished(context: AuditContext) -> Iterator[NoteFinding]:
    """What has been pending for long: told once, where it was said last, unless it was closed since."""
    dated = [one for one in context.extracted if one.category == "pending" and one.day]
    pending = [one for one in dated if _is_open(context.items[one.id.partition("-")[0]], one)]
    groups = [group.members for group in alike([one.text for one in pending])]
    grouped = {number for members in groups for number in members}
    for members in (*groups, *((number,) for number in range(len(pending)) if number not in grouped)):
        yield from _open_for_long(context, sorted((pending[number] for number in members), key=by_day))


def _is_open(item: Item, one: Extracted) -> bool:
    """Whether its box or its label says that it is to be done, or it is a bullet below a heading that says no more than
    that. What begins with a time tells what happened then, and a checklist is gone through again and again."""
    if any(says(bare(above), "ageing", "recurring") for above in (*item.headings[-1:], *item.leads)):
        return False
    if item.is_done is not None:
        return True
    if _TIME.match(item.text) or (one.grade == "heading" and item.kind != "bullet"):
        return False
    opens = pattern("ageing", "open")
    return any(opens.fullmatch(part.strip(" *_.#0123456789")) for part in _PARTS.split(bare(one.by)))


def _open_for_long(context: AuditContext, mentions: list[Extracted]) -> Iterator[NoteFinding]:
    last = mentions[-1]
    first_day, last_day = mentions[0].day or date.max, last.day or date.max
    if any(mention.is_closed and mention.day == last_day for mention in mentions):
        return
    if (context.today - last_day).days > context.policy.unfinished_days:
        message = f"open since {first_day}, {(context.today - first_day).days} days: {shorten(last.text, SHOWN)}"
        also = tuple(mention.place for mention in mentions[:-1])
        yield NoteFinding("unfinished", last.file, last.first_line, message, last.id, also, last.day)


def unmentioned(context: AuditContext) -> Iterator[NoteFinding]:
    """Whom and what an index names, and no log has named for long, though there are logs since."""
    logs = sorted((note.day, " ".join(item.text for item in note.items)) for note in context.logs if note.day)
    for note in filter(is_index, context.lasting):
        named: set[str] = set()
        for section in note.sections:
            for name in section.entities:
                if name in named or not _NAME.fullmatch(name):
                    continue
                named.add(name)
                last = max((day for day, text in logs if name in text), default=None)
                since = [day for day, _ in logs if last is None or day > last]
                days = (context.today - (last or since[0])).days if len(since) >= LEAST_LOGS else 0
                if days > context.policy.stale_days:
                    ago = f"since {last}, {days} days ago" if last else f"in {len(since)} logs"
                    message = f"no log has named {name} {ago}"
                    yield NoteFinding("unmentioned", note.name, section.first_line, message, name, day=last)
