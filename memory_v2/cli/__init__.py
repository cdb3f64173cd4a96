"""The command line: `silica memory <verb>`, a thin face over `Memory`."""

from __future__ import annotations

import gc

GARBAGE_AFTER = 100_000
"""How many new objects there are before Python looks for garbage: a command makes fewer, and ends."""


def main() -> None:
    """Runs the program on the arguments of this process, and ends it with an exit code."""
    gc.set_threshold(GARBAGE_AFTER)
    from memory_v2.cli.app import silica

    silica.main()
