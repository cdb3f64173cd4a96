"""Memory entries: those of the immediate and the working level are rows with an end; a longterm one is an entry of the
core as well, and stays."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import Body, Query
from sqlalchemy import ColumnElement, Text, cast, exists, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY

from memory_v2.errors import EntryNotFound, InvalidSetting
from memory_v2.operations.results import EntryResult
from memory_v2.serialize import document
from memory_v2.service import tables
from memory_v2.service.access import access_of, named_readers, written_readers
from memory_v2.service.call import Answer, Call, size_of
from memory_v2.service.contexts import IMMEDIATE_SECONDS, WORKING_SECONDS
from memory_v2.service.models import (
    Cursor,
    EntryBatch,
    EntryList,
    Level,
    Limit,
    MemoryEntry,
    Moment,
    Name,
    NewEntry,
    Search,
    iso,
)
from memory_v2.service.operation import Operations
from memory_v2.service.options import ADMIN, READ, READ_PAGES, WRITE
from memory_v2.service.patching import PATCH_BODY, checked, read_patch
from memory_v2.service.problem import Problem

LIFETIMES = {"immediate": IMMEDIATE_SECONDS, "working": WORKING_SECONDS, "longterm": None}
"""Seconds that an entry lives without a `ttl` of its own, by its level."""
_MARK = "service/"
"""What the location of an entry of the core begins with if a row of this service says who may read it."""
_ENTRIES = tables.working_memory
router = Operations()


@router.operation("GET /query", READ, "query", response_model=EntryList)
def query(
    call: Call,
    tags: Annotated[str, Query(description="Tags, divided by commas.", max_length=2000)] = "",
    level: Level | None = None,
    since: Moment | None = None,
    session: Name | None = None,
    match: Annotated[str, Query(pattern="^(any|all)$", description="One of the tags, or all.")] = "any",
    limit: Limit = 100,
    cursor: Cursor = "",
) -> Answer:
    """Lists entries by tags, level and time, oldest first."""
    wanted = [tag.strip() for tag in tags.split(",") if tag.strip()]
    where: list[ColumnElement[bool]] = [call.caller.readable(_ENTRIES)]
    if match == "all":
        where += [_has_tag(call, [tag]) for tag in wanted]
    elif wanted:
        where.append(_has_tag(call, wanted))
    if level:
        where.append(_ENTRIES.c.level == level)
    if since:
        where.append(_ENTRIES.c.created_at >= since.timestamp())
    if session:
        where.append(_ENTRIES.c.session_id == session)
    rows, more = call.transaction.find_part(_ENTRIES, *where, limit=limit, cursor=cursor)
    return Answer({"entries": [_document(row) for row in rows], "next_cursor": more})


@router.operation("POST /search", READ, "search", writes=False)
def search(call: Call, asked: Search) -> Answer:
    """Searches the long-term memory: entries, and pages if the key may read them."""
    only, hidden = asked.only, ""
    if READ_PAGES not in call.caller.scopes and ADMIN not in call.caller.scopes:
        if only == "pages" or asked.under:
            call.caller.require(READ_PAGES)
        hidden = f"pages were not searched: the key does not have the scope {READ_PAGES}" if only is None else ""
        only = "entries"
    results = call.memory.search(
        asked.query,
        min(100, asked.limit * 3),  # some may be hidden from the caller
        only=only,
        tags=asked.tags,
        under=asked.under,
        since=asked.since,
        until=asked.until,
        agent=asked.agent,
    )
    readable = [r for r in results if not isinstance(r, EntryResult) or _may_read_core(call, r.entry)]
    told = {**document(results), "results": [document(result) for result in readable[: asked.limit]]}
    told["degraded"] = "; ".join(filter(None, (told["degraded"], hidden)))
    return Answer({name: told[name] for name in ("results", "answered", "decided_by", "degraded")})


@router.operation("POST /entries", WRITE, "entry_create", response_model=MemoryEntry, status_code=201)
def create_entry(call: Call, new: NewEntry) -> Answer:
    """Stores an entry."""
    entry = _create(call, new)
    call.require_space()
    return Answer(entry, 201, {"Location": f"/api/v1/memory/entries/{entry['id']}"}, tagged=True)


@router.operation("POST /entries/batch", WRITE, "entry_batch", response_model=EntryList, status_code=201)
def create_entries(call: Call, batch: EntryBatch) -> Answer:
    """Stores many entries: all or none."""
    entries = [_create(call, each) for each in batch.entries]
    call.require_space()
    return Answer({"entries": entries, "next_cursor": None}, 201)


@router.operation("GET /entries/{entry_id}", READ, "entry_read", response_model=MemoryEntry)
def read_entry(call: Call, entry_id: Name) -> Answer:
    """Reads an entry."""
    return Answer(_document(_row(call, entry_id)), tagged=True)


@router.operation("PATCH /entries/{entry_id}", WRITE, "entry_patch", response_model=MemoryEntry, **PATCH_BODY)
def patch_entry(call: Call, entry_id: Name, change: Annotated[Any, Body()]) -> Answer:
    """Changes an entry, by JSON Patch or merge patch; with another level it is promoted."""
    patched = read_patch(change, call.media_type)
    row = _row(call, entry_id, lock=True)
    call.caller.require_self(row, "write")
    present = _document(row)
    call.match(lambda: present)
    wanted = patched(present)
    fixed = ("id", "timestamp", "source")
    if not isinstance(wanted, dict) or any(wanted.get(name) != present[name] for name in fixed):
        raise Problem("VALIDATION_FAILED", "a patch cannot change id, timestamp and source")
    new = checked(NewEntry, {name: value for name, value in wanted.items() if name not in ("id", "timestamp")})
    if row["level"] == "longterm" and (new.level, new.data.model_dump()) != ("longterm", present["data"]):
        raise Problem("VALIDATION_FAILED", "what a longterm entry says does not change: create one that refers to it")
    if new.level != row["level"] and new.ttl == row["ttl"]:
        new.ttl = None
    changed = _values(call, new, entry_id, row)
    access = ("visibility", "readers")
    if any(changed[name] != row[name] for name in access):
        call.caller.require_self(row, "share")
    call.transaction.update(_ENTRIES, entry_id, changed)
    call.require_space()
    entry = _document(_row(call, entry_id))
    _tell(call, entry, {**row, **changed})
    return Answer(entry, tagged=True)


@router.operation("DELETE /entries/{entry_id}", WRITE, "entry_delete", status_code=204)
def delete_entry(call: Call, entry_id: Name) -> Answer:
    """Deletes an entry."""
    row = _row(call, entry_id, lock=True)
    call.caller.require_self(row, "delete")
    entry = _document(row)
    call.match(lambda: entry)
    call.transaction.delete(_ENTRIES, entry_id)
    # a longterm one is closed in the memory, whose history keeps it
    if row["core_id"] and not call.transaction.find(_ENTRIES, _ENTRIES.c.core_id == row["core_id"], limit=1):
        call.memory.entries.retract(row["core_id"], "deleted by way of the service")
    _tell(call, {**entry, "data": {"deleted": True}}, row)
    return Answer(status=204)


def _may_read_core(call: Call, core_id: str) -> bool:
    rows = call.transaction.find(_ENTRIES, _ENTRIES.c.core_id == core_id)
    if any(call.caller.reads(*access_of(row)) for row in rows):
        return True
    try:
        location = call.memory.entries.read_entry(core_id).source.location
    except EntryNotFound:
        return False
    return not (location or "").startswith(_MARK)  # captured by another face: the memory's own


def _create(call: Call, new: NewEntry) -> dict[str, Any]:
    entry_id = str(uuid.uuid4())
    if new.source.id not in (None, call.caller.source) and not call.caller.is_admin:
        raise Problem("PERMISSION_DENIED", "an entry can only be written in one's own name", source=new.source.id)
    owner = new.source.id or call.caller.source
    values = _values(call, new, entry_id, None)
    values |= {
        "source_type": new.source.type,
        "source_id": owner,
        "session_id": new.source.session,
        "owner": owner,
        "created_at": call.now,
    }
    call.transaction.insert(_ENTRIES, entry_id, values)
    row = call.transaction.get(_ENTRIES, entry_id)
    assert row is not None
    entry = _document(row)
    _tell(call, entry, row)
    return entry


def _values(call: Call, new: NewEntry, entry_id: str, row: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a row says, but who wrote it. The time of an entry begins when it is created or changes its level."""
    data = new.data.model_dump(mode="json")
    ttl = new.ttl or LIFETIMES[new.level]
    if new.level == "longterm":
        ttl = None
    begun = row["created_at"] if row is not None and row["level"] == new.level else call.now
    core_id = row["core_id"] if row is not None else None
    if new.level == "longterm" and core_id is None:
        core_id = _captured(call, new, entry_id)
    return {
        "level": new.level,
        "data": data,
        "meta_tags": data["meta_tags"],
        "ttl": ttl,
        "core_id": core_id,
        "visibility": new.visibility,
        "readers": written_readers(new.authorized_agents),
        "updated_at": call.now,
        "expires_at": begun + ttl if ttl else None,
        "bytes": size_of(data),
    }


