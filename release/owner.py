"""Writes the account and the name of the repository where they stand for `OWNER/silica-memory`: once, in a checkout.

`python release/owner.py acme/silica-memory`; without a name, that of the workflow that runs. Only the standard library.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = (
    "release/server.json",
    "clients/n8n/package.json",
    "clients/n8n/credentials/DistributedMemoryApi.credentials.ts",
    "clients/n8n/nodes/DistributedMemory/DistributedMemory.node.json",
    "clients/n8n/nodes/DistributedMemoryTrigger/DistributedMemoryTrigger.node.json",
)
"""All files with a placeholder."""


def named(text: str, repository: str) -> str:
    """A text with the repository's name instead of the placeholder."""
    return text.replace("OWNER/silica-memory", repository).replace("OWNER", repository.partition("/")[0])


def main() -> None:
    """Writes the name into all files."""
    repository = (sys.argv[1:] or [os.environ.get("GITHUB_REPOSITORY", "")])[0]
    if not re.fullmatch(r"[\w-]+/[\w.-]+", repository):
        sys.exit("usage: python release/owner.py OWNER/REPOSITORY")
    for name in FILES:
        file = ROOT / name
        file.write_text(named(file.read_text("utf-8"), repository), "utf-8")


if __name__ == "__main__":
    main()
