"""The plan of an import that was printed as JSON, and that a person may have edited, read again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from memory_v2.errors import InvalidPath, InvalidSetting, StorageError
from memory_v2.memory import Memory
from memory_v2.migrate.ledger import UNCHANGED, Action
from memory_v2.migrate.planning import make_plan
from memory_v2.migrate.source import Scan
from memory_v2.operations.imports import can_take
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.storage.base import stored_page
from memory_v2.tree.page import read_page
from memory_v2.tree.path import ROOT, TakenPaths, new_page_path

ACTIONS: tuple[Action, ...] = get_args(Action)


def read_plan(file: Path, memory: Memory, scan: Scan, source: Path) -> Plan:
    """The plan in a file, checked against the source and the memory as they are now. The action and the target of each
    step may have been edited, and the order; a document that is left out is skipped. Raises `InvalidSetting`, and
    `StorageError` if the file cannot be read."""
    try:
        given = json.loads(file.read_bytes())
    except OSError as error:
        raise StorageError(f"cannot read the plan {file}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidSetting(f"the plan {file} is not JSON: {error}") from error
    plans = given.get("plans", [given]) if isinstance(given, dict) else []
    chosen = [plan for plan in plans if isinstance(plan, dict) and plan.get("source") == str(source)]
    if len(chosen) != 1 or not isinstance(chosen[0].get("steps"), list):
        raise InvalidSetting(f"the plan {file} has no steps for {source}; make one with --dry-run --json")
    return _Checker(memory, make_plan(memory, scan, source), file).checked(chosen[0])


class _Checker:
    """Checks an edited plan against the one that would be made now."""

    def __init__(self, memory: Memory, now: Plan, file: Path) -> None:
        self._memory = memory
        self._now = now
        self._file = file
        self._steps = {step.name: step for step in now.steps}
        self._taken = TakenPaths(memory.graph().pages)
        self._claimed: dict[str, str] = {}

    def checked(self, given: Mapping[str, Any]) -> Plan:
        """The plan. Raises `InvalidSetting` for the first step that cannot be carried out."""
        steps: dict[str, Step] = {}
        for row in given["steps"]:
            if not isinstance(row, dict) or not isinstance(name := row.get("name"), str):
                raise self._wrong("each step is an object with the name of a document")
            if name in steps:
                raise self._wrong(f"it has {name} twice")
            steps[name] = self._step(row, name)
        missing = (replace(step, action=SKIP, reason="the plan leaves it out") for step in self._now.steps)
        left = [step for step in missing if step.name not in steps]
        strategy = "flatten" if given.get("strategy") == "flatten" else "keep"
        facts = {**self._now.facts, "strategy": strategy}
        return replace(self._now, steps=(*steps.values(), *left), facts=facts)

    def _step(self, row: Mapping[str, Any], name: str) -> Step:
        now = self._steps.get(name)
        if now is None:
            raise self._wrong(f"there is no document {name} in the source")
        if row.get("digest") not in (None, "", now.facts["digest"]):
            raise self._wrong(f"{name} has changed since the plan was made; make it again with --dry-run --json")
        action, page, reason = row.get("action"), row.get("target") or "", row.get("reason") or ""
        if action not in ACTIONS or not isinstance(page, str) or not isinstance(reason, str):
            raise self._wrong(f"the action of {name} is one of {', '.join(ACTIONS)}, not {action!r}")
        if now.reason == UNCHANGED:  # it was brought in since the plan was made
            return now
        if action == "follow" and now.action != "follow":
            raise self._wrong(f"{name} cannot be followed: {now.reason or 'it was never brought in'}")
        if action == "follow" and page != now.target:
            raise self._wrong(f"the page of {name} is {now.target}; to move it, rename the page afterwards")
        if action == "merge" and self._memory.is_offline:
            raise self._wrong(f"{name} cannot be merged without a model; choose one with --model")
        if action == "append":
            page = ROOT
        if action == "create":
            page = self._page(page, name)
        return replace(now, action=action, target=page, reason=reason)

    def _page(self, page: str, name: str) -> str:
        try:
            page = new_page_path(page)
        except InvalidPath as error:
            raise self._wrong(f"the page of {name} is not valid: {error}") from error
        if other := self._claimed.get(page.casefold()):
            raise self._wrong(f"{name} and {other} have the same page {page}")
        if page in self._taken and not self._can_take(page):
            raise self._wrong(f"the page {page} of {name} is taken; choose another, or skip it")
        self._claimed[page.casefold()] = name
        return page

    def _can_take(self, page: str) -> bool:
        stored = stored_page(self._memory.storage, page)
        return stored is not None and can_take(read_page(page, stored.data))

    def _wrong(self, what: str) -> InvalidSetting:
        return InvalidSetting(f"the plan {self._file} cannot be carried out: {what}")
