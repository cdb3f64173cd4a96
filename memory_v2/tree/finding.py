"""A problem that a check or a plan tells: what kind, how bad, where, and in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of the tree, with its page and line (0 for the whole page).

    An `error` breaks a property of the tree; a `notice` is worth a look. `mend` says how `apply` would repair it, and
    is empty if a person must decide.
    """

    kind: str
    severity: Literal["error", "notice"]
    path: str
    line: int
    message: str
    mend: str = ""