def _captured(call: Call, new: NewEntry, entry_id: str) -> str:
    """Captures a longterm entry in the memory: a text as text, other content as JSON."""
    content = new.data.content
    lone = content.get("text") if set(content) == {"text"} else None
    shown = f"```json\n{json.dumps(content, ensure_ascii=False, indent=1)}\n```"
    owner = new.source.id or call.caller.source
    capture = partial(
        call.memory.entries.capture,
        lone if isinstance(lone, str) else shown,
        tags=new.data.meta_tags,
        source=owner,
        channel=new.source.type,
        session=new.source.session,
        location=f"{_MARK}{entry_id}",
    )
    try:
        return capture(agent=owner).id
    except InvalidSetting:  # no folder can have the name of this source
        return capture().id


def _row(call: Call, entry_id: str, lock: bool = False) -> Mapping[str, Any]:
    row = call.transaction.get(_ENTRIES, entry_id, lock)
    if row is None or not call.caller.reads(*access_of(row)):
        raise Problem("ENTRY_NOT_FOUND", entry_id=entry_id)
    return row


def _document(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "timestamp": iso(row["created_at"]),
        "source": {"type": row["source_type"], "id": row["source_id"], "session": row["session_id"]},
        "level": row["level"],
        "data": row["data"],
        "ttl": row["ttl"],
        "visibility": row["visibility"],
        "authorized_agents": named_readers(row["readers"]),
    }


def _tell(call: Call, entry: dict[str, Any], row: Mapping[str, Any]) -> None:
    subject, source = f"entry/{entry['id']}", entry["source"]
    call.transaction.emit_update(subject, entry["level"], source, entry["data"], *access_of(row))


def _has_tag(call: Call, tags: list[str]) -> ColumnElement[bool]:
    """Whether a row has one of the tags, by the index where there is one."""
    if call.transaction.connection.dialect.name == "postgresql":
        has_one: ColumnElement[bool] = cast(_ENTRIES.c.meta_tags, ARRAY(Text)).overlap(tags)
        return has_one
    each = func.json_each(_ENTRIES.c.meta_tags).table_valued("value")
    return exists(select(text("1")).select_from(each).where(each.c.value.in_(tags)))
