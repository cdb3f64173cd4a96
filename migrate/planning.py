"""The plan of an import: each document gets a page or a reason why not; and such a plan from a file, where a person may
have edited it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from memory_v2.errors import InvalidPath, InvalidSetting, NotAllowed, StorageError, UsageError
from memory_v2.files.listing import without_suffix
from memory_v2.memory import Memory
from memory_v2.migrate.ledger import UNCHANGED, Action, digest_of, imported_from
from memory_v2.migrate.scan import Scan, SourceDocument
from memory_v2.models.base import Usage
from memory_v2.models.prices import load_prices
from memory_v2.operations.imports import at, can_take, is_changed, other_paths
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.storage.base import stored_page
from memory_v2.text.amounts import counted, size
from memory_v2.text.days import iso_day
from memory_v2.text.slug import slug
from memory_v2.text.words import tokens
from memory_v2.tree.alike import alike
from memory_v2.tree.block import encode, new_blocks, readable
from memory_v2.tree.edit import is_bare, text_of
from memory_v2.tree.finding import Finding
from memory_v2.tree.page import Page, page_source, read_page
from memory_v2.tree.path import ROOT, TakenPaths, new_page_path, unreserved
from memory_v2.tree.source import Source

Strategy: TypeAlias = Literal["keep", "flatten"]
ACTIONS: tuple[Action, ...] = get_args(Action)
MOST_LISTED = 12
"""How many pages of a source may be listed on the root: more of them are put under a page of the source's name."""
UNNAMED = "notes"
"""The page of a source whose name has no letter or digit."""

SMALL = 1_000
"""Up to how many bytes a document is merged, if a model decides. A larger one is worth a page."""
READ = 6_000
"""An estimate of how many tokens a request reads besides the text: the task, the tools, and the pages that are shown.
In the recorded play of half a year of notes, whose pages have 4 KB, the median is 3,200."""
WRITTEN = 150
"""How many tokens a decision takes besides what it says of the text."""
SHARE = 0.15
"""The tokens of a decision over those of its text: blocks are placed by number, and described."""


def make_plan(memory: Memory, scan: Scan, source: Path, strategy: Strategy = "keep", under: str = "") -> Plan:
    """The plan that brings what a reader has found in `source` into the memory, `under` a page if one is named. Without
    one, a source that has much at its top goes under a page of its name. Nothing is changed and no model is
    asked. The same source and memory give the same plan. Raises `StorageError`."""
    if under and strategy == "flatten":
        raise UsageError("all goes to the root with flatten, so no page can be named: leave one of them out")
    tops = {document.place.partition("/")[0] for document in scan.documents}
    if not under and len(tops) > MOST_LISTED and not scan.format.startswith("silica"):
        under = slug(without_suffix(source.name)) or UNNAMED
    return _Planner(memory, scan, source, strategy, under).plan()


def check_apart(memory: Memory, source: Path) -> None:
    """Raises `UsageError` if the source is the memory's own folder, or in it, or has it among its notes."""
    source, target = source.resolve(), Path(memory.storage.where).resolve()
    if source.is_relative_to(target):
        raise UsageError(f"{source} is inside the memory {target}: name another folder, or another memory")
    if target.is_relative_to(source) and not any(p.startswith(".") for p in target.relative_to(source).parts):
        raise UsageError(f"the memory {target} is inside {source}: move it, or name another one")


def check_empty(memory: Memory, source: Path) -> None:
    """Raises `NotAllowed` if the memory has pages, and none of them came from this source."""
    if memory.storage.list_files() and not imported_from(memory.storage, source):
        raise NotAllowed(f"{memory.storage.where} is not empty: add --merge to bring {source} in beside what is there")


def asks(step: Step, threshold: int) -> bool:
    """Whether a model is asked about a document: to work it in, or to divide it."""
    return step.action == "merge" or (step.action != SKIP and step.facts["size"] > threshold)


def last_revisions(memory: Memory) -> dict[str, str]:
    """The id of the newest revision of each operation."""
    history, found = memory.storage.history, dict[str, str]()
    for revision in history.revisions() if history.begun else ():
        found.setdefault(revision.operation, revision.id)
    return found


