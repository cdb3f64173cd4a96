"""The tables as they are in the first release; in PostgreSQL with row-level security and an index over tags."""

from __future__ import annotations

import uuid

from alembic import op

from memory_v2.service.tables import OF_A_TENANT, ROLE, about, metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Creates the tables."""
    connection = op.get_bind()
    metadata.create_all(connection)
    connection.execute(about.insert().values(name="epoch", value=uuid.uuid4().hex[:8]))
    if connection.dialect.name != "postgresql":
        return
    op.execute("CREATE INDEX idx_meta_tags ON working_memory USING GIN (meta_tags)")
    for table in OF_A_TENANT:
        op.execute(f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY")
        mine = "current_setting('silica.tenant', true) IN (tenant, '*')"
        op.execute(f"CREATE POLICY of_tenant ON {table.name} USING ({mine}) WITH CHECK ({mine})")
    op.execute(
        f"DO $$ BEGIN CREATE ROLE {ROLE} NOLOGIN NOSUPERUSER NOBYPASSRLS;"
        " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"  # of another database of this server
    )
    op.execute(f"GRANT {ROLE} TO CURRENT_USER")
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {ROLE}")
    op.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {ROLE}")


def downgrade() -> None:
    """Drops them."""
    metadata.drop_all(op.get_bind())
