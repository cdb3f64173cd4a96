"""Ids that are the same in each run: what is told to a model names operations and revisions, and marks what is data.

`python -m tests.replay.counted memory …` is `silica memory …` with such ids.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from unittest import mock


@contextmanager
def counted_ids(seed: str) -> Iterator[None]:
    """Meanwhile the ids of operations, and with a fixed clock those of revisions, follow from the seed."""
    count = itertools.count()

    def some(length: int) -> bytes:
        return hashlib.sha256(f"{seed} {next(count)}".encode()).digest()[:length]

    with (
        mock.patch("memory_v2.agent.operation.os", SimpleNamespace(urandom=some)),
        mock.patch("memory_v2.mcp.frame.secrets", SimpleNamespace(token_hex=lambda length: some(length).hex())),
    ):
        yield


if __name__ == "__main__":
    from memory_v2.cli import main

    with counted_ids(os.environ["SILICA_MEMORY_NOW"]):
        main()
