"""Who may see the page: whoever opened the link that the terminal printed, once; and only from the page itself."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Collection
from hashlib import sha256

from memory_v2.view.web import Request, Response

TOKEN = "token"
FORM_SECRET = "secret"
"""The fields of the link, and of each form."""
_GONE = (
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    "<title>Silica Memory</title><h1>{0}</h1><p>{1}</p></html>"
)
_OPENED = b"<!doctype html><meta http-equiv=refresh content='0;url=/'><title>Silica Memory</title><a href='/'>Go on</a>"
"""Goes on by a step of its own: after a redirect from another page, a browser would keep the strict cookie back."""


def refusal(title: str, advice: str, status: int) -> Response:
    """A refusal without anything of the memory in it."""
    return Response(_GONE.format(title, advice).encode(), status)


def form_secret(session: str) -> str:
    """What each form of a session carries. It cannot be guessed without the cookie, and does not tell the cookie."""
    return sha256(f"form:{session}".encode()).hexdigest()


def is_from_page(request: Request, origins: Collection[str], session: str) -> bool:
    """Whether a form was sent by the page itself: browsers say where from, and no other page knows its secret."""
    if request.headers.get("origin", "") not in origins:
        return False
    return hmac.compare_digest(request.form.get(FORM_SECRET, "").encode(), form_secret(session).encode())


class Gate:
    """The gate of a page on this machine. The link opens it once, then a cookie holds the session; both are forgotten
    when the program ends."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self._sessions: set[str] = set()
        self._lock = threading.Lock()
        self.cookie = f"silica_view_{port}"
        """Cookies know no ports: two pages on one machine have two names."""
        self.hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))

    def admit(self, request: Request) -> str | Response:
        """The session of a request, or the answer that is given instead. Only local names are answered, so that no web
        page reaches this one by a name that its owner points here."""
        if request.headers.get("host", "").lower() not in self.hosts:
            return refusal("This name is not served", "Open the address that the terminal shows.", 421)
        if TOKEN in request.query:
            return self._opened(request.query[TOKEN])
        session = request.cookies.get(self.cookie, "")
        with self._lock:
            is_known = session in self._sessions
        if not is_known:
            advice = "Open the link that the terminal shows. It works once: for another, start the command again."
            return refusal("This page needs its link", advice, 401)
        origins = {f"http://{host}" for host in self.hosts}
        if request.method == "POST" and not is_from_page(request, origins, session):
            return refusal("This form was not sent by the page", "Load the page again and repeat it.", 403)
        return session

    def _opened(self, token: str) -> Response:
        with self._lock:
            is_right = bool(self.token) and hmac.compare_digest(token.encode(), self.token.encode())
            if not is_right:
                return refusal("This link was used already", "For another one, start the command again.", 401)
            self.token = ""
            session = secrets.token_urlsafe(32)
            self._sessions.add(session)
        cookie = f"{self.cookie}={session}; Path=/; HttpOnly; SameSite=Strict"
        return Response(_OPENED, headers=(("Set-Cookie", cookie),))
