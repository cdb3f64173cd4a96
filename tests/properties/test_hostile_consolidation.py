"""A model that works entries in is not trusted either: no entry is lost, and none of its chatter is stored."""

from __future__ import annotations

import random

import pytest

from memory_v2.memory import Memory
from memory_v2.models.briefs import ConsolidateBrief, WriteBrief
from memory_v2.models.scripted import ScriptedModel
from memory_v2.operations.guard import missing_from
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.edit import new_blocks
from tests.effort import effort
from tests.properties.hostile import MARK, NAMES, Call, Hostile
from tests.properties.liar import LIMITS, THRESHOLD
from tests.properties.sentences import text as any_text
from tests.properties.whole import clock, faults, pages_of

SEEDS = range(effort(6, 40))
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
