"""Starts the service: the tables, a key the first time, and a server that ends its streams when it is told to end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable
from typing import Any

import uvicorn
from pydantic import ValidationError
from sqlalchemy import func, select

from memory_v2.errors import InvalidSetting
from memory_v2.service import tables
from memory_v2.service.app import application
from memory_v2.service.backup import back_up, restore
from memory_v2.service.issuing import create_key
from memory_v2.service.keys import DEFAULT_TENANT
from memory_v2.service.migrating import migrate
from memory_v2.service.models import NewKey
from memory_v2.service.options import SCOPES, ServiceOptions
from memory_v2.service.parts import Parts
from memory_v2.service.problem import Problem
from memory_v2.service.store import Store
from memory_v2.serving import collect_often, listen

__all__ = ["add_key", "back_up", "first_key", "restore", "serve"]
GRACE_SECONDS = 10
"""How long requests may take to end after SIGTERM, in seconds."""
DRAIN_SECONDS = 2.0
"""How long a process goes on after SIGTERM while it says that it is not ready, in seconds, where another one may take
over: those who hand requests out learn of it, and what the system has taken for it is answered."""


class Server(uvicorn.Server):
    """Ends the event streams first: they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, parts: Parts) -> None:
        super().__init__(config)
        self._parts = parts

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does, after that."""
        self._parts.is_ending = True
        until = time.monotonic() + (DRAIN_SECONDS if self._parts.redis else 0)
        while time.monotonic() < until and not self.force_exit:
            await asyncio.sleep(0.05)
        self._parts.feed.close()
        await super().shutdown(sockets)


def serve(options: ServiceOptions, on_start: Callable[[str, str | None], None]) -> None:
    """Serves until SIGTERM or Ctrl-C. `on_start` is given the address, and the text of the key that the first start
    makes, else `None`. Raises `InvalidSetting` if the address cannot be used."""
    listening = listen(options.host, options.port, backlog=2048)  # first: a key that nobody sees opens nothing
    migrate(options.database_url)
    parts = Parts.of(options)
    token = first_key(parts.store)
    host, port = listening.getsockname()[:2]
    on_start(f"http://{host}:{port}", token)
    config = uvicorn.Config(
        application(parts, options.origins),
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=GRACE_SECONDS,
        ws_ping_interval=20.0,
        server_header=False,
    )
    collect_often()
    with contextlib.suppress(KeyboardInterrupt):  # it was asked to end, and has
        Server(config, parts).run(sockets=[listening])


def first_key(store: Store) -> str | None:
    """The text of a new key for everything, if there is no key at all."""
    with store.transaction(DEFAULT_TENANT) as transaction:
        if transaction.connection.execute(select(func.count()).select_from(tables.api_keys)).scalar_one():
            return None
        new = NewKey(name="first", scopes=list(SCOPES), tier="unlimited_tier")
        return str(create_key(transaction, DEFAULT_TENANT, new)["key"])


def add_key(options: ServiceOptions, given: dict[str, Any]) -> str:
    """Makes a key of any tenant, beside a service that runs or before it, and returns its text. Raises
    `InvalidSetting`."""
    try:
        new = NewKey.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidSetting(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    migrate(options.database_url)
    store = Store(options.database_url, time.time)
    tenant = new.tenant or DEFAULT_TENANT
    try:
        with store.transaction(tenant) as transaction:
            return str(create_key(transaction, tenant, new)["key"])
    except Problem as problem:
        raise InvalidSetting(problem.message) from problem
    finally:
        store.close()
