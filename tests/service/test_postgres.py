"""The store on PostgreSQL, alone and with Redis."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, select, text
from sqlalchemy.exc import ProgrammingError

from memory_v2.service import tables
from memory_v2.service.migrating import OLDEST, migrate
from memory_v2.service.redis_tier import REPLACED_SECONDS, RedisTier
from memory_v2.service.store import Store
from tests.service.running import running
from tests.service.store_suite import FakeClock, StoreSuite, add, emit


class TestPostgres(StoreSuite):
    """The same contract."""

    stores = "PostgreSQL"

    @pytest.fixture
    def store(self, new_database: str, clock: FakeClock) -> Iterator[Store]:
        migrate(new_database)
        store = Store(new_database, clock)
        yield store
        store.close()

    def test_migrations_go_down_and_up_again_with_records(self, store: Store, new_database: str) -> None:
        with store.transaction("acme") as transaction:
            add(transaction, "one")
            emit(transaction, 1)
        migrate(new_database, OLDEST, down=True)
        engine = create_engine(new_database)
        assert set(inspect(engine).get_table_names()) == {"alembic_version"}
        migrate(new_database)
        assert "working_memory" in inspect(engine).get_table_names()
        engine.dispose()

    def test_the_table_of_entries_has_the_columns_and_indexes_of_the_specification(self, store: Store) -> None:
        columns = (
            "SELECT column_name, udt_name, character_maximum_length, column_default FROM information_schema.columns"
        )
        indexes = "SELECT indexname, split_part(indexdef, ' USING ', 2) FROM pg_indexes"
        with store.engine.connect() as connection:
            found = connection.execute(text(f"{columns} WHERE table_name = 'working_memory'")).all()
            uses = {row[0]: row[1] for row in connection.execute(text(f"{indexes} WHERE tablename = 'working_memory'"))}
        kinds = {name: (kind, length) for name, kind, length, _ in found}
        assert kinds["source_type"] == ("varchar", 50)
        assert {kinds[name] for name in ("source_id", "session_id")} == {("varchar", 255)}
        assert (kinds["data"][0], kinds["meta_tags"][0], kinds["ttl"][0]) == ("jsonb", "_text", "int4")
        assert {kinds[name][0] for name in ("created_at", "updated_at")} == {"float8"}
        assert {name: default for name, _, _, default in found}["ttl"] == "604800"
        assert uses["idx_meta_tags"] == "gin (meta_tags)"
        assert uses["idx_session"] == "btree (session_id)"
        assert uses["idx_source"] == "btree (source_type, source_id)"

    def test_each_table_of_a_tenant_is_guarded_and_the_role_cannot_bypass_it(self, store: Store) -> None:
        with store.engine.connect() as connection:
            forced = "SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity"
            assert set(connection.execute(text(forced)).scalars()) == {table.name for table in tables.OF_A_TENANT}
            role = "SELECT current_user, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
            assert connection.execute(text(role)).one() == (tables.ROLE, False, False)

    def test_a_query_without_a_where_sees_no_other_tenant(self, store: Store) -> None:
        with store.transaction("acme") as transaction:
            add(transaction, "one")
            emit(transaction, 1)
        with store.transaction("other") as transaction:
            for table in (tables.subscriptions, tables.outbox):
                assert transaction.connection.execute(select(table)).all() == []
                assert transaction.connection.execute(table.delete()).rowcount == 0
        with store.engine.connect() as connection:  # nobody said which tenant
            assert connection.execute(select(tables.subscriptions)).all() == []
        with pytest.raises(ProgrammingError), store.transaction("other") as transaction:
            values = {"tenant": "acme", "id": "two", "filter": {}, "owner": "x", "created_at": 0.0}
            transaction.connection.execute(tables.subscriptions.insert().values(**values))

    def test_a_transaction_that_commits_late_leaves_no_hole(self, store: Store) -> None:
        """The first transaction has written its event and sleeps before its commit; the second cannot pass it."""
        entered, leave = threading.Event(), threading.Event()

        def late() -> None:
            with store.transaction("acme") as transaction:
                emit(transaction, 1)
                transaction.store_events()
                transaction.events.clear()
                entered.set()
                leave.wait(10)

        def after() -> None:
            with store.transaction("other") as transaction:
                emit(transaction, 2)

        threads = [threading.Thread(target=late), threading.Thread(target=after)]
        threads[0].start()
        entered.wait(10)
        threads[1].start()
        threads[1].join(0.2)
        assert store.events_after(0) == [] and threads[1].is_alive()
        leave.set()
        for thread in threads:
            thread.join()
        assert [event.body["data"]["number"] for event in store.events_after(0)] == [1, 2]


class TestPostgresAndRedis(StoreSuite):
    """The same contract, with tier 1 in Redis."""

    @pytest.fixture
    def tier(self, new_database: str, redis_address: str) -> RedisTier:
        return RedisTier(redis_address, new_database.rpartition("/")[2])

    @pytest.fixture
    def store(self, new_database: str, clock: FakeClock, tier: RedisTier) -> Iterator[Store]:
        migrate(new_database)
        store = Store(new_database, clock)
        store.immediate = tier.immediate
        yield store
        store.close()
        tier.client.close()

    def test_the_value_is_in_redis_and_ends_there(self, store: Store, tier: RedisTier) -> None:
        with store.transaction("acme") as transaction:
            transaction.immediate.set({"immediate:S:focus": {"on": 1}}, 60)
        [name] = tier.client.keys(f"{tier.namespace}:acme:immediate:S:focus:*")
        assert tier.client.get(name) == '{"on":1}' and 0 < tier.client.ttl(name) <= 60
        with store.transaction("acme") as transaction:
            assert transaction.connection.execute(select(tables.immediate.c.value)).scalar_one() == name

    def test_a_value_that_is_replaced_can_be_read_until_the_commit(self, store: Store, tier: RedisTier) -> None:
        with store.transaction("acme") as transaction:
            transaction.immediate.set({"focus": 1}, 600)
        with store.transaction("acme") as writing:
            writing.immediate.set({"focus": 2}, 600)
            with store.transaction("acme", writes=False) as reading:
                assert reading.immediate.get("focus") == 1
        with store.transaction("acme", writes=False) as reading:
            assert reading.immediate.get("focus") == 2
        lives = {tier.client.get(name): tier.client.ttl(name) for name in tier.client.keys(f"{tier.namespace}:acme:*")}
        assert lives["1"] <= REPLACED_SECONDS < lives["2"]  # what was replaced ends soon, by itself


def test_what_is_immediate_has_the_names_of_the_specification(
    tmp_path: Path, new_database: str, redis_address: str
) -> None:
    with running(tmp_path, new_database, redis_address) as service:
        client, redis = service.client("hawk"), service.parts.redis
        client.post("/context", json={"session_id": "S"})
        client.post("/agent/hawk/update", json={"state": {"busy": True}})
        assert redis is not None
        before = f"{redis.namespace}:default:"
        names = list(redis.client.scan_iter(f"{before}*"))
        assert sorted(name.removeprefix(before).rpartition(":")[0] for name in names) == [
            "immediate:S:focus",
            "immediate:S:working",
            "immediate:hawk:state",
        ]
        assert all(86_000 < redis.client.ttl(name) <= 86_400 for name in names)
