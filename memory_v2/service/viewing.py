"""The page on which a person sees the memory, for keys that may read pages: the views of `memory_v2.view` behind a
sign-in. A session is kept where tickets are, so that every process of the service knows it."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator
from functools import partial
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as Incoming
from starlette.responses import Response as Outgoing
from starlette.responses import StreamingResponse

from memory_v2.agent.operation import asked_by
from memory_v2.service.access import Caller
from memory_v2.service.edge import admitted, holder_of
from memory_v2.service.options import READ_PAGES, WRITE_PAGES
from memory_v2.service.pages import announce
from memory_v2.service.parts import Parts
from memory_v2.service.problem import Problem
from memory_v2.tree.path import is_entry
from memory_v2.view.app import answer, headers_of, static
from memory_v2.view.gate import form_secret, is_from_page, refusal
from memory_v2.view.live import GREETING, LOOK_SECONDS, Changes
from memory_v2.view.rendering import render
from memory_v2.view.visit import Subject, Visit
from memory_v2.view.web import Request, Response, address, fields, see

BASE = "/view"
COOKIE = "silica_view"
SESSION_SECONDS = 43_200
"""How long a sign-in lasts, in seconds: a working day."""


class Viewing:
    """The page at a service."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._subjects: dict[str, Subject] = {}
        self._lock = threading.Lock()

    async def respond(self, incoming: Incoming) -> Outgoing:
        """Answers a request below `BASE`."""
        incoming.state.operation = "view"
        try:
            request = await _request(incoming)
        except ValueError:
            return _sent(refusal("This request cannot be read", "Load the page again.", 400))
        if (kept := static(request)) is not None:
            return _sent(kept)
        origins = {f"{scheme}://{request.headers.get('host', '')}" for scheme in ("http", "https")}
        if request.method == "POST" and request.path == "/sign-in":
            is_own = request.headers.get("origin", "") in origins
            return _sent(await self._sign_in(request, incoming) if is_own else _form())
        session = request.cookies.get(COOKIE, "")
        try:
            caller = await run_in_threadpool(self._caller, session)
        except Problem:
            return _sent(_form())
        incoming.state.limits = await admitted(self._parts, caller)
        if request.method == "POST" and not is_from_page(request, origins, session):
            return _sent(refusal("This form was not sent by the page", "Load the page again and repeat it.", 403))
        if request.method == "POST" and request.path == "/leave":
            return _sent(await run_in_threadpool(self._left, caller, session))
        if request.path == "/live":
            return StreamingResponse(self._events(caller), headers=dict(headers_of(Response(kind="text/event-stream"))))
        return _sent(await run_in_threadpool(self._answer, request, caller, session))

    def _subject(self, tenant: str) -> Subject:
        with self._lock:
            if tenant not in self._subjects:
                self._subjects[tenant] = Subject(self._parts.memories.of(tenant))
            return self._subjects[tenant]

    def _answer(self, request: Request, caller: Caller, session: str) -> Response:
        visit = Visit(
            request,
            self._subject(caller.tenant),
            BASE,
            form_secret(session),
            can_write=caller.is_admin or WRITE_PAGES in caller.scopes,
            sees_entries=caller.is_admin,
            can_leave=True,
        )
        with asked_by(caller.source):
            given = answer(visit)
        if pages := [path for path in given.changed if not is_entry(path)]:
            with self._parts.store.transaction(caller.tenant) as transaction:
                for path in pages:
                    announce(transaction, caller.source, path)
        return given

    async def _sign_in(self, request: Request, incoming: Incoming) -> Response:
        """A new session for a key, or the form again."""
        try:
            caller = await holder_of(request.form.get("key", "").strip(), self._parts, incoming.scope)
            caller.require(READ_PAGES)
        except Problem as problem:
            if problem.code == "UNAUTHENTICATED":
                return _form("This is no key of this service, or it counts no more.")
            again = {name: value for name, value in problem.headers.items() if name == "Retry-After"}
            return _form(problem.message, 429 if again else 401, tuple(again.items()))
        secret = secrets.token_urlsafe(32)
        await run_in_threadpool(self._keep, caller, secret)
        safe = "; Secure" if incoming.url.scheme == "https" else ""
        cookie = f"{COOKIE}={caller.tenant}.{secret}; Path={BASE}; Max-Age={SESSION_SECONDS}; HttpOnly; SameSite=Strict"
        given = see(address(BASE, ""))
        return Response(status=given.status, headers=(*given.headers, ("Set-Cookie", cookie + safe)))

    def _keep(self, caller: Caller, secret: str) -> None:
        holder = {"key_id": caller.key_id, "source": caller.source}
        with self._parts.store.transaction(caller.tenant) as transaction:
            transaction.immediate.set({f"view:{secret}": holder}, SESSION_SECONDS)

    def _caller(self, session: str) -> Caller:
        """Who has signed in. Raises `Problem` if nobody has, or the key may no longer read pages."""
        tenant, _, secret = session.partition(".")
        holder = None
        if tenant and secret:
            with self._parts.store.transaction(tenant, writes=False) as transaction:
                holder = transaction.immediate.get(f"view:{secret}")
        if holder is None:
            raise Problem("UNAUTHENTICATED")
        caller = self._parts.keys.caller(holder["key_id"], holder["source"])
        caller.require(READ_PAGES)
        return caller

    def _left(self, caller: Caller, session: str) -> Response:
        with self._parts.store.transaction(caller.tenant) as transaction:
            transaction.immediate.delete(f"view:{session.partition('.')[2]}")
        return see(address(BASE, ""))

    async def _events(self, caller: Caller) -> AsyncIterator[bytes]:
        memory = self._subject(caller.tenant).memory
        changes = await run_in_threadpool(Changes, memory, caller.is_admin)
        yield GREETING
        while not self._parts.feed.is_closed and await run_in_threadpool(self._parts.keys.is_valid, caller):
            await asyncio.sleep(LOOK_SECONDS)
            if events := await run_in_threadpool(changes.look):
                yield events


async def _request(incoming: Incoming) -> Request:
    """The request as views have it. Raises `ValueError`."""
    form: dict[str, str] = {}
    if incoming.method == "POST":
        kind = incoming.headers.get("content-type", "").partition(";")[0].strip()
        if kind != "application/x-www-form-urlencoded":
            raise ValueError("not a form")
        form = fields((await incoming.body()).decode("ascii"))
    path = unquote(incoming.scope["raw_path"].decode("latin-1").partition("?")[0], errors="surrogateescape")
    headers = {name.lower(): value for name, value in incoming.headers.items()}
    return Request(incoming.method, path.removeprefix(BASE), fields(incoming.url.query), form, headers)


def _form(problem: str = "", status: int = 401, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """The form to sign in with a key."""
    at = partial(address, BASE)
    return Response(render("sign-in", {"at": at, "problem": problem}), status, headers=headers)


def _sent(response: Response) -> Outgoing:
    assert isinstance(response.body, bytes)
    sent = Outgoing(response.body, response.status)
    for name, value in headers_of(response):
        sent.headers.append(name, value)
    return sent
