"""Capturing: putting an observation down at once, durably, by no model and under no lock.

The same text by the same agent of the same day is said to be there, and not stored twice. One that is much like another
is stored, and refers to it: "build 41 passed" and "build 42 passed" are two facts.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from inspect import signature
from typing import Any

from memory_v2.agent.operation import Cancellation, operation
from memory_v2.entries.entry import INBOX, NONE, Decay, Entry, Provenance, Reference, Scope, domain_named
from memory_v2.entries.entry_paths import check_agent
from memory_v2.entries.file import CHECKED, RELATED, day_or_moment, entry_data, read_reference
from memory_v2.entries.store import EntryStore
from memory_v2.errors import EntryNotFound, InvalidPath, InvalidSetting, InvalidText, StorageError, UsageError
from memory_v2.index.dedup import KnownEntry
from memory_v2.text.secrets import Secret, find_secrets, opening
from memory_v2.tree.path import new_page_path
from memory_v2.validate import check_text, check_year, each_tag, lines, one_line

BATCH = 500
"""After so many entries of a space on a day, they are brought into the history: one commit for all of them."""
NEAR = "near"
"""The relation to an entry that says much the same."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of a text. `entry` is the new entry, or the one that has said so before, if the text `was_known`.
    `near` is the id of an earlier entry that says much the same. `secrets` are told and masked; they are in the entry
    all the same."""

    entry: Entry
    was_known: bool = False
    near: str | None = None
    secrets: tuple[Secret, ...] = ()

    @property
    def id(self) -> str:
        """The id of the entry."""
        return self.entry.id

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: a likely secret is masked in the text too."""
        return {
            "id": self.id,
            "was_known": self.was_known,
            "near": self.near,
            "secrets": [secret.to_dict() for secret in self.secrets],
            "opening": opening(self.entry.text),
            "observed_at": self.entry.observed_at,
            "recorded_at": self.entry.recorded_at,
        }


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of a batch that was not captured: its number from 1, and why."""

    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class CapturedBatch:
    """What became of the lines of a batch, in their order."""

    captured: tuple[Captured, ...] = ()
    bad_lines: tuple[BadLine, ...] = ()


@operation("capture", changes="entries", recovers=False)
def capture(
    store: EntryStore,
    text: str,
    agent: str | None = None,
    tags: Iterable[str] = (),
    confidence: float | None = None,
    importance: float | None = None,
    decay: Decay | str | None = None,
    kind: str = "observation",
    home: str | None = None,
    source: str | None = None,
    channel: str | None = None,
    session: str | None = None,
    location: str | None = None,
    references: Iterable[str] = (),
    date: date | str | None = None,
    scope: Scope = "agent",
) -> Captured:
    """Stores an observation; it is durable when the call returns. Raises `InvalidText`, `InvalidSetting`,
    `StorageError`, `Cancelled`."""
    space = store.agent if agent is None else agent
    check_text(text, "a text")
    if not text.strip():
        raise InvalidText("there is nothing to capture: the text is empty")
    entry = Entry(
        id=f"{check_agent(space)}/",
        text=text if text.endswith(("\n", "\r")) else f"{text}\n",
        observed_at=_observed(store, date),
        recorded_at=store.calendar.now().astimezone(UTC).replace(microsecond=0),
        kind=one_line("kind", kind) or "observation",
        home=_home(store, one_line("home", home)),
        tags=each_tag(tags),
        source=Provenance(
            author=one_line("source", source),
            channel=one_line("channel", channel),
            session=one_line("session", session),
            location=one_line("location", location),
        ),
        confidence=_checked("confidence", confidence),
        importance=_checked("importance", importance),
        decay=_checked("decay", decay) or NONE,
        references=tuple(sorted(map(read_reference, lines("references", references)), key=_is_last)),
        scope=_checked("scope", scope) or "agent",
    )
    return _stored(store, entry)


@operation("capture_batch", changes="entries", recovers=False)
def capture_batch(store: EntryStore, lines: Iterable[str | Mapping[str, Any]]) -> CapturedBatch:
    """Captures each line: a JSON object, or a mapping, of the arguments of `capture`. A line that cannot be captured is
    told by number, and keeps no other one back. Raises `StorageError`."""
    captured: list[Captured] = []
    bad: list[BadLine] = []
    for number, line in enumerate(lines, 1):
        if isinstance(line, str) and not line.strip():
            continue
        try:
            captured.append(capture(store, **_arguments(line)))
        except UsageError as error:
            bad.append(BadLine(number, str(error)))
    return CapturedBatch(tuple(captured), tuple(bad))


def _is_last(reference: Reference) -> bool:
    """Whether a reference comes behind others, in the order that the file has."""
    return reference.relation != RELATED


def _stored(store: EntryStore, entry: Entry) -> Captured:
    secrets = tuple(find_secrets(entry.text))
    day = store.calendar.written(entry.observed_at) or ""
    store.make_ready()  # first: what is known lies in the memory's folder, which may not exist yet
    if other := store.known.spelled(entry.space):
        raise InvalidSetting(f"an agent is called {other!r}, and some disks take {entry.space!r} for the same name")
    asked = KnownEntry("", entry.space, day, 0, day, entry.text)
    known = store.known.ask(asked)
    if same := _said(store, known.same if known else (), entry.text):
        return Captured(same, was_known=True, secrets=secrets)
    if near := (known.near if known else ""):
        entry = replace(entry, references=(*entry.references, Reference(NEAR, near)))
    with Cancellation().storing():
        place = store.create(entry.space, day, entry_data(entry))
    made = replace(asked, id=place.id, turn=place.number)
    if others := store.known.add_unless_same(made):
        if same := _said(store, others, entry.text):  # another process has captured it at the same instant
            with suppress(StorageError):
                store.storage.delete(place.path)
            return Captured(same, was_known=True, secrets=secrets)
        store.known.add(made)
    if place.number % BATCH == 0:
        try:
            store.pick_up(place.path.rpartition("/")[0])
        except StorageError as error:  # the entry is stored: the next operation on entries brings it in
            logger.info("captured entries are not in the history yet: %s", error)
    return Captured(replace(entry, id=place.id), near=near or None, secrets=secrets)


def _said(store: EntryStore, ids: Iterable[str], text: str) -> Entry | None:
    """The first of these entries that is still there, holds, is not in the archive, and says so to the letter."""
    for entry_id in ids:
        with suppress(EntryNotFound):
            entry = store.read(entry_id).entry
            if entry and not entry.archived and entry.status == "open" and entry.text.strip() == text.strip():
                return entry
    return None


def _arguments(line: str | Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in a line of a batch. Raises `InvalidSetting`."""
    try:
        raw = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError) as error:
        raise InvalidSetting(f"it is not JSON: {error}") from error
    if isinstance(raw, str):
        return {"text": raw}
    if not isinstance(raw, Mapping):
        raise InvalidSetting("it is no object with a text")
    given = {("text" if key == "content" else str(key)): value for key, value in raw.items() if value is not None}
    if unknown := sorted(given.keys() - _KEYS):
        raise InvalidSetting(f"nothing is called {unknown[0]!r}; what is known is {', '.join(sorted(_KEYS))}")
    if "text" not in given:
        raise InvalidSetting("it has no text")
    return given


