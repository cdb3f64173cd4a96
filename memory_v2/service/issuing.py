"""Making, listing and revoking keys."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import select

from memory_v2.service.call import Answer, Call
from memory_v2.service.models import Name, NewKey, iso
from memory_v2.service.operation import Operations
from memory_v2.service.options import ADMIN, SCOPES
from memory_v2.service.problem import Problem
from memory_v2.service.store import Transaction
from memory_v2.service.tables import api_keys

router = Operations()


@router.operation("POST /keys", ADMIN, "key_create", status_code=201)
def new_key(call: Call, new: NewKey) -> Answer:
    """Creates a key of the caller's tenant; its text is shown this once."""
    if new.tenant not in (None, call.caller.tenant):
        raise Problem("PERMISSION_DENIED", "a key can only be made for one's own tenant")
    return Answer(create_key(call.transaction, call.caller.tenant, new), 201)


def create_key(transaction: Transaction, tenant: Name, new: NewKey) -> dict[str, Any]:
    """Stores a key and returns it with its text, which is shown this once."""
    if unknown := set(new.scopes).difference(SCOPES):
        told = f"there is no scope {min(unknown)}; there are {', '.join(SCOPES)}"
        raise Problem("VALIDATION_FAILED", told, scopes=list(SCOPES))
    key_id = secrets.token_hex(6)
    token = f"dm_{key_id}_{secrets.token_urlsafe(32)}"
    now = transaction.now
    values = {
        "id": key_id,
        "tenant": tenant,
        "digest": hashlib.sha256(token.encode()).hexdigest(),
        "name": new.name,
        "sources": new.sources,
        "scopes": new.scopes,
        "tier": new.tier,
        "created_at": now,
        "expires_at": now + new.expires_in if new.expires_in else None,
    }
    transaction.connection.execute(api_keys.insert().values(**values))
    return {**described({**values, "revoked_at": None}), "key": token}


def described(row: Mapping[str, Any]) -> dict[str, Any]:
    """A key as it is listed: without what is secret."""
    moments = {name: iso(row[name]) if row[name] else None for name in ("created_at", "expires_at", "revoked_at")}
    return {name: row[name] for name in ("id", "tenant", "name", "sources", "scopes", "tier")} | moments


@router.operation("GET /keys", ADMIN, "key_list")
def all_keys(call: Call) -> Answer:
    """Lists the keys of the tenant."""
    query = select(api_keys).where(api_keys.c.tenant == call.caller.tenant).order_by(api_keys.c.created_at)
    return Answer({"keys": [described(dict(row)) for row in call.transaction.connection.execute(query).mappings()]})


@router.operation("DELETE /keys/{key_id}", ADMIN, "key_revoke", status_code=204)
def end_key(call: Call, key_id: Name) -> Answer:
    """Revokes a key: everywhere within two seconds, and its event streams end."""
    mine = (api_keys.c.id == key_id) & (api_keys.c.tenant == call.caller.tenant) & api_keys.c.revoked_at.is_(None)
    if not call.transaction.connection.execute(api_keys.update().where(mine).values(revoked_at=call.now)).rowcount:
        raise Problem("KEY_NOT_FOUND", key_id=key_id)
    call.transaction.at_end.append(partial(call.parts.keys.forget, key_id))
    return Answer(status=204)
