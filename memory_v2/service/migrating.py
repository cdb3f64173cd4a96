"""The tables' versions, by alembic: up, and down again."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

from memory_v2.storage.local.disk import make_folder

MIGRATIONS = Path(__file__).parent / "migrations"
NEWEST = "head"
OLDEST = "base"


def migrate(url: str, revision: str = NEWEST, down: bool = False) -> None:
    """Brings a database to a revision. Each step is one transaction where the database can do that."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        file = Path(address.database or "")
        make_folder(file.parent)
        file.touch(0o600)  # what SQLite puts beside it has the same mode
    engine = create_engine(address)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            (command.downgrade if down else command.upgrade)(config, revision)
    finally:
        engine.dispose()
