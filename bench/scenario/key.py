"""What a judge knows: the subjects of the texts, and the form in which texts and questions are written down."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache


@dataclass(frozen=True, slots=True)
class Text:
    """One text, the day on which it is written, and its subject; a page about the subject `also` is right, too.

    `parts` are the openings of those parts that have other subjects, each from there to the next. `stale` are values
    (as patterns) that no description of the subject says from here on, unless it says the new value, too.
    """

    day: str
    text: str
    about: str = ""
    also: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    stale: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and what its answer says, as patterns: all of them, in the first three places together. `old` is what
    was true once. Without an answer, nothing is the right result."""

    text: str
    kind: str
    answer: Sequence[str] = ()
    texts: Sequence[int] = ()
    old: str = ""


SUBJECTS = {
    "lumen": "lumen|booking|museum",
    "lumen/deploys": r"deploy|releas|production|rollback|rolled back|ship",
    "lumen/database": r"database|postgres|dump|restor",
    "lumen/api": r"api|webhook|endpoint",
    "lumen/incidents": r"incident|outage|post-?mortem|double booking|what went wrong|double charge",
    "tidewatch": "tidewatch|tide|gauge",
    "tidewatch/ingest": r"ingest|udp|port|protocol|frame|receiver",
    "tidewatch/alarms": r"alarm|threshold|flood|warning",
    "team": "team|people|colleague|mirela|joost|anika|petros|sanna",
    "team/on-call": r"on[- ]call|rota|pager|duty|hotline",
    "servers": "server|machine|host|heron|wren|magpie|plover|infrastructure",
    "servers/heron": r"heron|disk|smart",
    "flat": "flat|apartment|wohnung|lindengasse|miete|rent|heizung|vermieter|landlord|home|household",
    "family": "family|familie|nele|jonas|school|schule|child",
    "travel": "travel|trip|journey|viaje|reise",
    "travel/valencia": "valencia|cabanyal",
    "travel/ghent": "ghent|conference|talk",
    "quillset": "quillset|subtitle|librar|open[- ]source",
    "health": "health|physio|knee|doctor|dentist|running|gym",
}
"""The subjects, each with the words (as a pattern) of which one stands in the name, title or description of a page
about it. A subject below another is a part of it."""


@cache
def named(told: str) -> frozenset[str]:
    """The subjects that a name, title or description speaks of."""
    return frozenset(one for one, words in SUBJECTS.items() if re.search(rf"(?<![^\W_])(?:{words})", told, re.I))


def broader(subject: str) -> str:
    """The subject that this is a part of; itself if it is no part."""
    return subject.partition("/")[0]


def related(one: str, other: str) -> bool:
    """Whether two subjects are the same, or one is a part of the other."""
    return one == other or one == broader(other) or other == broader(one)
