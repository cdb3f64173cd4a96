"""The offline folder: what was read, what waits to be written, and what could not be.

    cache/DIGEST.json        the last answer to a read
    outbox/ORDER-ID.json     a write that is not known to be delivered, in the order of writing
    undelivered/ORDER-ID.json  one that could not be delivered, with the reason

Each is a file of its own that appears and disappears as a whole, so that a crash leaves nothing half written and
several processes may share the folder. API keys are not in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from distributed_memory.wire import Request


@dataclass(frozen=True, slots=True)
class Write:
    """A write in the outbox. `id` is its Idempotency-Key. `attempted_at` is when the service may first have received
    it, and `attempted_by` the id of the API key that was used then; the moments are in seconds since 1970."""

    id: str
    order: int
    method: str
    path: str
    body: Any
    query: dict[str, str]
    headers: dict[str, str]
    written_at: float
    attempted_at: float | None = None
    attempted_by: str | None = None

    @property
    def request(self) -> Request:
        """The request, which is the same however often it is sent."""
        made = Request(self.method, self.path, self.body, self.query, self.headers)
        return made.with_headers(Idempotency_Key=self.id)

    @property
    def file_name(self) -> str:
        """Sorts as the writes were made."""
        return f"{self.order:020d}-{self.id}.json"


class Folder:
    """An offline folder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._last = 0
        self._lock = threading.Lock()

    def add(self, request: Request, now: float) -> Write:
        """Keeps a write, after all others. It is on the disk when this returns."""
        with self._lock:
            self._last = max(self._last + 1, int(now * 1_000_000))
            order = max(self._last, self._newest() + 1)
            self._last = order
        key = str(uuid.uuid4())
        write = Write(
            key, order, request.method, request.path, request.body, dict(request.query), dict(request.headers), now
        )
        self.update(write)
        return write

    def mark(self, write: Write, at: float | None, by: str | None) -> Write:
        """Keeps when a write may first have been received."""
        marked = replace(write, attempted_at=at, attempted_by=by)
        self.update(marked)
        return marked

    def update(self, write: Write) -> None:
        """Keeps a write as it is now."""
        self._store("outbox", write.file_name, asdict(write))

    def writes(self) -> list[Write]:
        """The writes that wait, in order."""
        return [Write(**document) for document in self._documents("outbox")]

    def is_waiting(self, write: Write) -> bool:
        """Whether a write still waits: another process may have delivered it."""
        return (self._path / "outbox" / write.file_name).exists()

    def remove(self, write: Write) -> None:
        """Forgets a write whose answer is known."""
        (self._path / "outbox" / write.file_name).unlink(missing_ok=True)

    def give_up(self, write: Write, error: dict[str, Any]) -> None:
        """Puts a write among those that could not be delivered."""
        self._store("undelivered", write.file_name, {**asdict(write), "error": error})
        self.remove(write)

    def undelivered(self) -> list[dict[str, Any]]:
        """The writes that could not be delivered, in order."""
        return list(self._documents("undelivered"))

    def discard(self, write_id: str) -> bool:
        """Forgets a write that could not be delivered; says whether there was one."""
        found = list((self._path / "undelivered").glob(f"*-{uuid.UUID(write_id)}.json"))
        for path in found:
            path.unlink(missing_ok=True)
        return bool(found)

    def read(self, request: Request) -> dict[str, Any] | None:
        """The last answer to this request: `document`, `etag` and `read_at`."""
        path = self._path / "cache" / _name_of(request)
        return _load(path)

    def keep(self, request: Request, document: Any, etag: str, now: float) -> None:
        """Keeps an answer to a read."""
        self._store("cache", _name_of(request), {"document": document, "etag": etag, "read_at": now})

    def forget(self, request: Request) -> None:
        """Forgets the answer to a read."""
        (self._path / "cache" / _name_of(request)).unlink(missing_ok=True)

    def _newest(self) -> int:
        names = self._names("outbox")
        return int(names[-1].partition("-")[0]) if names else 0

    def _names(self, kind: str) -> list[str]:
        try:
            return sorted(path.name for path in (self._path / kind).iterdir() if path.suffix == ".json")
        except FileNotFoundError:
            return []

    def _documents(self, kind: str) -> Iterator[dict[str, Any]]:
        for name in self._names(kind):
            document = _load(self._path / kind / name)
            if document is not None:  # else another process has just removed it
                yield document

    def _store(self, kind: str, name: str, document: dict[str, Any]) -> None:
        folder = self._path / kind
        for each in (self._path, folder):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = folder / f"{name}.{uuid.uuid4().hex}"
        data = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(folder / name)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _flush(folder)


def _load(path: Path) -> dict[str, Any] | None:
    try:
        return dict(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None


def _flush(folder: Path) -> None:
    """Makes the names in a folder durable, where a system can."""
    if os.name != "nt":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _name_of(request: Request) -> str:
    source = request.headers.get("X-Memory-Source", "")
    asked = json.dumps([request.method, request.path, request.body, sorted(request.query.items()), source])
    return f"{hashlib.sha256(asked.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"
