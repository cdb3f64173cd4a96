"""A memory that holds a secret in many places, and a search of every byte that a folder or a bucket has."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from dulwich.repo import Repo

from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from tests.operations.scenes import offline
from tests.storage.s3_server import client
from tests.templates import copied_from

SECRET = "KX-4711-zulu"
TEXTS: tuple[tuple[str, str], ...] = (
    ("garden", f"# Garden\n\nLeeks are planted in April.\n\nThe gate code is {SECRET}.\n\n> It is\n> {SECRET}!\n"),
    ("kiln", "# The kiln\n\nIt is warm on Mondays, see [[garden]].\n"),
    (f"gates/{SECRET}", f"# The gate {SECRET}\n\nIt is green.\n"),
    ("kiln", f"The kiln's door opens with {SECRET} too, see [[gates/{SECRET}|the gate]].\n"),
    ("shed", f"- {'a long tale of a shed, ' * 4}which opens with {SECRET}\n- nothing else\n"),
)


def filled(memory: Memory) -> Memory:
    """A memory with the secret on pages, in paths, titles, descriptions, the past and traces."""
    for path, text in TEXTS:
        memory.write(text, path, "append")
    memory.write(f"The old code was {SECRET}.", "old")
    memory.delete("old")
    memory.write(f"The gate code is {SECRET}.")  # said already: the text is in the message of the commit
    memory.search(f"which gate opens with {SECRET}?")
    memory.write("Tomatoes like the sun.", "garden", "append")
    return memory


def filled_in(folder: Path) -> Memory:
    """The same memory in this folder, opened by a process that has not written it."""
    copied_from(_fill, folder)
    return offline(storage=LocalStorage(folder))


def _fill(folder: Path) -> None:
    with offline(storage=LocalStorage(folder)) as memory:
        filled(memory)


def places(folder: Path, secret: str = SECRET) -> list[str]:
    """Where in a folder the secret is: in names, in files as they are, and in objects of git, loose or packed."""
    found = [
        str(file) for file in folder.rglob("*") if secret in file.name or (file.is_file() and _holds(file, secret))
    ]
    for place in folder.rglob("*.git"):
        repo = Repo(str(place))
        found += [f"{place}: {name!r}" for name in repo.object_store if secret.encode() in repo[name].as_raw_string()]
        repo.close()
    return found


def _holds(file: Path, secret: str) -> bool:
    data = file.read_bytes()
    with suppress(zlib.error):
        data += zlib.decompress(data)
    return secret.encode() in data + b"".join(_texts_of_index(file))


def _texts_of_index(file: Path) -> Iterator[bytes]:
    """The texts that an index holds, which are compressed."""
    if file.suffix == ".sqlite":
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(file)) as tables:  # no such table
            for (data,) in tables.execute("SELECT data FROM texts"):
                yield zlib.decompressobj(-15).decompress(data)


def objects(bucket: str) -> Iterator[tuple[str, bytes]]:
    """Every version of every object of a bucket, with its key and its bytes; of deletions, the keys."""
    for page in client().get_paginator("list_object_versions").paginate(Bucket=bucket):
        for one in page.get("Versions", ()):
            got = client().get_object(Bucket=bucket, Key=one["Key"], VersionId=one["VersionId"])
            yield one["Key"], got["Body"].read()
        for gone in page.get("DeleteMarkers", ()):
            yield gone["Key"], b""
