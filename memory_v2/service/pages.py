"""Pages of the long-term memory, for keys that may read or write them."""

from __future__ import annotations

from urllib.parse import quote

from memory_v2.errors import PageNotFound
from memory_v2.serialize import document
from memory_v2.service.call import Answer, Call
from memory_v2.service.models import NewPage, PageText
from memory_v2.service.operation import Operations
from memory_v2.service.options import READ_PAGES, WRITE_PAGES
from memory_v2.service.store import Transaction

router = Operations()


@router.operation("GET /pages", READ_PAGES, "page_list")
def list_pages(call: Call) -> Answer:
    """Lists the pages of the long-term memory."""
    return Answer({"pages": document(call.memory.list_files())})


@router.operation("POST /pages", WRITE_PAGES, "page_write", status_code=201)
def write_text(call: Call, new: NewPage) -> Answer:
    """Writes a text on a page, or where it belongs."""
    result = document(call.memory.write(new.text, new.path, new.mode, source=new.source or call.caller.source))
    announce(call.transaction, call.caller.source, result["path"])
    return Answer({name: result[name] for name in ("path", "outcome", "decided_by", "degraded", "new_files")}, 201)


@router.operation("GET /pages/{path:path}", READ_PAGES, "page_read")
def read_page(call: Call, path: str) -> Answer:
    """Reads a page."""
    return Answer(_page(path, call.memory.read(path)), tagged=True)


@router.operation(
    "PUT /pages/{path:path}", WRITE_PAGES, "page_put", responses={201: {"description": "The page is new."}}
)
def put_page(call: Call, path: str, new: PageText) -> Answer:
    """Creates a page, or replaces it; then If-Match is required."""
    memory = call.memory
    try:
        present = memory.read(path)
    except PageNotFound:
        call.match(None)
        memory.create(path, new.text)
        announce(call.transaction, call.caller.source, path)
        location = {"Location": f"/api/v1/memory/pages/{quote(path)}"}
        return Answer(_page(path, memory.read(path)), 201, location, tagged=True)
    call.match(lambda: _page(path, present), required=True)
    memory.edit(path, new.text, present)
    announce(call.transaction, call.caller.source, path)
    return Answer(_page(path, memory.read(path)), tagged=True)


def _page(path: str, text: str) -> dict[str, str]:
    return {"path": path, "text": text}


def announce(transaction: Transaction, agent: str, path: str) -> None:
    """Tells those who listen that an agent has changed a page."""
    source = {"type": "agent", "id": agent, "session": None}
    transaction.emit_update(f"page/{path}", "longterm", source, {"page": path}, agent)
