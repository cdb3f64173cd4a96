"""The least that a service like ours can be: FastAPI, a look-up of a key by its SHA-256, a limit counted by Lua, and
values in Redis, with a stream beside; nothing of it is safe from lost updates or on a disk. Its socket passes on what
Redis publishes. `python -m bench.service_floor REDIS_URL KEY PORT`."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import redis.asyncio
import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response, WebSocket
from starlette.responses import JSONResponse

COUNT = """
local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('EXPIRE', KEYS[1], 60) end
return n
"""


def application(address: str, key: str) -> FastAPI:
    """The floor."""
    app, store = FastAPI(), redis.asyncio.Redis.from_url(address)
    count = store.register_script(COUNT)
    known = {hashlib.sha256(key.encode()).hexdigest()}

    async def admit(request: Request) -> None:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if hashlib.sha256(token.encode()).hexdigest() not in known:
            raise HTTPException(401)
        if await count(keys=[f"floor:limit:{token}"]) > 1_000_000_000:
            raise HTTPException(429)

    @app.get("/context/{session}")
    async def read(request: Request, session: str) -> Response:
        await admit(request)
        value = await store.get(f"floor:{session}")
        return Response(value, media_type="application/json") if value else Response(status_code=404)

    @app.put("/context/{session}")
    async def write(request: Request, session: str) -> Response:
        await admit(request)
        body: Any = await request.json()
        async with store.pipeline(transaction=True) as together:
            together.set(f"floor:{session}", json.dumps(body), ex=86_400)
            together.xadd("floor:events", {"session": session}, maxlen=10_000)
            together.publish("floor:events", json.dumps(body))
            await together.execute()
        return JSONResponse(body)

    @app.websocket("/ws")
    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        async with store.pubsub() as listening:
            await listening.subscribe("floor:events")
            await websocket.send_text("{}")
            async for message in listening.listen():
                if message["type"] == "message":
                    await websocket.send_text(message["data"].decode())

    return app


if __name__ == "__main__":
    uvicorn.run(application(sys.argv[1], sys.argv[2]), port=int(sys.argv[3]), log_level="error", access_log=False)
