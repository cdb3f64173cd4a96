"""Records the model traffic again: `python -m tests.replay.record`.

A recording takes the place of the old one only if the scenario's judge accepts what came of it, no request failed, and
nothing in it tells of a key or of this machine. What is not accepted is left in a temporary folder, to be looked at.
"""

from __future__ import annotations

import argparse
import ipaddress
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock
from urllib.parse import urlsplit

from tests.replay.agents import AGENT_WIRES, PATIENCE
from tests.replay.cassette import FOLDER, cassette_file, recorder
from tests.replay.leaks import keys, machines
from tests.replay.play import NO_KEY, WIRES, Watched, act, model_by
from tests.replay.scenario import Scenario
from tests.replay.scenarios import SCENARIOS

LOCAL = "a local endpoint"
ADAPTERS = ("anthropic", "openai", "litellm")


@dataclass(frozen=True)
class Vendor:
    """Who is asked if no endpoint is named."""

    key: str
    url: str
    model: str


VENDORS: Mapping[str, Vendor] = {
    "anthropic": Vendor("ANTHROPIC_API_KEY", "https://api.anthropic.com", "claude-sonnet-5-5"),
    "openai": Vendor("OPENAI_API_KEY", "https://api.openai.com", "gpt-6-sol"),
}


@dataclass(frozen=True)
class Source:
    """Where a recording comes from: `how` is a sentence, `endpoint` an address up to `/v1`."""

    wire: str
    endpoint: str
    key: str
    model: str
    how: str

    @property
    def recorded(self) -> dict[str, str]:
        """What the recording says of itself."""
        return {
            "at": datetime.now(UTC).date().isoformat(),
            "model": self.model,
            "wire": self.wire,
            "endpoint": LOCAL if is_local(self.endpoint) else str(urlsplit(self.endpoint).hostname),
            "how": self.how,
        }


class Refused(Exception):
    """What was recorded is not good enough to be played again."""


def record(scenario: Scenario, source: Source, folder: Path, aside: Path) -> bool:
    """Records a scenario by one wire; whether it was accepted, and has its place in `folder` now."""
    scene = f"{scenario.name} ({source.wire})"
    tell(f"{scene}: asking {source.model} at {source.recorded['endpoint']}")
    file = cassette_file(scenario.name, source.wire, aside)
    try:
        take(scenario, source, file)
        put(file, cassette_file(scenario.name, source.wire, folder))
    except Exception as error:  # noqa: BLE001 - whatever it is, the next scenario can be recorded
        why = str(error) if isinstance(error, Refused) else f"not accepted:\n{traceback.format_exc()}"
        tell(f"{scene}: {why}\n{scene}: FAILED, what was recorded is in {file}")
        return False
    tell(f"{scene}: accepted")
    return True


def take(scenario: Scenario, source: Source, file: Path) -> None:
    """Records a scenario into a file. Raises `Refused`, and what the judge raises. What the planner had to decide is
    told, and accepted if the judge accepts it."""
    model = Watched(model_by(source.wire, source.model, source.key, source.endpoint))
    with recorder().use_cassette(str(file), record_mode="all") as cassette:
        for name, value in source.recorded.items():
            cassette.get_metadata(name, value)  # what is not there yet is stored by being asked for
        stage, result = act(scenario, model)
    if model.failure:
        raise Refused(f"request {model.requests} failed: {model.failure}")
    if not model.requests:
        raise Refused("the model was not asked")
    if found := [*keys(file), *machines(file)]:
        raise Refused("; ".join(found))
    degraded = getattr(result, "degraded", "")
    tokens = f"{model.usage.input_tokens:,} + {model.usage.output_tokens:,} tokens"
    took = f"{model.requests} requests, {tokens}, decided by {getattr(result, 'decided_by', 'nobody')}"
    tell(f"{scenario.name} ({source.wire}): {took}" + (f", DEGRADED: {degraded}" if degraded else ""))
    scenario.judge(stage, result)


def put(file: Path, place: Path) -> None:
    """Moves a recording to its place, whole or not at all, from another disk too."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_suffix(".partial")
    shutil.copyfile(file, beside)
    beside.replace(place)
    file.unlink()


def is_local(endpoint: str) -> bool:
    """Whether an address is one of this machine, or of its own network, which nobody else needs to know."""
    host = urlsplit(endpoint).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan"))


def tell(words: str) -> None:
    print(words, flush=True)


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """Records what is asked for; 0 if all of it was accepted, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.replay.record", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these scenarios; else all")
    parser.add_argument(
        "--wire", nargs="+", choices=(*WIRES, *AGENT_WIRES), help="by these wires; else by all that a scenario names"
    )
    parser.add_argument("--missing", action="store_true", help="only those of which there is no recording yet")
    parser.add_argument("--endpoint", metavar="URL", help="what answers; else the vendor, which takes a key")
    parser.add_argument("--model", help="the model's name; else a usual one of the vendor's")
    parser.add_argument("--how", help="a sentence on how the recording was made, to be kept with it")
    given = parser.parse_args(arguments)
    if unknown := set(given.only or ()) - {one.name for one in SCENARIOS}:
        parser.error(f"no scenario is called {', '.join(sorted(unknown))}")
    if given.endpoint and not urlsplit(given.endpoint).hostname:
        parser.error("an endpoint is an address such as http://127.0.0.1:8765")
    wanted = [
        (scenario, wire)
        for scenario in SCENARIOS
        for wire in scenario.wires
        if (not given.only or scenario.name in given.only) and (not given.wire or wire in given.wire)
    ]
    if not wanted:
        parser.error("no scenario is played by this wire")
    if given.missing:
        wanted = [one for one in wanted if not cassette_file(one[0].name, one[1], folder).exists()]
    try:
        sources = {wire: source_of(wire, given) for _, wire in wanted}
    except KeyError as error:
        parser.error(f"set {error.args[0]}, or name a local --endpoint, which needs none")
    aside = Path(tempfile.mkdtemp(prefix="recorded-"))
    with ExitStack() as patient:
        for adapter in ADAPTERS:
            patient.enter_context(mock.patch(f"memory_v2.models.{adapter}.REQUEST_SECONDS", PATIENCE))
        accepted = [record(scenario, sources[wire], folder, aside) for scenario, wire in wanted]
    tell(f"{sum(accepted)} of {len(wanted)} recorded")
    return 0 if all(accepted) else 1


def source_of(wire: str, given: argparse.Namespace) -> Source:
    """Who is asked by a wire. A key is sent to nobody on this machine. Raises `KeyError` for the variable of a key that
    is needed and not set."""
    vendor = VENDORS[wire.removeprefix("litellm-").removeprefix("agent-")]
    endpoint = (given.endpoint or vendor.url).rstrip("/").removesuffix("/v1")
    behind = f"a model behind {LOCAL}" if is_local(endpoint) else str(urlsplit(endpoint).hostname)
    return Source(
        wire=wire,
        endpoint=endpoint,
        key=NO_KEY if is_local(endpoint) else os.environ[vendor.key],
        model=given.model or vendor.model,
        how=given.how or f"By `make record`, from {behind}.",
    )


if __name__ == "__main__":
    sys.exit(main())
