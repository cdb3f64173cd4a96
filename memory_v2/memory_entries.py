"""What users hold as `memory.entries`. Each method is an operation, run by the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

from memory_v2 import entries
from memory_v2.entries.entry import Decay, Scope

if TYPE_CHECKING:
    from memory_v2.engine import Engine
    from memory_v2.entries.capture import Captured, CapturedBatch
    from memory_v2.entries.curation import ChangedEntry
    from memory_v2.entries.daryl import Summary
    from memory_v2.entries.domains import DomainFile
    from memory_v2.entries.entry import Entry, Reference
    from memory_v2.entries.routing import Routing
    from memory_v2.plan import Plan

EntryId = Annotated[str, "The entry: hawk/obs-2026-02-15-001, or without the agent."]
OfAgent = Annotated[str | None, "Whose entries: an agent's name."]
Apply = Annotated[bool, "Carry the plan out; otherwise only show it."]


class Entries:
    """The entries of a memory: short, dated observations that are captured at once and never rewritten.

    Any number of threads and processes may capture at the same time. No model is asked.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.store = engine.store

    def capture(
        self,
        text: Annotated[str, "What was observed, in Markdown."],
        agent: Annotated[str | None, "Whose entry it is. Default: the agent of the settings, else 'default'."] = None,
        tags: Annotated[Iterable[str], "A tag; may be repeated."] = (),
        confidence: Annotated[float | None, "How sure it is, from 0 to 1."] = None,
        importance: Annotated[float | None, "How much it matters, from 0 to 1."] = None,
        decay: Annotated[
            Decay | str | None,
            "How its weight falls with its age: linear-30d, exponential-30d, ttl-30d; none by default.",
        ] = None,
        kind: Annotated[str, "What it is, such as observation, decision or lesson."] = "observation",
        home: Annotated[str | None, "The domain or the page where it belongs. Default: the inbox."] = None,
        source: Annotated[str | None, "Who says so."] = None,
        channel: Annotated[str | None, "By which channel it came."] = None,
        session: Annotated[str | None, "In which session."] = None,
        location: Annotated[str | None, "Where it stands: a file and a line, or an address."] = None,
        references: Annotated[
            Iterable[str],
            "What it refers to: an entry, a page or a domain, after the relation if there is one; may be repeated.",
        ] = (),
        date: Annotated[
            date | str | None,
            "The day it was observed, such as 2026-02-03, or a moment with its time zone. Default: today.",
        ] = None,
        scope: Annotated[Scope, "Whether it is about the agent's work or its user."] = "agent",
    ) -> Captured:
        """Stores an observation; it is durable when the call returns. The same text by the same agent of the same day
        is not stored twice. Raises `InvalidText`, `InvalidSetting`, `StorageError`."""
        return self._engine.run_on(
            self.store,
            entries.capture.capture,
            text,
            agent,
            tags,
            confidence,
            importance,
            decay,
            kind,
            home,
            source,
            channel,
            session,
            location,
            references,
            date,
            scope,
        )

    def capture_batch(
        self,
        lines: Annotated[Iterable[str | Mapping[str, Any]], "A JSON object for each, with the arguments of a capture."],
    ) -> CapturedBatch:
        """Captures each line of JSON, or mapping, with the arguments of `capture`. A line that cannot be captured is
        told by number, and keeps no other one back. Raises `StorageError`."""
        return self._engine.run_on(self.store, entries.capture.capture_batch, lines)

    def list_entries(
        self,
        agent: OfAgent = None,
        tag: Annotated[str | None, "Only entries with this tag, in any case."] = None,
        archived: Annotated[bool, "Those in the archive too."] = False,
        domain: Annotated[str | None, "Only entries whose home is this domain or page; or inbox."] = None,
    ) -> list[Entry]:
        """Lists entries, oldest first: those of an agent or `shared`, with a tag, at home in a domain or on a page, or
        in the inbox; and with those in the archive if `archived`. Raises `InvalidSetting`."""
        return self._engine.run_on(self.store, entries.reading.list_entries, agent, tag, archived, domain)

    def read_entry(self, id: EntryId) -> Entry:  # noqa: A002 - as it is called in the results
        """Returns an entry by its id; without an agent's name, it is the default agent's or a shared one. Raises
        `EntryNotFound`, and `NotAllowed` for a file that does not say what an entry must."""
        return self._engine.run_on(self.store, entries.reading.read_entry, id)

    def route(self, apply: Apply = False) -> Plan:
        """Finds the home of each entry in the inbox, with the reasons; with `apply`, stores the homes in one operation.
        The rules come first; a model sorts what they leave. Raises `InvalidSetting`, `StorageError`."""
        if self._engine.is_offline:
            return self._engine.run_on(self.store, entries.routing.route, apply)
        return self._engine.run(entries.route_task.route, apply)

    def consolidate(
        self,
        home: Annotated[str | None, "Only entries with this home: a domain, a page, or inbox."] = None,
        agent: OfAgent = None,
        since: Annotated[date | str | None, "Only entries of this day or later, such as 2026-02-03."] = None,
        until: Annotated[date | str | None, "Only entries of this day or before."] = None,
        apply: Apply = False,
    ) -> Plan:
        """Plans how entries are worked into pages, and with `apply` carries the plan out in one operation: the plan
        that was shown last, to the letter, or else a new one. Takes the entries of one `home` (a domain, a page, or
        `inbox`) or of each but the inbox, of one `agent`, observed `since` one day and `until` another. Raises
        `InvalidSetting`, `StorageError`, `ModelError`, and `StorageConflict` if a page or an entry of the plan has
        changed since; then nothing was changed."""
        written = self._engine.calendar.written
        return self._engine.run(entries.consolidation.consolidate, home, agent, written(since), written(until), apply)

    def route_text(self, text: Annotated[str, "The text."]) -> Routing:
        """Says where a text would be routed, and why; nothing is stored. Raises `InvalidSetting`, `StorageError`."""
        return self._engine.run_on(self.store, entries.routing.route_text, text)

    def age(self, apply: Apply = False) -> Plan:
        """Finds the entries that have expired; with `apply`, moves them to the archive in one operation. Raises
        `InvalidSetting`, `StorageError`."""
        return self._engine.run_on(self.store, entries.upkeep.age, apply)

    def pack(
        self,
        older_than: Annotated[int, "They are more than so many days old."] = 90,
        importance: Annotated[float, "They are less important; archived ones may also say no importance."] = 0.3,
        apply: Apply = False,
    ) -> Plan:
        """Finds the entries that are older than so many days and of less importance; with `apply`, packs them in the
        archive in one operation, many in a file. One that says no importance goes if it is archived. Raises
        `InvalidSetting`, `StorageError`."""
        return self._engine.run_on(self.store, entries.upkeep.pack, older_than, importance, apply)

    def promote(
        self,
        threshold: Annotated[float, "The least confidence, from 0 to 1."] = 0.8,
        require_verified: Annotated[bool, "Only entries that somebody has verified."] = False,
        only: Annotated[str | None, "Only this entry, however sure it is."] = None,
        apply: Apply = False,
    ) -> Plan:
        """Finds the entries that are sure enough to be shared, or the one that is named; with `apply`, copies them into
        the shared space in one operation. Raises `InvalidSetting`, `UsageError`, `StorageError`."""
        return self._engine.run_on(self.store, entries.upkeep.promote, threshold, require_verified, only, apply)

    def dedupe(self, apply: Apply = False) -> Plan:
        """Finds the entries that say the same, and those that nearly do; with `apply`, moves all but one of the same to
        the archive in one operation. Raises `StorageError`."""
        return self._engine.run_on(self.store, entries.upkeep.dedupe, apply)

    def retract(
        self,
        id: EntryId,  # noqa: A002 - as it is called in the results
        why: Annotated[str, "Why, in one line."],
        superseded_by: Annotated[str | None, "The entry that holds instead."] = None,
    ) -> ChangedEntry:
        """Closes an entry, with the reason in one line, and names the entry that holds instead. Its text stays. Raises
        `EntryNotFound`, `InvalidSetting`, `NotAllowed`, `StorageError`."""
        return self._engine.run_on(self.store, entries.curation.retract, id, why, superseded_by)

    def verify(
        self,
        id: EntryId,  # noqa: A002 - as above
        by: Annotated[str | None, "Who has verified it. Default: the agent of the settings, else 'default'."] = None,
    ) -> ChangedEntry:
        """Marks an entry as verified by another agent than its own, or by a person. Raises `EntryNotFound`,
        `InvalidSetting`, `NotAllowed` for the entry's own agent and for a closed entry, `StorageError`."""
        return self._engine.run_on(self.store, entries.curation.verify, id, by)

    def referred_to_by(self, id: EntryId) -> list[Reference]:  # noqa: A002 - as above
        """Lists the entries that refer to an entry, each with how. Raises `EntryNotFound`."""
        return self._engine.run_on(self.store, entries.reading.referred_to_by, id)

    def status(self) -> Summary:
        """Counts the entries of each domain, with their importance. Raises `InvalidSetting`, `StorageError`."""
        return self._engine.run_on(self.store, entries.daryl.status)

    def domains(self) -> DomainFile:
        """Returns the domains that entries are routed to, with their keywords. Raises `InvalidSetting` if the page of
        the memory is not valid."""
        return self._engine.run_on(self.store, entries.domains.domains)

    def set_domains(self, text: Annotated[str, "The domains, as TOML."]) -> DomainFile:
        """Stores other domains, given as TOML; what was routed keeps its home. Raises `InvalidSetting`,
        `StorageError`."""
        return self._engine.run_on(self.store, entries.domains.set_domains, text)

    def import_files(
        self,
        files: Annotated[Mapping[str, bytes], "The files, by name, with their bytes."],
        agent: Annotated[str | None, "Whose entries transactions become. Default: the agent of the settings."] = None,
        apply: Apply = False,
    ) -> Plan:
        """Finds the observations of Ocean's vaults and the transactions of DARYL's shards in these files, given by
        name; with `apply`, brings in those that are new in one operation. Raises `InvalidSetting`, `StorageError`."""
        return self._engine.run_on(self.store, entries.importing.import_files, files, agent, apply)

    def export_shards(self) -> dict[str, Any]:
        """Returns the domains as DARYL's shards, and their summary, by the names of their files. Raises
        `InvalidSetting`, `StorageError`."""
        return self._engine.run_on(self.store, entries.importing.export_shards)

    def pick_up(self) -> int:
        """Brings what was captured into the history now, in one revision, and returns how many entries that were.
        Otherwise the next operation that changes entries does it, or a check. Raises `StorageError`."""
        self._engine.recovery.attempt()
        return self.store.pick_up()

    def close(self) -> None:
        """Closes its files; the next use opens them again."""
        self.store.close()
