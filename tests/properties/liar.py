"""Does a text get lost when everything that the model says may be a lie? `python -m tests.properties.liar` tries.

A memory in a folder goes through thousands of operations: writes of every kind, splits, undos of undos, deletions,
renames, edits by hand, searches, repairs, and others who write meanwhile. A `hostile` model decides. What each
operation says is compared with the tree and its trace. The operations are logged; log, files and history are then
audited by `auditor`, which uses no code of the product. Prints what accounts for each line that was written and is not
in the tree; exits with status 1 if nothing does, or if a text is not in the history to the letter.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_v2 import Memory
from memory_v2.agent.loop import PLANNER_TURNS
from memory_v2.errors import SilicaError
from memory_v2.models.base import Conversation
from memory_v2.models.scripted import Answer, ScriptedModel
from memory_v2.operations.results import SearchResult, SearchResults, SplitResult, WriteResult
from memory_v2.settings import Limits
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.trace.recording import Event, Trace
from memory_v2.tree.page import Page
from tests.properties.auditor import Audit, audit
from tests.properties.hostile import MARK, Hostile
from tests.properties.sentences import again, sentence, text
from tests.properties.whole import faults, pages_of

THRESHOLD = 2_048
"""The maximum size of a page in bytes: small, so that pages split often."""
LIMITS = Limits(turns=6)
BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
LATELY = 60
"""How many of the last texts somebody may tell again."""
SHARES = {"write": 100, "split": 10, "search": 8, "edit": 10, "undo": 12, "redo": 4, "restore": 2}
SHARES |= {"look": 6, "delete": 5, "rename": 6, "merge": 6, "check": 4}
"""How often each operation is done, in proportion."""
RIVALS = 0.06
"""How often somebody else changes a page while the model thinks: a share of its answers."""
NAME = "hostile"
TRACES = 5
MODES = ("update",) * 17 + ("append",) * 2 + ("replace",)


@dataclass
class Session:
    """Operations by chance on the memory in a folder, and their log. Unless it is edited by hand, the tree is whole
    after each of them."""

    folder: Path
    seed: int
    is_edited: bool = True
    chance: random.Random = field(init=False)
    done: int = 0
    logged: int = 0
    told: dict[str, Any] = field(default_factory=dict)
    given: list[str] = field(default_factory=list)
    decided: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    is_disturbed: bool = False
    is_thinking: bool = False
    failed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.hostile = Hostile(self.chance)
        self.model = ScriptedModel(self._answer, NAME)
        self.storage = LocalStorage(self.folder)
        self.memory = Memory(
            self.storage, self.model, threshold=THRESHOLD, limits=LIMITS, now=self._clock, traces=TRACES
        )

    @property
    def log(self) -> Path:
        """A JSON object per line for each operation."""
        return self.folder.with_suffix(".jsonl")

    def run(self, operations: int) -> None:
        """Does so many operations more, and has the last edits by hand recorded."""
        for _ in range(operations):
            did = self.chance.choices(list(SHARES), list(SHARES.values()))[0] if self._paths() else "write"
            self._do("write" if did == "edit" and not self.is_edited else did)
            self.done += 1
        self._do("look")

    def _do(self, did: str) -> None:
        """Does an operation, and logs it."""
        self.logged += 1
        self.model.sent.clear()
        self.is_disturbed = False
        told = self.told = {"n": self.logged, "did": did, "acknowledged": True, "before": self._head()}
        try:
            self._compare(getattr(self, f"_{did}")(told))
        except SilicaError:
            told["acknowledged"] = False
            self.refused += 1
        except Exception as error:  # noqa: BLE001 - whatever a lie causes is what is looked for
            told["acknowledged"] = False
            self.wrong(f"{type(error).__name__}: {error}"[:300])
        told["after"] = self._head()
        with self.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(told) + "\n")

    def _answer(self, conversation: Conversation) -> Answer:
        """The liar's answer. While it thinks, somebody else may change a page."""
        if self.chance.random() < RIVALS and self._paths():
            asked, self.is_thinking = self.told, True
            self._do(self.chance.choice(("rival", "edit")) if self.is_edited else "rival")
            self.told, self.is_disturbed, self.is_thinking = asked, True, False
        return self.hostile.answer(conversation)

    # the operations: each notes its arguments before it is done

    def _write(self, told: dict[str, Any]) -> WriteResult:
        page = self._page() if self.chance.random() < 0.25 else None
        new = again(self.chance, self.chance.choice(self.given)) if self.given and self.chance.random() < 0.4 else ""
        told |= {"text": new or text(self.chance), "page": page, "mode": self.chance.choice(MODES)}
        self.given = [*self.given[-LATELY:], told["text"]]
        result = self.memory.write(told["text"], page, told["mode"])
        who = result.decided_by
        self.decided[f"{who}, {'with a lie' if self.hostile.has_lied else 'honestly'}" if who == NAME else who] += 1
        return result

    def _rival(self, told: dict[str, Any]) -> None:
        """Another process writes, without a model."""
        told |= {"did": "write", "text": text(self.chance), "page": self._page(), "mode": self.chance.choice(MODES)}
        with Memory(LocalStorage(self.folder), threshold=THRESHOLD, now=self._clock, traces=TRACES) as memory:
            result = memory.write(told["text"], told["page"], told["mode"])
        self.decided[f"{result.decided_by}, of another process"] += 1

    def _split(self, told: dict[str, Any]) -> SplitResult:
        told["page"] = self._page()
        return self.memory.split(told["page"])

    def _search(self, told: dict[str, Any]) -> SearchResults:
        told["query"] = sentence(self.chance)
        return self.memory.search(told["query"])

    def _edit(self, told: dict[str, Any]) -> None:
        """A person adds a line to a page, or takes one away."""
        told["page"] = self._page()
        file = self.folder / f"{told['page']}.md"
        lines = file.read_bytes().decode("utf-8", "surrogateescape").splitlines(keepends=True)
        place = self.chance.randrange(1, 1 + max(1, len(lines) // 2))
        taken = lines[place : place + 1] if self.chance.random() < 0.5 else []
        added = [f"{sentence(self.chance)}\n", "\n"] if self.chance.random() < 0.6 else []
        lines[place : place + len(taken)] = added
        told["removed"] = [line.strip() for line in taken if line.strip()]
        told["added"] = [line.strip() for line in added if line.strip()]
        file.write_bytes("".join(lines).encode("utf-8", "surrogateescape"))

    def _undo(self, told: dict[str, Any]) -> None:
        self.memory.undo()

    def _redo(self, told: dict[str, Any]) -> None:
        """Undoes one of the last operations, undos included."""
        told["did"] = "undo"
        self.memory.undo(self.chance.choice(self.memory.history()[:12]).id)

    def _restore(self, told: dict[str, Any]) -> None:
        told["page"] = self._page() if self.chance.random() < 0.8 else None
        self.memory.restore(self.chance.choice(self.memory.history()[:12]).id, told["page"])

    def _delete(self, told: dict[str, Any]) -> None:
        told["page"] = self._page()
        self.memory.delete(told["page"])

    def _rename(self, told: dict[str, Any]) -> None:
        told["page"], told["new"] = self._page(), f"{self._page()}/{self.chance.choice('abcdef')}{self.done}"
        self.memory.rename(told["page"], told["new"])

    def _merge(self, told: dict[str, Any]) -> None:
        told["page"] = self._page()
        self.memory.merge(told["page"])

    def _look(self, told: dict[str, Any]) -> None:
        self.memory.check()

    def _check(self, told: dict[str, Any]) -> None:
        self.memory.checkup(apply=True)

    # what they need

    def _paths(self) -> list[str]:
        return self.memory.storage.list_files()

    def _page(self) -> str:
        return self.chance.choice(self._paths() or ["memory"])

    def _clock(self) -> datetime:
        return BEGAN + timedelta(minutes=self.done)

    def _head(self) -> str:
        """The newest commit."""
        return self.storage.history.head

    # what is compared after each

    def wrong(self, what: str) -> None:
        """Notes what must not be."""
        self.failed.append(f"operation {self.logged} ({self.told['did']}): {what}")

    def _compare(self, result: WriteResult | SplitResult | SearchResults | None) -> None:
        """Compares the tree, and what an operation says, with what has to be."""
        pages = pages_of(self.storage)
        for path, page in pages.items():
            if MARK in path + page.text:
                self.wrong(f"chatter of the model is on {path}")
        most = sys.maxsize if self.is_thinking else THRESHOLD  # what is thought about may be how to divide a large page
        for fault in [] if self.is_edited else faults(pages, most):
            self.wrong(fault)
        if self.is_disturbed:  # the page that it is about may be another by now
            return
        if isinstance(result, SearchResults):
            for found in result:
                if not is_grounded(found, pages.get(found.path)):
                    self.wrong(f"{found.path}: {found.excerpt[:80]!r} does not stand on {found.lines}")
        elif result:
            if missing := [path for path in result.new_files if path not in pages]:
                self.wrong(f"{missing} are not there")
            if isinstance(result, WriteResult) and result.size_bytes != pages[result.path].size:
                self.wrong(f"{result.path} has {pages[result.path].size} bytes, not {result.size_bytes}")
        if result and (trace := self.memory.trace(result.trace)).of("ask"):
            for lie in untrue(trace, result.decided_by, result.degraded):
                self.wrong(lie)


def is_grounded(found: SearchResult, page: Page | None) -> bool:
    """Whether an excerpt stands on its page, at its lines."""
    text, parts = page.text if page else "", found.excerpt.split("\n…\n")
    at = text.count("\n", 0, text.find(found.excerpt)) + 1
    is_there = bool(found.excerpt) and all(part in text for part in parts) and 0 <= found.relevance_score <= 1
    return is_there and (text.count(found.excerpt) != 1 or found.lines[0] == at)


def untrue(trace: Trace, decided_by: str, degraded: str) -> Iterator[str]:
    """What an operation says otherwise than its trace, and the limits that it did not keep."""
    asked = [number for number, event in enumerate(trace.events) if event["event"] == "ask"]
    talks = [trace.events[start:end] for start, end in zip(asked, [*asked[1:], None], strict=True)]
    decided = next((talk for talk in talks if any(map(_is_decided, talk))), talks[-1])
    if decided_by not in ("program", decided[0]["model"]):  # which appends and replaces; what it cuts is decided
        yield f"decided by {decided_by}, the trace says {decided[0]['model']}"
    if decided_by == "offline" and not degraded:
        yield "the planner decided, and nobody is told why"
    turns = [(talk[0]["model"], sum(event["event"] == "reply" for event in talk)) for talk in talks]
    if any(model == "offline" and replies > PLANNER_TURNS for model, replies in turns):
        yield "too many turns of the planner for one task"
    if sum(replies for model, replies in turns if model == NAME) > LIMITS.turns:
        yield "too many turns of the model"
    if (calls := trace.of("end")[0]["cost"]["calls"]) != sum(replies for _, replies in turns):
        yield f"{calls} calls were paid for, {turns} are on record"


def _is_decided(event: Event) -> bool:
    return event["event"] == "decided" and not event["reason"]


def main() -> None:
    """Runs the operations, audits, and exits with status 1 if something is wrong."""
    parser = argparse.ArgumentParser(description="A model that lies, and what becomes of the texts.")
    parser.add_argument("--operations", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=500, help="audit after so many operations")
    parser.add_argument("--keep", type=Path, help="where the memory and its log go if something is wrong")
    chosen = parser.parse_args()
    logging.getLogger("memory_v2").setLevel(logging.CRITICAL)  # a model that breaks down is told with its traceback
    found, wrong = Audit(), dict[str, None]()
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder) / "memory", chosen.seed)
        with session.memory:
            while session.done < chosen.operations:
                session.run(min(chosen.every, chosen.operations - session.done))
                found = audit(session.folder, session.log)
                wrong |= dict.fromkeys([*session.failed, *found.violations])
        if wrong and chosen.keep:
            shutil.copytree(folder, chosen.keep)
    rows = {
        "operations": session.done,
        "  refused with a reason, such as an undo of pages that have changed": session.refused,
        "writes acknowledged": found.writes,
        **{f"  decided by {who}": count for who, count in session.decided.most_common()},
        "lines given": found.sentences,
        "  in the tree": found.standing,
        **{f"  not in the tree: {reason}": count for reason, count in found.left.most_common()},
        "violations": len(wrong),
    }
    for name, count in rows.items():
        print(f"{name:78}{count:8,}")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
