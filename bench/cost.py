"""The cost of decisions, from recorded traffic: `python -m bench.cost`.

Every figure is read from the cassettes: turns, input and output tokens, the share that a provider could cache, and how
they grow with the tree. A local endpoint counts one token for every four characters; new text and pages are always
counted that way. The baseline is a model that writes the whole page again, the usual method."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any

from memory_v2.models.base import Usage
from tests.replay.agents import AGENT_WIRES
from tests.replay.cassette import FOLDER, load

KINDS = {"place": "write", "split_page": "split", "answer": "search"}
"""Each kind of task, by a tool that no other kind has."""
LONG_TEXT = 500
"""Texts with more tokens than this are listed separately."""
GROWN = ("first-write", *(f"grown-{pages}-{act}" for act in ("write", "search") for pages in ("010", "100", "300")))

_MARK = re.compile(r"^(?:\[n\d+\] |    │ ?)", re.M)
_NEW_TEXT = re.compile(r"^===== NEW TEXT\n(.*?)^===== ", re.M | re.S)
_PAGE = re.compile(r"^page \S+ · ([\d,]+) of [\d,]+ bytes", re.M)


@dataclass(frozen=True)
class Request:
    """One request and its answer. `fixed` is the number of characters at its start that an earlier request had too,
    which a prefix cache can keep."""

    kind: str
    opening: str
    is_first: bool
    sent: int
    fixed: int
    usage: Usage


@dataclass(frozen=True)
class Decision:
    """One task, from its first request to its last."""

    scenario: str
    wire: str
    requests: tuple[Request, ...]

    @property
    def kind(self) -> str:
        """`write`, `split` or `search`."""
        return self.requests[0].kind

    @property
    def usage(self) -> Usage:
        """The tokens of all its requests."""
        return sum((request.usage for request in self.requests), Usage())

    @property
    def text_tokens(self) -> float:
        """The tokens of the new text of a write, or of the page of a split."""
        opening = self.requests[0].opening
        if self.kind == "write" and (found := _NEW_TEXT.search(opening)):
            return len(_MARK.sub("", found[1])) / 4
        return int(found[1].replace(",", "")) / 4 if (found := _PAGE.search(opening)) else 0.0

    @property
    def kept(self) -> float:
        """The share of the input that a cache could keep."""
        return sum(request.fixed for request in self.requests) / sum(request.sent for request in self.requests)


def main() -> None:
    """Prints the figures and their growth."""
    decisions = list(read())
    print(f"{len(decisions)} decisions in {sum(len(d.requests) for d in decisions)} requests, from {FOLDER.name}/\n")
    print(f"{'':44}{'median':>8}{'most':>8}{'n':>6}   goal")
    for name, goal, figures in rows(decisions):
        if figures:
            print(f"{name:44}{median(figures):8.2f}{max(figures):8.2f}{len(figures):6}   {goal}")
    print(f"\n{'as the tree grows':24}{'turns':>8}{'tokens in':>12}{'out':>8}{'cacheable':>12}")
    for name in GROWN:
        for decision in (d for d in decisions if d.scenario == name and d.wire == "anthropic"):
            usage = decision.usage
            turns = len(decision.requests)
            print(f"{name:24}{turns:8}{usage.input_tokens:12,}{usage.output_tokens:8,}{decision.kept:12.0%}")


def rows(decisions: Sequence[Decision]) -> Iterator[tuple[str, str, list[float]]]:
    """The name, goal and values of each figure."""

    def of(kind: str, figure: Callable[[Decision], float], among: Callable[[Decision], bool] = bool) -> list[float]:
        return [figure(d) for d in decisions if d.kind == kind and among(d)]

    def share(decision: Decision) -> float:
        return decision.usage.output_tokens / decision.text_tokens

    yield "turns of a write", "≤ 1", of("write", lambda d: len(d.requests))
    yield "turns of a search", "≤ 2", of("search", lambda d: len(d.requests))
    yield "turns of a split", "", of("split", lambda d: len(d.requests))
    yield "tokens out of a write / of its text", "≤ 1", of("write", share)
    yield f"the same, texts over {LONG_TEXT} tokens", "≤ 0.3", of("write", share, lambda d: d.text_tokens > LONG_TEXT)
    yield "tokens out of a split / of its page", "≤ 0.15 (the whole page again: ≥ 1)", of("split", share)
    for kind in KINDS.values():
        yield f"share of a {kind}'s prompt a cache could keep", "", of(kind, lambda d: d.kept)


def read() -> Iterator[Decision]:
    """Every decision of the memory's models in the cassettes. Requests with the same first message are one
    conversation."""
    for file in sorted(FOLDER.glob("*/*.yaml")):
        if file.parent.name in AGENT_WIRES:
            continue
        requests = list(_requests(load(file)["interactions"]))
        for _, group in groupby(requests, key=lambda request: request.opening):
            yield Decision(file.stem, file.parent.name, tuple(group))


def _requests(interactions: Iterable[Mapping[str, Any]]) -> Iterator[Request]:
    previous = ""
    for interaction in interactions:
        body, answer = (interaction[side]["body"]["json"] for side in ("request", "response"))
        names = {tool.get("name") or tool["function"]["name"] for tool in body["tools"]}
        kind = next(kind for tool, kind in KINDS.items() if tool in names)
        system = [body.get("system"), *[m for m in body["messages"] if m["role"] == "system"]]
        messages = [m for m in body["messages"] if m["role"] != "system"]
        prefix, opening = _length([body["tools"], system]), _words(messages[0])
        is_first = opening != previous
        earlier = 0 if is_first else _length(messages[: -_new(messages)])
        previous = opening
        yield Request(kind, opening, is_first, prefix + _length(messages), prefix + earlier, _usage(answer["usage"]))


def _new(messages: Sequence[Mapping[str, Any]]) -> int:
    """The number of messages from the last answer on."""
    last = max(n for n, message in enumerate(messages) if message["role"] == "assistant")
    return len(messages) - last


def _words(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def _length(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _usage(usage: Mapping[str, Any]) -> Usage:
    cached = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    sent = usage.get("prompt_tokens") or usage["input_tokens"] + cached + written
    return Usage(sent, usage.get("completion_tokens") or usage["output_tokens"], cached, written)


if __name__ == "__main__":
    main()
