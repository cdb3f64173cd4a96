"""What import and migrate do afterwards: the proof that nothing was left behind, and the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memory_v2.cli.show import plain, style
from memory_v2.memory import Memory

if TYPE_CHECKING:
    from memory_v2.migrate.plan import Plan
    from memory_v2.migrate.report import Report
    from memory_v2.migrate.run import Run
    from memory_v2.migrate.source import Scan
    from memory_v2.migrate.verify import Verification

MOST = 10
"""How many missing passages are shown; --json and --report have all."""


def verified(memory: Memory, scan: Scan, plan: Plan, done: Run | None) -> Verification:
    """Where each block of a source is, after a run or, without one, as it is now."""
    from memory_v2.migrate.ledger import Ledger
    from memory_v2.migrate.verify import verify

    if done is None:
        reasons: Mapping[str, str] = {one.name: one.reason for one in plan.steps if one.action == "skip"}
    else:
        reasons = {one.name: one.reason for one in done.outcomes if one.status == "skipped"}
    return verify(memory, scan, Ledger(memory.storage, plan.source).read(), reasons)


def reported(scan: Scan, plan: Plan, done: Run, verification: Verification) -> Report:
    """The report on a run."""
    from memory_v2.migrate.report import make_report

    return make_report(plan.source, scan, done.outcomes, done.gone, verification)


def verification_lines(source: Path, found: Verification) -> Iterator[str]:
    """The verification in short: what is missing, and the totals."""
    from memory_v2.migrate.told import missing_lines, of_blocks

    missing = list(missing_lines(found))
    for line in missing[:MOST]:
        yield f"{style('missing', fg='red')} {plain(line)}"
    if len(missing) > MOST:
        yield f"        and {len(missing) - MOST:,} more (--json has all)"
    yield f"{plain(str(source))}: {of_blocks(found)}"
