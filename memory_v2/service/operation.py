"""How an operation of the service is declared: its address, the scope it needs, and the work in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response

from memory_v2.service.bodies import StrictRoute
from memory_v2.service.call import Answer, carry_out
from memory_v2.service.edge import BASE

Work = TypeVar("Work", bound=Callable[..., Answer])
_REQUEST = Parameter("request", Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)


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
