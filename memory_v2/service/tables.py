"""The tables of the service. Each row has a tenant, an id and, perhaps, a moment at which it ends to exist."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, Column, Double, Index, Integer, MetaData, String, Table, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData()
JSON_DATA = JSON().with_variant(JSONB(), "postgresql")
TAGS = JSON().with_variant(ARRAY(Text()), "postgresql")
ROLE = "silica_service"
"""The role in PostgreSQL that every connection takes, whoever logs in: row-level security holds for it."""
KEY_SPACE = 255
"""Characters of an id, as in the specification."""


def _table(name: str, *columns: Any) -> Table:
    """A table of records. `expires_at` is in seconds since 1970, null for ever; `bytes` count for the quota."""
    return Table(
        name,
        metadata,
        Column("tenant", String(KEY_SPACE), primary_key=True),
        Column("id", String(600), primary_key=True),
        Column("expires_at", Double, index=True),
        Column("bytes", Integer, nullable=False, server_default="0"),
        *columns,
    )


def _access() -> tuple[Column[Any], ...]:
    """Who owns a record and who may read it: `readers` is |one|two|, and empty for everybody of the tenant."""
    return (
        Column("owner", String(KEY_SPACE), nullable=False),
        Column("visibility", String(10), nullable=False),
        Column("readers", Text, nullable=False, server_default=""),
    )


def _moments() -> tuple[Column[Any], ...]:
    return Column("created_at", Double, nullable=False), Column("updated_at", Double, nullable=False)


contexts = _table("contexts", Column("document", JSON(), nullable=False), *_access(), *_moments())
immediate = _table("immediate", Column("value", JSON(), nullable=False))
# The entries of all levels; the name is that of the specification.
working_memory = _table(
    "working_memory",
    Column("source_type", String(50)),
    Column("source_id", String(KEY_SPACE)),
    Column("session_id", String(KEY_SPACE)),
    Column("level", String(10), nullable=False),
    Column("data", JSON_DATA, nullable=False),
    Column("meta_tags", TAGS, nullable=False),
    Column("ttl", Integer, server_default="604800"),
    Column("core_id", String(KEY_SPACE)),  # the entry of the memory that a longterm one is
    *_access(),
    *_moments(),
)
Index("idx_session", working_memory.c.session_id)
Index("idx_source", working_memory.c.source_type, working_memory.c.source_id)
Index("idx_core", working_memory.c.tenant, working_memory.c.core_id)
Index("idx_created", working_memory.c.tenant, working_memory.c.created_at, working_memory.c.id)

agent_states = _table(
    "agent_states",
    Column("agent_id", String(KEY_SPACE), nullable=False),
    Column("state", JSON(), nullable=False),
    Column("updated_by", String(KEY_SPACE), nullable=False),
    Column("created_at", Double, nullable=False),
)
Index("idx_agent", agent_states.c.tenant, agent_states.c.agent_id, agent_states.c.created_at)
handoffs = _table(
    "handoffs",
    Column("document", JSON(), nullable=False),
    Column("state", String(20), nullable=False),
    Column("to_id", String(KEY_SPACE), nullable=False),
    Column("owner", String(KEY_SPACE), nullable=False),
    Column("claimed_by", String(KEY_SPACE)),
    Column("claim_id", String(40)),
    Column("lease_expires", Double),
    Column("expiry", Double, nullable=False),
    Column("history", JSON(), nullable=False),
    *_moments(),
)
Index("idx_handoff_to", handoffs.c.tenant, handoffs.c.to_id, handoffs.c.state)
idempotency = _table(
    "idempotency",
    Column("fingerprint", String(64), nullable=False),
    Column("answer", Text, nullable=False),  # as text: it is given again to the byte
)
subscriptions = _table(
    "subscriptions",
    Column("filter", JSON(), nullable=False),
    Column("owner", String(KEY_SPACE), nullable=False),
    Column("created_at", Double, nullable=False),
)
api_keys = Table(
    "api_keys",  # not under row-level security: it is what says which tenant a request is of
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(KEY_SPACE), nullable=False, index=True),
    Column("digest", String(64), nullable=False),
    Column("name", String(KEY_SPACE), nullable=False),
    Column("sources", JSON(), nullable=False),
    Column("scopes", JSON(), nullable=False),
    Column("tier", String(20), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double),
    Column("revoked_at", Double),
)
outbox = Table(
    "outbox",
    metadata,
    Column("position", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True, autoincrement=True),
    Column("tenant", String(KEY_SPACE), nullable=False),
    Column("id", String(40), nullable=False),
    Column("type", String(40), nullable=False),
    Column("subject", String(600), nullable=False),
    Column("at", Double, nullable=False),
    Column("body", JSON(), nullable=False),
    *_access(),
    sqlite_autoincrement=True,  # a position is never given twice
)
about = Table("about", metadata, Column("name", String(40), primary_key=True), Column("value", Text, nullable=False))

OF_A_TENANT = (contexts, immediate, working_memory, agent_states, handoffs, idempotency, subscriptions, outbox)
"""The tables that row-level security guards."""
COUNTED = (contexts, immediate, working_memory, agent_states, handoffs)
"""The tables whose bytes count for the quota."""
