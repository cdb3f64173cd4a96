"""What a cassette is: how traffic is written down, and by what a request is found in it again.

It is YAML to be read in review: bodies are trees, longer texts are blocks of lines. It holds no host, no key, and of
the headers only those that say how to read a body. A request is found by its method, its path and what its body says.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import vcr  # type: ignore[import-untyped]  # vcrpy has no types
import yaml

FOLDER = Path(__file__).resolve().parents[2] / "cassettes"
HEADERS = frozenset({"content-type"})
"""The headers that are kept: a list of what may stay cannot forget a header that carries a key."""
HOST = "http://recorded"
WIDTH = 120

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SAFE = r"\t\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_LINES = re.compile(rf"(?!\t)[{_SAFE}]*")
_BELOW_VERSION = re.compile(r".*(?=/v1/)")


def cassette_file(name: str, wire: str, folder: Path = FOLDER) -> Path:
    """Where the traffic of a scenario by a wire is kept."""
    return folder / wire / f"{name}.yaml"


def load(file: Path) -> dict[str, Any]:
    """A cassette as plain data, as it stands in the file."""
    data: dict[str, Any] = yaml.load(file.read_text("utf-8"), Loader=_LOADER)
    return data


def dump(data: Mapping[str, Any]) -> str:
    """A cassette's text; the same data always give the same text."""
    return yaml.dump(data, Dumper=_Dumper, width=WIDTH, allow_unicode=True, sort_keys=False)


@cache
def digest(body: bytes | None) -> str:
    """Of what a body says: the order of its keys and the spaces between them do not count."""
    body = body or b""
    with suppress(ValueError):
        body = json.dumps(json.loads(body), sort_keys=True).encode()
    return hashlib.sha256(body).hexdigest()


def told(request: Any) -> Any:
    """A request as it is written down and looked for: no host, no query, nothing before `/v1`."""
    request.uri = HOST + _BELOW_VERSION.sub("", urlsplit(request.uri).path)
    request.headers = {name: value for name, value in request.headers.items() if name.lower() in HEADERS}
    return request


def heard(response: dict[str, Any]) -> dict[str, Any]:
    """A response as it is written down."""
    kept = {name.lower(): value for name, value in response["headers"].items() if name.lower() in HEADERS}
    return response | {"headers": kept}


def says_the_same(asked: Any, recorded: Any) -> None:
    assert digest(asked.body) == digest(recorded.body), "the bodies differ"


class Readable:
    """vcrpy's data as ours and back. Its metadata are what `recorded` says."""

    @staticmethod
    def serialize(cassette: Mapping[str, Any]) -> str:
        interactions = [_interaction(**one) for one in cassette["interactions"]]
        _share([one["request"]["body"] for one in interactions])
        return dump(
            {
                "recorded": cassette.get("metadata", {}),
                "version": cassette["version"],
                "interactions": interactions,
            }
        )

    @staticmethod
    def deserialize(text: str) -> dict[str, Any]:
        data = yaml.load(text, Loader=_LOADER)
        interactions = [
            {
                "request": one["request"] | {"body": _said(one["request"]["body"])},
                "response": one["response"] | {"body": {"string": _said(one["response"]["body"])}},
            }
            for one in data["interactions"]
        ]
        return {"metadata": data["recorded"], "version": data["version"], "interactions": interactions}


def recorder() -> Any:
    """vcrpy as it is used here. A cassette is only ever played, unless `record_mode` says otherwise."""
    configured = vcr.VCR(
        record_mode="none",
        serializer="readable",
        match_on=("method", "path", "says"),
        before_record_request=told,
        before_record_response=heard,
        decode_compressed_response=True,
    )
    configured.register_serializer("readable", Readable)
    configured.register_matcher("says", says_the_same)
    return configured


def _interaction(request: Mapping[str, Any], response: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "request": {
            "method": request["method"],
            "uri": request["uri"],
            "headers": request["headers"],
            "body": _tree(request["body"]),
        },
        "response": {
            "status": response["status"],
            "headers": response["headers"],
            "body": _tree(response["body"]["string"]),
        },
    }


def _tree(body: str | bytes | None) -> dict[str, Any]:
    """`{"json": …}`; a body that is no JSON, or could not be written as YAML, as `{"text": …}`."""
    text = body.decode("utf-8") if isinstance(body, bytes) else body or ""
    try:
        tree = json.loads(text)
        json.dumps(tree, ensure_ascii=False).encode()
    except ValueError:
        return {"text": text}
    return {"json": tree}


def _share(bodies: list[dict[str, Any]]) -> None:
    """Makes one of what several requests repeat, so that a request shows what is new in it: the rest is a reference."""
    parts: dict[str, Any] = {}

    def shared(part: Any) -> Any:
        return parts.setdefault(json.dumps(part), part) if isinstance(part, dict | list) else part

    for request in (body["json"] for body in bodies if isinstance(body.get("json"), dict)):
        for name, part in request.items():
            request[name] = [shared(message) for message in part] if name == "messages" else shared(part)


def _said(body: Mapping[str, Any]) -> str:
    return json.dumps(body["json"], ensure_ascii=False) if "json" in body else str(body["text"])


class _Dumper(yaml.SafeDumper):
    """Longer texts are blocks of lines."""

    def analyze_scalar(self, scalar: str) -> Any:
        analysis = super().analyze_scalar(scalar)
        if _LINES.fullmatch(scalar):  # PyYAML writes no block that holds a tab, or a space at the end of a line
            analysis.allow_block = True
        else:  # and it loses some line ends of Unicode where it does not escape them
            analysis.allow_flow_plain = analysis.allow_block_plain = False
            analysis.allow_single_quoted = analysis.allow_block = False
        return analysis


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def strings(data: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a tree, the names of its parts among them, with the place where it stands."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield at, str(name)
            yield from strings(value, f"{at}.{name}" if at else str(name))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from strings(value, f"{at}[{number}]")
    elif isinstance(data, str):
        yield at, data
