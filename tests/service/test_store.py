from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect

from memory_v2.service import tables
from memory_v2.service.migrating import OLDEST, migrate
from memory_v2.service.options import ServiceOptions
from memory_v2.service.store import Store
from tests.service.store_suite import FakeClock, StoreSuite, add, emit


class TestEmbedded(StoreSuite):
    """The store of one SQLite file."""

    stores = "embedded"

    @pytest.fixture
    def store(self, tmp_path: Path, clock: FakeClock) -> Iterator[Store]:
        url = ServiceOptions(tmp_path).database_url
        migrate(url)
        store = Store(url, clock)
        yield store
        store.close()

    def test_migrations_go_down_and_up_again_with_records(self, store: Store) -> None:
        with store.transaction("acme") as transaction:
            add(transaction, "one")
            emit(transaction, 1)
        url = str(store.engine.url)
        store.close()
        migrate(url, OLDEST, down=True)
        assert set(inspect(store.engine).get_table_names()) == {"alembic_version"}
        migrate(url)
        assert set(inspect(store.engine).get_table_names()) == {*tables.metadata.tables, "alembic_version"}

    def test_a_new_epoch_is_another_one(self, store: Store) -> None:
        before = store.epoch
        store.new_epoch()
        assert store.epoch != before

    def test_a_reader_is_not_kept_waiting_by_a_writer(self, store: Store) -> None:
        with store.transaction("acme") as writing:
            add(writing, "one")
            seen: list[object] = []

            def read() -> None:
                with store.transaction("acme", writes=False) as reading:
                    seen.append(reading.get(tables.subscriptions, "one"))

            thread = threading.Thread(target=read)
            thread.start()
            thread.join(5)
        assert seen == [None]
