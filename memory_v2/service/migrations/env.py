"""What alembic runs: the migrations, on the connection that it is given."""

from alembic import context

from memory_v2.service.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
