"""What users hold as `memory.entries`. Each method is a row of the table, run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar

from memory_v2.entries import curation_rows, deciding_rows, rows
from memory_v2.entries.area import Area
from memory_v2.entries.arguments import check_arguments

if TYPE_CHECKING:
    from memory_v2.entries.capture import Captured, CapturedBatch
    from memory_v2.entries.domains import DomainFile
    from memory_v2.entries.entry import Decay, Entry, Reference, Scope
    from memory_v2.entries.retracting import Retracted
    from memory_v2.entries.routing import Routing
    from memory_v2.entries.summary import Summary
    from memory_v2.operations.context import Context
    from memory_v2.operations.row import Row
    from memory_v2.plan import Plan

T = TypeVar("T")


class Entries:
    """The entries of a memory: short, dated observations that are captured at once and never rewritten.

    Any number of threads and processes may capture at the same time. No model is asked.
    """

    def __init__(
        self,
        area: Area,
        recover: Callable[[], object],
        operate: Callable[[Row[Any], Callable[[Context], Any], dict[str, Any]], Any],
        is_offline: bool,
    ) -> None:
        """The entries of an `area`. `recover` finishes interrupted
        operations, and is called first, except by a capture, which waits for nothing. `operate` runs an operation that
        a model takes part in, with what works on pages; a memory that `is_offline` has none."""
        self.area = area
        self._recover = recover
        self._operate = operate
        self._is_offline = is_offline

    def capture(
        self,
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
        """Stores an observation; it is durable when the call returns. The same text by the same agent of the same day
        is not stored twice. Raises `InvalidText`, `InvalidSetting`, `StorageError`."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return self._run(rows.CAPTURE, **given)

    def capture_batch(self, lines: Iterable[str | Mapping[str, Any]]) -> CapturedBatch:
        """Captures each line of JSON, or mapping, with the arguments of `capture`. A line that cannot be captured is
        told by number, and keeps no other one back. Raises `StorageError`."""
        return self._run(rows.CAPTURE_BATCH, lines=lines)

    def list_entries(self, agent: str | None = None, tag: str | None = None, archived: bool = False) -> list[Entry]:
        """Lists entries, oldest first: those of an agent or `shared`, with a tag, and with those in the archive if
        `archived`. Raises `InvalidSetting`."""
        return self._run(rows.LIST_ENTRIES, agent=agent, tag=tag, archived=archived)

    def read_entry(self, id: str) -> Entry:  # noqa: A002 - as it is called in the results
        """Returns an entry by its id; without an agent's name, it is the default agent's or a shared one. Raises
        `EntryNotFound`, and `NotAllowed` for a file that does not say what an entry must."""
        return self._run(rows.READ_ENTRY, id=id)

    def route(self, apply: bool = False) -> Plan:
        """Finds the home of each entry in the inbox, with the reasons; with `apply`, stores the homes in one operation.
        The rules come first; a model sorts what they leave. Raises `InvalidSetting`, `StorageError`."""
        return (
            self._run(rows.ROUTE, apply=apply) if self._is_offline else self._decided(deciding_rows.ROUTE, apply=apply)
        )

    def consolidate(
        self,
        home: str | None = None,
        agent: str | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        apply: bool = False,
    ) -> Plan:
        """Plans how entries are worked into pages, and with `apply` carries the plan out in one operation: the plan
        that was shown last, to the letter, or else a new one. Takes the entries of one `home` (a domain, a page, or
        `inbox`) or of each but the inbox, of one `agent`, observed `since` one day and `until` another. Raises
        `InvalidSetting`, `StorageError`, `ModelError`, and `StorageConflict` if a page or an entry of the plan has
        changed since; then nothing was changed."""
        told = {"since": since, "until": until}
        days = {name: day.isoformat()[:10] if isinstance(day, date) else day for name, day in told.items()}
        return self._decided(deciding_rows.CONSOLIDATE, home=home, agent=agent, **days, apply=apply)

    def route_text(self, text: str) -> Routing:
        """Says where a text would be routed, and why; nothing is stored. Raises `InvalidSetting`, `StorageError`."""
        return self._run(rows.ROUTE_TEXT, text=text)

    def age(self, apply: bool = False) -> Plan:
        """Finds the entries that have expired; with `apply`, moves them to the archive in one operation. Raises
        `InvalidSetting`, `StorageError`."""
        return self._run(rows.AGE, apply=apply)

    def pack(self, older_than: int = 90, importance: float = 0.3, apply: bool = False) -> Plan:
        """Finds the entries that are older than so many days and of less importance; with `apply`, packs them in the
        archive in one operation, many in a file. One that says no importance goes if it is archived. Raises
        `InvalidSetting`, `StorageError`."""
        return self._run(rows.PACK, older_than=older_than, importance=importance, apply=apply)

    def promote(
        self, threshold: float = 0.8, require_verified: bool = False, only: str | None = None, apply: bool = False
    ) -> Plan:
        """Finds the entries that are sure enough to be shared, or the one that is named; with `apply`, copies them into
        the shared space in one operation. Raises `InvalidSetting`, `UsageError`, `StorageError`."""
        given = {"threshold": threshold, "require_verified": require_verified, "only": only, "apply": apply}
        return self._run(rows.PROMOTE, **given)

    def dedupe(self, apply: bool = False) -> Plan:
        """Finds the entries that say the same, and those that nearly do; with `apply`, moves all but one of the same to
        the archive in one operation. Raises `StorageError`."""
        return self._run(curation_rows.DEDUPE, apply=apply)

    def retract(self, id: str, why: str, superseded_by: str | None = None) -> Retracted:  # noqa: A002 - as above
        """Closes an entry, with the reason in one line, and names the entry that holds instead. Its text stays. Raises
        `EntryNotFound`, `InvalidSetting`, `NotAllowed`, `StorageError`."""
        return self._run(curation_rows.RETRACT, id=id, why=why, superseded_by=superseded_by)

    def referred_to_by(self, id: str) -> list[Reference]:  # noqa: A002 - as above
        """Lists the entries that refer to an entry, each with how. Raises `EntryNotFound`."""
        return self._run(curation_rows.REFERRED_TO_BY, id=id)

    def status(self) -> Summary:
        """Counts the entries of each domain, with their importance. Raises `InvalidSetting`, `StorageError`."""
        return self._run(rows.STATUS)

    def domains(self) -> DomainFile:
        """Returns the domains that entries are routed to, with their keywords. Raises `InvalidSetting` if the page of
        the memory is not valid."""
        return self._run(rows.DOMAINS)

    def set_domains(self, text: str) -> DomainFile:
        """Stores other domains, given as TOML; what was routed keeps its home. Raises `InvalidSetting`,
        `StorageError`."""
        return self._run(rows.SET_DOMAINS, text=text)

    def import_files(self, files: Mapping[str, bytes], agent: str | None = None, apply: bool = False) -> Plan:
        """Finds the observations of Ocean's vaults and the transactions of DARYL's shards in these files, given by
        name; with `apply`, brings in those that are new in one operation. Raises `InvalidSetting`, `StorageError`."""
        return self._run(rows.IMPORT_FILES, files=files, agent=agent, apply=apply)

    def export_shards(self) -> dict[str, Any]:
        """Returns the domains as DARYL's shards, and their summary, by the names of their files. Raises
        `InvalidSetting`, `StorageError`."""
        return self._run(rows.EXPORT_SHARDS)

    def _run(self, row: Row[T], /, **given: Any) -> T:
        check_arguments(row, given)
        if row not in (rows.CAPTURE, rows.CAPTURE_BATCH):
            self._recover()
        return row.load()(self.area, **given)

    def _decided(self, row: Row[T], /, **given: Any) -> T:
        from memory_v2.entries.curation import CurationContext

        check_arguments(row, given)
        result: T = self._operate(row, lambda context: row.load()(CurationContext(self.area, context), **given), given)
        return result

    def pick_up(self) -> int:
        """Brings what was captured into the history now, in one revision, and returns how many entries that were.
        Otherwise the next operation that changes entries does it, or a check. Raises `StorageError`."""
        self._recover()
        return self.area.pick_up()

    def close(self) -> None:
        """Closes its files; the next use opens them again."""
        self.area.known.close()
