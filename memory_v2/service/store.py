"""Where the service keeps what only it has: one interface over SQLite and PostgreSQL.

All reads and writes of a tenant go through a `Transaction`, which knows the tenant and the time: a record of another
tenant, or one whose time is over, does not exist for it. Events are rows of the same transaction.

A commit does not wait for the disk: while one does, others would wait for its locks. What must be durable is then
flushed by `Durable`, many commits by one flush, before anybody is told of it.
"""

from __future__ import annotations

import base64
import binascii
import json
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, reduce
from operator import add
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Engine,
    Insert,
    Select,
    Table,
    Update,
    bindparam,
    create_engine,
    event,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
    tuple_,
    union_all,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url

from memory_v2.service import tables
from memory_v2.service.durable import FLUSH, Durable, durable
from memory_v2.service.patience import Patience
from memory_v2.service.problem import Problem

Clock = Callable[[], float]
Record = dict[str, Any]
EVERY_TENANT = "*"
"""No tenant's name: for the service's own work over all of them, in row-level security too."""
BUSY_SECONDS = 5.0
"""How long a write waits for another one before the store counts as not available."""
EVENTS_LOCK = 5_719_437_002
"""The advisory lock of PostgreSQL under which events get their position: positions then become visible in order, so
that a reader's cursor never passes one that commits late. It is taken last, just before the commit."""


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A committed change: `position` is its place in the order of all. Who may see it is as for the record."""

    position: int
    tenant: str
    id: str
    type: str
    subject: str
    at: float
    body: dict[str, Any]
    owner: str
    visibility: str
    readers: str


class Immediate(Protocol):
    """Tier 1: values that live for seconds to a day. `set` and `delete` are visible to others once the transaction has
    committed."""

    def get(self, key: str) -> Any | None: ...
    def get_all(self, keys: Iterable[str]) -> dict[str, Any]: ...
    def set(self, values: Mapping[str, Any], seconds: float) -> None: ...
    def delete(self, key: str) -> None: ...


class Store:
    """The records of all tenants. `now` is the clock. `immediate` opens tier 1 for a transaction, and `on_commit` is
    called after each commit that brought events; other parts may replace both."""

    def __init__(self, url: str, now: Clock) -> None:
        self.now = now
        self.immediate: Callable[[Transaction], Immediate] = ImmediateRows
        self.on_commit: Callable[[], None] = lambda: None
        self.engine = _engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._patience = None if self.is_sqlite else Patience(self.engine)
        self._make_durable: Durable = durable(self.engine)
        self._writing = threading.Lock()
        self._epoch = ""

    @property
    def epoch(self) -> str:
        """Names this history of events: a restored or new store has another one."""
        if not self._epoch:
            with self.engine.connect() as connection:
                query = select(tables.about.c.value).where(tables.about.c.name == "epoch")
                self._epoch = connection.execute(query).scalar_one()
        return self._epoch

    def new_epoch(self) -> None:
        """Makes all cursors invalid: what they point into is another history."""
        with self.transaction(EVERY_TENANT) as opened:
            epoch = tables.about.c.name == "epoch"
            opened.connection.execute(tables.about.update().where(epoch).values(value=uuid.uuid4().hex[:8]))
        self._epoch = ""

    @contextmanager
    def transaction(self, tenant: str, writes: bool = True) -> Iterator[Transaction]:
        """All or nothing; what it has written is durable when it ends."""
        if writes and self.is_sqlite:
            if not self._writing.acquire(timeout=BUSY_SECONDS):
                raise TimeoutError("the store is busy")
            try:
                with self._transaction(tenant, writes) as opened:
                    yield opened
            finally:
                self._writing.release()
        else:
            with self._transaction(tenant, writes) as opened:
                yield opened
        if writes and self.is_sqlite:
            self._make_durable()
        if opened.events:
            self.on_commit()

    @contextmanager
    def _transaction(self, tenant: str, writes: bool) -> Iterator[Transaction]:
        with self.engine.connect() as connection:
            self._begin(connection, tenant, writes)
            opened = Transaction(connection, tenant, self.now())
            opened.immediate = self.immediate(opened)
            try:
                yield opened
                opened.prepare()
            except BaseException:
                opened.end()
                raise
            if writes and not self.is_sqlite:
                connection.exec_driver_sql(f"COMMIT; {FLUSH}")  # no lock is held any more while the log is flushed
            else:
                connection.commit()
            opened.is_committed = True
            opened.end()  # if the commit fails, nobody knows whether it has happened

    def _begin(self, connection: Connection, tenant: str, writes: bool) -> None:
        """Begins a transaction by hand: one exchange with the server, not three."""
        if self.is_sqlite:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
            return
        name = tenant.replace("'", "''")
        waits = "SET LOCAL synchronous_commit = off" if writes else "SET TRANSACTION READ ONLY"
        connection.exec_driver_sql(f"BEGIN; {waits}; SET LOCAL silica.tenant = '{name}'")

    def check(self) -> None:
        """Raises what an outage raises."""
        with self.engine.connect() as connection:
            connection.execute(select(tables.about.c.name).limit(1)).all()

    def events_after(self, position: int, limit: int = 500) -> list[Event]:
        """The events of all tenants after a position, in order, without a hole; they are durable."""
        with self._reading_all() as connection:
            query = select(tables.outbox).where(tables.outbox.c.position > position)
            rows = connection.execute(query.order_by(tables.outbox.c.position).limit(limit)).mappings()
            found = [Event(**row) for row in rows]
        if found:
            self._make_durable()
        return found

    def event_bounds(self) -> tuple[int, int]:
        """The positions of the last event that is no longer kept, and of the newest; 0 if there was none yet."""
        with self._reading_all() as connection:
            query = select(tables.about.c.value).where(tables.about.c.name == "dropped")
            dropped = int(connection.scalar(query) or 0)
            return dropped, int(connection.scalar(select(func.max(tables.outbox.c.position))) or dropped)

    @contextmanager
    def _reading_all(self) -> Iterator[Connection]:
        """A connection that reads the rows of all tenants."""
        with self.engine.connect() as connection:
            self._begin(connection, EVERY_TENANT, writes=False)
            yield connection
            connection.commit()  # with a rollback, the driver forgets the statements that the server knows

    def sweep(self, keep_events: float) -> int:
        """Removes what has expired, and events older than so many seconds. Returns how many rows that were."""
        now, count, outbox = self.now(), 0, tables.outbox
        with self.transaction(EVERY_TENANT) as opened:
            run = opened.connection.execute
            last = run(select(func.max(outbox.c.position)).where(outbox.c.at < now - keep_events)).scalar()
            if last is not None:
                run(tables.about.delete().where(tables.about.c.name == "dropped"))
                run(tables.about.insert().values(name="dropped", value=str(last)))
                count += run(outbox.delete().where(outbox.c.position <= last)).rowcount
            for table in tables.OF_A_TENANT:
                if table is not outbox:
                    count += run(table.delete().where(table.c.expires_at <= now)).rowcount
        return count

    def find_key(self, key_id: str) -> Record | None:
        """A key by its id, whatever its tenant."""
        with self.engine.connect() as connection:
            query = select(tables.api_keys).where(tables.api_keys.c.id == key_id)
            return next(map(dict, connection.execute(query).mappings()), None)

    def close(self) -> None:
        """Closes all connections."""
        if self._patience:
            self._patience.close()
        self.engine.dispose()


def _cursor(row: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps([row["created_at"], row["id"]]).encode()).decode()


def _read_cursor(cursor: str) -> tuple[float, str]:
    try:
        moment, last = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        if "\0" in str(last):
            raise ValueError("no id has a null character")
        return float(moment), str(last)
    except (ValueError, TypeError, binascii.Error) as error:
        raise Problem("VALIDATION_FAILED", "this is no cursor of an answer") from error


class Transaction:
    """What one request reads and writes. `connection` is for queries that a room makes itself; they name the tenant by
    `mine`. `written` are the bytes it has stored so far. `before_commit` is called when all is written, `at_end`
    when it `is_committed`, or is known not to be."""

    immediate: Immediate

    def __init__(self, connection: Connection, tenant: str, now: float) -> None:
        self.connection, self.tenant, self.now = connection, tenant, now
        self.written = 0
        self.events: list[dict[str, Any]] = []
        self.is_committed = False
        self.before_commit: list[Callable[[], object]] = []
        self.at_end: list[Callable[[], None]] = []

    def prepare(self) -> None:
        """The last things before the commit; the events are the very last, as their lock is for all tenants."""
        for step in self.before_commit:
            step()
        self.store_events()

    def end(self) -> None:
        """Calls what was asked for at the end."""
        for step in self.at_end:
            step()

    def mine(self, table: Table) -> ColumnElement[bool]:
        """The rows of this tenant that exist now."""
        alive = or_(table.c.expires_at.is_(None), table.c.expires_at > self.now)
        return (table.c.tenant == self.tenant) & alive

    def get(self, table: Table, record_id: str, lock: bool = False) -> Record | None:
        """A record, or `None`; with `lock`, it does not change until the transaction ends."""
        row = self.connection.execute(_get(table, lock), self._named(record_id)).mappings().first()
        return dict(row) if row else None

    def _named(self, record_id: str) -> dict[str, Any]:
        return {"my_tenant": self.tenant, "my_now": self.now, "my_id": record_id}

    def find(
        self, table: Table, *where: ColumnElement[bool], order: tuple[Any, ...] = (), limit: int = 1000
    ) -> list[Record]:
        """Records that fit, at most `limit`."""
        query = select(table).where(self.mine(table), *where).order_by(*order).limit(limit)
        return [dict(row) for row in self.connection.execute(query).mappings()]

    def find_part(
        self, table: Table, *where: ColumnElement[bool], limit: int, cursor: str = "", is_newest_first: bool = False
    ) -> tuple[list[Record], str | None]:
        """At most `limit` records that fit, by the time they were made, after the `cursor` of the part before; and the
        cursor of the next part, if there is one. Raises `Problem` for what is no cursor."""
        columns = table.c.created_at, table.c.id
        if cursor:
            place, last = tuple_(*columns), tuple_(*map(literal, _read_cursor(cursor)))
            where = (*where, place < last if is_newest_first else place > last)
        order = tuple(column.desc() for column in columns) if is_newest_first else columns
        rows = self.find(table, *where, order=order, limit=limit + 1)
        return rows[:limit], _cursor(rows[limit - 1]) if len(rows) > limit else None

    def insert(self, table: Table, record_id: str, values: Mapping[str, Any]) -> None:
        """A new record in the place of one that may have expired. Raises `IntegrityError` if there is one."""
        self.connection.execute(_delete_ended(table), self._named(record_id))
        self.connection.execute(_insert(table), {"tenant": self.tenant, "id": record_id, **values})
        self.written += values.get("bytes", 0)

    def update(self, table: Table, record_id: str, values: Mapping[str, Any]) -> None:
        """Changes a record."""
        self.connection.execute(_update(table), {**self._named(record_id), **values})
        self.written += values.get("bytes", 0)

    def delete(self, table: Table, record_id: str) -> bool:
        """Removes a record; says whether there was one."""
        return self.connection.execute(_delete(table), self._named(record_id)).rowcount > 0

    def lock(self, name: str) -> None:
        """Nobody else has the lock of this name until the transaction ends: for what is not a row yet."""
        self._locked(func.pg_advisory_xact_lock, name)

    def try_lock(self, name: str) -> bool:
        """As `lock`, but does not wait: says whether the lock was free."""
        return bool(self._locked(func.pg_try_advisory_xact_lock, name))

    def _locked(self, lock: Callable[..., Any], name: str) -> Any:
        if self.connection.dialect.name != "postgresql":
            return True  # a transaction that writes is alone there
        return self.connection.execute(select(lock(func.hashtextextended(name, EVENTS_LOCK)))).scalar_one()

    def used_bytes(self) -> int:
        """The bytes that count for the quota of this tenant."""
        return int(self.connection.execute(_used_bytes(), self._named("")).scalar_one())

    def emit(
        self,
        kind: str,
        subject: str,
        body: Mapping[str, Any],
        owner: str,
        visibility: str = "shared",
        readers: str = "",
    ) -> None:
        """An event, which is committed with the change."""
        self.events.append(
            {
                "tenant": self.tenant,
                "id": str(uuid.uuid4()),
                "type": kind,
                "subject": subject,
                "at": self.now,
                "body": dict(body),
                "owner": owner,
                "visibility": visibility,
                "readers": readers,
            }
        )

    def store_events(self) -> None:
        """Gives the events their positions, one by one, so that their order is that of the changes."""
        for each in self.events:
            self.connection.execute(_insert_event(self.connection.dialect.name), each)


class ImmediateRows:
    """Tier 1 in the same database and transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def get(self, key: str) -> Any | None:
        """The value, if its time is not over."""
        return self.get_all([key]).get(key)

    def get_all(self, keys: Iterable[str]) -> dict[str, Any]:
        """The values whose time is not over, by key."""
        wanted = self._transaction._named("") | {"my_ids": list(keys)}
        return {row.id: row.value for row in self._transaction.connection.execute(_immediate_values(), wanted)}

    def set(self, values: Mapping[str, Any], seconds: float) -> None:
        """Keeps values, by key, for so many seconds from now."""
        self._store({key: (value, len(json.dumps(value))) for key, value in values.items()}, seconds)

    def _store(self, values: Mapping[str, tuple[Any, int]], seconds: float) -> list[Any]:
        """Rows with these values and sizes; in PostgreSQL returns those that they replace."""
        end, transaction = self._transaction.now + seconds, self._transaction
        given: dict[str, Any] = {"tenant": transaction.tenant, "expires_at": end}
        for number, (key, (value, size)) in enumerate(values.items()):
            given |= {f"id_{number}": key, f"value_{number}": value, f"bytes_{number}": size}
        transaction.written += sum(size for _, size in values.values())
        done = transaction.connection.execute(
            _upsert_immediate(transaction.connection.dialect.name, len(values)), given
        )
        return [value for value in done.scalars() if value is not None] if done.returns_rows else []

    def delete(self, key: str) -> None:
        """Forgets a value, if there is one."""
        self._transaction.delete(tables.immediate, key)


