"""The cost of decisions, from recorded traffic: `python -m bench.cost`.

Every figure is read from the cassettes: turns and output tokens. A local endpoint counts one token for every four
characters; new text and pages are always counted that way. The baseline is a model that writes the whole page again,
the usual method."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any

from bench.tables import table
from tests.replay.agents import AGENT_WIRES
from tests.replay.cassette import FOLDER, load

KINDS = {"place": "write", "split_page": "split", "answer": "search"}
"""Each kind of task, by a tool that no other kind has."""
LONG_TEXT = 500
"""Texts with more tokens than this are listed separately."""

_MARK = re.compile(r"^(?:\[n\d+\] |    │ ?)", re.M)
_NEW_TEXT = re.compile(r"^===== NEW TEXT\n(.*?)^===== ", re.M | re.S)
_PAGE = re.compile(r"^page \S+ · ([\d,]+) of [\d,]+ bytes", re.M)


@dataclass(frozen=True)
class Request:
    """One request: its kind of task, the first message of its conversation, and the tokens of its answer."""

    kind: str
    opening: str
    tokens: int


@dataclass(frozen=True)
class Decision:
    """One task, from its first request to its last."""

    requests: tuple[Request, ...]

    @property
    def kind(self) -> str:
        """`write`, `split` or `search`."""
        return self.requests[0].kind

    @property
    def size(self) -> float:
        """The tokens of the new text of a write, or of the page of a split."""
        opening = self.requests[0].opening
        if self.kind == "write" and (found := _NEW_TEXT.search(opening)):
            return len(_MARK.sub("", found[1])) / 4
        return int(found[1].replace(",", "")) / 4 if (found := _PAGE.search(opening)) else 0.0

    @property
    def share(self) -> float:
        """The tokens of all answers, relative to the size."""
        return sum(request.tokens for request in self.requests) / self.size


def main() -> None:
    """Prints the figures."""
    decisions = list(read())
    print(f"{len(decisions)} decisions in {sum(len(d.requests) for d in decisions)} requests, from {FOLDER.name}/")
    figures = {
        name: {"median": median(values), "most": max(values), "n": len(values)}
        for name, values in rows(decisions)
        if values
    }
    print(table(figures))


def rows(decisions: Sequence[Decision]) -> Iterator[tuple[str, list[float]]]:
    """The name, with its goal, and the values of each figure."""

    def of(kind: str, figure: Callable[[Decision], float], least: int = 0) -> list[float]:
        return [figure(d) for d in decisions if d.kind == kind and (not least or d.size > least)]

    yield "turns of a write (≤ 1)", of("write", lambda d: len(d.requests))
    yield "turns of a search (≤ 2)", of("search", lambda d: len(d.requests))
    yield "turns of a split", of("split", lambda d: len(d.requests))
    yield "tokens out of a write / of its text (≤ .5)", of("write", lambda d: d.share)
    yield f"the same, texts over {LONG_TEXT} tokens (≤ .15)", of("write", lambda d: d.share, LONG_TEXT)
    yield "tokens out of a split / of its page (≤ .15)", of("split", lambda d: d.share)


def read() -> Iterator[Decision]:
    """Every decision of the memory's models in the cassettes. Requests with the same first message are one
    conversation."""
    for file in sorted(FOLDER.glob("*/*.yaml")):
        if file.parent.name not in AGENT_WIRES:
            requests = _requests(load(file)["interactions"])
            yield from (Decision(tuple(group)) for _, group in groupby(requests, key=lambda request: request.opening))


def _requests(interactions: Iterable[Mapping[str, Any]]) -> Iterator[Request]:
    for interaction in interactions:
        body, answer = (interaction[side]["body"]["json"] for side in ("request", "response"))
        names = {tool.get("name") or tool["function"]["name"] for tool in body["tools"]}
        kind = next((kind for tool, kind in KINDS.items() if tool in names), "")
        first = next(message["content"] for message in body["messages"] if message["role"] != "system")
        opening = first if isinstance(first, str) else "".join(block.get("text", "") for block in first)
        usage = answer["usage"]
        if kind:
            yield Request(kind, opening, usage.get("completion_tokens") or usage["output_tokens"])


if __name__ == "__main__":
    main()
