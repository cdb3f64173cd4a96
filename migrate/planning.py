"""Making the plan of an import: each document gets a page or a reason why not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from memory_v2.memory import Memory
from memory_v2.migrate.ledger import UNCHANGED, Imported, Ledger, digest_of
from memory_v2.migrate.model_share import alike, estimate
from memory_v2.migrate.source import Scan, SourceDocument
from memory_v2.operations.imports import at, can_take, is_changed, other_paths
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.storage.base import stored_page
from memory_v2.text.amounts import counted, size
from memory_v2.text.calendar import iso_day
from memory_v2.text.plain import plain
from memory_v2.text.slug import slug
from memory_v2.tree.block import decode, encode
from memory_v2.tree.edit import new_blocks
from memory_v2.tree.edit import is_bare, text_of
from memory_v2.tree.finding import Finding
from memory_v2.tree.page import Page, page_source, read_page
from memory_v2.tree.path import ROOT, TakenPaths, child_path, unreserved
from memory_v2.tree.source import Source

Strategy: TypeAlias = Literal["keep", "flatten"]

SMALL = 1_000
"""Up to how many bytes a document is merged, if a model decides. A larger one is worth a page."""
INDEXES = frozenset(["readme", "index"])
"""What the file is called that is about its folder."""


def make_plan(memory: Memory, scan: Scan, source: Path, strategy: Strategy = "keep") -> Plan:
    """The plan that brings what a reader has found in `source` into the memory. Nothing is changed and no model is
    asked. The same source and memory give the same plan. Raises `StorageError`."""
    return _Planner(memory, scan, source, strategy).plan()


@dataclass
class _Planner:
    memory: Memory
    scan: Scan
    source: Path
    strategy: Strategy
    _same: dict[str, str] = field(default_factory=dict)

    def plan(self) -> Plan:
        steps = {document.name: self._known(document) for document in self.scan.documents}
        new = [document for document in self.scan.documents if steps[document.name] is None]
        steps |= self._duplicates(new)
        new = [document for document in new if steps[document.name] is None]
        steps |= self._flattened(new) if self.strategy == "flatten" else self._kept(new)
        planned = [self._paged(step, steps) for step in steps.values() if step is not None]
        requests, cost = estimate(self.memory, self.scan.documents, planned)
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

    def _paged(self, step: Step, steps: Mapping[str, Step | None]) -> Step:
        """The step; that of a document which is the same as another with the other's page."""
        other = steps.get(self._same.get(step.name, ""))
        return replace(step, target=other.target) if other else step

    @cached_property
    def _ledger(self) -> Mapping[str, Imported]:
        return Ledger(self.memory.storage, self.source).read()

    @cached_property
    def _left(self) -> Mapping[str, str]:
        return last_revisions(self.memory)

    @cached_property
    def _pages(self) -> frozenset[str]:
        return frozenset(self.memory.graph().pages)

    def _find(self, path: str) -> Page | None:
        known = self._taken.page(path)
        stored = stored_page(self.memory.storage, known) if known else None
        return read_page(known, stored.data) if known and stored else None

    @cached_property
    def _taken(self) -> TakenPaths:
        return TakenPaths(self._pages)

    def _known(self, document: SourceDocument) -> Step | None:
        """What becomes of a document that an earlier run brought in."""
        imported = self._ledger.get(document.name)
        if imported is None:
            earlier = self._renamed.get(digest_of(document.text))
            if earlier is None:
                return None
            return _step(document, SKIP, self._ledger[earlier].page, f"it was brought in as {earlier}")
        is_page = imported.action in ("create", "follow")
        if is_page and imported.page not in self._pages:
            return _step(document, SKIP, imported.page, "its page was deleted or renamed here; it stays as it is")
        if imported.digest == digest_of(document.text):
            return _step(document, SKIP, imported.page, UNCHANGED)
        if imported.action == "merge":
            return _step(document, "merge", imported.page, "it has changed since, so it is worked in again")
        if not is_page:
            reason = "it has changed since it was added to a page with others; what it says now is not followed"
            return _step(document, SKIP, imported.page, reason)
        if is_changed(imported.page, self._find, at(self.memory.storage.history, self._left[imported.operation])):
            return _step(document, SKIP, imported.page, "both it and its page have changed since; neither is touched")
        return _step(document, "follow", imported.page, "it has changed since")

    @cached_property
    def _absent(self) -> list[str]:
        """What an earlier run brought in and is no more in the source, by name."""
        found = {document.name for document in self.scan.documents}
        return [name for name in sorted(self._ledger.keys() - found) if not (self.source / name).exists()]

    @cached_property
    def _renamed(self) -> dict[str, str]:
        """The absent documents by the digest of their text: one of the same text may be the same under another name."""
        return {self._ledger[name].digest: name for name in self._absent}

    def _gone(self) -> Iterator[Finding]:
        digests = {digest_of(document.text) for document in self.scan.documents if document.name not in self._ledger}
        for name in self._absent:
            if self._ledger[name].digest not in digests:
                message = f"it is gone from the source; its page {self._ledger[name].page} stays"
                yield Finding("gone", "notice", name, 0, message)

    def _duplicates(self, new: Iterable[SourceDocument]) -> dict[str, Step | None]:
        """The steps for new documents whose text is in the memory or earlier in the source, with the same day."""
        steps: dict[str, Step | None] = {}
        known = {(digest_of(d.text), d.day): d.name for d in self.scan.documents if d.name in self._ledger}
        there = self._texts_there() if (new := sorted(new, key=lambda d: d.name)) else {}
        for document in new:
            key = digest_of(document.text), document.day
            if (other := known.setdefault(key, document.name)) != document.name:
                self._same[document.name] = other
                steps[document.name] = _step(document, SKIP, "", f"it is the same as {other}")
            elif page := there.get(document.text.strip(), ""):
                steps[document.name] = _step(document, SKIP, page, f"it stands on {page} already")
        return steps

    def _texts_there(self) -> dict[str, str]:
        """The pages that no import from this source has made, by their text, with and without their title."""
        own = {imported.page for imported in self._ledger.values()}
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

    def _flattened(self, new: Iterable[SourceDocument]) -> dict[str, Step | None]:
        return {document.name: _step(document, "append", ROOT) for document in new}

    def _kept(self, new: list[SourceDocument]) -> dict[str, Step | None]:
        steps: dict[str, Step | None] = {}
        is_offline = self.memory.is_offline
        same = {} if is_offline else alike(new, self._pages_to_compare())
        connected = _connected(self.scan.documents)
        paged = []
        for document in new:
            if document.place == ROOT:
                steps[document.name] = _step(document, "append", ROOT, "it belongs to the root")
            elif is_offline or document.name in connected or _is_log(document) or not _can_be_written(document.text):
                paged.append(document)
            elif reason := _why_merge(document, same):
                steps[document.name] = _step(document, "merge", "", reason)
            else:
                paged.append(document)
        return steps | self._placed(paged)

    def _pages_to_compare(self) -> Iterator[tuple[str, str]]:
        for path in sorted(self._pages - {ROOT}):
            if (stored := stored_page(self.memory.storage, path)) is not None:
                yield path, decode(stored.data)

    def _placed(self, documents: list[SourceDocument]) -> dict[str, Step | None]:
        """Gives each document a page: its own place if it can have it, first those that are no folder's index."""
        wished = {document.name: self._wish(document) for document in documents}
        ordered = sorted(documents, key=lambda d: (_is_index(d), wished[d.name].count("/"), d.name))
        places: dict[str, str] = {}
        claimed = TakenPaths(())
        for document in ordered:
            for path in self._first(document, wished[document.name]):
                if path not in claimed and self._is_free(path):
                    places[document.name] = path
                    claimed.add(path)
                    break
        for document in ordered:
            if document.name not in places:
                wish = wished[document.name]
                others = other_paths(wish, document.title, Source(day=document.day))
                path = next(p for p in others if p not in claimed and p not in self._taken)
                places[document.name] = path
                claimed.add(path)
        return {
            document.name: _step(document, "create", places[document.name], self._told(document, places, wished))
            for document in documents
        }

    def _told(self, document: SourceDocument, places: Mapping[str, str], wished: Mapping[str, str]) -> str:
        place, wish = places[document.name], wished[document.name]
        if place == wish or place in self._first(document, wish):
            return ""
        return f"{wish} is taken"

    def _first(self, document: SourceDocument, wish: str) -> tuple[str, ...]:
        """The paths that a document's place asks for: the index of a folder can also be a page in it."""
        return (wish, child_path(wish, slug(document.place.rsplit("/", 1)[-1]))) if _is_index(document) else (wish,)

    def _is_free(self, path: str) -> bool:
        if path not in self._taken:
            return True
        page = self._find(path) if path in self._pages else None
        return page is not None and can_take(page)

    def _wish(self, document: SourceDocument) -> str:
        """The path that the place of a document asks for, in the spelling of the folders that are there."""
        *folders, last = document.place.split("/")
        parts = [part for folder in folders if (part := slug(folder))]
        if not _is_index(document):
            parts.append(slug(last) or slug(plain(document.title)) or "document")
        parts[:1] = [unreserved(part) for part in parts[:1]]
        path = ROOT
        for part in parts:
            path = child_path(path, part)
        if path == ROOT:
            path = "memory-notes"
        while spelled := self._taken.clash(path):
            path = "/".join([spelled, *path.split("/")[spelled.count("/") + 1 :]])
        return path


