"""Where the service is tested: on the embedded store, and on PostgreSQL with Redis.

`SILICA_TEST_POSTGRES` is the address of a server where databases may be created, `SILICA_TEST_REDIS` that of a Redis;
without them, the standard ports of this machine. What a test stores in Redis has a namespace of its own, and ends by
itself.
"""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import redis
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from memory_v2.service import parts as service_parts
from memory_v2.service.observing import RequestLog
from tests.service.running import HOST, Running, running

SERVER = os.environ.get("SILICA_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
Mark = Callable[[int, str], None]
REDIS = os.environ.get("SILICA_TEST_REDIS", "redis://127.0.0.1:6379")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this room may use sockets of this machine; those that note a figure are the ten marks."""
    for item in items:
        if "tests/service" in item.path.as_posix():
            item.add_marker(pytest.mark.allow_hosts([HOST]))
            if "mark" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.ten_marks)


@pytest.fixture
def mark(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Mark:
    """Notes a figure of one of the ten marks of `ITEMS.md`, which `make marks` prints."""
    given = request.node.callspec.params.values() if hasattr(request.node, "callspec") else ()
    alone = "embedded" in given or (request.node.path.name == "test_operating.py" and "servers" not in given)
    tier = getattr(request.cls, "stores", "embedded" if alone else "PostgreSQL and Redis")
    return lambda number, figure: record_property(f"mark {number:2} {tier}", figure)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The figures, a line for each mark and tier."""
    if config.getoption("markexpr") != "ten_marks":
        return
    lines: dict[str, list[str]] = {}
    for report in terminalreporter.stats.get("passed", ()):
        for name, figure in report.user_properties:
            lines.setdefault(name, []).append(str(figure))
    for name in sorted(lines):
        terminalreporter.write_line(f"{name:28} {'; '.join(sorted(lines[name]))}")


@contextmanager
def database() -> Iterator[str]:
    """The address of a database that is made and dropped again; in CI it is an error if there is no server."""
    address = SERVER.replace("postgresql://", "postgresql+psycopg://", 1)
    server = create_engine(address, isolation_level="AUTOCOMMIT", connect_args={"connect_timeout": 2})
    name = f"silica_{uuid.uuid4().hex}"
    try:
        with server.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
    except OperationalError:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no PostgreSQL at {SERVER}: the service on it was not tested")
    try:
        yield f"{address.rpartition('/')[0]}/{name}"
    finally:
        with server.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        server.dispose()


@pytest.fixture
def new_database() -> Iterator[str]:
    """A database for one test."""
    with database() as address:
        yield address


@pytest.fixture(scope="session")
def redis_address() -> str:
    """The address of a Redis; in CI it is an error if there is none."""
    try:
        redis.Redis.from_url(REDIS, socket_connect_timeout=2).ping()
    except redis.RedisError:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no Redis at {REDIS}: the service on it was not tested")
    return REDIS


@pytest.fixture(scope="session")
def log() -> io.StringIO:
    """What the shared servers log."""
    return io.StringIO()


@pytest.fixture(scope="session", params=["embedded", "servers"])
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, log: io.StringIO
) -> Iterator[Running]:
    """One server for the tests that do not disturb others; each test takes sessions and agents of its own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(service_parts, "RequestLog", lambda: RequestLog(log))
        folder = tmp_path_factory.mktemp("service")
        if request.param == "embedded":
            with running(folder) as service:
                yield service
        else:
            redis_at = request.getfixturevalue("redis_address")
            with database() as address, running(folder, address, redis_at) as service:
                yield service
