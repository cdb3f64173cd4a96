"""How a plan is shown: the one renderer of all plans."""

from __future__ import annotations

from collections.abc import Iterator

from memory_v2.cli.report import admit, out_result, price
from memory_v2.cli.show import diff_lines, out, plain, style, tell
from memory_v2.plan import SKIP, Plan, Step

MOST_ALIKE = 20
"""How many steps are shown that skip for the same reason; more are counted. --json has all."""


def tell_plan(plan: Plan, as_json: bool) -> None:
    """Tells a plan step by step, what a person should look at, and whether it was carried out."""
    admit(plan)
    if as_json:
        out_result(plan)
        return
    for line in plan_lines(plan):
        out(line)
    for finding in plan.warnings:
        tell(f"{finding.path}: {finding.message}")
    done = f"done, recorded as {plan.revision}" if plan.revision else "nothing was changed"
    tell("; ".join(filter(None, (plan.title, price(plan.cost), done))))


def plan_lines(plan: Plan, most: int | None = None) -> Iterator[str]:
    """A line for each step, or for the first ones, and what it would change on pages; then what is skipped."""
    for step in plan.planned[:most]:
        yield _line(step)
        if step.is_due:
            yield from diff_lines(step.diff)
    yield from more_lines(len(plan.planned), most)
    for reason in dict.fromkeys(step.reason for step in plan.skipped):
        alike = [step for step in plan.skipped if step.reason == reason]
        if len(alike) > MOST_ALIKE:
            yield f"{SKIP} {len(alike):,}: {plain(reason)}"
        else:
            yield from map(_line, alike)


def more_lines(count: int, most: int | None) -> Iterator[str]:
    """That there are more than are shown."""
    if most is not None and count > most:
        yield f"        and {count - most:,} more (--json has all)"


def _line(step: Step) -> str:
    name = f"{step.action} {style(plain(step.name), fg='cyan')}"
    target = f" → {plain(step.target)}" if step.target else ""
    source = f" ← {plain(step.source)}" if step.source and not step.target else ""
    return f"{name}{target}{source}" + (f": {plain(step.reason)}" if step.reason else "")
