"""How an operation of the service is declared: its address, the scope it needs, and the work in one transaction; and
how the body of a request is read: only JSON that every store can keep, and that can be sent again."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from functools import partial
from inspect import Parameter, signature
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.types import Scope

from memory_v2.service.call import Answer, carry_out
from memory_v2.service.edge import BASE
from memory_v2.service.problem import Problem

Work = TypeVar("Work", bound=Callable[..., Answer])
_REQUEST = Parameter("request", Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
_NULL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""The escape of a null character, which PostgreSQL cannot store."""


class StrictRequest(Request):
    """Refuses what is nested deeper than 200, what is no number, and texts that are no Unicode."""

    async def json(self) -> Any:
        """The body. Raises `Problem`."""
        body = await self.body()
        if _NULL.search(body):
            raise Problem("VALIDATION_FAILED", "a text contains a null character, which cannot be stored")
        try:
            return from_json(body, allow_inf_nan=False)
        except ValueError as error:
            raise Problem("VALIDATION_FAILED", f"the body is not JSON: {error}") from error


def require_storable(scope: Scope) -> None:
    """Raises `Problem` for an address whose query has a null character."""
    if b"%00" in scope["query_string"]:
        raise Problem("VALIDATION_FAILED", "the query contains a null character, which cannot be stored")


class StrictRoute(APIRoute):
    """A route whose body is read by `StrictRequest`, and whose query has no null character either."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """As FastAPI has it."""
        respond = super().get_route_handler()

        async def strict(request: Request) -> Response:
            require_storable(request.scope)
            return await respond(StrictRequest(request.scope, request.receive))

        return strict


class Operations(APIRouter):
    """The operations of a module, below the address of the service."""

    def __init__(self) -> None:
        super().__init__(prefix=BASE, route_class=StrictRoute)

    def operation(
        self, address: str, scope: str, name: str, writes: bool | None = None, **about: Any
    ) -> Callable[[Work], Work]:
        """Serves a function at `address`, such as `GET /keys`, to keys that have the `scope`. What it takes after the
        call comes from the request; `name` is what the log calls it. Without `writes`, all but GET do."""
        method, path = address.split()

        def declare(work: Work) -> Work:
            async def respond(request: Request, **given: Any) -> Response:
                return await carry_out(
                    request, scope, partial(work, **given), name, method != "GET" if writes is None else writes
                )

            respond.__name__, respond.__doc__ = work.__name__, work.__doc__
            _, *arguments = signature(work, eval_str=True).parameters.values()
            asked: Any = respond
            asked.__signature__ = signature(respond).replace(parameters=[_REQUEST, *arguments])
            self.add_api_route(path, respond, methods=[method], **about)
            return work

        return declare
