from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, inspect

from memory_v2.service import tables
from memory_v2.service.cache import StampsInMemory
from memory_v2.service.migrating import OLDEST, migrate
from memory_v2.service.options import ServiceOptions
from memory_v2.service.problem import problem_of
from memory_v2.service.store import Store
from tests.service.store_suite import FakeClock, StoreSuite, add, emit


def added(store: Store, name: str) -> None:
    with store.transaction("acme") as transaction:
        add(transaction, name)


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

    def test_what_waits_together_is_one_transaction_that_the_disk_has(self, store: Store) -> None:
        statements: list[str] = []
        event.listen(store.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))

        async def all_of_it() -> None:
            await asyncio.gather(*(store.do(partial(added, store, str(number))) for number in range(8)))

        asyncio.run(all_of_it())
        assert statements == ["BEGIN IMMEDIATE", "COMMIT"]
        with store.engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2  # FULL: a commit is flushed

    def test_a_record_that_a_failed_part_marked_stays_marked_until_all_is_committed(self, store: Store) -> None:
        """Else a reader would remember what was there before the change of another part."""
        stamps, seen = StampsInMemory(), list[str]()

        def change(fails: bool) -> None:
            with store.transaction("acme") as transaction:
                stamps.mark("one", transaction)
                if fails:
                    raise ZeroDivisionError

        def read() -> None:
            seen.append(asyncio.run(stamps.stamp("one")))

        async def all_of_it() -> None:
            one, two = partial(change, False), partial(change, True)
            await asyncio.gather(store.do(one), store.do(two), store.do(read), return_exceptions=True)

        asyncio.run(all_of_it())
        read()
        assert seen[0] == "" and seen[1]

    def test_an_error_that_ends_the_transaction_is_told_to_all_who_were_in_it(self, store: Store) -> None:
        def fail() -> None:
            with store.transaction("acme") as transaction:
                transaction.connection.exec_driver_sql("ROLLBACK")  # as SQLite does when the disk is full
                raise OSError

        async def all_of_it() -> Any:
            one, two = partial(added, store, "one"), partial(added, store, "two")
            return await asyncio.gather(store.do(one), store.do(fail), store.do(two), return_exceptions=True)

        problems = [problem_of(error) for error in asyncio.run(all_of_it())]
        assert [problem.code if problem else "" for problem in problems] == ["BACKEND_UNAVAILABLE"] * 3
        with store.transaction("acme") as transaction:
            assert transaction.find(tables.subscriptions) == []
        added(store, "three")

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
