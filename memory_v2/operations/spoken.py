"""What new text says for the moment, and a model's own words say to last: `today` becomes a date, `forget that` a
`(before: …)`."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date, timedelta

from memory_v2.text.sentences import clauses
from memory_v2.text.words import content_words

_DAYS = (
    (0, "today now heute jetzt hoy ahora hoje agora aujourd'hui maintenant 今天 今日"),
    (1, "yesterday gestern ayer ontem hier 昨天 昨日"),
)
"""How many days ago, and the words for it."""
_WEEKDAYS = (
    "monday montag lunes lundi segunda",
    "tuesday dienstag martes mardi terça",
    "wednesday mittwoch miércoles mercredi quarta",
    "thursday donnerstag jueves jeudi quinta",
    "friday freitag viernes vendredi sexta",
    "saturday samstag sábado samedi",
    "sunday sonntag domingo dimanche",
)
_SAYING = "noted told said known recorded then gesagt notiert bekannt dahin dicho anotado sabido entonces dito dit noté"
SAYING = frozenset(_SAYING.split())
"""Words with which own words tell when something was said: `(noted on 2026-03-20)`."""
_TAKEN_BACK = (
    "forget ignore disregard please instead anymore longer vergiss bitte statt anstatt olvida lugar esqueça oublie "
    "lieu change changes changed move moves moved switch switches switched postponed replaced ändert geändert verlegt "
    "verschoben wechselt umgestellt cambia cambian cambió cambiado mueve movido change changé déplacé muda mudou mudado"
)
"""The words with which something is taken back or changed."""
_FORMERLY = re.compile(r"[(（][^()（）]*\b(?:before|until|till)\b")
_BEFORE = re.compile(
    r"[(（;,]\s*(?:before|previously|formerly|until then|vorher|bisher|bis dahin|antes|hasta entonces|avant)\b"
    r"[^:()（）]{0,30}:([^()（）]+)",
    re.I,
)
_NO_LONGER = re.compile(
    r"\b(?:no longer|no more|not \w+ any ?more|nicht mehr|kein\w* mehr|ya no|já não|não mais|ne \w+ plus)\b",
    re.I,
)


def dates_meant(text: str, said_on: Collection[date]) -> str:
    """The dates that own words about a text may hold though it does not: of the days on which it may have been said, of
    the day before if it says `yesterday`, and of the nearest Monday before and after if it says `Monday`."""
    said = text.casefold()
    offsets = [-days for days, names in _DAYS if not days or any(name in said for name in names.split())]
    meant = [day + timedelta(days) for day in said_on for days in offsets]
    for weekday, names in enumerate(_WEEKDAYS):
        if any(name in said for name in names.split()):
            ahead = ((weekday - day.weekday()) % 7 for day in said_on)
            meant += (
                day + timedelta(days + week) for day, days in zip(said_on, ahead, strict=True) for week in (-7, 0)
            )
    return " ".join(f"{day} {day.day}" for day in meant)


def words_told(own: str, said_on: Collection[date], text: str) -> str:
    """What own words tell of a new text in a lasting form: words such as `today`; and where they tell something as what
    was before, what the text says of it with `no longer`."""
    told = [names for days, names in _DAYS if any(f"{day - timedelta(days)}" in own for day in said_on)]
    told += [_TAKEN_BACK] if _FORMERLY.search(own) else []
    before = set(content_words(" ".join(_BEFORE.findall(own))))
    taken_back = (clause for clause in clauses(text) if _NO_LONGER.search(clause))
    return ". ".join([" ".join(told), *(clause for clause in taken_back if before.intersection(content_words(clause)))])
