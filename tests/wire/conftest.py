from __future__ import annotations

from collections.abc import Iterator

import pytest

from .server import Provider, serving


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider on this machine, for one test."""
    with serving() as provider:
        yield provider
