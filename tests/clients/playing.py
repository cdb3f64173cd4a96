"""The cases that every client plays, and what is the same for the runners in Python."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

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
