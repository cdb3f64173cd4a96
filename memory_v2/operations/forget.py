"""Forgetting for good: what becomes of pages, paths and revisions, and then of history, traces, pending notes, index,
and what crashes and buckets have kept."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from memory_v2.agent.operation import Operation, operation
from memory_v2.errors import InvalidSetting, InvalidText, NotAllowed, PageNotFound, StorageConflict, StorageError
from memory_v2.index import dedup
from memory_v2.operations.arrange import stage_delete
from memory_v2.operations.commit import stage_and_commit
from memory_v2.operations.context import Context, overgrown, refresh
from memory_v2.operations.draft import Draft, linking, unlinked
from memory_v2.plan import Plan, Step
from memory_v2.settings import DEFAULT_TRACES
from memory_v2.storage.base import PENDING, PLANS, MemoryStorage, stored_page
from memory_v2.storage.history import FORGET, Extent, Revision, Rewrite
from memory_v2.storage.pending import PendingErasure, PendingNote
from memory_v2.text.amounts import counted
from memory_v2.text.redaction import MARKER, LineRedaction, Redaction, TextRedaction, line_core, redacted_json
from memory_v2.trace.recording import Traces
from memory_v2.tree.block import decode, encode, split_lines
from memory_v2.tree.finding import Finding
from memory_v2.tree.page import parse_page, read_page
from memory_v2.tree.path import ENTRIES, ROOT, fold, is_page_path, link_key, page_path
from memory_v2.tree.redacted import redacted
from memory_v2.tree.sections import CHILD_LINK, OURS
from memory_v2.validate import check_text

MAX_PASSES = 4
"""How often a text is looked for again after it was forgotten: old versions in a bucket come of forgetting itself, and
others may have written it meanwhile."""
MAX_SIMILAR = 8
"""How many other spellings of a text are named."""


@dataclass(frozen=True)
class _Occurrences:
    """Where something is: the pages and entries that have it in their text or their path, how much of the history,
    and names of notes. `rewrite` is the history without it, and `erasure` what is removed as a whole."""

    pages: tuple[str, ...]
    extent: Extent
    notes: tuple[str, ...]
    rewrite: Rewrite
    erasure: PendingErasure

    def __bool__(self) -> bool:
        return bool(self.pages or self.extent or self.notes or self.erasure.traces or self.erasure.leftovers)

    @property
    def size(self) -> str:
        """How much of the history has it, in words."""
        return f"{counted(self.extent.versions, 'page version')} and {counted(self.extent.revisions, 'revision')}"

    def plan(self, warnings: Iterable[Finding]) -> Plan:
        """Each page, and each other kind of place, as a step; the facts have all counts and names."""
        traces, leftovers = self.erasure.traces, self.erasure.leftovers
        parts = (
            ("rewrite", "history", self.size if self.extent else ""),
            ("redact", "notes", f"{len(self.notes):,} of unfinished work" if self.notes else ""),
            ("remove", "traces", f"{len(traces):,}, each as a whole" if traces else ""),
            ("remove", "leftovers", f"{len(leftovers):,}, of crashes or in the bucket" if leftovers else ""),
        )
        return Plan(
            "forget",
            "" if self else "it is nowhere in this memory",
            (
                *(Step("redact", path) for path in self.pages),
                *(Step(action, name, reason=reason) for action, name, reason in parts if reason),
            ),
            tuple(warnings),
            {
                "revisions": self.extent.revisions,
                "versions": self.extent.versions,
                "notes": self.notes,
                "traces": traces,
                "leftovers": leftovers,
            },
        )


@operation("forget", changes="past")
def forget(
    context: Context, text: str | None = None, path: str | None = None, lines: str | None = None, apply: bool = False
) -> Plan:
    """Takes a text, a page, or lines of a page (`3-5, 8`) out of the memory and its past, and returns where it was.
    Without `apply` it only looks. It cannot be undone. What is forgotten is no part of the record that it leaves.

    Raises `InvalidText`, `InvalidSetting`, `PageNotFound`, `NotAllowed`; `StorageConflict` if somebody is writing the
    text now; and `StorageError`. After an error nothing was forgotten, unless it says that it will be completed later.
    """
    # Nobody rewrites or packs the history while it is searched: its objects would seem to be gone.
    with context.storage.lock() if apply else nullcontext():
        return _forgotten(context, text, path, lines, apply)


def _forgotten(context: Context, text: str | None, path: str | None, lines: str | None, apply: bool) -> Plan:
    rules = _rules(context, text, path, lines)
    occurrences = _find(context, rules)
    plan = occurrences.plan(_warnings(context.storage, rules, text or ""))
    if not apply or not occurrences:
        return plan
    gone = page_path(path) if path is not None and lines is None else ""
    with _deleted(context, rules, gone) if gone and context.storage.exists(gone) else nullcontext():
        revision = _forget(context, rules, occurrences, "")
    for _ in range(MAX_PASSES):
        if not (occurrences := _find(context, rules)):
            return plan.applied(revision)
        revision = _forget(context, rules, occurrences, revision)
    raise StorageError("others keep writing what is to be forgotten; stop them and try again")


def _rules(context: Context, text: str | None, path: str | None, lines: str | None) -> Forgetting:
    if text is not None:
        check_text(text, "a text")
    if not isinstance(lines, str | None):
        raise InvalidSetting(f"lines are numbers such as '3-5, 8', not {lines!r}")
    if (text is None) == (path is None) or (lines is not None and path is None):
        raise InvalidSetting("name what is to be forgotten: a text; or a page; or a page and lines of it")
    refresh(context, even_if_fresh=True)
    storage = context.storage
    if text is not None:
        history = storage.history
        past = {path for revision in history.revisions() for path in revision.paths} if history.begun else set()
        entries = {stamp.path for stamp in storage.stamps(ENTRIES)}
        return text_forgetting(text, {*storage.list_files(), *entries, *past})
    path = page_path(path or "")
    return page_forgetting(storage, path) if lines is None else lines_forgetting(storage, path, lines)


def _find(context: Context, rules: Forgetting) -> _Occurrences:
    storage = context.storage
    rewrite = storage.history.rewriting(rules)
    traces = tuple(kept.holding(rules.is_in_json)) if (kept := _traces(storage)) else ()
    entries = sorted(stamp.path for stamp in storage.stamps(ENTRIES))
    notes = [*storage.state.names(PENDING), *storage.state.names(PLANS)]
    return _Occurrences(
        pages=tuple(path for path in (*storage.list_files(), *entries) if _is_on(storage, rules, path)),
        extent=rewrite.extent() if storage.history.begun else Extent(),
        notes=tuple(name for name in notes if rules.is_held(storage.state.read(name) or b"")),
        rewrite=rewrite,
        erasure=PendingErasure(traces, tuple(storage.leftovers(rules.is_held))),
    )


def _is_on(storage: MemoryStorage, rules: Forgetting, path: str) -> bool:
    data = storage.read(path).data
    return rules.path(path) != path or rules.page(data) != data


def _forget(context: Context, rules: Forgetting, occurrences: _Occurrences, revision: str) -> str:
    """Forgets what was found; returns the id of the record. There is one record, whatever the number of passes."""
    storage = context.storage
    note = PendingNote(storage.state, Operation().id)
    _redact_notes(storage, rules, occurrences.notes)
    with note.erasing(occurrences.erasure, storage):
        if occurrences.extent or occurrences.pages or not revision:
            record = Revision(FORGET, f"in {occurrences.size}", note.operation, when=context.now())
            storage.rewrite(rules, occurrences.rewrite, record)
        erase(context, occurrences.erasure)
    note_overgrown(context)
    return revision or storage.history.head[:12]


def _redact_notes(storage: MemoryStorage, rules: Forgetting, names: tuple[str, ...]) -> None:
    """Takes it out of notes that cannot be finished. Raises `StorageConflict` if a process works on one of them."""
    for name in names:
        with storage.state.claim(name) as is_free:
            if not is_free:
                raise StorageConflict("a write that says this is under way; try again when it is done")
            if (data := storage.state.read(name)) is not None:
                storage.state.write(name, rules.note(data))


def erase(context: Context, pending: PendingErasure) -> None:
    """Removes what is left of something after the history was rewritten: traces, leftovers, and the whole index."""
    if traces := _traces(context.storage):
        traces.remove(pending.traces)
    context.storage.remove_leftovers(pending.leftovers)
    folder = context.storage.cache_folder
    context.index.erase(folder)
    dedup.erase(folder)
    context.freshness.expire()


def note_overgrown(context: Context) -> None:
    """Notes pages that have grown too large, since a marker may be longer than what it stands for: they are split when
    the memory is next used."""
    refresh(context)
    graph = context.index.graph()
    pages = (read_page(path, context.storage.read(path).data) for path in context.storage.list_files())
    if large := [page.path for page in pages if overgrown(page, context.threshold, graph)]:
        PendingNote(context.storage.state, Operation().id).add(large)


@contextmanager
def _deleted(context: Context, rules: Forgetting, path: str) -> Iterator[None]:
    """Deletes the page: its children move to its parent, and links to it become words. It is there again if what
    follows fails before it is decided."""
    operation = Operation()
    operation.trace.began("delete", {"path": path}, context.now())

    def stage(draft: Draft) -> str:
        for source in linking(draft, {path}):  # by the rules: what was behind a link is known from text only before it
            draft.put(read_page(source, rules.page(draft.page(source).data)))
        return stage_delete(draft, path)

    _, change = stage_and_commit(replace(context, operation=operation), stage, look=True)
    try:
        yield
    except BaseException:
        context.storage.take_back(change)
        context.freshness.expire()
        raise


def _traces(storage: MemoryStorage) -> Traces | None:
    folder = storage.cache_folder
    return Traces(folder / "traces", DEFAULT_TRACES) if folder else None


def _warnings(storage: MemoryStorage, rules: Forgetting, text: str) -> Iterator[Finding]:
    """What stays: files that are not the memory's, and other spellings."""
    for name in storage.other_files(rules.is_held):
        yield Finding("other-file", "notice", name, 0, "holds it too, is not the memory's and is left alone")
    for spelling in _similar(storage, rules, text):
        yield Finding("similar", "notice", spelling, 0, "this other spelling stays")


