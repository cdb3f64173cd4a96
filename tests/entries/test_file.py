"""The file of an entry: what its header says, what is wrong with it, and what it refers to."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from memory_v2 import EntryNotFound, Memory
from memory_v2.entries.domains import default_domains
from memory_v2.entries.entry import Decay, Entry, Provenance, Reference
from memory_v2.entries.entry_paths import place_of
from memory_v2.entries.file import EntryFile, changed_header, read_entry, read_header
from memory_v2.entries.references import Lead, Targets, incoming, named_in, reference_findings
from memory_v2.storage.local.storage import LocalStorage
from tests.entries.made import made

PATH = "entries/agents/hawk/memory/vault/obs-2026-02-15-001"
OCEAN = """---
tags: [campaign, ctr, insurance]
confidence: 0.82
created: 2026-02-15
decay: linear-30d
source: watchtower
backlinks: [obs-2026-02-14-003]
verified: false
---
Insurance vertical CTR dropped 12% week-over-week...
"""
OCEAN_2 = """---
tags:
  - campaign
  - "ctr"
importance: 0.50   # earned
max_age: 180d
created: 2026-02-15
refs: 3
ref_by: [signal/obs-2026-02-15-001]
source: FURY
---
Body without an end"""


def read(text: str | bytes, path: str = PATH) -> EntryFile:
    place = place_of(path)
    assert place is not None
    return read_entry(place, text.encode() if isinstance(text, str) else text)


def test_ocean_s_first_schema_is_read() -> None:
    file = read(OCEAN)
    assert file.findings == ()
    entry = file.entry
    assert entry is not None
    assert (entry.id, entry.text) == ("hawk/obs-2026-02-15-001", OCEAN.rpartition("---\n")[2])
    assert (entry.tags, entry.confidence, entry.observed_at) == (
        ("campaign", "ctr", "insurance"),
        0.82,
        date(2026, 2, 15),
    )
    assert (entry.decay, entry.source, entry.verified) == (Decay("linear", 30), Provenance(author="watchtower"), False)
    assert entry.references == (Reference("related", "obs-2026-02-14-003"),)


def test_ocean_s_second_schema_is_read() -> None:
    file = read(OCEAN_2)
    assert file.findings == ()
    entry = file.entry
    assert entry is not None
    assert (entry.text, entry.tags) == ("Body without an end", ("campaign", "ctr"))
    assert (entry.confidence, entry.importance, entry.decay) == (None, 0.5, Decay("ttl", 180))
    assert entry.references == ()  # who refers to it is computed, and 3 is only a count


BILLIONS = "".join(f"{two}: &{two} [{', '.join([f'*{one}'] * 9)}]\n" for one, two in pairwise("abcdefghijkl"))


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("---\ntags: [a, b\nconfidence: 0.8\n---\nText.\n", "broken-header", 2),
        ("---\ntags: [a]\nno end\n", "broken-header", 1),
        ("---\ntags: a\ntags: b\n---\n", "broken-header", 3),
        ("---\n- just\n- a list\n---\n", "broken-header", 2),
        ("---\na: &a [*a]\n---\n", "broken-header", 2),
        (
            "---\na: &a [x, x]\n"
            + "".join(f"{two}: &{two} [*{one}, *{one}]\n" for one, two in pairwise("abcdefghijklmnop"))
            + "---\n",
            "broken-header",
            2,
        ),
        ("---\n? [a, b]\n: c\nverified: maybe\n---\n", "bad-value", 4),
        ("---\ntags: [a]\ncreated: 2026-02-31\n---\n", "bad-date", 3),
        ("---\ncreated: soon\n---\n", "bad-date", 2),
        ("---\ncreated: 2026-02-15T10:00:00\n---\n", "no-zone", 2),
        ("---\n\nconfidence: 1.8\n---\n", "bad-value", 3),
        ("---\nconfidence: .nan\n---\n", "bad-value", 2),
        ("---\ndecay: linear\n---\n", "bad-value", 2),
        ("---\nmax_age: long\n---\n", "bad-value", 2),
        ("---\nverified: maybe\n---\n", "bad-value", 2),
        ("---\nstatus: done\n---\n", "bad-value", 2),
        ("---\nrecorded: 2026-02-15\n---\n", "bad-value", 2),
        (b"fine\n\xff\xfe\n", "not-utf8", 2),
        ("word " * 500_000, "long", 0),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_nothing_else_is_lost(text: str | bytes, kind: str, line: int) -> None:
    file = read(text)
    assert [(one.kind, one.path, one.line) for one in file.findings] == [(kind, PATH, line)]
    assert file.entry is not None
    assert file.entry.observed_at == date(2026, 2, 15)
    if kind == "not-utf8":
        assert file.entry.text.encode("utf-8", "surrogateescape") == text


def test_an_entry_without_a_day_is_told_and_none_is_made_up() -> None:
    file = read("Text.\n", "entries/agents/hawk/memory/vault/note")
    assert file.entry is None
    assert [one.kind for one in file.findings] == ["no-day"]


@pytest.mark.parametrize("text", [OCEAN, OCEAN_2, OCEAN.replace("\n", "\r\n"), "\ufeff" + OCEAN, "Only text.\n", ""])
def test_a_change_replaces_the_lines_of_one_key(text: str) -> None:
    changed = changed_header(text, {"verified": True, "verified_by": ["captain"]})
    header = read_header(changed)
    assert header.values["verified"].texts == ("true",)
    assert header.values["verified_by"].texts == ("captain",)
    assert header.text == read_header(text).text
    untouched = {line for line in text.splitlines() if not line.startswith("verified")}
    assert untouched <= set(changed.splitlines())
    back = changed_header(changed, {"verified_by": None, "verified": False if "verified" in text else None})
    assert back == (text if text.lstrip("\ufeff").startswith("---") else f"---\n---\n{text}")


def test_a_list_over_several_lines_is_replaced_as_a_whole_and_comments_stay() -> None:
    text = "---\n# mine\ntags:\n- a\n- b\n# why\nsource: hawk\n---\nText.\n"
    assert changed_header(text, {"tags": ["c"]}) == "---\n# mine\ntags: [c]\n# why\nsource: hawk\n---\nText.\n"


def test_check_names_file_and_line_and_tells_ids_that_are_there_twice(tmp_path: Path) -> None:
    with Memory(LocalStorage(tmp_path), now=lambda: datetime(2026, 2, 15, tzinfo=UTC)) as memory:
        memory.entries.capture("CTR dropped.", "hawk")
        vault = tmp_path / "entries" / "agents" / "hawk" / "memory" / "vault"
        (vault / "obs-2026-02-15-001.md").write_text(OCEAN)
        (vault / "obs-2026-02-15-002.md").write_text(OCEAN.replace("0.82", "much"))
        (vault / "Obs: 3.md").write_text("A name that no disk of Windows can have.\n")
        (tmp_path / "entries" / "stray.md").write_text("Where no entries are.\n")
        found = {(one.kind, one.path.rpartition("/")[2], one.line) for one in memory.check()}
        assert found == {
            ("same-id", "obs-2026-02-15-001", 0),
            ("bad-value", "obs-2026-02-15-002", 3),
            ("nowhere-reference", "obs-2026-02-15-001", 0),
            ("nowhere-reference", "obs-2026-02-15-002", 0),
            ("stray-file", "Obs: 3.md", 0),
            ("stray-file", "stray", 0),
        }
        assert len(memory.entries.list_entries()) == 3


def test_edits_by_hand_come_into_the_history_by_a_check(tmp_path: Path) -> None:
    with Memory(LocalStorage(tmp_path)) as memory:
        first, second = (memory.entries.capture(text).entry for text in ("One thing.", "Another matter."))
        assert memory.check() == []
        folder = tmp_path / "entries" / "agents" / "default" / "memory" / "vault" / first.name[4:11]
        (folder / f"{first.name}.md").write_text("Edited.\n")
        (folder / f"{second.name}.md").unlink()
        assert memory.check() == []
        assert [one.first.kind for one in memory.history()] == ["outside", "capture"]
        memory.undo()
        assert len(memory.entries.list_entries()) == 2


def test_an_entry_is_found_by_its_id_wherever_it_stands(tmp_path: Path) -> None:
    memory = Memory(LocalStorage(tmp_path), agent="hawk")
    below = tmp_path / "entries"
    places = (
        "agents/hawk/memory/vault",
        "agents/fury/memory/archive",
        "agents/hawk/memory/vault/mine",
        "shared/observations",
    )
    for number, place in enumerate(places, 1):
        (below / place).mkdir(parents=True, exist_ok=True)
        (below / place / f"obs-2026-02-15-00{number}.md").write_text(f"At {place}.\n")
    ids = ("obs-2026-02-15-001", "fury/obs-2026-02-15-002", "hawk/obs-2026-02-15-003", "obs-2026-02-15-004")
    assert [memory.entries.read_entry(one).text for one in ids] == [f"At {place}.\n" for place in places]
    assert memory.entries.read_entry(ids[1]).archived
    assert [one.id for one in memory.entries.list_entries("shared")] == ["shared/obs-2026-02-15-004"]
    assert len(memory.entries.list_entries()) == 3
    assert len(memory.entries.list_entries(archived=True)) == 4
    for wrong in ("obs-2026-02-15-009", "fury/../x", "", "nobody/obs-2026-02-15-001"):
        with pytest.raises(EntryNotFound):
            memory.entries.read_entry(wrong)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Post Moltbook on sharding - see shard technical for implementation details", ["technical"]),
        ("shard:projects, then shard:shard_insights", ["projects", "shard_insights"]),
        ("We connect with shard people here.", ["people"]),
        ("Connected with the shard strategy.", ["strategy"]),
        ("Voir shard technical pour plus de détails, connecté avec shard projects.", ["technical", "projects"]),
        (
            "As in [[projects/silica|Silica]] and [[obs-2026-02-14-003]]; again [[projects/silica]].",
            ["projects/silica", "obs-2026-02-14-003"],
        ),
        ("`shard:projects` is how one writes it.", []),
        ("```\nsee shard technical\n[[a]]\n```\n", []),
        ("The harvested shards of glass: three.", []),
        ("oversee shard-like things", []),
        (f"see shard {'x' * 101}", []),
    ],
)
def test_a_text_names_its_references_itself(text: str, named: list[str]) -> None:
    assert [one.target for one in named_in(text)] == named


def entries() -> list[Entry]:
    return [
        made("hawk/obs-2026-02-15-001"),
        made("forge/obs-2026-02-15-001"),
        made("forge/obs-2026-02-14-003", archived=True, derived_from=("shard_technical_0_1730346428.08987",)),
    ]


@pytest.mark.parametrize(
    ("target", "lead"),
    [
        ("hawk/obs-2026-02-15-001", Lead("entry", ("hawk/obs-2026-02-15-001",))),
        ("agents/hawk/memory/vault/obs-2026-02-15-001.md", Lead("entry", ("hawk/obs-2026-02-15-001",))),
        ("entries/agents/forge/memory/vault/2026-02/obs-2026-02-14-003", Lead("entry", ("forge/obs-2026-02-14-003",))),
        ("obs-2026-02-14-003", Lead("entry", ("forge/obs-2026-02-14-003",))),
        ("shard_technical_0_1730346428.08987", Lead("entry", ("forge/obs-2026-02-14-003",))),
        ("forge/obs-2026-02-15-001", Lead("itself", ("forge/obs-2026-02-15-001",))),
        ("obs-2026-02-15-001", Lead("ambiguous", ("forge/obs-2026-02-15-001", "hawk/obs-2026-02-15-001"))),
        ("shard_technical", Lead("domain", ("technical",))),
        ("Projects/Silica", Lead("page", ("projects/silica",))),
        ("signal/obs-2026-02-15-001", Lead("nowhere")),
        ("shard_gardening", Lead("nowhere")),
        ("../../etc/passwd", Lead("nowhere")),
    ],
)
def test_a_reference_leads_where_it_says_or_is_told(target: str, lead: Lead) -> None:
    targets = Targets(entries(), default_domains().domains, ["projects/silica"])
    assert targets.lead(target, "forge/obs-2026-02-15-001") == lead


def test_an_older_id_that_two_entries_have_is_ambiguous() -> None:
    twice = [made("daryl/a", derived_from=("shard_people_0_1",)), made("daryl/b", derived_from=("shard_people_0_1",))]
    assert Targets(twice).lead("shard_people_0_1") == Lead("ambiguous", ("daryl/a", "daryl/b"))


def test_both_directions_agree_and_an_unknown_target_is_a_finding() -> None:
    one = made("hawk/a", references=(Reference("related", "forge/b"), Reference("related", "nobody/c")))
    other = made("forge/b", references=(Reference("supersedes", "technical"),), archived=True)
    targets = Targets([one, other], default_domains().domains)
    assert incoming([one, other], targets) == {
        "forge/b": (Reference("related", "hawk/a"),),
        "technical": (Reference("supersedes", "forge/b"),),
    }
    (finding,) = reference_findings([one, other], targets)
    assert (finding.kind, finding.path) == ("nowhere-reference", "hawk/a")
    assert "nobody/c" in finding.message