class _Planner:
    def __init__(self, memory: Memory, scan: Scan, source: Path, strategy: Strategy, under: str) -> None:
        self.memory, self.scan, self.source, self.strategy, self.under = memory, scan, source, strategy, under
        self._imported = imported_from(memory.storage, source)
        self._pages = frozenset(memory.graph().pages)
        self._taken = TakenPaths(self._pages)

    def plan(self) -> Plan:
        steps = {document.name: self._known(document) for document in self.scan.documents}
        steps |= self._duplicates([document for document in self.scan.documents if steps[document.name] is None])
        new = [document for document in self.scan.documents if steps[document.name] is None]
        if self.strategy == "flatten":
            steps |= {document.name: _step(document, "append", ROOT) for document in new}
        else:
            steps |= self._kept(new)
        planned = [
            replace(step, target=same.target) if (same := steps.get(step.facts.get("same", ""))) else step
            for step in steps.values()
            if step is not None
        ]
        requests, cost = self._estimate(planned)
        facts = {
            "source": str(self.source),
            "read_as": self.scan.format,
            "strategy": self.strategy,
            "requests": requests,
            "estimated_cost": cost,
            "left_out": tuple(self.scan.left_out),
        }
        ordered = tuple(sorted(planned, key=_order))
        return Plan("import", _title(ordered, cost), ordered, tuple(self._gone()), facts)

    @cached_property
    def _left(self) -> Mapping[str, str]:
        return last_revisions(self.memory)

    def _find(self, path: str) -> Page | None:
        known = self._taken.page(path)
        stored = stored_page(self.memory.storage, known) if known else None
        return read_page(known, stored.data) if known and stored else None

    # what an earlier run brought in, and what is there already

    def _known(self, document: SourceDocument) -> Step | None:
        """What becomes of a document that an earlier run brought in."""
        imported = self._imported.get(document.name)
        if imported is None:
            earlier = self._renamed.get(digest_of(document.text), "")
            reason = f"it was brought in as {earlier}"
            return _step(document, SKIP, self._imported[earlier].page, reason) if earlier else None
        is_page = imported.action in ("create", "follow")
        action, reason = SKIP, UNCHANGED
        if is_page and imported.page not in self._pages:
            reason = "its page was deleted or renamed here; it stays as it is"
        elif imported.digest == digest_of(document.text):
            pass
        elif imported.action == "merge":
            action, reason = "merge", "it has changed since, so it is worked in again"
        elif not is_page:
            reason = "it has changed since it was added to a page with others; what it says now is not followed"
        elif is_changed(imported.page, self._find, at(self.memory.storage.history, self._left[imported.operation])):
            reason = "both it and its page have changed since; neither is touched"
        else:
            action, reason = "follow", "it has changed since"
        return _step(document, action, imported.page, reason)

    @cached_property
    def _absent(self) -> list[str]:
        """What an earlier run brought in and is no more in the source, by name."""
        found = {document.name for document in self.scan.documents}
        return [name for name in sorted(self._imported.keys() - found) if not (self.source / name).exists()]

    @cached_property
    def _renamed(self) -> dict[str, str]:
        """The absent documents by the digest of their text: one of the same text may be the same under another name."""
        return {self._imported[name].digest: name for name in self._absent}

    def _gone(self) -> Iterator[Finding]:
        digests = {digest_of(document.text) for document in self.scan.documents if document.name not in self._imported}
        for name in self._absent:
            if self._imported[name].digest not in digests:
                message = f"it is gone from the source; its page {self._imported[name].page} stays"
                yield Finding("gone", "notice", name, 0, message)

    def _duplicates(self, new: Sequence[SourceDocument]) -> dict[str, Step | None]:
        """The steps for new documents whose text is in the memory or earlier in the source, with the same day."""
        steps: dict[str, Step | None] = {}
        known = {(digest_of(d.text), d.day): d.name for d in self.scan.documents if d.name in self._imported}
        there = self._texts_there() if new else {}
        for document in sorted(new, key=lambda document: document.name):
            other = known.setdefault((digest_of(document.text), document.day), document.name)
            if other != document.name:
                steps[document.name] = _step(document, SKIP, "", f"it is the same as {other}", other)
            elif page := there.get(document.text.strip(), ""):
                steps[document.name] = _step(document, SKIP, page, f"it stands on {page} already")
        return steps

    def _texts_there(self) -> dict[str, str]:
        """The pages that no import from this source has made, by their text, with and without their title."""
        own = {imported.page for imported in self._imported.values()}
        names = {document.name for document in self.scan.documents}
        texts: dict[str, str] = {}
        for path in sorted(self._pages - own):
            page = self._find(path)
            if page is not None and not is_bare(page) and page_source(page).name not in names:
                text = text_of(page).strip()
                texts.setdefault(text, path)
                texts.setdefault(text.partition("\n")[2].strip(), path)
        texts.pop("", None)
        return texts

    # where the rest goes

    def _kept(self, new: Sequence[SourceDocument]) -> dict[str, Step | None]:
        steps: dict[str, Step | None] = {}
        same = {} if self.memory.is_offline else self._alike(new)
        connected = {name for one in self.scan.documents if one.links for name in (one.name, *one.links)}
        paged = []
        for document in new:
            if document.place == ROOT and not self.under:
                steps[document.name] = _step(document, "append", ROOT, "it belongs to the root")
            elif (
                self.memory.is_offline
                or document.name in connected  # a link leads to a page, so each keeps its own
                or iso_day(document.place.rpartition("/")[2][:10])  # a log belongs with those of the other days
                or readable(document.text) != document.text  # bytes that are not UTF-8 are kept as they are
            ):
                paged.append(document)
            elif other := same.get(document.name):
                steps[document.name] = _step(document, "merge", "", f"it is much like {other}")
            elif _is_small(document):
                steps[document.name] = _step(document, "merge", "", "it is small")
            else:
                paged.append(document)
        return steps | self._placed(paged)

    def _alike(self, new: Sequence[SourceDocument]) -> dict[str, str]:
        """The page, or else the document earlier in the list, that each document is much like."""
        pages = [(path, page.text) for path in sorted(self._pages - {ROOT}) if (page := self._find(path))]
        texts = [*pages, *((document.name, document.text) for document in new)]
        return {
            texts[number][0]: texts[group.members[0]][0]
            for group in alike([text for _, text in texts])
            for number in group.members[1:]
            if number >= len(pages)
        }

    def _placed(self, documents: Sequence[SourceDocument]) -> dict[str, Step | None]:
        """Gives each document a page: its own place if it can have it, and all others after that."""
        wished = {document.name: self._wish(document.place) for document in documents}
        ordered = sorted(documents, key=lambda document: (wished[document.name].count("/"), document.name))
        steps: dict[str, Step | None] = {}
        claimed = TakenPaths(())
        for is_wish in (True, False):
            for document in ordered if is_wish else [one for one in ordered if one.name not in steps]:
                wish = wished[document.name]
                paths = [wish] if is_wish else other_paths(wish, document.title, Source(day=document.day))
                if path := next((p for p in paths if p not in claimed and self._is_free(p, is_wish)), ""):
                    claimed.add(path)
                    steps[document.name] = _step(document, "create", path, "" if is_wish else f"{wish} is taken")
        return steps

    def _is_free(self, path: str, may_be_bare: bool) -> bool:
        if path not in self._taken:
            return True
        page = self._find(path) if may_be_bare and path in self._pages else None
        return page is not None and can_take(page)

    def _wish(self, place: str) -> str:
        """The path that the place of a document asks for, in the spelling of the folders that are there."""
        first, slash, rest = (f"{self.under}/{place}" if self.under else place).partition("/")
        path = f"{unreserved(first)}{slash}{rest}"
        while spelled := self._taken.clash(path):
            path = "/".join([spelled, *path.split("/")[spelled.count("/") + 1 :]])
        return path

    def _estimate(self, steps: Iterable[Step]) -> tuple[int, float | None]:
        """How many requests a model will get at least, and what they cost in dollars; `None` if the price is not
        known."""
        asked = [] if self.memory.is_offline else [step.name for step in steps if asks(step, self.memory.threshold)]
        if not asked:
            return 0, 0.0
        lengths = [tokens(document.text) for document in self.scan.documents if document.name in asked]
        usage = Usage(sum(lengths) + READ * len(asked), int(sum(lengths) * SHARE) + WRITTEN * len(asked))
        prices, name = load_prices(self.memory.prices), self.memory.model_name.partition(":")[2]
        costs = (prices.cost(one, usage) for one in (name, name.rpartition("/")[2]))
        return len(asked), next((cost for cost in costs if cost is not None), None)


