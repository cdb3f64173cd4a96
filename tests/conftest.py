from __future__ import annotations

import gc
import os
import signal
import ssl
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, settings

from memory_v2.index.dense import chosen
from tests.effort import EFFORT, EFFORTS, effort

# Tests start Python many times: what it has compiled is kept, whatever the environment says.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

for name in EFFORTS:
    settings.register_profile(
        name,
        deadline=None,  # how long an example takes depends on the machine
        max_examples=effort(25, 100),
        database=None,
        derandomize=name == "quick",  # the same examples every time; a thorough run looks for new ones
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],  # to shrink a long history takes longer than all tests together
        report_multiple_bugs=False,
    )
settings.load_profile(EFFORT)


def pytest_configure() -> None:
    """Programs under test can be stopped with Ctrl-C, also if the tests run in the background, where it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Modules stay imported: the garbage collector need not search them again and again."""
    gc.freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """The same for what the tests of a file have imported."""
    if nextitem is not None and item.path != nextitem.path:
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def own_settings_do_not_count() -> Iterator[None]:
    """Whoever runs the tests may have a `silica.toml`; it is not read."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CONFIG_HOME", os.path.join(os.sep, "nowhere"))
        yield


@pytest.fixture(scope="session", autouse=True)
def no_time_is_wasted() -> Iterator[None]:
    """Leaves out what takes time and makes no difference here: `fsync` matters only if the power fails, and
    certificates, which every client of a provider loads, only on encrypted connections."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: None)
        patched.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def search_goes_by_words() -> Iterator[None]:
    """Though the extra is installed; tests of it bring their own encoder, or ask for the model."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SILICA_MEMORY_DENSE", "off")
        patched.setattr(chosen, "missing", lambda: ["what a test did not ask for"])
        yield
