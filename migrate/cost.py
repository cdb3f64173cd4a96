"""What an import costs, estimated before a model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_v2.memory import Memory
from memory_v2.migrate.source import SourceDocument
from memory_v2.models.base import Usage
from memory_v2.models.prices import load_prices
from memory_v2.plan import Step
from memory_v2.text.tokens import tokens

READ = 6_000
"""An estimate of how many tokens a request reads besides the text: the task, the tools, and the pages that are shown.
In the recorded play of half a year of notes, whose pages have 4 KB, the median is 3,200."""
WRITTEN = 150
"""How many tokens a decision takes besides what it says of the text."""
SHARE = 0.15
"""The tokens of a decision over those of its text: blocks are placed by number, and described."""


def estimate(memory: Memory, documents: Sequence[SourceDocument], steps: Iterable[Step]) -> tuple[int, float | None]:
    """How many requests a model will get at least, and what they cost in dollars; `None` if the price is not known."""
    if memory.is_offline:
        return 0, 0.0
    texts = {document.name: document.text for document in documents}
    usages = [_usage(texts[step.name]) for step in steps if asks(step, memory.threshold)]
    if not usages:
        return 0, 0.0
    prices, name = load_prices(memory.prices), memory.model_name.partition(":")[2]
    names = (name, name.rpartition("/")[2])
    costs = [next((cost for one in names if (cost := prices.cost(one, usage)) is not None), None) for usage in usages]
    known = [cost for cost in costs if cost is not None]
    return len(usages), sum(known) if len(known) == len(costs) else None


def asks(step: Step, threshold: int) -> bool:
    """Whether a model is asked about a document: to work it in, or to divide it."""
    return step.action == "merge" or (step.action in ("create", "follow", "append") and step.facts["size"] > threshold)


def _usage(text: str) -> Usage:
    size = tokens(text)
    return Usage(READ + size, WRITTEN + int(SHARE * size))
