"""The operations of both clients, written once."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, cast, overload
from urllib.parse import quote

from distributed_memory.delivery import Delivery
from distributed_memory.documents import (
    JSON,
    AgentHistory,
    AgentState,
    Context,
    ContextPackage,
    Entry,
    EntryList,
    Handoff,
    HandoffList,
    Level,
    NewEntry,
    Page,
    PageList,
    Party,
    Pending,
    Priority,
    Replay,
    SearchAnswer,
    Source,
    Undelivered,
    Visibility,
    Written,
    etag_of,
    without_none,
)
from distributed_memory.errors import MemoryClientError
from distributed_memory.events import Feed
from distributed_memory.folder import Folder
from distributed_memory.offline import OfflineDelivery
from distributed_memory.retrying import Retry
from distributed_memory.wire import IO, Request, run_now

P = ParamSpec("P")
T = TypeVar("T")
DEFAULT_URL = "http://127.0.0.1:8080"
BASE = "/api/v1/memory"
MERGE_PATCH, JSON_PATCH = "application/merge-patch+json", "application/json-patch+json"


class operation(Generic[P, T]):  # noqa: N801 - used as a decorator
    """Makes a coroutine function a method that a synchronous client carries out and an asynchronous one awaits."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self._method = method
        functools.update_wrapper(cast(Any, self), method)

    @overload
    def __get__(self, client: None, owner: object) -> operation[P, T]: ...
    @overload
    def __get__(self, client: Blocking, owner: object) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Suspending, owner: object) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Blocking | Suspending | None, owner: object) -> Any:
        if client is None:
            return self
        bound = functools.partial(self._method, client)
        if isinstance(client, Suspending):
            return functools.update_wrapper(cast(Any, bound), self._method)

        @functools.wraps(self._method)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return run_now(bound(*args, **kwargs))

        return call


