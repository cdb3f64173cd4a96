"""No entry is lost, whatever is done and whatever a model answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_v2.entries.entry_paths import place_of, stored_changes
from memory_v2.entries.file import changed_header, entry_data, read_entry, read_header
from memory_v2.entries.store import EntryStore
from memory_v2.errors import EntryNotFound, NotAllowed, UsageError
from memory_v2.index.dedup import FILE
from memory_v2.memory import Memory
from memory_v2.models.briefs import ConsolidateBrief, WriteBrief
from memory_v2.models.scripted import ScriptedModel
from memory_v2.operations.guard import missing_from
from memory_v2.storage.base import ABSENT, MemoryStorage
from memory_v2.storage.history import PageChange
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.s3.storage import S3Storage
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import decode, encode, new_blocks
from memory_v2.tree.path import ENTRIES
from tests.effort import effort
from tests.properties.hostile import MARK, NAMES, Call, Hostile
from tests.properties.liar import LIMITS, THRESHOLD
from tests.properties.sentences import text as any_text
from tests.properties.whole import clock, faults, pages_of
from tests.storage.s3_server import HOST, new_bucket, server

WORDS = ["ctr", "vertical", "lesson", "task", "deploy", "strategy", "expert", "garden", "boat", "部署", "leçon"]
AGENTS = ("hawk", "raven", "default", "ünï")
DAYS = ("2026-02-01", "2026-02-02", "2026-02-28", None)
STEPS = 40
PLACES = [(place, seed) for place, quick in (("in memory", 2), ("on disk", 1)) for seed in range(effort(quick, 24))]
ON_S3 = [pytest.param(("in a bucket", seed), marks=pytest.mark.allow_hosts([HOST])) for seed in range(effort(1, 4))]


@pytest.fixture
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryStorage]:
    place = request.param[0]
    if place == "in memory":
        yield VolatileStorage(clock)
    elif place == "on disk":
        yield LocalStorage(tmp_path / "memory")
    else:
        with new_bucket() as bucket:
            yield S3Storage(bucket, "p", endpoint=server(), cache=tmp_path)


class Life:
    """A memory with entries to which anything may happen; `said` are the texts that were acknowledged, by id."""

    def __init__(self, storage: MemoryStorage, seed: int) -> None:
        self.now = clock()
        self.memory = Memory(storage, now=lambda: self.now)
        self.chance = random.Random(seed)
        self.said: dict[str, set[str]] = {}
        self.shown: list[str] = []

    def step(self) -> None:
        """Does something; the clock stands meanwhile."""
        self.now = clock()
        act = self.chance.choice(ACTS)
        self.shown.append(act.__name__)
        with suppress(UsageError, EntryNotFound):  # it may be refused, with a reason
            act(self)

    def text(self) -> str:
        said = " ".join(self.chance.choices(WORDS, k=self.chance.randint(1, 6)))
        linked = self.chance.choice(["", f" [[{self.chance.choice([*self.said, 'nowhere'])}]]", " see shard people"])
        return f"{said}{linked} {self.chance.randint(1, 30)}%"

    def capture(self) -> None:
        captured = self.memory.entries.capture(
            self.text(),
            self.chance.choice(AGENTS),
            confidence=self.chance.choice([None, 0.5, 0.9]),
            importance=self.chance.choice([None, 0.1, 0.9]),
            decay=self.chance.choice([None, "linear-3d", "ttl-9d"]),
            date=self.chance.choice(DAYS),
        )
        if not captured.was_known:  # the number of an entry that was undone is free once it is not known any more
            self.said.setdefault(captured.id, set()).add(captured.entry.text)

    def put_by_hand(self) -> None:
        name = f"obs-2026-02-01-{self.chance.randint(1, 12):03}"
        place = place_of(f"{ENTRIES}/agents/hawk/memory/{self.chance.choice(['vault', 'archive'])}/{name}")
        assert place is not None
        if not any(one.id == place.id for one in self.store.places()):
            text = f"{self.text()}\n"
            self.memory.storage.write(place.path, f"---\nown:  1\n---\n{text}".encode(), ABSENT)
            self.said.setdefault(place.id, set()).add(text)

    def edit_by_hand(self) -> None:
        places = list(self.store.places())
        if places:
            self.memory.check()  # what was there is in the history, as of any editor's user who waits a moment
            place = self.chance.choice(sorted(places, key=lambda one: one.path))
            data = self.store.data(place.path)
            assert data is not None
            text = self.chance.choice([decode(data) + "By hand.\n", changed_header(decode(data), {"own": "yes"})])
            edit = PageChange(place.path, data, encode(text))
            for change in stored_changes([edit], lambda path: self.memory.storage.read(path).data):
                assert change.after is not None
                self.memory.storage.write(change.path, change.after)
            self.said.setdefault(place.id, set()).add(read_header(text).text)

    def forget_what_is_derived(self) -> None:
        self.memory.entries.close()
        if self.memory.storage.cache_folder:
            (self.memory.storage.cache_folder / FILE).unlink(missing_ok=True)

    def route(self) -> None:
        self.twice(self.memory.entries.route)

    def age(self) -> None:
        self.twice(self.memory.entries.age)

    def pack(self) -> None:
        self.twice(partial(self.memory.entries.pack, self.chance.choice([1, 5, 20])))

    def promote(self) -> None:
        self.twice(self.memory.entries.promote)

    def dedupe(self) -> None:
        self.twice(self.memory.entries.dedupe)

    def twice(self, act: Callable[..., Any]) -> None:
        """The plan that is shown is carried out, and the second run does nothing."""
        shown = act()
        done = act(apply=True)
        assert done == shown
        assert act(apply=True).revision is None

    def retract(self) -> None:
        if self.said:
            self.memory.entries.retract(self.chance.choice([*self.said]), "it was wrong")

    def write(self) -> None:
        self.memory.write(self.text())

    def undo(self) -> None:
        self.memory.undo()

    def check(self) -> None:
        assert not [one for one in self.memory.check() if one.severity == "error"]

    def save(self) -> None:
        self.memory.checkpoints.create_checkpoint(f"c{len(self.shown)}")

    def go_back(self) -> None:
        if names := [one.name for one in self.memory.checkpoints.list_checkpoints()]:
            self.memory.checkpoints.restore_checkpoint(self.chance.choice(names))

    @property
    def store(self) -> EntryStore:
        return self.memory.entries.store

    def holds(self) -> None:
        """What must always hold."""
        files = list(self.store.files())
        ids = [place.id for file in files if (place := place_of(file.path))]
        assert len(set(ids)) == len(ids), self.shown
        for file in files:
            assert file.entry is not None, (self.shown, file)
            if file.entry.promoted_from is None:
                assert file.entry.text in self.said[file.entry.id], self.shown
        assert not faults(pages_of(self.memory.storage), self.memory.threshold), self.shown

    def nothing_is_lost(self) -> None:
        """Every text of every entry is there, or in the history."""
        self.memory.check()
        history = self.memory.storage.history
        kept = {
            read_header(decode(change.after)).text
            for revision in (history.revisions() if history.begun else ())
            for change in history.difference(history.before(revision.id), revision.id)
            if change.after is not None and place_of(change.path)
        }
        there = {file.entry.text for file in self.store.files() if file.entry}
        lost = {text for texts in self.said.values() for text in texts} - kept - there
        assert not lost, (self.shown, lost)


ACTS = (
    *[Life.capture] * 8,
    *[Life.put_by_hand, Life.edit_by_hand, Life.forget_what_is_derived, Life.write] * 2,
    Life.route,
    Life.age,
    *[Life.pack] * 2,
    Life.promote,
    Life.dedupe,
    Life.retract,
    *[Life.undo] * 3,
    Life.check,
    Life.save,
    Life.go_back,
)


@pytest.mark.parametrize("storage", [*PLACES, *ON_S3], indirect=True, ids=str)
def test_nothing_is_lost_whatever_is_done_with_entries(storage: MemoryStorage, request: pytest.FixtureRequest) -> None:
    life = Life(storage, request.node.callspec.params["storage"][1])
    for _ in range(STEPS if not isinstance(storage, S3Storage) else STEPS // 4):
        life.step()
        life.holds()
    life.nothing_is_lost()


HEADER = st.text(alphabet="ab:- [](){}&*#!|>'\"\\\n\r\t.,0149éT\u2028\ufeff\udcff?%@`~", max_size=60)


@settings(max_examples=effort(100, 20_000))
@given(HEADER, st.text(max_size=20))
@example("{}", "")
@example("{a: b}", "")
@example("a: b\n...", "")
def test_a_header_of_any_kind_is_read_or_told_and_the_text_below_is_kept(header: str, text: str) -> None:
    place = place_of(f"{ENTRIES}/agents/hawk/memory/vault/obs-2026-02-15-001")
    assert place is not None
    whole = f"---\n{header}\n---\n{text}"
    file = read_entry(place, encode(whole))
    assert file.entry is not None
    assert whole.endswith(file.entry.text)
    with suppress(NotAllowed):
        after = changed_header(whole, {"home": "technical"})
        assert read_entry(place, encode(after)).entry == read_entry(place, encode(after)).entry
        assert read_header(after).values["home"].texts == ("technical",)
        assert read_header(after).text == file.entry.text


TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@settings(max_examples=effort(30, 2_000), deadline=None)
@given(
    TEXT,
    st.none() | TEXT,
    st.lists(TEXT, max_size=3),
    st.none() | TEXT,
    st.lists(TEXT, max_size=2),
    st.none() | st.floats(),
)
def test_what_is_captured_is_read_to_the_letter_or_refused(
    text: str, agent: str | None, tags: list[str], home: str | None, references: list[str], confidence: float | None
) -> None:
    memory = Memory(VolatileStorage(clock), now=clock)
    try:
        captured = memory.entries.capture(text, agent, tags, confidence, home=home, source=home, references=references)
    except UsageError:
        assert not list(memory.entries.store.places())
        return
    entry = memory.entries.read_entry(captured.id)
    assert entry == captured.entry
    assert entry.text.startswith(text)
    assert not [one for one in memory.check() if one.severity == "error"]
    assert read_entry(memory.entries.store.find(entry.id), entry_data(entry)).entry == entry


SEEDS = range(effort(2, 40))
ROUNDS = 5
HOMES = ("technical", "people", "projects/silica", "alice", "boat/sails")


class HostileToEntries(Hostile):
    """Names any entry as one that another one repeats, too."""

    def write_calls(self, brief: WriteBrief) -> list[Call]:
        calls = super().write_calls(brief)
        if not isinstance(brief, ConsolidateBrief) or self.chance.random() < 0.4:
            return calls
        number, other = (f"n{self.chance.randint(1, len(brief.blocks))}" for _ in range(2))
        same = ("same_as", {"blocks": number, "said_in": other})
        return self.chance.choice([[same, *calls], [*calls, same], [same, *self._placed(brief, None)]])


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_a_model_answers_each_entry_is_on_the_pages_that_it_names(seed: int) -> None:
    rng = random.Random(seed)
    storage = VolatileStorage(clock)
    memory = Memory(storage, ScriptedModel(HostileToEntries(rng).answer), threshold=THRESHOLD, limits=LIMITS, now=clock)
    for _ in range(ROUNDS):
        for _ in range(rng.randint(1, 9)):
            memory.entries.capture(any_text(rng), rng.choice(NAMES).lower(), home=rng.choice(HOMES))
        done = memory.entries.consolidate(apply=True)
        pages = pages_of(storage)
        everything = "\n".join(page.text for page in pages.values())
        assert faults(pages, THRESHOLD) == []
        assert MARK not in everything
        entries = {entry.id: entry for entry in memory.entries.list_entries()}
        assert all(entry.consolidated_into for entry in entries.values())
        for one in done.of("work in"):
            assert set(one.facts["pages"]) <= pages.keys(), one
            for block in new_blocks(entries[one.name].text):
                is_there = block.content in everything or not missing_from(block, everything)
                assert is_there, (one, block.content)
        assert [finding for finding in memory.check() if finding.severity == "error"] == []
        assert memory.entries.consolidate(apply=True).of("work in") == ()