_KEYS = frozenset(signature(capture).parameters) - {"store"}


def _observed(store: EntryStore, raw: object) -> date | datetime:
    """The day or moment of an observation; today if nothing is told."""
    observed = store.calendar.today if raw is None else raw
    if isinstance(raw, str):
        with suppress(ValueError):
            observed = day_or_moment(raw)
    if not isinstance(observed, date) or (isinstance(observed, datetime) and observed.tzinfo is None):
        raise InvalidSetting(f"date must be a day such as 2026-02-03, or a moment with its time zone, not {raw!r}")
    check_year(observed.date() if isinstance(observed, datetime) else observed)
    return observed


def _home(store: EntryStore, home: str | None) -> str | None:
    """A home as the domain is called that it names, in any case or as a shard; `None` for the inbox. Else it is a page,
    which may be still to come. Raises `InvalidSetting` if no page can have this path."""
    if home is None:
        return None
    from memory_v2.entries.domains import domains  # start-up that few captures should pay

    if home.casefold() == INBOX:
        return None
    if domain := domain_named(home, domains(store).domains):
        return domain.name
    try:
        page = home if store.storage.exists(home) else new_page_path(home)
    except InvalidPath as error:
        raise InvalidSetting(f"{home!r} is neither a domain nor a page: {error}") from error
    if not store.storage.exists(page):
        logger.warning("%r is no domain, and no page yet; 'silica memory domains' shows the domains", page)
    return page


def _checked(key: str, raw: Any) -> Any:
    """What is given for a key of which not every text is a value. Raises `InvalidSetting`."""
    convert, rule = CHECKED[key]
    try:
        return raw if raw is None or isinstance(raw, Decay) else convert(raw)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidSetting(f"{key} must be {rule}, not {raw!r}") from error
