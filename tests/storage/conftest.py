"""A bucket on this machine, machines that have their memory in it, and the program on a vault and on a disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2.storage.s3.storage import S3Storage
from tests.cli.program import Program
from tests.storage.disks import Disk
from tests.storage.vault import NOTES, VAULT

from .s3_server import Door, Machine, door, new_bucket, server


@pytest.fixture
def bucket() -> Iterator[str]:
    with new_bucket() as name:
        yield name


@pytest.fixture
def entrance() -> Iterator[Door]:
    with door() as entrance:
        yield entrance


@pytest.fixture
def machine(bucket: str, tmp_path: Path) -> Machine:
    """A machine with a cache of its own, or that of the name; it asks the server, or the door before it."""

    def start(name: str = "one", url: str = "", ttl: float = 300) -> S3Storage:
        return S3Storage(bucket, "p", endpoint=url or server(), cache=tmp_path / name, ttl=ttl)

    return start


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path, tmp_path / "memory")


@pytest.fixture
def vault(program: Program) -> Program:
    """The program on somebody's Obsidian vault."""
    for path, text in NOTES.items():
        program.page(path, text)
    for name, text in VAULT.items():
        file = program.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (1_700_000_000, 1_700_000_000))
    (program.folder / "drawings" / "new").mkdir(parents=True)
    return program


@pytest.fixture
def disk(program: Program, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """The disk that the memory lies on."""
    return Disk(program.folder, monkeypatch)