# The statements that each request runs are built once: building one costs more than running it.


def _alive(table: Table) -> ColumnElement[bool]:
    alive = or_(table.c.expires_at.is_(None), table.c.expires_at > bindparam("my_now"))
    return (table.c.tenant == bindparam("my_tenant")) & alive


def _mine(table: Table) -> ColumnElement[bool]:
    return _alive(table) & (table.c.id == bindparam("my_id"))


@cache
def _get(table: Table, lock: bool) -> Select[Any]:
    query = select(table).where(_mine(table))
    return query.with_for_update() if lock else query


@cache
def _insert(table: Table) -> Insert:
    return table.insert()


@cache
def _update(table: Table) -> Update:
    return table.update().where(_mine(table))


@cache
def _delete(table: Table) -> Delete:
    return table.delete().where(_mine(table))


@cache
def _delete_ended(table: Table) -> Delete:
    ended = table.c.expires_at <= bindparam("my_now")
    return table.delete().where(table.c.tenant == bindparam("my_tenant"), table.c.id == bindparam("my_id"), ended)


@cache
def _used_bytes() -> Select[Any]:
    def total(table: Table) -> Any:
        return select(func.coalesce(func.sum(table.c.bytes), 0)).where(_alive(table)).scalar_subquery()

    return select(reduce(add, map(total, tables.COUNTED)))


