"""The command line: `silica memory <verb>`, a thin face over `Memory`."""

from __future__ import annotations


def main() -> None:
    """Runs the program on the arguments of this process, and ends it with an exit code."""
    from memory_v2.cli.app import silica

    silica.main()
