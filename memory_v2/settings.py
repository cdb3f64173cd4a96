"""Settings, from arguments, the environment and `silica.toml`. Faces read them once, at their entry."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from memory_v2 import configuration
from memory_v2.configuration import Configuration, Given
from memory_v2.errors import InvalidSetting

DEFAULT_FOLDER = configuration.PATH.default
DEFAULT_MODEL = configuration.MODEL.default
DEFAULT_THRESHOLD = int(configuration.THRESHOLD.default)
"""Bytes of the largest page, about 2,500 tokens: a model reads a few such pages in one turn."""
MIN_THRESHOLD = 2_048
"""Bytes: a smaller page would have no room for a full list of children."""
DEFAULT_TRACES = int(configuration.TRACES.default)
"""Traces that are kept: enough to look back over the last sessions, in a few megabytes."""
DEFAULT_AGENT = configuration.AGENT.default
DEFAULT_S3_PREFIX = configuration.S3_PREFIX.default
DEFAULT_CACHE_TTL = int(configuration.S3_CACHE_TTL.default)
"""Seconds: changes from other machines are seen within five minutes at most."""
BACKENDS = ("local", "s3")
SWITCHES = {"on": True, "off": False, "1": True, "0": False}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a model one operation may use, including the splits that follow a write. When a limit is reached, the
    offline planner finishes the operation. `money` is in US dollars."""

    turns: int = 16
    tokens: int = 200_000
    seconds: float = 120.0
    money: float = 1.0

    def __post_init__(self) -> None:
        """Raises `InvalidSetting` for a limit that is not a number, or is less than 0."""
        for limit in fields(self):
            value = getattr(self, limit.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
                raise InvalidSetting(f"the limit of {limit.name} must be a number, 0 or more, not {value!r}")


@dataclass(frozen=True, slots=True)
class S3Settings:
    """The bucket that holds the memory, and the prefix of its keys. `region` and `endpoint` override the configuration
    of the credentials. `cache` is a local folder; for `cache_ttl` seconds a page is read from it without asking the
    bucket."""

    bucket: str
    cache: Path
    prefix: str = DEFAULT_S3_PREFIX
    region: str | None = None
    endpoint: str | None = None
    cache_ttl: int = DEFAULT_CACHE_TTL


@dataclass(frozen=True, slots=True)
class Settings:
    """The memory's folder, its model and limits, the maximum size of a page in bytes, and how many traces to keep.
    `prices` is a JSON file with your own prices; `now` stops the clock at a moment, for repeatable runs; `timezone`
    says which day a moment falls on; `agent` is whose entries are captured; `dense` is whether search goes by meaning
    too. With `s3`, the memory is in a bucket, not at `path`."""

    path: Path
    model: str = DEFAULT_MODEL
    threshold: int = DEFAULT_THRESHOLD
    limits: Limits = Limits()
    traces: int = DEFAULT_TRACES
    prices: Path | None = None
    now: datetime | None = None
    timezone: tzinfo = UTC
    agent: str = DEFAULT_AGENT
    s3: S3Settings | None = None
    dense: bool = True

    @property
    def clock(self) -> Callable[[], datetime] | None:
        """The clock that is still at `now`; `None` for the real one."""
        moment = self.now
        return (lambda: moment) if moment else None

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str], path: str | Path | None = None, model: str | None = None
    ) -> Settings:
        """Reads the arguments, else `SILICA_MEMORY_PATH`, `_MODEL`, `_SIZE_THRESHOLD`, `_LIMITS`, `_TRACES`, `_PRICES`,
        `_NOW`, `_TIMEZONE`, `_AGENT`, `_DENSE`, `_BACKEND` and `_S3_…`, else `silica.toml` in the memory's folder, then
        the user's, else the defaults. A `path` argument is a folder, whatever the backend. An empty variable counts as
        unset. Raises `InvalidSetting`."""
        return cls.from_configuration(configured(environment, path, model), environment)

    @classmethod
    def from_configuration(cls, chosen: Configuration, environment: Mapping[str, str]) -> Settings:
        """The settings that a configuration chooses; the clock and the cache are the environment's. Raises
        `InvalidSetting`."""
        prices = chosen.find(configuration.PRICES)
        return cls(
            path=_folder(chosen),
            model=chosen.find(configuration.MODEL).text or DEFAULT_MODEL,
            threshold=_count(chosen.find(configuration.THRESHOLD), MIN_THRESHOLD, "bytes"),
            limits=_limits(chosen.find(configuration.LIMITS)),
            traces=_count(chosen.find(configuration.TRACES), 0, "traces to keep"),
            prices=file_path(prices.text, "the file of prices") if prices.text else None,
            now=_moment(environment.get("SILICA_MEMORY_NOW") or ""),
            timezone=_timezone(chosen.find(configuration.TIMEZONE)),
            agent=chosen.find(configuration.AGENT).text or DEFAULT_AGENT,
            s3=_s3(chosen, environment) if _is_bucket(chosen) else None,
            dense=_switch(chosen.find(configuration.DENSE)),
        )