def _similar(storage: MemoryStorage, rules: Forgetting, text: str) -> tuple[str, ...]:
    """Other spellings of the text that are in the memory now: in another case, or with other marks between words."""
    words = re.findall(r"\w+", text)
    if not words:
        return ()
    pattern = re.compile(r"[\W_]*".join(map(re.escape, words)), re.I)
    spellings: dict[str, None] = {}
    for path in storage.list_files():
        left = decode(rules.page(storage.read(path).data))
        spellings |= dict.fromkeys(match[0] for match in pattern.finditer(f"{rules.path(path)}\n{left}"))
        if len(spellings) >= MAX_SIMILAR:
            break
    return tuple(spellings)[:MAX_SIMILAR]


MIN_BYTES = 3
"""The shortest text that can be forgotten, in bytes: a shorter one is everywhere."""
MAX_MARKERS = 1000
"""How many markers are tried for the paths of pages, so that no two pages get the same one."""
_NEEDED = ("## Links", "## Metadata", *(f"{key}:" for key in OURS), ROOT)
"""What the program itself writes on pages, and reads again."""


@dataclass(frozen=True)
class Forgetting:
    """The rules by which a `redaction` is taken out of a memory, and the pages `gone` (folded paths) are removed."""

    redaction: Redaction
    gone: frozenset[str] = frozenset()

    def path(self, path: str) -> str | None:
        return None if fold(path) in self.gone else self.redaction.path(path)

    def page(self, data: bytes) -> bytes:
        """Other files of the history are treated like pages."""
        text = decode(data)
        left = self.redaction.text(text)  # first: the description of a child is a line of its own only behind the link
        if self.gone:
            left = self.redaction.text(unlinked(parse_page(ROOT, left), self.gone).text)
        return data if left == text else redacted(parse_page(ROOT, text), left, self.redaction).data

    def revision(self, revision: Revision) -> Revision:
        text = self.redaction.text
        return replace(
            revision,
            summary=self.redaction.summary(revision.summary),
            agent=text(revision.agent),
            why=tuple(map(text, revision.why)),
            degraded=text(revision.degraded),
            text=text(revision.text),
        )

    def note(self, data: bytes) -> bytes:
        """A note of the program, as JSON if it is."""
        try:
            noted = json.loads(data)
        except (ValueError, RecursionError):
            return encode(self.redaction.text(decode(data)))
        left = redacted_json(noted, self.redaction)
        return data if left == noted else json.dumps(left, indent=1).encode()

    def is_held(self, data: bytes) -> bool:
        """Whether the bytes of any file, perhaps of JSON, hold what is to be forgotten."""
        text = decode(data)
        return self.redaction.text(text) != text or self.note(data) != data

    def is_in_json(self, value: Any) -> bool:
        """Whether JSON data, such as an event of a trace, hold what is to be forgotten."""
        return bool(redacted_json(value, self.redaction) != value)


