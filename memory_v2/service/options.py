"""How a service may be started. This module can be imported without the extra `service`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from memory_v2.errors import InvalidSetting
from memory_v2.settings import S3Settings

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8080
DATABASE_URL = "DATABASE_URL"
REDIS_URL = "REDIS_URL"
_ORIGIN = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?")
INSTALL = "pip install 'silica-memory[service]'"
READ, WRITE, READ_PAGES, WRITE_PAGES, ADMIN = "memory:read", "memory:write", "pages:read", "pages:write", "admin"
SCOPES = (READ, WRITE, READ_PAGES, WRITE_PAGES, ADMIN)
"""What a key may do; `USUAL_SCOPES` by default."""
USUAL_SCOPES = (READ, WRITE)
DATABASE_FILE = "service.sqlite3"
"""The name of the embedded store, beside the pages in the memory's folder."""


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """What a process of the service needs: the folder of the memory, and addresses. Without a `database` it is one
    SQLite file in the folder; without a `redis` this is the only process. With `s3` the pages and entries are in a
    bucket, not in the folder."""

    folder: Path
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    database: str = ""
    redis: str = ""
    model: str | None = None
    s3: S3Settings | None = None
    origins: tuple[str, ...] = ()
    """Web pages of these origins may use the service with a key of theirs."""

    def __post_init__(self) -> None:
        """Raises `InvalidSetting` for what no browser sends as an origin."""
        if wrong := [origin for origin in self.origins if not _ORIGIN.fullmatch(origin)]:
            raise InvalidSetting(f"{wrong[0]!r} is no origin of web pages: it is like https://app.example.org")

    @property
    def database_url(self) -> str:
        """The address for SQLAlchemy."""
        if self.database:
            return self.database.replace("postgresql://", "postgresql+psycopg://", 1)
        return f"sqlite:///{self.folder / '.service' / DATABASE_FILE}"


def check_installed() -> None:
    """Raises `InvalidSetting` if the extra is missing."""
    needed = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "prometheus_client", "jsonpatch", "redis")
    if missing := [package for package in needed if find_spec(package) is None]:
        raise InvalidSetting(f"the service needs the package {missing[0]}, which is not installed: {INSTALL}")