def _title(steps: Iterable[Step], cost: float | None) -> str:
    due = [step for step in steps if step.is_due]
    price = "" if cost == 0 else f", about ${cost:.2f}" if cost is not None else ", at an unknown price"
    return f"{counted(len(due), 'document')} to bring in, {size(sum(step.facts['size'] for step in due))}{price}"


def _order(step: Step) -> tuple[bool, object, int, str]:
    """What makes pages first, from the top down; what is appended by day; what a model works in comes last, so that it
    sees all else."""
    day = step.facts["day"] or "" if step.action == "append" else ""
    return step.action == "merge", day, step.target.count("/"), step.name


def _is_index(document: SourceDocument) -> bool:
    folder, _, name = document.place.rpartition("/")
    return bool(folder) and name.casefold() in INDEXES


def _connected(documents: Iterable[SourceDocument]) -> set[str]:
    """Those that refer to others or are referred to: a link leads to a page, so each keeps its own."""
    return {name for document in documents if document.links for name in (document.name, *document.links)}


def _is_log(document: SourceDocument) -> bool:
    """Whether it is named by its day: it belongs with those of the other days, however short it is."""
    return iso_day(document.place.rpartition("/")[2][:10]) is not None


def _why_merge(document: SourceDocument, same: Mapping[str, str]) -> str:
    if other := same.get(document.name):
        return f"it is much like {other}"
    is_small = len(encode(document.text)) < SMALL and not _has_sections(document)
    return "it is small" if is_small else ""


def _has_sections(document: SourceDocument) -> bool:
    """Whether a document has headings below its title: worked in, they would be among those of another page."""
    return sum(block.kind == "heading" for block in new_blocks(document.text)) > 1


def _can_be_written(text: str) -> bool:
    """Whether a model can be shown a text: one with bytes that are not UTF-8 is kept as it is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _step(document: SourceDocument, action: str, page: str, reason: str = "") -> Step:
    day = document.day.isoformat() if document.day else None
    facts = {"size": len(encode(document.text)), "day": day, "digest": digest_of(document.text)}
    return Step(action, document.name, page, reason, facts=facts)


def last_revisions(memory: Memory) -> dict[str, str]:
    """The id of the newest revision of each operation."""
    history, found = memory.storage.history, dict[str, str]()
    for revision in history.revisions() if history.begun else ():
        found.setdefault(revision.operation, revision.id)
    return found
