"""How the body of a request is read: only JSON that every store can keep, and that can be sent again."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.types import Scope

from memory_v2.service.problem import Problem

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
