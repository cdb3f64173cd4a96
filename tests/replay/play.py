"""Playing a scenario: with the traffic that was recorded, and with nothing else.

A request that is not recorded, an answer that is left over and an answer that cannot be read fail the play. They never
become a failure of the provider, which the planner would make good.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Generic, TypeVar

from memory_v2.errors import NotRecorded
from memory_v2.models.base import Reply, Usage
from tests.replay.agents import AGENT_WIRES, Answering, ChatAgent, ClaudeAgent
from tests.replay.cassette import FOLDER, cassette_file, recorder, told
from tests.replay.scenario import Scenario

WIRES = ("anthropic", "openai", "litellm-anthropic", "litellm-openai")
"""Those of the memory's own models."""
NOWHERE = "http://127.0.0.1:9"
"""Where the models are told to ask while a cassette is played: nothing is ever sent."""
NO_KEY = "none"

BEFORE, AFTER = 30, 90
"""Characters that are shown around the first difference."""

_NOTHING = "(nothing)"

T = TypeVar("T")


class ReplayFailed(AssertionError):
    """What was asked is not what was recorded."""


class Watched(Generic[T]):
    """A model whose first failure ends all: nothing is tried again, and no planner takes over unnoticed."""

    def __init__(self, model: Answering[T]) -> None:
        self.name = model.name
        self.model = model
        self.requests = 0
        self.usage = Usage()
        self.failure: Exception | None = None

    def respond(self, conversation: T) -> Reply:
        """The model's answer."""
        if self.failure:
            raise NotRecorded("nothing is asked any more") from self.failure
        self.requests += 1
        try:
            reply = self.model.respond(conversation)
        except Exception as error:
            self.failure = error
            raise NotRecorded(f"request {self.requests} failed: {error}") from error
        self.usage += reply.usage
        return reply


def model_by(wire: str, model: str, key: str, endpoint: str) -> Answering[Any]:
    """The adapter that speaks a wire, or the agent; `endpoint` is its address up to `/v1`."""
    from memory_v2.models.anthropic import AnthropicModel
    from memory_v2.models.litellm import LiteLLMModel
    from memory_v2.models.openai import OpenAIModel

    match wire:
        case "anthropic":
            return AnthropicModel(model, api_key=key, base_url=endpoint)
        case "openai":
            return OpenAIModel(model, api_key=key, base_url=f"{endpoint}/v1")
        case "litellm-anthropic":
            return LiteLLMModel(f"anthropic/{model}", api_key=key, base_url=endpoint)
        case "litellm-openai":
            return LiteLLMModel(f"openai/{model}", api_key=key, base_url=f"{endpoint}/v1")
        case "agent-anthropic":
            return ClaudeAgent(model, key, endpoint)
        case "agent-openai":
            return ChatAgent(model, key, f"{endpoint}/v1")
    raise ValueError(f"there is no wire {wire!r}, only {', '.join((*WIRES, *AGENT_WIRES))}")


def act(scenario: Scenario, model: Watched[Any]) -> tuple[Any, Any]:
    """The stage after the scenario, and what came of it; what follows from a failure of the model is not raised."""
    stage = scenario.stage(model)
    try:
        return stage, scenario.act(stage)
    except Exception:
        if model.failure is None:
            raise
        return stage, None


def play(scenario: Scenario, wire: str, folder: Path = FOLDER) -> None:
    """Plays and judges a scenario. Raises `ReplayFailed` where it leaves the recording, else what its judge raises."""
    scene, again = f"{scenario.name} ({wire})", f"record it again: make record ONLY={scenario.name} WIRE={wire}"
    file = cassette_file(scenario.name, wire, folder)
    if not file.is_file():
        raise ReplayFailed(f"{scene} is not recorded; {again}")
    asked: list[Any] = []

    def note(request: Any) -> Any:
        asked.append(request)
        return request

    with recorder().use_cassette(str(file), before_record_request=[told, note]) as cassette:
        model = Watched(model_by(wire, cassette.get_metadata("model", None), NO_KEY, NOWHERE))
        stage, result = act(scenario, model)
    if cassette.play_count < model.requests:
        raise ReplayFailed(
            f"{scene}, request {model.requests}: {unlike(asked[-1], cassette.requests)}\n{again}"
        ) from model.failure
    if model.failure:
        raise ReplayFailed(f"{scene}: answer {model.requests} cannot be read: {model.failure}") from model.failure
    if left := len(cassette) - cassette.play_count:
        raise ReplayFailed(f"{scene}: {left} of {len(cassette)} recorded requests were not made\n{again}")
    scenario.judge(stage, result)


def unlike(asked: Any, recorded: Sequence[Any]) -> str:
    """Where a request first differs from the one that is most like it among those recorded."""
    called = (asked.method, asked.path)
    alike = [(number, one) for number, one in enumerate(recorded, 1) if (one.method, one.path) == called]
    if not alike:
        return f"nothing is recorded of {asked.method} {asked.path}"
    body = json.loads(asked.body)
    found = [(number, list(differences(json.loads(one.body), body))) for number, one in alike]
    number, places = min(found, key=lambda one: len(one[1]))
    if not places:
        return f"{asked.method} {asked.path} is made more often than it is recorded"
    at, before, now = places[0]
    same = next((n for n, (one, other) in enumerate(zip_longest(before, now)) if one != other), 0)
    start = max(0, same - BEFORE)
    seen = ("…" * bool(start) + text[start : start + BEFORE + AFTER] for text in (before, now))
    shown = [json.dumps(text, ensure_ascii=False) for text in seen]
    more = f" and {len(places) - 1} more places" if places[1:] else ""
    return (
        f"{asked.method} {asked.path} is not recorded; the nearest recorded request, number {number}, differs at "
        f"{at}{more}:\n  recorded: {shown[0]}\n  asked:    {shown[1]}"
    )


def differences(recorded: Any, asked: Any, at: str = "") -> Iterator[tuple[str, str, str]]:
    """The places at which two bodies differ: where, what is recorded there, what was asked."""
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for name in dict.fromkeys([*recorded, *asked]):
            place = f"{at}.{name}" if at else name
            yield from differences(recorded.get(name, _NOTHING), asked.get(name, _NOTHING), place)
    elif isinstance(recorded, list) and isinstance(asked, list):
        for number, (one, other) in enumerate(zip_longest(recorded, asked, fillvalue=_NOTHING)):
            yield from differences(one, other, f"{at}[{number}]")
    elif recorded != asked:
        yield at, _words(recorded), _words(asked)


def _words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