@cache
def _immediate_values() -> Select[Any]:
    table = tables.immediate
    return select(table.c.id, table.c.value).where(_alive(table), table.c.id.in_(bindparam("my_ids", expanding=True)))


@cache
def _upsert_immediate(dialect: str, count: int) -> Insert:
    """So many rows in one statement, for one exchange with the server; as SELECTs, since VALUES are built each time."""
    columns = list(tables.immediate.c)

    def row(number: int) -> Select[Any]:
        own = {"id": f"id_{number}", "value": f"value_{number}", "bytes": f"bytes_{number}"}
        given = (bindparam(own.get(column.name, column.name), type_=column.type) for column in columns)
        return select(*given).where(true())  # without a WHERE, SQLite takes ON CONFLICT for a join's

    new: Any = (postgresql if dialect == "postgresql" else sqlite).insert(tables.immediate)
    new = new.from_select(columns, union_all(*map(row, range(count))))
    changed = {name: new.excluded[name] for name in ("value", "expires_at", "bytes")}
    upsert: Insert = new.on_conflict_do_update(index_elements=["tenant", "id"], set_=changed)
    if dialect != "postgresql":
        return upsert
    old = tables.immediate.alias()  # as it was before the statement
    key = tuple_(old.c.tenant, old.c.id) == tuple_(*map(literal_column, ("immediate.tenant", "immediate.id")))
    return upsert.returning(select(old.c.value).where(key).scalar_subquery())


@cache
def _insert_event(dialect: str) -> Insert:
    """PostgreSQL takes the lock of all events in the same statement, before it gives the row its position."""
    if dialect != "postgresql":
        return _insert(tables.outbox)
    columns = [column for column in tables.outbox.c if column.name != "position"]
    lock = select(func.pg_advisory_xact_lock(EVENTS_LOCK)).subquery()
    row = select(*(bindparam(column.name, type_=column.type) for column in columns)).select_from(lock)
    return tables.outbox.insert().from_select(columns, row)


def _engine(url: str) -> Engine:
    address = make_url(url)
    if address.get_backend_name() != "sqlite":
        options = f"-c role={tables.ROLE} -c statement_timeout=5000 -c lock_timeout=2000"
        given = {"connect_timeout": 2, "options": options}
        # The connection that was used last is the next one: each learns the statements for itself.
        pool: Any = {"pool_size": 10, "max_overflow": 10, "pool_timeout": 2, "pool_use_lifo": True}
        return create_engine(address, **pool, connect_args=given, isolation_level="AUTOCOMMIT")
    Path(address.database or "").parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(address, pool_size=20, pool_timeout=2, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the transactions are begun by hand: the driver begins them too late
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return engine
