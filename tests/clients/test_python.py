"""The cases, played by both Python clients."""

from __future__ import annotations

import inspect
import json
import re
import uuid
from pathlib import Path
from typing import Any

import anyio
import pytest

import distributed_memory
from distributed_memory import AsyncMemoryClient, MemoryClient, Retry, is_cached, is_pending
from tests.clients.stage import Stage

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "clients" / "cases.json").read_text("utf-8"))[
    "cases"
]


class Script:
    """A case being played: its variables, and what it says of results."""

    def __init__(self, of: Stage) -> None:
        self._stage = of
        self.known: dict[str, Any] = {"run": uuid.uuid4().hex[:12]}

    def filled(self, value: Any) -> Any:
        """A value with its variables: `$name` is a document itself, `${name.member}` a text in it."""
        if isinstance(value, str):
            if value.startswith("$") and value[1:] in self.known:
                return self.known[value[1:]]
            return re.sub(r"\$\{([^}]+)\}", lambda found: str(at(self.known, found[1])), value)
        if isinstance(value, list):
            return [self.filled(each) for each in value]
        if isinstance(value, dict):
            return {name: self.filled(each) for name, each in value.items()}
        return value

    def check(self, step: dict[str, Any], result: Any) -> None:
        """Keeps a result by its name, and compares it."""
        if "as" in step:
            self.known[step["as"]] = result
        for path, expected in step.get("then", {}).items():
            assert at(result, path) == self.filled(expected), (step, result)

    def check_sent(self, step: dict[str, Any]) -> None:
        """Compares what passed through the door."""
        sent = self._stage.do({"requests": self.filled(step["sent"])})
        assert len(sent) == step["times"], sent
        if "keys" in step:
            assert len({each["key"] for each in sent}) == step["keys"] and all(each["key"] for each in sent)
        if "apart" in step:
            assert sent[-1]["at"] - sent[0]["at"] >= step["apart"]


def at(value: Any, path: str) -> Any:
    """What a document has at a path of names and numbers; `length` is that of a list."""
    for name in path.split("."):
        if name == "length" and isinstance(value, list):
            value = len(value)
        else:
            value = value[int(name) if isinstance(value, list) else name]
    return value


QUICK = Retry(times=3, first=0.02, longest=0.1)
PATIENT = Retry(times=200, first=0.1, longest=0.2)
IS = {"pending": is_pending, "cached": is_cached}


class Player:
    """Plays a case with a kind of client. What an asynchronous one returns is awaited, all else is the same."""

    def __init__(self, case: dict[str, Any], of: Stage, kind: type[MemoryClient | AsyncMemoryClient], folder: Path):
        self._case, self._stage, self._kind, self._folder = case, of, kind, folder
        self._script = Script(of)
        self._clients: dict[str, Any] = {}
        self._feeds: dict[str, Any] = {}

    async def play(self) -> None:
        self._stage.do({"begin": self._case["name"]})
        try:
            for step in self._case["steps"]:
                await self._step(step)
        finally:
            for open_one in (*self._feeds.values(), *self._clients.values()):
                await self._close(open_one)

    async def _step(self, step: dict[str, Any]) -> None:
        match step:
            case {"do": name}:
                await self._call(name, step)
            case {"listen": wish}:
                feed = self._client(step).subscribe(**self._script.filled(wish))
                self._feeds[step["as"]] = feed
                await _result(feed.__enter__() if hasattr(feed, "__enter__") else feed.__aenter__())
            case {"next": name}:
                with anyio.fail_after(30):
                    event = await _next(self._feeds[name])
                self._script.check(step, event)
            case {"restart": name}:
                await self._close(self._clients.pop(name))
            case {"stage": asked}:
                await anyio.to_thread.run_sync(self._stage.do, asked)
            case {"sent": _}:
                self._script.check_sent(step)
            case _:
                raise ValueError(step)

    async def _call(self, name: str, step: dict[str, Any]) -> None:
        args, options = self._script.filled(step.get("args", [])), self._script.filled(step.get("options", {}))
        call = getattr(self._client(step), name)
        if "fails" in step:
            expected = dict(step["fails"])
            with pytest.raises(getattr(distributed_memory, expected.pop("kind"))) as failed:
                await _result(call(*args, **options))
            assert {member: getattr(failed.value, member) for member in expected} == expected
            return
        result = await _result(call(*args, **options))
        for kind, is_that in IS.items():
            assert is_that(result) is (step.get("is") == kind), (step, result)
        self._script.check(step, result)

    def _client(self, step: dict[str, Any]) -> Any:
        name = step.get("by", "hawk")
        if name not in self._clients:
            self._clients[name] = self._kind(
                api_key=self._case.get("key", self._stage.key),
                base_url=self._stage.address,
                source=name,
                offline=self._folder / name if "offline" in self._case.get("needs", []) else None,
                retry=PATIENT if self._case.get("patient") else QUICK,
            )
        return self._clients[name]

    async def _close(self, open_one: Any) -> None:
        await _result(open_one.aclose() if hasattr(open_one, "aclose") else open_one.close())


async def _next(feed: Any) -> Any:
    if hasattr(feed, "__anext__"):
        return await anext(feed)
    return await anyio.to_thread.run_sync(next, feed, abandon_on_cancel=True)


async def _result(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


@pytest.mark.parametrize("kind", [MemoryClient, AsyncMemoryClient])
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]).replace(" ", "-"))
def test_a_case(
    case: dict[str, Any], kind: type[MemoryClient | AsyncMemoryClient], the_stage: Stage, tmp_path: Path
) -> None:
    anyio.run(Player(case, the_stage, kind, tmp_path).play)
