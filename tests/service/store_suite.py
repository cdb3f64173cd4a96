"""What every store of the service must do. Another store inherits the suite and gives its own `store`."""

from __future__ import annotations

import asyncio
import threading
import uuid
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import IntegrityError, OperationalError

from memory_v2.service import tables
from memory_v2.service.problem import problem_of
from memory_v2.service.statements import EVENTS_LOCK
from memory_v2.service.store import Store, Transaction
from memory_v2.service.together import TakesLong
from tests.effort import effort
from tests.service.conftest import Mark

assert EVENTS_LOCK > 0


@dataclass
class FakeClock:
    """A time that stands still until it is moved."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def add(transaction: Transaction, name: str, value: int = 0, expires: float | None = None) -> None:
    values = {"filter": {"value": value}, "owner": "hawk", "created_at": transaction.now, "expires_at": expires}
    transaction.insert(tables.subscriptions, name, values)


STEPS = st.tuples(
    st.sampled_from(["add", "change", "remove", "keep", "forget", "pass", "sweep"]),
    st.sampled_from("abc"),
    st.sampled_from([60, 600, 6000]),
    st.integers(2, 400),
)
"""What is done, to which record or value, with how many seconds and bytes."""


class Ending:
    """What a tenant has, as the store should tell it: the end and the size of each record and each immediate value."""

    def __init__(self, store: Store, clock: FakeClock) -> None:
        self.store, self.clock, self.tenant = store, clock, uuid.uuid4().hex
        self.records: dict[str, tuple[float, int]] = {}
        self.values: dict[str, tuple[float, int]] = {}
        self.ended = 0

    def step(self, what: str, name: str, seconds: int, size: int) -> None:
        """Does one thing in the store, and here."""
        table, end = tables.agent_states, self.clock.now + seconds
        if what == "pass":
            self.clock.now += seconds
            for kept in (self.records, self.values):
                for ended in [each for each, (until, _) in kept.items() if until <= self.clock.now]:
                    del kept[ended]
                    self.ended += 1
        elif what == "sweep":
            self.store.sweep(keep_events=0)
        else:
            with self.store.transaction(self.tenant) as transaction:
                if what == "add" and name not in self.records:
                    row = {"agent_id": "hawk", "state": {}, "updated_by": "hawk", "created_at": 0.0}
                    transaction.insert(table, name, row | {"expires_at": end, "bytes": size})
                    self.records[name] = end, size
                elif what == "change":
                    transaction.update(table, name, {"bytes": size})
                    if name in self.records:
                        self.records[name] = self.records[name][0], size
                elif what == "remove":
                    assert transaction.delete(table, name) == (self.records.pop(name, None) is not None)
                elif what == "keep":
                    transaction.immediate.set({name: "x" * (size - 2)}, seconds)
                    self.values[name] = end, size
                elif what == "forget":
                    transaction.immediate.delete(name)
                    self.values.pop(name, None)

    def check(self) -> None:
        """On every way, there is what has not ended, and nothing else counts."""
        with self.store.transaction(self.tenant, writes=False) as transaction:
            table = tables.agent_states
            assert {name for name in "abc" if transaction.get(table, name)} == set(self.records)
            found, _ = transaction.find_part(table, limit=10)
            assert {row["id"]: row["bytes"] for row in found} == {
                name: size for name, (_, size) in self.records.items()
            }
            values = {name: len(value) + 2 for name, value in transaction.immediate.get_all("abc").items()}
            assert values == {name: size for name, (_, size) in self.values.items()}
            assert transaction.used_bytes() == sum(
                size for kept in (self.records, self.values) for _, size in kept.values()
            )


def emit(transaction: Transaction, number: int) -> None:
    transaction.emit("memory.updated", f"entry/{number}", {"data": {"number": number}}, "hawk")


class StoreSuite:
    """The contract of `Store` and `Transaction`."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    def test_a_record_is_of_its_tenant_only(self, store: Store) -> None:
        with store.transaction("acme") as transaction:
            add(transaction, "one", 1)
        with store.transaction("other") as transaction:
            assert transaction.get(tables.subscriptions, "one") is None
            assert transaction.find(tables.subscriptions) == []
            assert not transaction.delete(tables.subscriptions, "one")
            transaction.update(tables.subscriptions, "one", {"owner": "thief"})
            add(transaction, "one", 2)
        with store.transaction("acme", writes=False) as transaction:
            row = transaction.get(tables.subscriptions, "one")
            assert row is not None and row["filter"] == {"value": 1} and row["owner"] == "hawk"

    def test_a_record_whose_time_is_over_does_not_exist(self, store: Store, clock: FakeClock) -> None:
        with store.transaction("acme") as transaction:
            add(transaction, "one", expires=clock.now + 10)
        clock.now += 9.9
        with store.transaction("acme") as transaction:
            assert transaction.get(tables.subscriptions, "one")
        clock.now += 0.1
        with store.transaction("acme") as transaction:
            assert transaction.get(tables.subscriptions, "one") is None
            assert transaction.find(tables.subscriptions) == []
            assert not transaction.delete(tables.subscriptions, "one")
            add(transaction, "one", 2)  # and its name is free

    def test_a_second_record_of_the_same_id_is_refused(self, store: Store) -> None:
        with store.transaction("acme") as transaction:
            add(transaction, "one")
        with pytest.raises(IntegrityError), store.transaction("acme") as transaction:
            add(transaction, "one")

    def test_what_fails_leaves_no_record_and_no_event(self, store: Store) -> None:
        with pytest.raises(ZeroDivisionError), store.transaction("acme") as transaction:
            add(transaction, "one")
            transaction.immediate.set({"focus": {}}, 60)
            emit(transaction, 1)
            raise ZeroDivisionError
        with store.transaction("acme") as transaction:
            assert transaction.get(tables.subscriptions, "one") is None
            assert transaction.immediate.get("focus") is None
        assert store.events_after(0) == []

    def test_of_what_is_done_at_the_same_time_only_what_fails_is_undone(self, store: Store) -> None:
        """Work that waits for a turn together is committed together, with events in order."""

        def work(number: int) -> int:
            with store.transaction(f"tenant{number % 2}") as transaction:
                add(transaction, str(number), number)
                emit(transaction, number)
                if number % 3 == 0:
                    raise ZeroDivisionError
            return number

        async def all_of_it() -> list[Any]:
            return await asyncio.gather(*(store.do(partial(work, n)) for n in range(12)), return_exceptions=True)

        outcomes = asyncio.run(all_of_it())
        kept = [number for number in range(12) if number % 3]
        assert [each for each in outcomes if isinstance(each, int)] == kept
        assert [type(each) for each in outcomes].count(ZeroDivisionError) == 4
        ids: list[str] = []
        for tenant in ("tenant0", "tenant1"):
            with store.transaction(tenant, writes=False) as transaction:
                ids += [row["id"] for row in transaction.find(tables.subscriptions)]
        assert sorted(map(int, ids)) == kept
        assert sorted(event.body["data"]["number"] for event in store.events_after(0)) == kept

    def test_work_that_takes_long_is_done_alone(self, store: Store) -> None:
        """It is begun anew once it is alone, and nothing of its first try stays."""

        def work(name: str) -> bool:
            with store.transaction("acme") as transaction:
                add(transaction, name)
                if name == "long" and transaction.is_shared:
                    raise TakesLong
                return transaction.is_shared

        async def all_of_it() -> list[Any]:
            return await asyncio.gather(*(store.do(partial(work, name)) for name in ("one", "long", "two")))

        one, long, two = asyncio.run(all_of_it())
        assert (one, long, two) == (store.is_sqlite, False, store.is_sqlite)
        with store.transaction("acme") as transaction:
            assert {row["id"] for row in transaction.find(tables.subscriptions)} == {"one", "long", "two"}

    def test_an_immediate_value_ends_by_itself(self, store: Store, clock: FakeClock) -> None:
        with store.transaction("acme") as transaction:
            transaction.immediate.set({"focus": {"on": 1}}, 60)
            transaction.immediate.set({"focus": {"on": 2}}, 60)
        with store.transaction("other") as transaction:
            assert transaction.immediate.get("focus") is None
        with store.transaction("acme") as transaction:
            assert transaction.immediate.get("focus") == {"on": 2}
        clock.now += 60
        with store.transaction("acme") as transaction:
            assert transaction.immediate.get("focus") is None

    def test_a_text_that_is_no_unicode_is_refused(self, store: Store) -> None:
        with pytest.raises(ValueError) as refused, store.transaction("acme") as transaction:
            transaction.immediate.set({"focus": "\udc80"}, 60)
        problem = problem_of(refused.value)
        assert problem is not None and problem.code == "VALIDATION_FAILED"

    def test_bytes_of_what_has_ended_count_no_more(self, store: Store, clock: FakeClock) -> None:
        with store.transaction("acme") as transaction:
            transaction.immediate.set({"focus": "x" * 500}, 60)
        with store.transaction("acme") as transaction:
            assert transaction.used_bytes() >= 500
        clock.now += 60
        with store.transaction("acme") as transaction:
            assert transaction.used_bytes() == 0

    def test_times_and_bytes_are_true_whatever_is_done(self, store: Store, clock: FakeClock, mark: Mark) -> None:
        """Nothing that has ended is seen, counted, or revived by a read, a change or a sweep."""
        steps, ended = 0, 0

        @settings(max_examples=effort(10, 300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(st.lists(STEPS, min_size=10, max_size=40))
        def try_all(done: list[tuple[str, str, int, int]]) -> None:
            nonlocal steps, ended
            ending = Ending(store, clock)
            for each in done:
                ending.step(*each)
                ending.check()
            steps, ended = steps + len(done), ended + ending.ended

        try_all()
        assert ended > 0
        mark(9, f"{steps} steps, {ended} ends of records and values: none seen or counted after it")

    def test_no_concurrent_change_is_lost_and_events_have_no_hole(self, store: Store) -> None:
        with store.transaction("acme") as transaction:
            add(transaction, "one")
        seen: list[int] = []
        done = threading.Event()

        def follow() -> None:
            position = 0
            while not done.is_set() or store.events_after(position):
                for event in store.events_after(position):
                    position = event.position
                    seen.append(event.body["data"]["number"])

        def increase() -> None:
            with store.transaction("acme") as transaction:
                row = transaction.get(tables.subscriptions, "one", lock=True)
                assert row is not None
                value = row["filter"]["value"] + 1
                transaction.update(tables.subscriptions, "one", {"filter": {"value": value}})
                emit(transaction, value)

        def count() -> None:
            for _ in range(25):
                while True:
                    with suppress(TimeoutError, OperationalError):  # busy, which a slow machine may be
                        increase()
                        break

        reader = threading.Thread(target=follow)
        reader.start()
        writers = [threading.Thread(target=count) for _ in range(8)]
        for thread in writers:
            thread.start()
        for thread in writers:
            thread.join()
        done.set()
        reader.join()
        assert seen == list(range(1, 201))

    def test_what_has_expired_is_swept_and_old_cursors_are_known(self, store: Store, clock: FakeClock) -> None:
        with store.transaction("acme") as transaction:
            add(transaction, "one", expires=clock.now + 10)
            add(transaction, "two")
            emit(transaction, 1)
        first = store.events_after(0)[-1].position
        clock.now += 100
        with store.transaction("other") as transaction:
            emit(transaction, 2)
        assert store.sweep(keep_events=50) == 2
        dropped, newest = store.event_bounds()
        assert (dropped, newest) == (first, store.events_after(0)[-1].position)
        with store.transaction("acme") as transaction:
            assert transaction.get(tables.subscriptions, "two")

    def test_positions_go_on_when_all_events_are_swept(self, store: Store, clock: FakeClock) -> None:
        with store.transaction("acme") as transaction:
            emit(transaction, 1)
        last = store.event_bounds()[1]
        clock.now += 100
        store.sweep(keep_events=50)
        assert store.event_bounds() == (last, last)
        with store.transaction("acme") as transaction:
            emit(transaction, 2)
        assert store.events_after(last)[0].body["data"] == {"number": 2}
