"""What can be set, by argument or by environment. Faces read the environment once, at their entry."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_v2.errors import InvalidSetting

DEFAULT_FOLDER = "~/.silica/memory_v2"
DEFAULT_MODEL = "offline"
DEFAULT_THRESHOLD = 10_240
MIN_THRESHOLD = 2_048
DEFAULT_TRACES = 200
DEFAULT_S3_PREFIX = "memory"
DEFAULT_CACHE_TTL = 300
BACKENDS = ("local", "s3")


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one operation may take of a model, the splits that follow a write included; the first that is
    reached ends its part, and the offline planner finishes. `money` is in US dollars."""

    turns: int = 16
    tokens: int = 200_000
    seconds: float = 120.0
    money: float = 1.0


@dataclass(frozen=True, slots=True)
class S3Settings:
    """Which bucket holds the memory, and below which prefix; `region` and `endpoint` where they are not what the
    credentials' own configuration says. `cache` is a folder of this machine, and `cache_ttl` the seconds for which a
    page is read from there without asking."""

    bucket: str
    cache: Path
    prefix: str = DEFAULT_S3_PREFIX
    region: str | None = None
    endpoint: str | None = None
    cache_ttl: int = DEFAULT_CACHE_TTL


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the memory is, who decides and what that may cost, the bytes that a page may have, and how many traces are
    kept. `prices` is a file with prices of your own; `now` is a moment at which time stands still, for runs that are to
    be repeated. Where there is an `s3`, the memory is there and not at `path`."""

    path: Path
    model: str = DEFAULT_MODEL
    threshold: int = DEFAULT_THRESHOLD
    limits: Limits = Limits()
    traces: int = DEFAULT_TRACES
    prices: Path | None = None
    now: datetime | None = None
    s3: S3Settings | None = None

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str], path: str | Path | None = None, model: str | None = None
    ) -> Settings:
        """Arguments, else `SILICA_MEMORY_PATH`, `_MODEL`, `_SIZE_THRESHOLD`, `_LIMITS`, `_TRACES`, `_PRICES`, `_NOW`,
        `_BACKEND` and `_S3_…`, else the defaults. A path that is given is a folder, whatever the backend of the
        environment. An empty variable is as none. Raises `InvalidSetting`."""
        folder = str(path) if path is not None else environment.get("SILICA_MEMORY_PATH") or DEFAULT_FOLDER
        prices = environment.get("SILICA_MEMORY_PRICES")
        return cls(
            path=file_path(folder, "the memory's folder"),
            model=model or environment.get("SILICA_MEMORY_MODEL") or DEFAULT_MODEL,
            threshold=_count(environment, "SILICA_MEMORY_SIZE_THRESHOLD", DEFAULT_THRESHOLD, MIN_THRESHOLD, "bytes"),
            limits=_limits(environment.get("SILICA_MEMORY_LIMITS") or ""),
            traces=_count(environment, "SILICA_MEMORY_TRACES", DEFAULT_TRACES, 0, "traces to keep"),
            prices=file_path(prices, "the file of prices") if prices else None,
            now=_moment(environment.get("SILICA_MEMORY_NOW") or ""),
            s3=_s3(environment) if path is None and _backend(environment) == "s3" else None,
        )


def file_path(text: str, what: str) -> Path:
    """The path that somebody gave, with `~` as their home. Raises `InvalidSetting`, naming `what` it is."""
    if not text or "\0" in text:
        raise InvalidSetting(f"{what} cannot be an empty path, nor hold a NUL")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise InvalidSetting(f"{what} {text!r} names a home that is not known") from error


def is_count(value: object, least: int) -> bool:
    """Whether something given from outside is a whole number of at least so much."""
    return isinstance(value, int) and value >= least


def _count(environment: Mapping[str, str], variable: str, default: int, least: int, unit: str) -> int:
    text = environment.get(variable) or str(default)
    try:
        count = int(text)
    except ValueError as error:
        raise InvalidSetting(f"{variable} is a number of {unit}, not {text!r}") from error
    if count < least:
        raise InvalidSetting(f"{variable} is at least {least} {unit}, not {count}")
    return count


def _backend(environment: Mapping[str, str]) -> str:
    backend = environment.get("SILICA_MEMORY_BACKEND") or BACKENDS[0]
    if backend not in BACKENDS:
        raise InvalidSetting(f"SILICA_MEMORY_BACKEND is one of {', '.join(BACKENDS)}, not {backend!r}")
    return backend


def _s3(environment: Mapping[str, str]) -> S3Settings:
    bucket = environment.get("SILICA_MEMORY_S3_BUCKET")
    if not bucket:
        raise InvalidSetting("the backend s3 needs the name of a bucket: set SILICA_MEMORY_S3_BUCKET")
    prefix = environment.get("SILICA_MEMORY_S3_PREFIX") or DEFAULT_S3_PREFIX
    if not prefix.isprintable() or ({"", ".", ".."}.intersection(prefix.strip("/").split("/")) and prefix != "/"):
        raise InvalidSetting(f"SILICA_MEMORY_S3_PREFIX is the beginning of keys, such as 'team/memory', not {prefix!r}")
    return S3Settings(
        bucket=bucket,
        cache=_cache_folder(environment),
        prefix=prefix.strip("/"),
        region=environment.get("SILICA_MEMORY_S3_REGION") or None,
        endpoint=_endpoint(environment.get("SILICA_MEMORY_S3_ENDPOINT") or ""),
        cache_ttl=_count(environment, "SILICA_MEMORY_S3_CACHE_TTL", DEFAULT_CACHE_TTL, 0, "seconds"),
    )


def _endpoint(text: str) -> str | None:
    if not text:
        return None
    from urllib.parse import urlsplit  # which nobody needs who reads from a folder

    try:
        parts = urlsplit(text)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or not text.isprintable() or " " in text:
        raise InvalidSetting(f"SILICA_MEMORY_S3_ENDPOINT is an address such as http://127.0.0.1:9000, not {text!r}")
    return text.rstrip("/")


def _cache_folder(environment: Mapping[str, str]) -> Path:
    """Where programs on this machine keep what they can fetch again."""
    default = {"darwin": "~/Library/Caches", "win32": "~/AppData/Local"}.get(sys.platform, "~/.cache")
    base = environment.get("XDG_CACHE_HOME") or environment.get("LOCALAPPDATA") or default
    return file_path(base, "the folder for caches") / "silica"


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if text else None
        if moment is None:
            return None
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidSetting(f"SILICA_MEMORY_NOW is a moment such as 2026-05-04T09:30:00Z, not {text!r}") from error


def _limits(text: str) -> Limits:
    """`turns=8,money=0.05`: what is not named stays at its default."""
    known = {limit.name: limit.default for limit in fields(Limits)}
    given: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, amount = (piece.strip() for piece in part.partition("="))
        try:
            value = float(amount) if isinstance(known[name], float) else int(amount)
        except (KeyError, ValueError) as error:
            raise InvalidSetting(
                f"SILICA_MEMORY_LIMITS is a list such as 'turns=8,tokens=50000,seconds=60,money=0.05', not {part!r}"
            ) from error
        if not value >= 0 or math.isinf(value):
            raise InvalidSetting(f"SILICA_MEMORY_LIMITS: a limit is a number from 0, not {part!r}")
        given[name] = value
    return Limits(**given)
