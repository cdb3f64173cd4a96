"""Contexts, entries, queries and pages."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Query, Request, Response

from memory_v2.service import contexts, entries, pages
from memory_v2.service.bodies import StrictRoute
from memory_v2.service.call import carry_out
from memory_v2.service.edge import BASE
from memory_v2.service.models import (
    ContextPackage,
    Cursor,
    EntryBatch,
    EntryList,
    Level,
    Limit,
    MemoryEntry,
    Moment,
    Name,
    NewEntry,
    NewPage,
    PageText,
    Search,
)
from memory_v2.service.options import READ, READ_PAGES, WRITE, WRITE_PAGES
from memory_v2.service.patching import JSON_PATCH, MERGE_PATCH

router = APIRouter(prefix=BASE, route_class=StrictRoute)
PATCH_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            JSON_PATCH: {"schema": {"type": "array", "items": {"type": "object"}}},
            MERGE_PATCH: {"schema": {"type": "object"}},
        },
    }
}
SessionHeader = Annotated[Name | None, Header(alias="X-Memory-Session")]


@router.get("/context/{session_id}", response_model=ContextPackage)
async def load_context(request: Request, session_id: Name) -> Response:
    """Loads the context package of a session."""
    with request.app.state.parts.metrics.context_seconds.time():
        stamp, answer = await contexts.at_hand(request, session_id)
        if answer is not None:
            return answer
        work = partial(contexts.load, session_id=session_id, stamp=stamp)
        return await carry_out(request, READ, work, "context_load", writes=False)


@router.post("/context", response_model=ContextPackage, status_code=201)
async def create_context(request: Request, package: ContextPackage, session: SessionHeader = None) -> Response:
    """Initialises the context of a session."""
    session_id = package.session_id or session or ""
    return await carry_out(request, WRITE, lambda call: contexts.create(call, package, session_id), "context_create")


@router.put("/context/{session_id}", response_model=ContextPackage)
async def replace_context(request: Request, session_id: Name, package: ContextPackage) -> Response:
    """Replaces a context; If-Match is required, so that no change is overwritten unseen."""
    return await carry_out(request, WRITE, lambda call: contexts.replace(call, session_id, package), "context_replace")


@router.patch("/context/{session_id}", response_model=ContextPackage, openapi_extra=PATCH_BODY)
async def patch_context(request: Request, session_id: Name, change: Annotated[Any, Body()]) -> Response:
    """Changes a part of a context, by JSON Patch or merge patch."""
    kind = request.headers.get("content-type", "")
    return await carry_out(request, WRITE, lambda call: contexts.patch(call, session_id, change, kind), "context_patch")


@router.delete("/context/{session_id}", status_code=204)
async def delete_context(request: Request, session_id: Name) -> Response:
    """Deletes a context."""
    return await carry_out(request, WRITE, lambda call: contexts.delete(call, session_id), "context_delete")


@router.get("/query", response_model=EntryList)
async def query(
    request: Request,
    tags: Annotated[str, Query(description="Tags, divided by commas.", max_length=2000)] = "",
    level: Level | None = None,
    since: Moment | None = None,
    session: Name | None = None,
    match: Annotated[str, Query(pattern="^(any|all)$", description="One of the tags, or all.")] = "any",
    limit: Limit = 100,
    cursor: Cursor = "",
) -> Response:
    """Lists entries by tags, level and time, oldest first."""
    wanted = [tag.strip() for tag in tags.split(",") if tag.strip()]
    asked = (wanted, match == "all", level, since, session, limit, cursor)
    return await carry_out(request, READ, lambda call: entries.query_entries(call, *asked), "query", writes=False)


@router.post("/search")
async def search(request: Request, asked: Search) -> Response:
    """Searches the long-term memory: entries, and pages if the key may read them."""
    return await carry_out(request, READ, lambda call: entries.search(call, asked), "search", writes=False)


@router.post("/entries", response_model=MemoryEntry, status_code=201)
async def create_entry(request: Request, new: NewEntry) -> Response:
    """Stores an entry."""
    return await carry_out(request, WRITE, lambda call: entries.create_entry(call, new), "entry_create")


@router.post("/entries/batch", response_model=EntryList, status_code=201)
async def create_entries(request: Request, batch: EntryBatch) -> Response:
    """Stores many entries: all or none."""
    return await carry_out(request, WRITE, lambda call: entries.create_entries(call, batch.entries), "entry_batch")


@router.get("/entries/{entry_id}", response_model=MemoryEntry)
async def read_entry(request: Request, entry_id: Name) -> Response:
    """Reads an entry."""
    return await carry_out(request, READ, lambda call: entries.read_entry(call, entry_id), "entry_read", writes=False)


@router.patch("/entries/{entry_id}", response_model=MemoryEntry, openapi_extra=PATCH_BODY)
async def patch_entry(request: Request, entry_id: Name, change: Annotated[Any, Body()]) -> Response:
    """Changes an entry, by JSON Patch or merge patch; with another level it is promoted."""
    kind = request.headers.get("content-type", "")
    return await carry_out(
        request, WRITE, lambda call: entries.patch_entry(call, entry_id, change, kind), "entry_patch"
    )


@router.delete("/entries/{entry_id}", status_code=204)
async def delete_entry(request: Request, entry_id: Name) -> Response:
    """Deletes an entry."""
    return await carry_out(request, WRITE, lambda call: entries.delete_entry(call, entry_id), "entry_delete")


@router.get("/pages")
async def list_pages(request: Request) -> Response:
    """Lists the pages of the long-term memory."""
    return await carry_out(request, READ_PAGES, pages.list_pages, "page_list", writes=False)


@router.post("/pages", status_code=201)
async def write_text(request: Request, new: NewPage) -> Response:
    """Writes a text on a page, or where it belongs."""
    return await carry_out(request, WRITE_PAGES, lambda call: pages.write_text(call, new), "page_write")


@router.get("/pages/{path:path}")
async def read_page(request: Request, path: str) -> Response:
    """Reads a page."""
    return await carry_out(request, READ_PAGES, lambda call: pages.read_page(call, path), "page_read", writes=False)


@router.put("/pages/{path:path}", responses={201: {"description": "The page is new."}})
async def put_page(request: Request, path: str, new: PageText) -> Response:
    """Creates a page, or replaces it; then If-Match is required."""
    return await carry_out(request, WRITE_PAGES, lambda call: pages.put_page(call, path, new), "page_put")
