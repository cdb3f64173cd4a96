"""The stage that the tests of all clients share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.stage import Stage, stage
from tests.service.running import HOST


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this room may use sockets of this machine."""
    for item in items:
        if "tests/clients" in item.path.as_posix():
            item.add_marker(pytest.mark.allow_hosts([HOST]))


@pytest.fixture(scope="session")
def the_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One service for all cases: each takes sessions of its own."""
    with stage(tmp_path_factory.mktemp("clients")) as made:
        yield made
