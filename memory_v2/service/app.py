"""The application: routes, health and metrics, and an OpenAPI document in which every error stands."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from functools import partial

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import func, select
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse

from memory_v2 import __version__
from memory_v2.service import agents, asyncapi, contexts, entries, events, handoffs, issuing, pages, tables
from memory_v2.service.edge import BASE, Edge
from memory_v2.service.openapi import PROBLEM, described
from memory_v2.service.parts import Parts
from memory_v2.service.problem import Problem, problem_of
from memory_v2.service.viewing import BASE as VIEW
from memory_v2.service.viewing import Viewing

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
SWEEP_SECONDS = 30.0
"""How often what has expired is removed; until then it only takes room."""
EVENT_SECONDS = 86_400.0
"""How long events are kept, in seconds: a cursor that is older has to load the state again."""
READY_SECONDS = 0.8
"""How long a store may take to answer before the service counts as not ready."""
_ROUTERS = tuple(room.router for room in (contexts, entries, pages, handoffs, agents, issuing, events))
_BY_STATUS = {401: "UNAUTHENTICATED", 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 415: "UNSUPPORTED_MEDIA_TYPE"}


def application(parts: Parts, origins: Sequence[str] = ()) -> FastAPI:
    """The service over these parts; web pages of these origins may use it too."""
    app = FastAPI(
        title="Silica Memory",
        version=__version__,
        description="A shared memory for many agents.",
        lifespan=_lifespan,
        docs_url="/docs",
        redoc_url=None,
    )
    app.state.parts = parts
    for router in _ROUTERS:
        app.router.routes.extend(router.routes)  # included ones would be matched twice for each request
    app.openapi = partial(described, app, BASE)  # type: ignore[method-assign]  # as FastAPI's guide has it
    app.include_router(events.sockets)
    app.state.viewing = Viewing(parts)
    for path in (VIEW, f"{VIEW}/{{path:path}}"):
        app.add_route(path, app.state.viewing.respond, methods=["GET", "POST"], include_in_schema=False)
    _add_health(app, parts)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_middleware(GZipMiddleware, minimum_size=2_000)
    app.add_middleware(Edge, parts=parts)
    if origins:  # outermost: a browser asks first, without a key
        app.add_middleware(
            CORSMiddleware, allow_origins=origins, allow_methods=METHODS, allow_headers=["*"], expose_headers=["*"]
        )
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    parts: Parts = app.state.parts
    running = [asyncio.create_task(parts.feed.run()), asyncio.create_task(_sweep(parts))]
    if parts.redis:
        running.append(asyncio.create_task(parts.redis.listen(parts.feed.wake)))
    try:
        yield
    finally:
        parts.feed.close()
        for task in running[1:]:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await run_in_threadpool(parts.close)
        if parts.redis:
            await parts.redis.close()


async def _sweep(parts: Parts) -> None:
    while True:
        try:
            await run_in_threadpool(parts.store.sweep, EVENT_SECONDS)
            await run_in_threadpool(_measure, parts)
        except Exception as error:
            if problem_of(error) is None:
                raise
            parts.metrics.background_failures.labels("sweep").inc()
        await asyncio.sleep(SWEEP_SECONDS)


def _measure(parts: Parts) -> None:
    table = tables.working_memory
    with parts.store.transaction("*", writes=False) as transaction:
        query = select(table.c.level, func.sum(table.c.bytes)).group_by(table.c.level)
        for level, size in transaction.connection.execute(query):
            parts.metrics.storage.labels(level).set(size)
        count = transaction.connection.execute(select(func.count()).select_from(tables.contexts)).scalar_one()
        parts.metrics.sessions.set(count)


def _add_health(app: FastAPI, parts: Parts) -> None:
    @app.get("/asyncapi.json", include_in_schema=False)
    async def socket_document() -> Response:
        return JSONResponse(asyncapi.described(__version__, BASE, PROBLEM))

    @app.get("/livez", include_in_schema=False)
    async def livez() -> Response:
        return JSONResponse({"status": "ok"})

    @app.get("/readyz", include_in_schema=False)
    async def readyz() -> Response:
        checks = {"store": "ok", "feed": "failing" if parts.feed.failing else "ok"}
        try:
            await asyncio.wait_for(run_in_threadpool(parts.check), READY_SECONDS)
        except Exception as error:  # noqa: BLE001 - whatever it is, the service is not ready
            checks["store"] = type(error).__name__
        if parts.is_ending:
            checks["server"] = "ending"
        is_ready = set(checks.values()) == {"ok"}
        return JSONResponse({"status": "ok" if is_ready else "unavailable", "checks": checks}, 200 if is_ready else 503)

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        await run_in_threadpool(_measure, parts)
        return Response(generate_latest(parts.metrics.registry), media_type=CONTENT_TYPE_LATEST)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    told = [{"loc": list(each["loc"]), "msg": each["msg"]} for each in error.errors()]
    is_handoff = bool(told) and request.url.path == f"{BASE}/handoff"
    raise Problem("INVALID_HANDOFF" if is_handoff else "VALIDATION_FAILED", errors=told)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, Problem):  # the body was refused while it was read
        raise error.__cause__
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_methods(request.url.path))
    raise Problem(_BY_STATUS.get(error.status_code, "VALIDATION_FAILED"), headers=headers)


def _methods(path: str) -> list[str]:
    """The methods of the resource at a path: of the routes that are written as the first one that fits."""
    routes = [route for router in _ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    fitting = [route.path for route in routes if route.path_regex.match(path)]
    return sorted({method for route in routes if route.path in fitting[:1] for method in route.methods or ()})
