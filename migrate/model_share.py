"""What a model takes part in during an import: which documents it works in, and what that costs, estimated before it is
asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from memory_v2.memory import Memory
from memory_v2.migrate.source import SourceDocument
from memory_v2.models.base import Usage
from memory_v2.models.prices import load_prices
from memory_v2.plan import Step
from memory_v2.text.tokens import tokens
from memory_v2.text.words import normal

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


LEAST = 20
"""The least length of a line that tells something of a text, in characters: shorter ones are in many."""
SHARED = 0.5
"""The share of its lines that a document has in common with what it is much like."""
COMMON = 20
"""In how many texts a line is at most that tells something: one of a template is in more."""


def alike(documents: Sequence[SourceDocument], pages: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The page, or else the document earlier in the list, that each document is much like; its time grows with the
    texts, not with their pairs."""
    having: dict[str, list[str]] = {}
    for path, text in pages:
        for line in _lines(text):
            having.setdefault(line, []).append(path)
    found: dict[str, str] = {}
    for document in documents:
        lines = _lines(document.text)
        shared = Counter(one for line in lines for one in having.get(line, ()) if len(having[line]) <= COMMON)
        best = max(shared, key=lambda one: (shared[one], one), default="")
        if best and shared[best] >= SHARED * len(lines):
            found[document.name] = best
        for line in lines:
            having.setdefault(line, []).append(document.name)
    return found


def _lines(text: str) -> set[str]:
    return {line for line in map(normal, text.splitlines()) if len(line) >= LEAST}