def _title(steps: Iterable[Step], cost: float | None) -> str:
    due = [step for step in steps if step.is_due]
    price = "" if cost == 0 else f", about ${cost:.2f}" if cost is not None else ", at an unknown price"
    return f"{counted(len(due), 'document')} to bring in, {size(sum(step.facts['size'] for step in due))}{price}"


def _order(step: Step) -> tuple[bool, object, int, str]:
    """What makes pages first, from the top down; what is appended by day; what a model works in comes last, so that it
    sees all else."""
    day = step.facts["day"] or "" if step.action == "append" else ""
    return step.action == "merge", day, step.target.count("/"), step.name


def _is_small(document: SourceDocument) -> bool:
    """Whether a document is small, without headings below its title: worked in, they would be among those of another
    page."""
    headings = [block for block in new_blocks(document.text) if block.kind == "heading"]
    return len(encode(document.text)) < SMALL and len(headings) < 2


def _step(document: SourceDocument, action: str, page: str, reason: str = "", same: str = "") -> Step:
    day = document.day.isoformat() if document.day else None
    facts = {"size": len(encode(document.text)), "day": day, "digest": digest_of(document.text)}
    return Step(action, document.name, page, reason, facts=facts | ({"same": same} if same else {}))


# a plan in a file


def read_plan(file: Path, memory: Memory, scan: Scan, source: Path) -> Plan:
    """The plan in a file, checked against the source and the memory as they are now. The action and the target of each
    step may have been edited, and the order; a document that is left out is skipped. Raises `InvalidSetting` for the
    first step that cannot be carried out, and `StorageError` if the file cannot be read."""
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
    now = make_plan(memory, scan, source)
    known, taken = {step.name: step for step in now.steps}, TakenPaths(memory.graph().pages)
    steps: dict[str, Step] = {}
    pages: dict[str, str] = {}
    try:
        for row in chosen[0]["steps"]:
            if not isinstance(row, dict) or not isinstance(name := row.get("name"), str):
                raise InvalidSetting("each step is an object with the name of a document")
            if name in steps:
                raise InvalidSetting(f"it has {name} twice")
            if name not in known:
                raise InvalidSetting(f"there is no document {name} in the source")
            steps[name] = step = _edited(row, known[name], memory.is_offline)
            if step.action == "create":
                if other := pages.get(step.target.casefold()):
                    raise InvalidSetting(f"{name} and {other} have the same page {step.target}")
                pages[step.target.casefold()] = name
                stored = stored_page(memory.storage, step.target) if step.target in taken else None
                if step.target in taken and not (stored and can_take(read_page(step.target, stored.data))):
                    raise InvalidSetting(f"the page {step.target} of {name} is taken; choose another, or skip it")
    except InvalidSetting as wrong:
        raise InvalidSetting(f"the plan {file} cannot be carried out: {wrong}") from wrong
    left = [replace(step, action=SKIP, reason="the plan leaves it out") for step in now.steps if step.name not in steps]
    strategy = "flatten" if chosen[0].get("strategy") == "flatten" else "keep"
    return replace(now, steps=(*steps.values(), *left), facts={**now.facts, "strategy": strategy})


