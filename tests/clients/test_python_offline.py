"""The outbox of the Python client under what a case cannot say: kills, other processes, threads, and old writes."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from distributed_memory import MemoryClient, MemoryClientError, OutcomeUnknown, Retry, is_pending
from tests.clients.stage import Stage
from tests.clients.test_python import QUICK

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from distributed_memory import MemoryClient, Retry
key, address, folder, tag = sys.argv[1:]
client = MemoryClient(key, address, source="hawk", offline=folder, retry=Retry(times=0))
for n in range(1000):
    print(n, flush=True)
    client.create_entry({"n": n}, tags=[tag])
"""


def client_of(stage: Stage, folder: Path, key: str = "", retry: Retry = QUICK) -> MemoryClient:
    return MemoryClient(key or stage.key, stage.address, source="hawk", offline=folder, retry=retry)


def numbers(client: MemoryClient, tag: str) -> list[int]:
    return [entry["data"]["content"]["n"] for entry in client.query(tags=[tag], limit=500)["entries"]]


def test_a_killed_client_loses_no_write_and_does_none_twice(the_stage: Stage, tmp_path: Path) -> None:
    the_stage.do({"begin": "kills"})
    for killed_after in (3, 7, 1):
        tag = f"kill-{tmp_path.name}-{killed_after}"
        command = [sys.executable, "-c", WRITER, the_stage.key, the_stage.address, str(tmp_path), tag]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT / "clients/python") as writer:
            assert writer.stdout is not None
            for line in writer.stdout:
                begun = int(line)
                if begun == killed_after:
                    break
            time.sleep(0.004 * killed_after)  # somewhere between writing it down and hearing the answer
            writer.kill()
        with client_of(the_stage, tmp_path) as client:
            client.replay()
            found = numbers(client, tag)
            assert found == list(range(len(found)))  # in order, none twice, no hole
            assert len(found) >= begun  # each write that had returned
            assert client.pending() == client.undelivered() == []


def test_threads_may_share_a_client(the_stage: Stage, tmp_path: Path) -> None:
    the_stage.do({"begin": "threads"})
    tag = f"threads-{tmp_path.name}"
    with client_of(the_stage, tmp_path) as client, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: client.create_entry({"n": n}, tags=[tag]), range(40)))
        assert sorted(numbers(client, tag)) == list(range(40))
        assert client.pending() == []


def test_clients_may_share_a_folder(the_stage: Stage, tmp_path: Path) -> None:
    the_stage.do({"begin": "shared"})
    tag = f"shared-{tmp_path.name}"
    clients = [client_of(the_stage, tmp_path) for _ in range(3)]
    the_stage.shut()
    for n, client in enumerate(clients * 3):
        assert is_pending(client.create_entry({"n": n}, tags=[tag]))
    the_stage.open()
    threads = [threading.Thread(target=client.replay) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers(clients[0], tag) == list(range(9))
    for client in clients:
        assert client.pending() == client.undelivered() == []
        client.close()


@pytest.mark.parametrize("reason", ["a day ago", "another API key"])
def test_what_may_have_been_received_and_is_not_known_any_more_is_not_sent_again(
    reason: str, the_stage: Stage, tmp_path: Path
) -> None:
    the_stage.do({"begin": "old"})
    tag = f"old-{tmp_path.name}"
    the_stage.do({"fault": "lose", "on": "/entries", "times": 4})
    with client_of(the_stage, tmp_path) as client:
        assert is_pending(client.create_entry({"n": 1}, tags=[tag]))
    (waiting,) = (tmp_path / "outbox").iterdir()
    document: dict[str, Any] = json.loads(waiting.read_text("utf-8"))
    changes: dict[str, dict[str, Any]] = {
        "a day ago": {"attempted_at": time.time() - 86_401},
        "another API key": {"attempted_by": "000/hawk"},
    }
    waiting.write_text(json.dumps(document | changes[reason]), "utf-8")
    with client_of(the_stage, tmp_path) as client:
        (told,) = client.replay()["undelivered"]
        assert told["error"]["kind"] == OutcomeUnknown.__name__ and reason in told["error"]["message"]
        assert numbers(client, tag) == [1]
        assert client.discard(told["id"]) and client.undelivered() == []


def test_what_was_certainly_not_received_is_sent_however_old_it_is(the_stage: Stage, tmp_path: Path) -> None:
    the_stage.do({"begin": "unsent"})
    tag = f"unsent-{tmp_path.name}"
    the_stage.shut()
    with client_of(the_stage, tmp_path) as client:
        client.create_entry({"n": 1}, tags=[tag])
    (waiting,) = (tmp_path / "outbox").iterdir()
    assert json.loads(waiting.read_text("utf-8"))["attempted_at"] is None
    the_stage.open()
    with client_of(the_stage, tmp_path, retry=Retry()) as client:
        assert client.replay()["delivered"] == 1


def test_a_key_that_is_refused_leaves_what_waits_where_it_is(the_stage: Stage, tmp_path: Path) -> None:
    the_stage.do({"begin": "refused"})
    tag = f"refused-{tmp_path.name}"
    the_stage.shut()
    with client_of(the_stage, tmp_path) as client:
        client.create_entry({"n": 1}, tags=[tag])
    the_stage.open()
    with client_of(the_stage, tmp_path, "dm_000000000000_unknown") as client, pytest.raises(MemoryClientError):
        client.replay()
    with client_of(the_stage, tmp_path) as client:
        assert client.replay()["delivered"] == 1
        assert numbers(client, tag) == [1]


def test_a_folder_is_private_and_holds_no_key(the_stage: Stage, tmp_path: Path) -> None:
    the_stage.do({"begin": "private"})
    folder = tmp_path / "offline"
    with client_of(the_stage, folder) as client:
        client.query(tags=["none"])
        the_stage.shut()
        client.create_entry({"n": 1})
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.parent.name for path in files} == {"cache", "outbox"}
    secret = the_stage.key.split("_", 2)[2]  # which may have such a line in it
    assert all(secret not in path.read_text("utf-8") for path in files)
    assert all(path.stat().st_mode & 0o077 == 0 for path in [*files, folder])
