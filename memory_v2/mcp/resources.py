"""The pages as resources: `memory://projects/silica` is the page `projects/silica`."""

from __future__ import annotations

from urllib.parse import quote, unquote

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    Annotations,
    CompleteResult,
    Completion,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from memory_v2.errors import PageNotFound, UsageError
from memory_v2.mcp.frame import framed
from memory_v2.memory import Memory
from memory_v2.text.words import shorten
from memory_v2.tree.path import ROOT, page_path

SCHEME = "memory://"
MARKDOWN = "text/markdown"
PAGES_AT_ONCE = 200
"""Limits a list of resources, in pages: about 40 KB of JSON. The client asks for the next ones by a cursor."""
MOST_COMPLETIONS = 100
"""Limits the values of a completion, as the protocol does."""


def uri_of(path: str) -> str:
    """The URI of a page."""
    return SCHEME + quote(path, safe="/")


def path_of(uri: str) -> str:
    """The page of a URI; `memory://` alone is the root. Raises `MCPError` if it is none of ours."""
    if not uri.lower().startswith(SCHEME):
        raise MCPError(INVALID_PARAMS, f"{uri[:200]!r} is no page of the memory: {SCHEME}PATH is, as {SCHEME}{ROOT}")
    try:
        return page_path(unquote(uri[len(SCHEME) :]).strip("/") or ROOT)
    except UsageError as error:
        raise MCPError(INVALID_PARAMS, f"{error}; resources/list lists all pages") from error


def list_pages(memory: Memory, cursor: str | None) -> ListResourcesResult:
    """The pages behind the cursor, the root first."""
    pages = memory.list_files()
    start = 0
    if cursor is not None:
        if not (cursor.isascii() and cursor.isdigit()):
            raise MCPError(INVALID_PARAMS, f"the cursor {cursor[:40]!r} is none of ours; begin without one")
        start = int(cursor[:12])
    shown = pages[start : start + PAGES_AT_ONCE]
    end = start + len(shown)
    listed = [
        Resource(
            name=page.path,
            title=shorten(page.title, 100) or page.path,
            uri=uri_of(page.path),
            mime_type=MARKDOWN,
            size=page.size_bytes,
            annotations=Annotations(last_modified=page.last_updated.isoformat()),
        )
        for page in shown
    ]
    return ListResourcesResult(resources=listed, next_cursor=str(end) if end < len(pages) else None)


def list_templates() -> ListResourceTemplatesResult:
    """The one template: a page by its path."""
    template = ResourceTemplate(
        name="page",
        title="A page of the memory",
        uri_template=f"{SCHEME}{{+path}}",
        description="A page by its path, such as memory://projects/silica; the root is memory://memory.",
        mime_type=MARKDOWN,
    )
    return ListResourceTemplatesResult(resource_templates=[template])


def read_page(memory: Memory, uri: str) -> ReadResourceResult:
    """A page as it is stored, framed as data. Raises `MCPError` if there is none."""
    path = path_of(uri)
    try:
        text = memory.read(path)
    except PageNotFound as error:
        message = f"{error}; resources/list lists all pages"
        raise MCPError(INVALID_PARAMS, message, {"uri": uri[:200]}) from error
    return ReadResourceResult(contents=[TextResourceContents(uri=uri_of(path), text=framed(text), mime_type=MARKDOWN)])


def complete_path(memory: Memory, begun: str) -> CompleteResult:
    """The paths of pages that begin so."""
    found = sorted(path for path in memory.storage.list_files() if path.startswith(begun))
    some = Completion(values=found[:MOST_COMPLETIONS], total=len(found), has_more=len(found) > MOST_COMPLETIONS)
    return CompleteResult(completion=some)
