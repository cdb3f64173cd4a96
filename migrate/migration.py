"""Moving an older memory to this one in a single call: what it has becomes pages, and a report says what went where."""

from __future__ import annotations

from pathlib import Path

from memory_v2.memory import Memory
from memory_v2.migrate.formats import older_memory, scan_paths
from memory_v2.migrate.ledger import imported_from
from memory_v2.migrate.planning import Strategy, check_apart, check_empty, make_plan
from memory_v2.migrate.report import Report, make_report
from memory_v2.migrate.run import run
from memory_v2.migrate.verify import verify


def migrate_memory_v1_to_v2(
    source: str | Path | None = None,
    target: str | Path | None = None,
    *,
    strategy: Strategy = "keep",
    merge: bool = False,
    dry_run: bool = False,
) -> Report:
    """Brings what is in a folder, by default the memory of an older version, into the memory `target`, by default the
    one that the environment names. One that has pages already is refused, unless it is to `merge` them. With `dry_run`
    the report has the plan, and nothing is changed. Raises `UsageError`, `NotAllowed`, `StorageError`, `ModelError`."""
    with Memory.open(target) as memory:
        ((folder, scan),) = scan_paths([Path(source).expanduser() if source else older_memory()])
        check_apart(memory, folder)
        if not merge:
            check_empty(memory, folder)
        plan = make_plan(memory, scan, folder, strategy)
        if dry_run:
            return make_report(scan, plan, memory.today)
        done = run(memory, scan, plan)
        if done.error:
            raise done.error
        found = verify(memory, scan, imported_from(memory.storage, folder), done.plan)
        return make_report(scan, done.plan, memory.today, found)