class Operations:
    """What the service can be asked for. Documents go in and come out as the service has them.

    A document that is written back carries the version that was read: if it has changed since, `VersionConflict` is
    raised and nothing is overwritten.
    """

    _make_io: Callable[[str, dict[str, str], float], IO]

    def __init__(
        self,
        api_key: str,
        base_url: str | None = None,
        *,
        source: str | None = None,
        session_id: str | None = None,
        offline: str | os.PathLike[str] | None = None,
        timeout: float = 30.0,
        retry: Retry | None = None,
    ) -> None:
        """`base_url` is the address of the service, else DISTRIBUTED_MEMORY_URL or that of `silica serve`. `source` is
        for whom the key speaks. `offline` is a folder for what is read and for what waits to be written; one folder
        belongs to one service. `timeout` is in seconds, for each part of a request."""
        self.session_id = session_id
        """The session that is meant where none is named: the last one that was loaded or created."""
        headers = {"Authorization": f"Bearer {api_key}"} | ({"X-Memory-Source": source} if source else {})
        self._retry = retry or Retry()
        self._io = type(self)._make_io(f"{base_url_of(base_url)}{BASE}", headers, timeout)
        self._delivery = Delivery(self._io, self._retry)
        if offline is not None:
            key_id = f"{api_key.split('_')[1]}/{source or ''}" if api_key.startswith("dm_") else source or ""
            self._delivery = OfflineDelivery(self._io, self._retry, Folder(offline), key_id)

    @operation
    async def load_context(self, session_id: str | None = None) -> ContextPackage:
        """Loads the context of a session, which is then the client's."""
        session = self._session(session_id)
        package = await self._delivery.read(Request("GET", f"/context/{session}"))
        self.session_id = session
        return cast(ContextPackage, package)

    @operation
    async def create_context(
        self,
        session_id: str | None = None,
        context: Context | None = None,
        *,
        metadata: JSON | None = None,
        visibility: Visibility | None = None,
        authorized_agents: Iterable[str] | None = None,
    ) -> ContextPackage:
        """Stores the first context of a session, which is then the client's."""
        session = self._session(session_id)
        body = without_none(
            {
                "session_id": session,
                "context": context,
                "metadata": metadata,
                "visibility": visibility,
                "authorized_agents": _list(authorized_agents),
            }
        )
        package = await self._delivery.write(Request("POST", "/context", body))
        self.session_id = session
        return cast(ContextPackage, package)

    @operation
    async def replace_context(self, package: ContextPackage, *, if_match: str | None = None) -> ContextPackage:
        """Writes back a context that was loaded."""
        path = f"/context/{package['session_id']}"
        return cast(ContextPackage, await self._write("PUT", path, package, if_match or etag_of(package)))

    @operation
    async def patch_context(
        self, change: JSON | list[JSON], session_id: str | None = None, *, if_match: str | None = None
    ) -> ContextPackage:
        """Changes a part of a context: a dict is a merge patch, a list a JSON Patch. Concurrent ones follow each
        other."""
        return cast(ContextPackage, await self._patch(f"/context/{self._session(session_id)}", change, if_match))

    @operation
    async def update_focus(self, focus: JSON, session_id: str | None = None) -> ContextPackage:
        """Changes what a session is about now; members that are not named stay, and `None` removes one."""
        change = {"context": {"immediate": {"current_focus": focus}}}
        return cast(ContextPackage, await self._patch(f"/context/{self._session(session_id)}", change, None))

    @operation
    async def delete_context(self, session_id: str | None = None, *, if_match: str | None = None) -> None:
        """Deletes a context."""
        await self._write("DELETE", f"/context/{self._session(session_id)}", None, if_match)

    @operation
    async def create_entry(
        self,
        content: JSON,
        *,
        tags: Iterable[str] = (),
        level: Level = "working",
        references: Iterable[str] = (),
        source: Source | None = None,
        ttl: int | None = None,
        visibility: Visibility | None = None,
        authorized_agents: Iterable[str] | None = None,
    ) -> Entry:
        """Stores an entry, of the client's session if there is one; `ttl` in seconds."""
        told = source or (cast(Source, {"type": "agent", "session": self.session_id}) if self.session_id else None)
        data = {"content": content, "meta_tags": list(tags), "references": list(references)}
        body = without_none(
            {
                "data": data,
                "level": level,
                "source": told,
                "ttl": ttl,
                "visibility": visibility,
                "authorized_agents": _list(authorized_agents),
            }
        )
        return cast(Entry, await self._delivery.write(Request("POST", "/entries", body)))

    @operation
    async def create_entries(self, entries: Iterable[NewEntry]) -> EntryList:
        """Stores many entries: all or none."""
        body = {"entries": list(entries)}
        return cast(EntryList, await self._delivery.write(Request("POST", "/entries/batch", body)))

    @operation
    async def read_entry(self, entry_id: str) -> Entry:
        """Reads an entry."""
        return cast(Entry, await self._delivery.read(Request("GET", f"/entries/{entry_id}")))

    @operation
    async def patch_entry(self, entry_id: str, change: JSON | list[JSON], *, if_match: str | None = None) -> Entry:
        """Changes an entry: a dict is a merge patch, a list a JSON Patch; with another level it is promoted."""
        return cast(Entry, await self._patch(f"/entries/{entry_id}", change, if_match))

    @operation
    async def delete_entry(self, entry_id: str, *, if_match: str | None = None) -> None:
        """Deletes an entry."""
        await self._write("DELETE", f"/entries/{entry_id}", None, if_match)

    @operation
    async def query(
        self,
        *,
        tags: Iterable[str] = (),
        match: str = "any",
        level: Level | None = None,
        since: str | None = None,
        session: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> EntryList:
        """Lists entries, oldest first, with any of the tags or with all; `next_cursor` leads to the next ones."""
        asked = {"match": match, "level": level, "since": since, "session": session, "limit": limit, "cursor": cursor}
        query = _query(tags=",".join(tags), **asked)
        return cast(EntryList, await self._delivery.read(Request("GET", "/query", query=query)))

    @operation
    async def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        only: Literal["pages", "entries"] | None = None,
        tags: Iterable[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        under: str | None = None,
        agent: str | None = None,
    ) -> SearchAnswer:
        """Searches the long-term memory: its entries, and its pages if the key may read them."""
        asked = {"query": query, "limit": limit, "only": only, "tags": _list(tags), "since": since, "until": until}
        body = without_none({**asked, "under": under, "agent": agent})
        return cast(SearchAnswer, await self._delivery.read(Request("POST", "/search", body)))

    @operation
    async def request_handoff(
        self,
        to: Party,
        *,
        instructions: str = "",
        context: JSON | None = None,
        sender: Party | None = None,
        priority: Priority | None = None,
        expiry: str | None = None,
    ) -> Handoff:
        """Asks another agent to take over; by default for the client's session."""
        if sender is None and self.session_id is None:
            raise MemoryClientError("a handoff comes from somebody: load a context first, or name the sender")
        body = without_none(
            {
                "from": sender or {"type": "chat", "id": self.session_id},
                "to": to,
                "instructions": instructions,
                "context": context,
                "priority": priority,
                "expiry": expiry,
            }
        )
        return cast(Handoff, await self._delivery.write(Request("POST", "/handoff", body)))

    @operation
    async def read_handoff(self, handoff_id: str) -> Handoff:
        """Reads a handoff with its history."""
        return cast(Handoff, await self._delivery.read(Request("GET", f"/handoff/{handoff_id}")))

    @operation
    async def list_handoffs(self, *, state: str | None = None, limit: int | None = None) -> HandoffList:
        """Lists the handoffs that the caller has asked for or may take over."""
        query = _query(state=state, limit=limit)
        return cast(HandoffList, await self._delivery.read(Request("GET", "/handoff", query=query)))

    @operation
    async def claim_handoff(self, handoff_id: str, *, lease_seconds: int = 300) -> Handoff:
        """Takes a handoff over for the time of a lease; of many claimers one gets it. Never waits in the outbox."""
        body = {"lease_seconds": lease_seconds}
        return cast(Handoff, await self._delivery.ask(Request("POST", f"/handoff/{handoff_id}/claim", body)))

    @operation
    async def renew_handoff(self, handoff: Handoff, *, lease_seconds: int = 300) -> Handoff:
        """Makes the lease of a claimed handoff longer. Never waits in the outbox."""
        path, query = f"/handoff/{handoff['handoff_id']}/renew", {"claim_id": handoff["claim_id"] or ""}
        request = Request("POST", path, {"lease_seconds": lease_seconds}, query)
        return cast(Handoff, await self._delivery.ask(request))

    @operation
    async def complete_handoff(self, handoff: Handoff, *, result: JSON | None = None, reason: str = "") -> Handoff:
        """Ends a claimed handoff with a result."""
        return await self._finish(handoff, "complete", result, reason)

    @operation
    async def reject_handoff(self, handoff: Handoff, *, reason: str = "") -> Handoff:
        """Refuses a handoff, claimed or not."""
        return await self._finish(handoff, "reject", None, reason)

    @operation
    async def cancel_handoff(self, handoff_id: str, *, reason: str = "") -> Handoff:
        """Takes a handoff back."""
        request = Request("POST", f"/handoff/{handoff_id}/cancel", {"reason": reason})
        return cast(Handoff, await self._delivery.write(request))

    @operation
    async def agent_state(self, agent_id: str) -> AgentState:
        """Reads the state of an agent."""
        return cast(AgentState, await self._delivery.read(Request("GET", f"/agent/{agent_id}/state")))

    @operation
    async def update_agent(
        self, agent_id: str, state: JSON, *, mode: str = "merge", if_match: str | None = None
    ) -> AgentState:
        """Changes the state of an agent by a merge patch, or replaces it."""
        body = {"state": state, "mode": mode}
        return cast(AgentState, await self._write("POST", f"/agent/{agent_id}/update", body, if_match))

    @operation
    async def agent_history(self, agent_id: str, *, limit: int = 100) -> AgentHistory:
        """Lists the states that an agent has had, newest first."""
        request = Request("GET", f"/agent/{agent_id}/history", query={"limit": str(limit)})
        return cast(AgentHistory, await self._delivery.read(request))

    @operation
    async def list_pages(self) -> PageList:
        """Lists the pages of the long-term memory."""
        return cast(PageList, await self._delivery.read(Request("GET", "/pages")))

    @operation
    async def read_page(self, path: str = "memory") -> Page:
        """Reads a page."""
        return cast(Page, await self._delivery.read(Request("GET", f"/pages/{quote(path)}")))

    @operation
    async def write_text(self, text: str, *, path: str | None = None, mode: str = "update") -> Written:
        """Writes a text on a page, or where it belongs."""
        body = without_none({"text": text, "path": path, "mode": mode})
        return cast(Written, await self._delivery.write(Request("POST", "/pages", body)))

    @operation
    async def put_page(self, page: Page, *, if_match: str | None = None) -> Page:
        """Creates a page, or writes back one that was read."""
        path, body = f"/pages/{quote(page['path'])}", {"text": page["text"]}
        return cast(Page, await self._write("PUT", path, body, if_match or etag_of(page)))

    @operation
    async def pending(self) -> list[Pending]:
        """The writes that wait in the outbox, in order."""
        return await self._offline.pending()

    @operation
    async def undelivered(self) -> list[Undelivered]:
        """The writes that waited and could not be delivered, with the reasons."""
        return await self._offline.undelivered()

    @operation
    async def discard(self, write_id: str) -> bool:
        """Forgets a write that could not be delivered; says whether there was one."""
        return await self._offline.discard(write_id)

    @operation
    async def replay(self) -> Replay:
        """Delivers the writes that wait, which the next call does too. Raises what keeps all of them from it."""
        return await self._offline.replay()

    @property
    def _offline(self) -> OfflineDelivery:
        if not isinstance(self._delivery, OfflineDelivery):
            raise MemoryClientError("the client has no offline folder: make it with offline=PATH")
        return self._delivery

    def _feed(
        self,
        events: Iterable[str],
        levels: Iterable[Level],
        sessions: Iterable[str],
        agents: Iterable[str],
        cursor: str,
    ) -> Feed:
        wish = {"events": list(events), "levels": list(levels), "sessions": list(sessions), "agents": list(agents)}
        return Feed(self._io, self._retry, self._delivery, wish, cursor)

    def _session(self, named: str | None) -> str:
        session = named or self.session_id
        if not session:
            raise MemoryClientError("no session: load or create a context first, or name its session_id")
        return session

    async def _write(self, method: str, path: str, body: Any, if_match: str | None) -> Any:
        return await self._delivery.write(Request(method, path, body).with_headers(If_Match=if_match or ""))

    async def _patch(self, path: str, change: JSON | list[JSON], if_match: str | None) -> Any:
        kind = JSON_PATCH if isinstance(change, list) else MERGE_PATCH
        request = Request("PATCH", path, change, headers={"Content-Type": kind})
        return await self._delivery.write(request.with_headers(If_Match=if_match or ""))

    async def _finish(self, handoff: Handoff, step: str, result: JSON | None, reason: str) -> Handoff:
        body = {"claim_id": handoff["claim_id"] or "", "reason": reason, "result": result or {}}
        request = Request("POST", f"/handoff/{handoff['handoff_id']}/{step}", body)
        return cast(Handoff, await self._delivery.write(request))


class Blocking(Operations):
    """Marks a client whose operations return results."""


class Suspending(Operations):
    """Marks a client whose operations are awaited."""


def base_url_of(given: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """The address of the service: the one that is given, else DISTRIBUTED_MEMORY_URL, else that of `silica serve`."""
    return (given or environment.get("DISTRIBUTED_MEMORY_URL") or DEFAULT_URL).rstrip("/")


def _query(**given: object) -> dict[str, str]:
    return {name: str(value) for name, value in given.items() if value}


def _list(values: Iterable[str] | None) -> list[str] | None:
    return None if values is None else list(values)
