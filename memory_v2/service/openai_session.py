"""A conversation of OpenAI's Agents SDK, kept in the service: several processes, or several agents, go on with the same
one. It has the methods of the SDK's `Session`, and needs neither the SDK nor the extra `service`.

The items are a list in the context of the session, which lives for 7 days after its last change.
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from memory_v2.errors import StorageConflict, StorageError

Item = dict[str, Any]
LIST = "conversation_items"
TRIES = 8
"""How often a request is sent that is not answered, and an item is taken that others take at the same time."""
FIRST_WAIT_SECONDS = 0.1
"""Seconds before the second try; each further wait is twice as long."""
ANSWER_SECONDS = 20.0
_PATH = f"/context/working/{LIST}"
_EMPTY = [{"op": "add", "path": _PATH, "value": []}]


class ServiceSession:
    """`Runner.run(agent, text, session=ServiceSession("CHAT-1", "http://127.0.0.1:8080", key))`."""

    session_settings: Any = None
    """Settings of the SDK; a `limit` in them is how many items it asks for."""

    def __init__(self, session_id: str, address: str, key: str, source: str | None = None) -> None:
        self.session_id = session_id
        self._base = f"{address.rstrip('/')}/api/v1/memory/context"
        self._path = f"/{quote(session_id, safe='')}"
        self._headers = {"Authorization": f"Bearer {key}"} | ({"X-Memory-Source": source} if source else {})

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """The items in order; with a limit, the newest. Raises `StorageError`."""
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        found, _ = await asyncio.to_thread(self._read)
        items = found or []
        return items if limit is None else items[max(0, len(items) - limit) :]

    async def add_items(self, items: list[Item]) -> None:
        """Adds items at the end, all of them together. Raises `StorageError`."""
        if items:
            await asyncio.to_thread(self._add, items)

    async def pop_item(self) -> Item | None:
        """Takes the newest item away and returns it; of several who do so at once, each gets another one."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Takes all items away; the rest of the context stays."""
        await asyncio.to_thread(self._clear)

    def _read(self) -> tuple[list[Item] | None, str]:
        """The items, and the ETag of the context; `None` if there is no list."""
        status, body, tag = self._ask("GET", self._path)
        if status == HTTPStatus.NOT_FOUND:
            return None, ""
        return _expected(status, body)["context"]["working"].get(LIST), tag

    def _pop(self) -> Item | None:
        for _ in range(TRIES):
            items, tag = self._read()
            if not items:
                return None
            step = {"op": "remove", "path": f"{_PATH}/{len(items) - 1}"}
            status, body, _ = self._ask("PATCH", self._path, [step], {"If-Match": tag})
            if status != HTTPStatus.PRECONDITION_FAILED:
                _expected(status, body)
                return items[-1]
        raise StorageConflict(f"the session {self.session_id} is changed all the time")

    def _add(self, items: list[Item]) -> None:
        steps = [{"op": "add", "path": f"{_PATH}/-", "value": item} for item in items]
        status, body, _ = self._ask("PATCH", self._path, steps)
        if status in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            self._begin()
            status, body, _ = self._ask("PATCH", self._path, steps)
        _expected(status, body)

    def _begin(self) -> None:
        """Makes an empty list where there is none."""
        package = {"session_id": self.session_id, "context": {"working": {LIST: []}}}
        status, body, _ = self._ask("POST", "", package)
        if status != HTTPStatus.CONFLICT:
            _expected(status, body)
            return
        items, tag = self._read()
        if items is None:  # if another is faster, its list is there
            self._ask("PATCH", self._path, _EMPTY, {"If-Match": tag})

    def _clear(self) -> None:
        status, body, _ = self._ask("PATCH", self._path, _EMPTY)
        if status != HTTPStatus.NOT_FOUND:
            _expected(status, body)

    def _ask(
        self, method: str, path: str, body: Any = None, more: Mapping[str, str] | None = None
    ) -> tuple[int, Any, str]:
        """Status, body and ETag. Without an answer, or with Retry-After in it, the request is sent again; by its
        Idempotency-Key it happens once."""
        kind = "application/json-patch+json" if method == "PATCH" else "application/json"
        headers = self._headers | {"Content-Type": kind, "Idempotency-Key": uuid.uuid4().hex} | dict(more or {})
        data = None if body is None else json.dumps(body).encode()
        last: Exception | None = None
        for attempt in range(TRIES):
            request = urllib.request.Request(f"{self._base}{path}", data, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
                    return answer.status, json.loads(answer.read() or b"null"), answer.headers.get("ETag", "")
            except urllib.error.HTTPError as error:
                if "Retry-After" not in error.headers:
                    return error.code, json.loads(error.read() or b"null"), ""
                last = error
            except OSError as error:
                last = error
            time.sleep(FIRST_WAIT_SECONDS * 2**attempt)
        raise StorageError(f"{self._base} has not answered {TRIES} times: {last}") from last


def _expected(status: int, body: Any) -> Any:
    if status >= HTTPStatus.BAD_REQUEST:
        error = body.get("error", {}) if isinstance(body, dict) else {}
        raise StorageError(f"the service has refused: {status} {error.get('code', '')} {error.get('message', '')}")
    return body