def configured(
    environment: Mapping[str, str], path: str | Path | None = None, model: str | None = None
) -> Configuration:
    """The configuration for these arguments, the memory's file included. Raises `InvalidSetting`."""
    if path is not None and not isinstance(path, str | Path):
        raise InvalidSetting(f"the memory's folder must be a string or a Path, not {type(path).__name__}")
    arguments = {configuration.PATH: None if path is None else str(path), configuration.MODEL: model or None}
    chosen = Configuration(arguments, environment)
    if not _is_bucket(chosen):
        chosen.add_memory(_folder(chosen))
    return chosen


def _folder(chosen: Configuration) -> Path:
    return file_path(chosen.find(configuration.PATH).text, "the memory's folder")


def _is_bucket(chosen: Configuration) -> bool:
    """A folder that is given as an argument is used, whatever the backend."""
    return not chosen.find(configuration.PATH).origin.startswith("--") and _backend(chosen) == "s3"


def file_path(text: str, what: str) -> Path:
    """The path in a setting, with `~` expanded. `what` names the setting in the `InvalidSetting` that it may raise."""
    if not text or "\0" in text:
        raise InvalidSetting(f"{what} must not be an empty path or contain a NUL character")
    try:
        os.fsencode(text)
        return Path(text).expanduser()
    except UnicodeEncodeError as error:
        raise InvalidSetting(f"{what} is not valid Unicode: {text!r}") from error
    except RuntimeError as error:
        raise InvalidSetting(f"{what}: the home directory in {text!r} is not known") from error


def is_count(value: object, least: int) -> bool:
    """Whether a value is a whole number, `least` or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _count(given: Given, least: int, unit: str) -> int:
    try:
        count = int(given.text)
    except ValueError as error:
        raise InvalidSetting(f"{given.name} must be a number of {unit}, not {given.text!r}") from error
    if count < least:
        raise InvalidSetting(f"{given.name} must be at least {least} {unit}, not {count}")
    return count


def _switch(given: Given) -> bool:
    if given.text not in SWITCHES:
        raise InvalidSetting(f"{given.name} must be on or off, not {given.text!r}")
    return SWITCHES[given.text]


def _backend(chosen: Configuration) -> str:
    given = chosen.find(configuration.BACKEND)
    if given.text not in BACKENDS:
        raise InvalidSetting(f"{given.name} must be {' or '.join(BACKENDS)}, not {given.text!r}")
    return given.text


def _s3(chosen: Configuration, environment: Mapping[str, str]) -> S3Settings:
    bucket = chosen.find(configuration.S3_BUCKET).text
    if not bucket:
        raise InvalidSetting("the s3 backend needs a bucket: set SILICA_MEMORY_S3_BUCKET to its name")
    given = chosen.find(configuration.S3_PREFIX)
    prefix = given.text
    if not prefix.isprintable() or ({"", ".", ".."}.intersection(prefix.strip("/").split("/")) and prefix != "/"):
        raise InvalidSetting(f"{given.name} must be a key prefix such as 'team/memory', not {prefix!r}")
    return S3Settings(
        bucket=bucket,
        cache=cache_folder(environment),
        prefix=prefix.strip("/"),
        region=chosen.find(configuration.S3_REGION).text or None,
        endpoint=_endpoint(chosen.find(configuration.S3_ENDPOINT)),
        cache_ttl=_count(chosen.find(configuration.S3_CACHE_TTL), 0, "seconds"),
    )


def _endpoint(given: Given) -> str | None:
    text = given.text
    if not text:
        return None
    from urllib.parse import urlsplit  # imported here: a memory in a folder does not need it

    try:
        parts = urlsplit(text)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or not text.isprintable() or " " in text:
        raise InvalidSetting(f"{given.name} must be an address such as http://127.0.0.1:9000, not {text!r}")
    return text.rstrip("/")


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The user's cache folder on this machine."""
    default = {"darwin": "~/Library/Caches", "win32": "~/AppData/Local"}.get(sys.platform, "~/.cache")
    base = environment.get("XDG_CACHE_HOME") or environment.get("LOCALAPPDATA") or default
    return file_path(base, "the cache folder") / "silica"


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if text else None
        if moment is None:
            return None
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidSetting(f"SILICA_MEMORY_NOW must be a time such as 2026-05-04T09:30:00Z, not {text!r}") from error


def _timezone(given: Given) -> tzinfo:
    name = given.text
    if name.upper() == "UTC":
        return UTC
    from zoneinfo import ZoneInfo  # imported here: most memories do not need it

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # unknown, not a name at all, or a folder of zones
        raise InvalidSetting(
            f"{given.name} must be the name of a time zone such as Europe/Madrid, not {name!r}"
        ) from error


def _limits(chosen: Given) -> Limits:
    """`turns=8,money=0.05`; limits that are not named keep their defaults."""
    known = {limit.name: limit.default for limit in fields(Limits)}
    given: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in chosen.text.split(","))):
        name, _, amount = (piece.strip() for piece in part.partition("="))
        try:
            value = float(amount) if isinstance(known[name], float) else int(amount)
        except (KeyError, ValueError) as error:
            raise InvalidSetting(
                f"{chosen.name} must be a list such as 'turns=8,tokens=50000,seconds=60,money=0.05', not {part!r}"
            ) from error
        if not value >= 0 or math.isinf(value):
            raise InvalidSetting(f"{chosen.name}: a limit must be 0 or more, not {part!r}")
        given[name] = value
    return Limits(**given)
