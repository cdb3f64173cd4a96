"""Which view answers which address, what an error looks like, and what every answer says to the browser."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

from memory_v2.agent.operation import asked_by
from memory_v2.errors import (
    EntryNotFound,
    InvalidText,
    PageNotFound,
    SilicaError,
    StorageConflict,
    StorageError,
    UsageError,
)
from memory_v2.view import entries, graph, history, notes, pages, search, traces
from memory_v2.view.rendering import FOLDER, static_version
from memory_v2.view.visit import Visit
from memory_v2.view.web import Request, Response

logger = logging.getLogger(__name__)

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""Only the stylesheet and the script of the page itself are used: nothing is fetched from elsewhere, no text of a
memory runs, and no other page may frame this one."""
# No other site learns where a link was followed. With `no-referrer`, browsers would not say that a form is our own.
HEADERS = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
STATIC = {"view.css": "text/css; charset=utf-8", "view.js": "text/javascript; charset=utf-8"}
AT_PAGE = "a person at the page"
"""What the history calls whoever changes something here."""
ROUTES: tuple[tuple[str, str, Callable[..., Response]], ...] = (
    ("GET", r"/?", pages.tree),
    ("GET", r"/page/(?P<path>.+)", pages.page),
    ("GET", r"/raw/(?P<path>.+)", pages.raw),
    ("GET", r"/lines/(?P<path>.+)", pages.lines),
    ("GET", r"/edit/(?P<path>.+)", pages.edit),
    ("POST", r"/edit/(?P<path>.+)", pages.save),
    ("GET", r"/graph", graph.graph),
    ("GET", r"/search", search.search),
    ("GET", r"/history", history.timeline),
    ("GET", r"/history/(?P<revision>\w+)", history.change),
    ("GET", r"/compare", history.compare),
    ("POST", r"/undo", history.undo),
    ("POST", r"/restore", history.restore),
    ("GET", r"/entries", entries.entries),
    ("GET", r"/entry/(?P<name>.+)", entries.entry),
    ("GET", r"/traces", traces.traces),
    ("GET", r"/trace/(?P<name>[\w-]+)", traces.trace),
    ("GET", r"/notes", notes.folders),
    ("GET", r"/notes/(?P<number>\d{1,4})", notes.index),
    ("GET", r"/notes/(?P<number>\d{1,4})/audit", notes.audit),
    ("GET", r"/notes/(?P<number>\d{1,4})/note/(?P<name>.+)", notes.note),
    ("GET", r"/help", lambda visit: visit.show("help")),
)
"""Methods, addresses and their views; the groups of a pattern are the arguments of the view."""


def answer(visit: Visit) -> Response:
    """The answer to a visit; every error is a page that says what to do."""
    try:
        return _routed(visit)
    except SilicaError as error:
        return _problem(visit, error)
    except Exception:
        logger.exception("a view failed")
        return message(
            visit, "This is a bug in Silica", "The program's output has the details; please report them.", 500
        )


def _routed(visit: Visit) -> Response:
    request = visit.request
    method = "GET" if request.method == "HEAD" else request.method
    fitting = [(way, view, match) for way, at, view in ROUTES if (match := re.fullmatch(at, request.path, re.S))]
    for way, view, match in fitting:
        if way == method:
            if method == "POST" and not visit.can_write:
                return message(
                    visit, "This key may only read", "Sign in with a key that has the scope pages:write.", 403
                )
            with asked_by(AT_PAGE if method == "POST" else ""):
                return view(visit, **match.groupdict())
    if fitting:
        return message(visit, "This cannot be done here", "Go back and use the button on the page.", 405)
    return message(visit, "There is no such view", "The links at the top lead to all of them.", 404)


def _problem(visit: Visit, error: SilicaError) -> Response:
    if isinstance(error, PageNotFound):
        return visit.show("missing", 404, path=error.path, similar=error.similar)
    if isinstance(error, EntryNotFound):
        return message(visit, "There is no such entry", f"{error.id} may have been renamed or forgotten.", 404)
    if isinstance(error, StorageConflict):
        return message(visit, "Somebody else was faster", f"{error}. Nothing was changed: load the page again.", 409)
    if isinstance(error, InvalidText):
        return message(visit, "This text cannot be used", f"{error}.", 400)
    if isinstance(error, UsageError):
        return message(visit, "This was not done", f"{error}. Nothing was changed.", 409)
    if isinstance(error, StorageError):
        return message(
            visit, "The memory cannot be reached", f"{error}. What was stored is still there; try again.", 503
        )
    return message(visit, "This was not done", str(error), 500)


def message(visit: Visit, title: str, advice: str, status: int) -> Response:
    """A page that says what happened, and what to do."""
    return visit.show("message", status, title=title, advice=advice)


def static(request: Request) -> Response | None:
    """The stylesheet or the script; `None` for any other address."""
    name = request.path.removeprefix("/static/")
    if request.path == f"/static/{name}" and name in STATIC:
        is_current = request.query.get("v") == static_version()
        kept = "public, max-age=31536000, immutable" if is_current else "no-cache"
        return Response((FOLDER / "static" / name).read_bytes(), 200, STATIC[name], (("Cache-Control", kept),))
    return None


def headers_of(response: Response) -> list[tuple[str, str]]:
    """All headers of an answer but its length. Pages are kept by no cache."""
    own: dict[str, Any] = {name.lower(): value for name, value in response.headers}
    kept = [] if "cache-control" in own else [("Cache-Control", "no-store")]
    return [("Content-Type", response.kind), *HEADERS, *kept, *response.headers]
