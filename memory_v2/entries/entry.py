"""An entry: one short, dated observation, and the values that it consists of.

Three numbers are never mixed: `confidence` is belief, `importance` is salience, and a score or a weight belongs to one
question at one moment and is never stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, Literal, TypeAlias

from memory_v2.text.amounts import all_digits

SHARED = "shared"
"""The space of the entries that every agent reads."""
INBOX = "inbox"
"""What an entry without a home is in; no domain can have this name."""
_SHARD = "shard_"

DecayKind: TypeAlias = Literal["none", "linear", "exponential", "ttl"]
Status: TypeAlias = Literal["open", "closed"]
Scope: TypeAlias = Literal["agent", "user"]


@dataclass(frozen=True, slots=True)
class Decay:
    """How the weight of an entry falls with its age: by a kind of curve, over so many days."""

    kind: DecayKind = "none"
    days: float = 0.0

    def __str__(self) -> str:
        return self.kind if self.kind == "none" else f"{self.kind}-{all_digits(self.days)}d"


NONE: Final = Decay()
"""The entry keeps its weight for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where an entry came from: who said it, by which channel, in which session, at which file, line or address."""

    author: str | None = None
    channel: str | None = None
    session: str | None = None
    location: str | None = None


NO_SOURCE: Final = Provenance()
"""The entry does not say where it came from."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An outgoing reference: how this entry relates to its target (`related`, `near`, `supersedes`), and the target: an
    entry's id or name, a page or a domain, as it was written. Incoming ones are computed."""

    relation: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A short, dated observation. Its text never changes; what changes is its header.

    `id` is unique in the memory: the space, which is an agent's name or `shared`, and the name of the file, as in
    `hawk/obs-2026-02-15-001`. `text` is the body to the letter, as the file has it below the front matter.
    `observed_at` is a day or an aware moment; a day is never turned into midnight. `recorded_at` is when it was
    captured, in UTC, if the file says so. `home` is a domain or a page; `None` is the inbox. `tags` are spelled as
    given and compared case-folded. `retracted` says why it was closed. `archived` is told by the place of the file.
    """

    id: str
    text: str
    observed_at: date | datetime
    recorded_at: datetime | None = None
    kind: str = "observation"
    home: str | None = None
    tags: tuple[str, ...] = ()
    source: Provenance = NO_SOURCE
    confidence: float | None = None
    importance: float | None = None
    decay: Decay = NONE
    status: Status = "open"
    superseded_by: str | None = None
    retracted: str | None = None
    verified: bool = False
    verified_by: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    derived_from: tuple[str, ...] = ()
    consolidated_into: tuple[str, ...] = ()
    promoted_from: str | None = None
    promoted_at: datetime | None = None
    promoted_version: str | None = None
    promoted_to: tuple[str, ...] = ()
    scope: Scope = "agent"
    archived: bool = False

    @property
    def space(self) -> str:
        """The agent whose entry it is, or `shared`."""
        return self.id.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The name of its file without `.md`: `obs-2026-02-15-001`."""
        return self.id.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Domain:
    """A home that keywords lead to; `keywords` are all of them, of every language, in the order of the file."""

    name: str
    title: str
    description: str = ""
    keywords: tuple[str, ...] = ()


def domain_named(name: str, domains: Iterable[Domain]) -> Domain | None:
    """The domain of a name, whatever its case, also as a shard's id (`shard_technical`)."""
    wanted = name.strip().casefold()
    return next((domain for domain in domains if domain.name in (wanted, wanted.removeprefix(_SHARD))), None)


def home_named(name: str, domains: Iterable[Domain]) -> str:
    """The home of this name: of a domain or the inbox, whose home is empty, or else a page's path."""
    if name.strip().casefold() == INBOX:
        return ""
    found = domain_named(name, domains)
    return found.name if found else name


def shard_id(domain: str) -> str:
    """The id of the shard that is this domain."""
    return _SHARD + domain