def text_forgetting(text: str, paths: Collection[str]) -> Forgetting:
    """The rules for a text, wherever it is. `paths` are those that pages have or had. Raises `InvalidText` if it is
    too short, and `NotAllowed` if the memory needs it."""
    text = text.strip()
    if len(encode(text)) < MIN_BYTES:
        raise InvalidText(f"a text to be forgotten has at least {MIN_BYTES} bytes; a shorter one is everywhere")
    if needed := next((word for word in _NEEDED if text in word), ""):
        raise NotAllowed(f"{text!r} cannot be forgotten: it is part of {needed!r}, which every memory needs")
    markers = (MARKER, *(f"{MARKER[:-1]} {number})" for number in range(2, MAX_MARKERS)), "-")
    for marker in markers:
        redaction = TextRedaction(text, marker)
        if redaction.is_possible and _are_apart(redaction, paths):
            return Forgetting(redaction)
    raise NotAllowed(f"the paths of pages that hold {text!r} would not be valid without it; rename these pages first")


def _are_apart(redaction: TextRedaction, paths: Collection[str]) -> bool:
    """Whether all paths are valid without the text, and no two of them are the same."""
    left = [redaction.path(path) for path in paths]
    return all(map(is_page_path, left)) and len({fold(path) for path in left}) == len({fold(path) for path in paths})


