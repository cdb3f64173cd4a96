"""Every example of the two documents that entries come from, DARYL's shards and Ocean's vaults, beside ours.

`python -m tests.cli.seeds` writes the table of docs/entries.md anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BEGIN, END = "<!-- begin: python -m tests.cli.seeds -->", "<!-- end -->"
PAGE = Path(__file__).parents[2] / "docs" / "entries.md"
GAP = "The Coordination Gap occurs when agents don't share explicit handshakes."
TODAY = r"\d{4}-\d\d-\d\d"


@dataclass(frozen=True)
class Example:
    """A command of theirs, the commands that do the same here, and what these print, as a pattern."""

    theirs: str
    ours: tuple[str, ...]
    told: str


DARYL = (
    Example(
        f'daryl-memory add "Lesson: {GAP}"',
        (f'capture "Lesson: {GAP}"', "route --apply"),
        rf"default/obs-{TODAY}-001 captured\nroute default/obs-{TODAY}-001 → insights: lesson",
    ),
    Example(
        'daryl-memory add "Important framework decision: Three-layer architecture for agents" --importance 0.9 '
        "--source moltbook",
        (
            'capture "Important framework decision: Three-layer architecture for agents" --importance 0.9 '
            "--channel moltbook",
            "route --apply",
        ),
        rf"-002 captured\nroute default/obs-{TODAY}-002 → technical: ",
    ),
    Example(
        'daryl-memory add "Post Moltbook on sharding - see shard technical for implementation details"',
        ('capture "Post Moltbook on sharding - see shard technical for implementation details"', "route --apply"),
        rf"-003 captured\nroute default/obs-{TODAY}-003 → technical: it names technical",
    ),
    Example(
        f'daryl-memory add "{GAP}" --source moltbook --importance 0.8',
        (f'capture "{GAP}" --channel moltbook --importance 0.8 --home insights',),
        rf"-004 captured; near default/obs-{TODAY}-001\n",
    ),
    Example(
        "daryl-memory status",
        ("status",),
        r"projects\tProjects\t0\t0\.00\t\ninsights\tInsights\t2\t0\.65\t\S+\npeople\tPeople\t0\t0\.00\t\n"
        r"technical\tTechnical\t2\t0\.70\t\S+\nstrategy\tStrategy\t0\t0\.00\t\n",
    ),
    Example(
        "shard.get_recent(1)",
        ("entries ls --domain shard_technical --limit 1",),
        rf"^default/obs-{TODAY}-003\t{TODAY}\ttechnical\t\tPost Moltbook on sharding[^\n]*\n$",
    ),
    Example("shards_summary.json", ("status --json",), r'"total_shards": 5, "total_transactions": 4'),
    Example("shard_technical.json", ("entries export shards",), r"shards/shard_technical\.json"),
    Example("roadmap: global checkpoints", ("checkpoint create one", "checkpoint list"), r"one\t"),
    Example("roadmap: deduplication", ("dedupe",), ""),
    Example("roadmap: validation of links", ("check",), "all is well: 0 pages and 4 entries"),
    Example("roadmap: batch operations", ("capture --batch observations.jsonl",), "captured 2 texts"),
    Example(
        "roadmap: separate memory spaces",
        ('capture "Only mine." --agent raven', "entries ls --agent raven"),
        rf"raven/obs-{TODAY}-001 captured\nraven/\S+\t{TODAY}\t\t\tOnly mine\.\n$",
    ),
)

OCEAN = (
    Example(
        "memory-decay.py --dry-run",
        ("age --dry-run",),
        r"^archive hawk/obs-2026-02-15-002: linear-14d since 2026-02-15: weight 0\.00\n$",
    ),
    Example(
        "memory-decay.py",
        ("age --apply", "entries ls --agent hawk --archived", "age --apply"),
        r"(?s)^archive hawk/obs-2026-02-15-002: linear-14d.*hawk/obs-2026-02-15-002\t\S+\t\t\t"
        r"Status is green\.\n(hawk/\S+\t[^\n]*\n)+$",
    ),
    Example(
        "memory-promote.py",
        ("promote --apply",),
        r"^promote hawk/obs-2026-02-15-001 → shared/hawk-\S+: confidence 0\.82\n$",
    ),
    Example(
        "memory-promote.py --threshold 0.7",
        ("promote --threshold 0.7 --apply",),
        r"^promote raven/obs-2026-02-15-001 → shared/raven-\S+: confidence 0\.75, verified\n$",
    ),
    Example(
        "memory-promote.py --require-verified",
        ("promote --require-verified --threshold 0.6 --apply",),
        r"^promote raven/obs-2026-02-15-002 → shared/raven-\S+: confidence 0\.65, verified\n$",
    ),
    Example(
        "memory-promote.py --file obs-2026-02-15-001.md --agent shield",
        ("promote --file obs-2026-02-15-001.md --agent shield --apply",),
        r"^promote shield/obs-2026-02-15-001 → shared/shield-\S+: asked for, confidence 0\.4\n$",
    ),
    Example("ls shared/observations", ("entries ls --agent shared",), r"(shared/\S+\t.*\n){4}$"),
)

SEARCHES = (
    Example(
        'memory-search.py "CPL trend" --agent hawk --limit 5', ('search "CPL trend" --agent hawk --limit 5',), "hawk/"
    ),
    Example(
        'memory-search.py "buyer acceptance" --all --limit 10',
        ('search "buyer acceptance" --all --limit 10',),
        "raven/",
    ),
    Example(
        'memory-search.py "compliance" --tags tcpa,regulation',
        ('search "compliance" --tags tcpa,regulation',),
        "shield/",
    ),
    Example(
        'memory-search.py "cost spike" --agent watchtower --json',
        ('search "cost spike" --agent watchtower --json',),
        "{",
    ),
    Example('daryl-memory query "coordination" --limit 10', ('search "coordination" --limit 10',), "Coordination Gap"),
    Example('daryl-memory query "agent memory" --cross', ('search "agent memory" --cross',), ""),
    Example(
        'daryl-memory search shard_technical "handshake protocol"',
        ('search "handshake protocol" --domain shard_technical',),
        "",
    ),
)


def table() -> Iterator[str]:
    """The rows of the table: theirs beside ours, with long texts left out."""
    yield "| there | here |"
    yield "|---|---|"
    for one in (*DARYL, *SEARCHES, *OCEAN):
        theirs = one.theirs if one.theirs.startswith("roadmap") else f"`{_short(one.theirs)}`"
        yield f"| {theirs} | {', '.join(f'`silica memory {_short(command)}`' for command in one.ours)} |"
    yield "| roadmap: interactive mode | `silica memory capture` on a terminal |"


def page_with_table() -> str:
    """The page with the table as it is now."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    lines = "\n".join(table())
    return f"{before}{BEGIN}\n\n{lines}\n\n{END}{rest.partition(END)[2]}"


def _short(command: str) -> str:
    return re.sub(r'"[^"]{24,}"', '"…"', command)


if __name__ == "__main__":
    PAGE.write_text(page_with_table(), encoding="utf-8")