def _edited(row: Mapping[str, Any], now: Step, is_offline: bool) -> Step:
    """A step as a person has edited it. Raises `InvalidSetting`."""
    name, action, page, reason = now.name, row.get("action"), row.get("target") or "", row.get("reason") or ""
    if row.get("digest") not in (None, "", now.facts["digest"]):
        raise InvalidSetting(f"{name} has changed since the plan was made; make it again with --dry-run --json")
    if action not in ACTIONS or not isinstance(page, str) or not isinstance(reason, str):
        raise InvalidSetting(f"the action of {name} is one of {', '.join(ACTIONS)}, not {action!r}")
    if now.reason == UNCHANGED:  # it was brought in since the plan was made
        return now
    if action == "follow" and now.action != "follow":
        raise InvalidSetting(f"{name} cannot be followed: {now.reason or 'it was never brought in'}")
    if action == "follow" and page != now.target:
        raise InvalidSetting(f"the page of {name} is {now.target}; to move it, rename the page afterwards")
    if action == "merge" and is_offline:
        raise InvalidSetting(f"{name} cannot be merged without a model; choose one with --model")
    if action == "create":
        try:
            page = new_page_path(page)
        except InvalidPath as error:
            raise InvalidSetting(f"the page of {name} is not valid: {error}") from error
    return replace(now, action=action, target=ROOT if action == "append" else page, reason=reason)
