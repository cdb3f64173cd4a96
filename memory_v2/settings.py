"""What can be set, by argument or by environment. Faces read the environment once, at their entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_v2.errors import InvalidSetting

DEFAULT_FOLDER = "~/.silica/memory_v2"
DEFAULT_MODEL = "offline"
DEFAULT_THRESHOLD = 10_240
LEAST_THRESHOLD = 2_048


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the memory is, who decides, and the bytes that a page may have."""

    path: Path
    model: str = DEFAULT_MODEL
    threshold: int = DEFAULT_THRESHOLD

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str], path: str | Path | None = None, model: str | None = None
    ) -> Settings:
        """Arguments, else `SILICA_MEMORY_PATH`, `_MODEL`, `_SIZE_THRESHOLD`, else the defaults. An empty variable is as
        none. Raises `InvalidSetting`."""
        folder = str(path) if path is not None else environment.get("SILICA_MEMORY_PATH") or DEFAULT_FOLDER
        if not folder or "\0" in folder:
            raise InvalidSetting("the memory's folder cannot be an empty path, nor hold a NUL")
        try:
            expanded = Path(folder).expanduser()
        except RuntimeError as error:
            raise InvalidSetting(f"the memory's folder {folder!r} names a home that is not known") from error
        return cls(
            path=expanded,
            model=model or environment.get("SILICA_MEMORY_MODEL") or DEFAULT_MODEL,
            threshold=_threshold(environment.get("SILICA_MEMORY_SIZE_THRESHOLD") or str(DEFAULT_THRESHOLD)),
        )


def is_count(value: object, least: int) -> bool:
    """Whether something given from outside is a whole number of at least so much."""
    return isinstance(value, int) and value >= least


def _threshold(text: str) -> int:
    try:
        threshold = int(text)
    except ValueError as error:
        raise InvalidSetting(f"SILICA_MEMORY_SIZE_THRESHOLD is a number of bytes, not {text!r}") from error
    if threshold < LEAST_THRESHOLD:
        raise InvalidSetting(f"SILICA_MEMORY_SIZE_THRESHOLD is at least {LEAST_THRESHOLD} bytes, not {threshold}")
    return threshold
