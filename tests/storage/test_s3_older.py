"""A bucket that an older program wrote to: its records name old versions of the pages, which the bucket keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2.errors import UsageError
from memory_v2.memory import Memory
from memory_v2.storage.base import version_of
from memory_v2.storage.format import FORMAT
from memory_v2.storage.history import HistoryDamaged
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.s3.chain import id_of

from .s3_server import HOST, Machine, client, keys, new_bucket, put

pytestmark = pytest.mark.allow_hosts([HOST])

States = list[dict[str, bytes]]


@pytest.fixture
def bucket() -> Iterator[str]:
    with new_bucket(versions=True) as name:
        yield name


@pytest.fixture
def states(bucket: str, tmp_path: Path) -> States:
    """Makes the store; returns the pages before each of its operations, and after the last."""
    local = Memory(LocalStorage(tmp_path / "folder"), threshold=2_048)
    found: States = [{}]
    for number in range(3):
        local.write(f"## Harbour {number}\n\n" + f"The boat number {number} lies in harbour {number}. " * 20)
        found.append({path: local.storage.read(path).data for path in local.storage.list_files()})
    history, known, before = local.storage.history, dict[str, bytes](), ""
    for number, one in enumerate(reversed(list(history.revisions())), 1):
        now = history.pages(one.id)
        pages = {path: stored_as(bucket, path, now.get(path)) for path in one.paths}
        names = ("kind", "summary", "operation", "decided_by", "degraded", "undoes", "why")
        told = {name: getattr(one, name) for name in names}
        data = json.dumps({"before": before, **told, "when": one.when.isoformat(), "pages": pages}).encode()
        put(bucket, f"p/.metadata/history/{number:010}.json", data)
        known, before = now, id_of(data)
    assert known == found[-1]
    put(bucket, "p/.metadata/format.json", b'{"format": 2}\n')
    return found


def stored_as(bucket: str, path: str, data: bytes | None) -> dict[str, str] | None:
    """Stores or removes a page; returns what an older record says of it."""
    if data is None:
        client().delete_object(Bucket=bucket, Key=f"p/{path}.md")
        return None
    answer = client().put_object(Bucket=bucket, Key=f"p/{path}.md", Body=data)
    return {"sha": version_of(data), "version_id": answer["VersionId"]}


def pages(bucket: str) -> dict[str, bytes]:
    found = keys(bucket).items()
    return {key[2:].removesuffix(".md"): data for key, data in found if key.endswith(".md")}


def expire(bucket: str) -> None:
    """Removes all old versions, as a lifecycle rule does."""
    for page in client().get_paginator("list_object_versions").paginate(Bucket=bucket):
        for one in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            if not one["IsLatest"]:
                client().delete_object(Bucket=bucket, Key=one["Key"], VersionId=one["VersionId"])


def test_it_opens_is_brought_up_to_date_and_can_be_undone_back_to_its_first_operation(
    bucket: str, machine: Machine, states: States
) -> None:
    memory = Memory(machine(), threshold=2_048)
    assert len(memory.history()) == 3
    memory.write("The lighthouse is white.")
    assert json.loads(keys(bucket)["p/.metadata/format.json"]) == {"format": FORMAT}
    assert b"lighthouse" in b"".join(pages(bucket).values())
    for state in reversed(states):
        memory.undo()
        assert pages(bucket) == state
        memory = Memory(machine("another"), threshold=2_048)
    with pytest.raises(UsageError):
        memory.undo()


def test_old_versions_that_have_expired_are_told_and_all_else_goes_on(
    bucket: str, machine: Machine, states: States
) -> None:
    expire(bucket)
    memory = Memory(machine(), threshold=2_048)
    assert len(memory.history()) == 3
    with pytest.raises(HistoryDamaged, match=r"version '.*' of its object is no longer in .*a lifecycle"):
        memory.undo()
    assert pages(bucket) == states[-1]
    memory.write("The lighthouse is white.")
    memory.undo()
    assert pages(bucket) == states[-1]


def test_an_id_that_names_no_version_is_told_as_damage(bucket: str, machine: Machine, states: States) -> None:
    assert states
    key = "p/.metadata/history/0000000001.json"
    for number in range(2, 20):
        client().delete_object(Bucket=bucket, Key=key.replace("01.json", f"{number:02}.json"))
    put(bucket, key, keys(bucket)[key].replace(b'"version_id": "', b'"version_id": "no'))
    history = machine().history
    (found,) = history.revisions()
    with pytest.raises(HistoryDamaged, match="version 'no"):
        history.read(found.id, "memory")
