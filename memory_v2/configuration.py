"""Which value a setting has, and where it comes from: an argument, the environment, a file, or the default.

`silica.toml` may stand in two places. The user's, in their configuration folder, may set everything. One in the folder
of a memory describes that memory alone: memories are copied from strangers, so it sets no model, endpoint or cost.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memory_v2.errors import InvalidSetting

FILE = "silica.toml"
DEFAULT = "default"
"""The origin of a value that nobody gave."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: its key in `silica.toml`, its default and what it is for. `is_of_memory`: a file in the memory may set
    it."""

    key: str
    default: str
    about: str
    is_of_memory: bool = False

    @property
    def variable(self) -> str:
        """The environment variable that goes before the file: `SILICA_MEMORY_S3_BUCKET` for `s3.bucket`."""
        return f"SILICA_MEMORY_{self.key.upper().replace('.', '_')}"


SETTINGS = (
    PATH := Setting("path", "~/.silica/memory_v2", "the memory's folder"),
    MODEL := Setting("model", "offline", "the model"),
    THRESHOLD := Setting("size_threshold", "10240", "split a page above this many bytes", is_of_memory=True),
    LIMITS := Setting("limits", "", "how much one operation may use of a model"),
    TRACES := Setting("traces", "200", "how many traces to keep"),
    PRICES := Setting("prices", "", "a JSON file with your own prices"),
    TIMEZONE := Setting("timezone", "UTC", "where days begin", is_of_memory=True),
    AGENT := Setting("agent", "default", "whose entries are captured"),
    DENSE := Setting("dense", "on", "off: search by words only, also where the extra 'dense' is installed"),
    BACKEND := Setting("backend", "local", "local or s3"),
    S3_BUCKET := Setting("s3.bucket", "", "the bucket"),
    S3_PREFIX := Setting("s3.prefix", "memory", "the prefix of all keys"),
    S3_REGION := Setting("s3.region", "", "the region of the bucket"),
    S3_ENDPOINT := Setting("s3.endpoint", "", "the address of another S3 server"),
    S3_CACHE_TTL := Setting("s3.cache_ttl", "300", "seconds to use a cached page unasked"),
)
"""All that `silica.toml` can set."""
OLDER = {
    "MEMORY_V2_LOCAL_PATH": PATH,
    "MEMORY_V2_BACKEND": BACKEND,
    "MEMORY_V2_SIZE_THRESHOLD": THRESHOLD,
    "MEMORY_V2_S3_BUCKET": S3_BUCKET,
    "MEMORY_V2_S3_PREFIX": S3_PREFIX,
    "MEMORY_V2_S3_REGION": S3_REGION,
    "MEMORY_V2_CACHE_TTL": S3_CACHE_TTL,
}
"""Older names of variables. They count where the newer name is not set."""


@dataclass(frozen=True, slots=True)
class Given:
    """The text of a setting, and its origin: an argument's name, a variable's, a file or `default`. `name` is what an
    error calls it."""

    text: str
    origin: str
    name: str


Layer = dict[str, Given]
"""What one place gives, by key."""


@cache
def _tell_older(name: str, newer: str) -> None:
    logger.warning("%s is an older name of %s", name, newer)


class Configuration:
    """The values of all settings. The first place that gives one counts: arguments, the environment, the memory's file,
    the user's file. An empty text counts as not given."""

    def __init__(self, arguments: Mapping[Setting, str | None], environment: Mapping[str, str]) -> None:
        """Reads the user's file. Raises `InvalidSetting` if it is not right."""
        self._layers: list[Layer] = [
            {s.key: Given(text, f"--{s.key}", f"--{s.key}") for s, text in arguments.items() if text is not None},
            {
                s.key: Given(environment[s.variable], s.variable, s.variable)
                for s in SETTINGS
                if s.variable in environment
            },
        ]
        for name, setting in OLDER.items():
            if name in environment and setting.variable not in environment:
                self._layers[1][setting.key] = Given(environment[name], name, name)
                _tell_older(name, setting.variable)
        self.files: list[Path] = []
        """The files that were read."""
        self.ignored: list[str] = []
        """Keys in the memory's file that only the user may set."""
        if file := user_file(environment):
            self._layers.append(self._read(file, of_memory=False))

    def add_memory(self, folder: Path) -> None:
        """Reads the file in the memory's folder, if there is one. Raises `InvalidSetting` if it is not right."""
        layer = self._read(folder / FILE, of_memory=True)
        self._layers.insert(2, layer)

    def find(self, setting: Setting) -> Given:
        """The value of a setting."""
        for layer in self._layers:
            given = layer.get(setting.key)
            if given is not None and (given.text or given.origin.startswith("--")):
                return given
        return Given(setting.default, DEFAULT, setting.key)

    def _read(self, file: Path, of_memory: bool) -> Layer:
        document = _document(file)
        if document is None:
            return {}
        self.files.append(file)
        known = {setting.key: setting for setting in SETTINGS}
        layer: dict[str, Given] = {}
        for key, value in _flat(document):
            name = f"{key} in {file}"
            if of_memory and not (key in known and known[key].is_of_memory):
                self.ignored.append(key)
                logger.warning("%s is ignored: a file inside a memory cannot set it", name)
            elif key not in known:
                raise InvalidSetting(f"{name} is no setting; the settings are {', '.join(known)}")
            else:
                layer[key] = Given(_text(known[key], value, file, name), str(file), name)
        return layer


def user_file(environment: Mapping[str, str]) -> Path | None:
    """The `silica.toml` in the user's configuration folder; `None` if their home folder is not known."""
    home = environment.get("HOME") or environment.get("USERPROFILE")
    if sys.platform == "win32" and environment.get("APPDATA"):
        folder = Path(environment["APPDATA"])
    elif environment.get("XDG_CONFIG_HOME"):
        folder = Path(environment["XDG_CONFIG_HOME"])
    elif home:
        folder = Path(home) / ".config"
    else:
        return None
    return folder / "silica" / FILE


def _document(file: Path) -> dict[str, Any] | None:
    """The file as TOML; `None` if there is none."""
    try:
        if not os.path.lexists(file):
            return None
        is_file = stat.S_ISREG(file.stat().st_mode)
        data = file.read_bytes() if is_file else b""
    except (OSError, ValueError) as error:
        raise InvalidSetting(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from error
    if not is_file:  # reading a pipe or a device might never end
        raise InvalidSetting(f"{file} is not a file; move it away")
    import tomllib  # imported here: most memories have no such file

    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or a number of more digits than Python reads
        raise InvalidSetting(f"{file} is not TOML ({error}); mend it or move it away") from error


def _flat(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys with their values; `[s3]` is a table of keys, `[limits]` a value."""
    for key, value in document.items():
        if key == "s3" and isinstance(value, dict):
            yield from ((f"s3.{inner}", one) for inner, one in value.items())
        else:
            yield key, value


def _text(setting: Setting, value: object, file: Path, name: str) -> str:
    """A value as its variable would have it. A path is relative to the folder of its file."""
    if setting is LIMITS and isinstance(value, dict):
        value = ",".join(f"{limit}={amount}" for limit, amount in value.items())
    if setting is DENSE and isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidSetting(f"{name} must be a text or a number, not {value!r}")
    if setting in (PATH, PRICES) and value and not str(value).startswith("~"):
        return str(file.parent / str(value))
    return str(value)