def lines_forgetting(storage: MemoryStorage, path: str, lines: str) -> Forgetting:
    """The rules for lines of a page (`3-5, 8`), wherever they stand as whole lines. Raises `InvalidSetting`,
    `PageNotFound`, and `NotAllowed` if they say nothing."""
    page = read_page(path, storage.read(path).data)
    shown = split_lines(page.text)
    numbers = set(_numbers(lines, len(shown)))
    above, listed = len(split_lines(page.body)), len(split_lines(page.body + page.links))
    named = [shown[number - 1] for number in numbers if number <= above]
    links = (CHILD_LINK.match(shown[number - 1]) for number in numbers if above < number <= listed)
    texts = _worth([*named, *(link[2] or "" for link in links if link)])
    if not texts:
        raise NotAllowed(f"lines {lines} of {path!r} have no text of their own; 'silica memory read' shows the page")
    body = {ending for line in named for ending in (line, line.rstrip("\r\n"))}
    whole = [block.content for block in page.blocks if all(line in body for line in split_lines(block.content))]
    return Forgetting(LineRedaction([*texts, *whole]))


def page_forgetting(storage: MemoryStorage, path: str) -> Forgetting:
    """The rules for a page: it goes with its past, the links to it, and each line that it has or had, unless the line
    now is on another page. Raises `PageNotFound` if there never was such a page, and `NotAllowed` for the root."""
    if path == ROOT:
        raise NotAllowed("the root cannot be forgotten, every memory has one; name lines of it, or a text")
    history = storage.history
    states = list(history.states(path)) if history.begun else []
    stored = stored_page(storage, path)
    versions = [*(data for _, data in states if data is not None), *([stored.data] if stored else [])]
    if not versions:
        raise PageNotFound(path)
    pages = (storage.read(other).data for other in storage.list_files() if other != path)
    elsewhere = {line_core(line) for data in pages for line in split_lines(decode(data)) if not _describes(line, path)}
    recorded = [revision.text for revision, _ in states if revision.kind != "import"]  # that names documents
    recorded += [revision.summary for revision, _ in states]
    was = [read_page(path, data) for data in versions]
    lines = [line for page in was for line in split_lines(page.body)]
    lines += [block.content for page in was for block in page.blocks]  # as reasons in the history quote them
    lines += [line for text in recorded for line in (text, *split_lines(text))]
    own = [line for line in _worth(lines) if line_core(line) not in elsewhere]
    return Forgetting(LineRedaction(own), frozenset({fold(path)}))


def _describes(line: str, path: str) -> bool:
    """Whether a line lists the page as a child."""
    listed = CHILD_LINK.match(line)
    return listed is not None and link_key(listed[1].strip()) == fold(path)


def _worth(lines: Iterable[str]) -> list[str]:
    """The lines that say something: not a rule, a fence, or a mark alone."""
    return [line for line in lines if len(encode("".join(filter(str.isalnum, line_core(line))))) >= MIN_BYTES]


def _numbers(lines: str, count: int) -> list[int]:
    numbers: list[int] = []
    for part in filter(None, (part.strip() for part in lines.split(","))):
        found = re.fullmatch(r"(\d{1,7})(?:\s*-\s*(\d{1,7}))?", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last <= count:
            raise InvalidSetting(f"lines are numbers such as 3 or 3-5, from 1 to {count} on this page, not {part!r}")
        numbers += range(first, last + 1)
    if not numbers:
        raise InvalidSetting("lines are numbers such as 3 or 3-5, not an empty text")
    return numbers
