"""What a view is given and what it answers: plain values, so that any server can carry them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, urlencode

HTML = "text/html; charset=utf-8"
MOST_FIELDS = 100
"""Fields of a form or of a query: those of the page have a dozen at most."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request below the address of the page: `path` is decoded, the names of `headers` are in lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def cookies(self) -> Mapping[str, str]:
        """The cookies, by name."""
        pairs = (part.strip().partition("=") for part in self.headers.get("cookie", "").split(";"))
        return {name: value for name, _, value in pairs}


@dataclass(frozen=True, slots=True)
class Response:
    """An answer. A body in parts is a stream that ends when its reader leaves. `changed` are the pages and entries that
    were changed for it."""

    body: bytes | Iterator[bytes] = b""
    status: int = 200
    kind: str = HTML
    headers: tuple[tuple[str, str], ...] = ()
    changed: Sequence[str] = ()


def fields(text: str) -> dict[str, str]:
    """The fields of a query or of a form. Raises `ValueError` if there are too many."""
    return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))


def address(base: str, *parts: str, anchor: str = "", **query: object) -> str:
    """The address of a view below `base`: `/page/projects/silica?part=2#L7`. What is empty in the query is left out."""
    given = urlencode({name: str(value) for name, value in query.items() if value not in (None, "", 0, False)})
    path = "/".join(quote(part.encode("utf-8", "surrogateescape"), safe="/") for part in parts if part)
    return f"{base}/{path}" + (f"?{given}" if given else "") + (f"#{quote(anchor)}" if anchor else "")


def see(location: str, changed: Sequence[str] = ()) -> Response:
    """Sends the browser on with GET."""
    return Response(status=303, headers=(("Location", location),), changed=changed)
