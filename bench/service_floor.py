"""The least that a service like ours can be: FastAPI, a look-up of a key by its SHA-256, a count of its requests, and
values in one store; nothing of it is safe from lost updates. `python -m bench.service_floor STORE KEY PORT`.

The store is the address of a Redis, with a stream beside and a socket that passes on what is published; or of a
PostgreSQL, or a file of SQLite: there a write is one transaction that waits for the disk.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
import threading
from collections import Counter
from typing import Any

import psycopg
import redis.asyncio
import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response, WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

COUNT = """
local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('EXPIRE', KEYS[1], 60) end
return n
"""
TABLE = "CREATE TABLE IF NOT EXISTS floor (id TEXT PRIMARY KEY, value TEXT)"
READ = "SELECT value FROM floor WHERE id = %s"
WRITE = "INSERT INTO floor VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET value = excluded.value RETURNING value"


class InRedis:
    """With its append-only file as it is set up: by default a second may be lost."""

    def __init__(self, address: str) -> None:
        self.store = redis.asyncio.Redis.from_url(address)
        self._count = self.store.register_script(COUNT)

    async def count(self, key: str) -> int:
        return int(await self._count(keys=[f"floor:limit:{key}"]))

    async def read(self, session: str) -> Any:
        return await self.store.get(f"floor:{session}")

    async def write(self, session: str, text: str) -> None:
        async with self.store.pipeline(transaction=True) as together:
            together.set(f"floor:{session}", text, ex=86_400)
            together.xadd("floor:events", {"session": session}, maxlen=10_000)
            together.publish("floor:events", text)
            await together.execute()


class InTable:
    """In a table of PostgreSQL or SQLite; requests are counted in the process."""

    def __init__(self, address: str) -> None:
        self._address, self._counts = address, Counter[str]()
        self._free: list[psycopg.AsyncConnection[Any]] = []
        self._lock = threading.Lock()
        if address.startswith("postgresql:"):
            with psycopg.connect(address) as connection:
                connection.execute(TABLE)
            return
        self._file = sqlite3.connect(address, isolation_level=None, check_same_thread=False)
        for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", TABLE):
            self._file.execute(statement)

    async def count(self, key: str) -> int:
        self._counts[key] += 1
        return self._counts[key]

    async def read(self, session: str) -> Any:
        return await self._run(READ, session)

    async def write(self, session: str, text: str) -> object:
        return await self._run(WRITE, session, text)

    async def _run(self, statement: str, *values: str) -> Any:
        if not self._address.startswith("postgresql:"):
            return await run_in_threadpool(self._in_file, statement.replace("%s", "?"), values)
        new = psycopg.AsyncConnection[Any].connect
        free = self._free.pop() if self._free else await new(self._address, autocommit=True)
        row = await (await free.execute(statement, values)).fetchone()
        self._free.append(free)
        return row and row[0]

    def _in_file(self, statement: str, values: tuple[str, ...]) -> Any:
        with self._lock:
            row = self._file.execute(statement, values).fetchone()
        return row and row[0]


def application(address: str, key: str) -> FastAPI:
    """The floor."""
    app, values = FastAPI(), InRedis(address) if address.startswith("redis:") else InTable(address)
    known = {hashlib.sha256(key.encode()).hexdigest()}

    async def admit(request: Request) -> None:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if hashlib.sha256(token.encode()).hexdigest() not in known:
            raise HTTPException(401)
        if await values.count(token) > 1_000_000_000:
            raise HTTPException(429)

    @app.get("/context/{session}")
    async def read(request: Request, session: str) -> Response:
        await admit(request)
        value = await values.read(session)
        return Response(value, media_type="application/json") if value else Response(status_code=404)

    @app.put("/context/{session}")
    async def write(request: Request, session: str) -> Response:
        await admit(request)
        body: Any = await request.json()
        await values.write(session, json.dumps(body))
        return JSONResponse(body)

    @app.websocket("/ws")
    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        assert isinstance(values, InRedis)
        async with values.store.pubsub() as listening:
            await listening.subscribe("floor:events")
            await websocket.send_text("{}")
            async for message in listening.listen():
                if message["type"] == "message":
                    await websocket.send_text(message["data"].decode())

    return app


if __name__ == "__main__":
    uvicorn.run(application(sys.argv[1], sys.argv[2]), port=int(sys.argv[3]), log_level="error", access_log=False)
