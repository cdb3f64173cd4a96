from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Tests that are coroutines run on the event loop of the standard library."""
    return "asyncio"
