from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from memory_v2.service import parts as service_parts
from memory_v2.service.observing import request_log
from tests.service.running import HOST, Running, running


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this room may use sockets of this machine."""
    for item in items:
        if "tests/service" in item.path.as_posix():
            item.add_marker(pytest.mark.allow_hosts([HOST]))


@pytest.fixture(scope="session")
def log() -> io.StringIO:
    """What the shared server logs."""
    return io.StringIO()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, log: io.StringIO) -> Iterator[Running]:
    """One server for the tests that do not disturb others; each test takes sessions and agents of its own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(service_parts, "request_log", lambda: request_log(log))
        with running(tmp_path_factory.mktemp("service")) as service:
            yield service
