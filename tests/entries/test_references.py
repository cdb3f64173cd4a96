"""References are stored one way, as they were written, and shown both ways; nothing is guessed."""

from __future__ import annotations

import pytest

from memory_v2.entries.domains import default_domains
from memory_v2.entries.entry import Entry, Reference
from memory_v2.entries.references import Lead, Targets, incoming, named_in, reference_findings
from tests.entries.made import made


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
