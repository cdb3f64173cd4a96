"""The plan that is kept between showing it and carrying it out, in a note of the program's."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from memory_v2.entries.area import Area
from memory_v2.entries.consolidation import ConsolidationPlan, Filed, WorkedIn
from memory_v2.errors import StorageConflict, StorageError
from memory_v2.operations.results import Finding
from memory_v2.storage.base import CONSOLIDATION, stored_page, version_of
from memory_v2.storage.history import PageChange
from memory_v2.tree.block import decode, encode

AGAIN = "nothing was changed; make a new plan with 'silica memory consolidate'"
"""What to do about a plan that does not fit any more."""

logger = logging.getLogger(__name__)


def read_note(area: Area, name: str) -> Mapping[str, Any]:
    """What a note says; nothing if it is not there, or is no JSON object."""
    data = area.storage.state.read(name)
    try:
        told = json.loads(data or b"{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def keep_note(area: Area, name: str, told: Mapping[str, Any]) -> None:
    """Keeps what is planned or decided, in the place of what was kept before. If it cannot be kept, that is only told:
    it can be decided again."""
    try:
        area.storage.state.write(name, json.dumps(told, indent=1).encode())
    except StorageError as error:
        logger.warning("the plan could not be kept, so carrying it out plans anew: %s", error)


class KeptPlan:
    """The plan that was made last, if it was made for what is `asked` now: the same entries, the same model."""

    def __init__(self, area: Area, asked: Mapping[str, str | None]) -> None:
        self._area = area
        self._asked = dict(asked)

    def write(self, plan: ConsolidationPlan) -> None:
        """Keeps a plan in the place of the one before."""
        told = {
            "asked": self._asked,
            "entries": [asdict(one) for one in plan.entries],
            "filed": [asdict(one) for one in plan.filed],
            "pages": [
                {"path": one.path, "before": _version(one.before), "after": one.after and decode(one.after)}
                for one in plan.changes
            ],
            "inbox": plan.inbox,
            "findings": [asdict(one) for one in plan.findings],
        }
        keep_note(self._area, CONSOLIDATION, told)

    def read(self) -> ConsolidationPlan | None:
        """The plan, or `None` if there is none for what is asked, or it is carried out already. Raises
        `StorageConflict` if a page has changed since."""
        told = read_note(self._area, CONSOLIDATION)
        if told.get("asked") != self._asked:
            return None
        try:
            plan = ConsolidationPlan(
                entries=tuple(WorkedIn(**{**one, "pages": tuple(one["pages"])}) for one in told["entries"]),
                filed=tuple(Filed(**{**one, "why": tuple(one["why"])}) for one in told["filed"]),
                inbox=told["inbox"],
                findings=tuple(Finding(**one) for one in told["findings"]),
            )
            pages = [(one["path"], one["before"], one["after"]) for one in told["pages"]]
        except (KeyError, TypeError):  # of another version
            return None
        if all(map(self._is_done, plan.entries)):
            return None
        return replace(plan, changes=tuple(self._change(*one) for one in pages))

    def remove(self) -> None:
        """Removes the plan, which was carried out."""
        try:
            self._area.storage.state.remove(CONSOLIDATION)
        except StorageError as error:
            logger.info("the plan that was carried out could not be removed: %s", error)

    def _is_done(self, one: WorkedIn) -> bool:
        try:
            entry = self._area.read(one.id).entry
        except KeyError:
            return True
        return entry is not None and bool(entry.consolidated_into)

    def _change(self, path: str, before: str | None, after: str | None) -> PageChange:
        stored = stored_page(self._area.storage, path)
        if _version(stored.data if stored else None) != before:
            raise StorageConflict(
                f"the page {path!r} has changed since the plan was made; nothing was changed: {AGAIN}"
            )
        return PageChange(path, stored.data if stored else None, None if after is None else encode(after))


def _version(data: bytes | None) -> str | None:
    return None if data is None else version_of(data)
