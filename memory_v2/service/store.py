"""Where the service keeps what only it has: one interface over SQLite and PostgreSQL.

All reads and writes of a tenant go through a `Transaction`, which knows the tenant and the time: a record of another
tenant, or one whose time is over, does not exist for it. Events are rows of the same transaction.

What others get to know is durable. A commit of PostgreSQL does not wait for the disk: while one does, others would
wait for its locks. The log is then flushed, many commits by one flush. SQLite has turns: see `together.py`.
"""

from __future__ import annotations

import base64
import binascii
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import to_json
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Table,
    create_engine,
    event,
    func,
    literal,
    or_,
    select,
    tuple_,
)
from sqlalchemy.engine import make_url
from starlette.concurrency import run_in_threadpool

from memory_v2.service import statements, tables
from memory_v2.service.patience import Patience
from memory_v2.service.problem import Problem
from memory_v2.service.statements import EVENTS_LOCK, Statements
from memory_v2.service.together import BUSY_SECONDS, TakesLong, Together, Turn

Clock = Callable[[], float]
Record = dict[str, Any]
EVERY_TENANT = "*"
"""No tenant's name: for the service's own work over all of them, in row-level security too."""
COMMON: Any = {"pool_timeout": 2, "pool_use_lifo": True, "json_serializer": lambda value: to_json(value).decode()}
"""The connection that was used last is the next one: each has statements and pages of its own at hand."""
FLUSH = "SELECT pg_logical_emit_message(true, 'silica', '')"
"""What makes PostgreSQL flush its log, when it is committed by itself."""


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


class Store:
    """The records of all tenants. `now` is the clock. `immediate` opens tier 1 for a transaction, and `on_commit` is
    called after each commit that brought events; other parts may replace both."""

    def __init__(self, url: str, now: Clock) -> None:
        self.now = now
        self.immediate: Callable[[Transaction], ImmediateRows] = ImmediateRows
        self.on_commit: Callable[[], None] = lambda: None
        self.engine = _engine(url)
        self._prepared = Statements(self.engine.dialect)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._patience = None if self.is_sqlite else Patience(self.engine)
        self._together = Together(self.engine) if self.is_sqlite else None
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

    async def do(self, work: Callable[[], Any]) -> Any:
        """What the work returns or raises, which opens a transaction to write; it is done in a thread, on SQLite
        together with other work."""
        if self._together is None:
            return await run_in_threadpool(work)
        try:
            return await self._together.do(work)
        except TakesLong:
            return await run_in_threadpool(work)

    @contextmanager
    def transaction(self, tenant: str, writes: bool = True) -> Iterator[Transaction]:
        """All or nothing. What it has written is durable when it ends; in a turn that is shared, when that ends."""
        if not writes or self._together is None:
            with self._transaction(tenant, writes) as opened:
                yield opened
        elif turn := self._together.turn:
            with self._part(turn, tenant) as opened:
                yield opened
        else:
            with self._together.begun() as turn, self._part(turn, tenant) as opened:
                yield opened

    @contextmanager
    def _transaction(self, tenant: str, writes: bool) -> Iterator[Transaction]:
        with self.engine.connect() as connection:
            self._begin(connection, tenant, writes)
            opened, is_committed = self._opened(connection, tenant), False
            try:
                yield opened
                opened.prepare()
                if writes:
                    connection.exec_driver_sql(f"COMMIT; {FLUSH}")  # no lock is held while the log is flushed
                else:
                    connection.commit()
                is_committed = True
            finally:
                self._end(opened, is_committed)

    @contextmanager
    def _part(self, turn: Turn, tenant: str) -> Iterator[Transaction]:
        """A part that fails ends with the turn too: what it has marked may be what another one changes."""
        opened, is_kept = self._opened(turn.connection, tenant), False
        opened.is_shared = turn.is_shared
        turn.at_end.append(lambda is_committed: self._end(opened, is_committed and is_kept))
        with turn.part():
            yield opened
            opened.prepare()
        is_kept = True

    def _opened(self, connection: Connection, tenant: str) -> Transaction:
        opened = Transaction(connection, self._prepared, tenant, self.now())
        opened.immediate = self.immediate(opened)
        return opened

    def _end(self, opened: Transaction, is_committed: bool) -> None:
        """If a commit has failed, it may have happened all the same."""
        opened.is_committed = is_committed
        opened.end()
        if is_committed and opened.events:
            self.on_commit()

    def _begin(self, connection: Connection, tenant: str, writes: bool) -> None:
        """Begins a transaction by hand: one exchange with the server, not three."""
        if self.is_sqlite:
            connection.exec_driver_sql("BEGIN")
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
        if found and not self.is_sqlite:  # the log, up to the commits of others
            with self.engine.connect() as connection:
                connection.exec_driver_sql(FLUSH)
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

    immediate: ImmediateRows
    is_shared = False
    """Whether others wait until this is done: it must not take long."""

    def __init__(self, connection: Connection, prepared: Statements, tenant: str, now: float) -> None:
        self.connection, self.tenant, self.now = connection, tenant, now
        self._prepared = prepared
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
        return next(iter(self._rows(self._named(record_id), statements.get, table, lock)), None)

    def _run(self, values: Mapping[str, Any], *statement: Any) -> int:
        return self._prepared(values, *statement).run(self.connection, values)

    def _rows(self, values: Mapping[str, Any], *statement: Any) -> list[Record]:
        return self._prepared(values, *statement).rows(self.connection, values)

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
        self._run(self._named(record_id), statements.delete_ended, table)
        self._run({"tenant": self.tenant, "id": record_id, **values}, statements.insert, table)
        self.written += values.get("bytes", 0)

    def update(self, table: Table, record_id: str, values: Mapping[str, Any]) -> None:
        """Changes a record."""
        self._run({**self._named(record_id), **values}, statements.update, table)
        self.written += values.get("bytes", 0)

    def delete(self, table: Table, record_id: str) -> bool:
        """Removes a record; says whether there was one."""
        return self._run(self._named(record_id), statements.delete, table) > 0

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
        (row,) = self._rows(self._named(""), statements.used_bytes)
        return int(row["used"])

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

    def emit_update(self, subject: str, level: str, source: Mapping[str, Any], changes: Any, *access: str) -> None:
        """The event that a context, an entry or a page has changed; `source` is who has changed it."""
        data = {"entry_id": subject.partition("/")[2], "source": source, "changes": changes}
        body = {"level": level, "session": source["session"], "agent": source["id"], "data": data}
        self.emit("memory.updated", subject, body, *access)

    def store_events(self) -> None:
        """Gives the events their positions, one by one, so that their order is that of the changes."""
        for each in self.events:
            self._run(each, statements.insert_event, self.connection.dialect.name)


class ImmediateRows:
    """Tier 1, in the same database and transaction: values that live for seconds to a day. `set` and `delete` are
    visible to others once the transaction has committed."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def get(self, key: str) -> Any | None:
        """The value, if its time is not over."""
        return self.get_all([key]).get(key)

    def get_all(self, keys: Iterable[str]) -> dict[str, Any]:
        """The values whose time is not over, by key."""
        wanted = {f"id_{number}": key for number, key in enumerate(keys)}
        given = self._transaction._named("") | wanted
        rows = self._transaction._rows(given, statements.immediate_values, len(wanted))
        return {row["id"]: row["value"] for row in rows}

    def set(self, values: Mapping[str, Any], seconds: float) -> None:
        """Keeps values, by key, for so many seconds from now."""
        self._store({key: (value, len(to_json(value))) for key, value in values.items()}, seconds)

    def _store(self, values: Mapping[str, tuple[Any, int]], seconds: float) -> list[Any]:
        """Rows with these values and sizes; in PostgreSQL returns those that they replace."""
        end, transaction = self._transaction.now + seconds, self._transaction
        given: dict[str, Any] = {"tenant": transaction.tenant, "expires_at": end}
        for number, (key, (value, size)) in enumerate(values.items()):
            given |= {f"id_{number}": key, f"value_{number}": value, f"bytes_{number}": size}
        transaction.written += sum(size for _, size in values.values())
        about = transaction.connection.dialect.name, len(values)
        if about[0] == "postgresql":
            old = transaction._rows(given, statements.upsert_immediate, *about)
            return [row["old"] for row in old if row["old"] is not None]
        transaction._run(given, statements.upsert_immediate, *about)
        return []

    def delete(self, key: str) -> None:
        """Forgets a value, if there is one."""
        self._transaction.delete(tables.immediate, key)


def _engine(url: str) -> Engine:
    address = make_url(url)
    if address.get_backend_name() != "sqlite":
        options = f"-c role={tables.ROLE} -c statement_timeout=5000 -c lock_timeout=2000"
        given = {"connect_timeout": 2, "options": options}
        return create_engine(
            address, **COMMON, pool_size=10, max_overflow=10, connect_args=given, isolation_level="AUTOCOMMIT"
        )
    Path(address.database or "").parent.mkdir(parents=True, exist_ok=True)
    given = {"paramstyle": "named", "connect_args": {"timeout": BUSY_SECONDS}}
    engine = create_engine(address, **COMMON, **given, pool_size=20)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the transactions are begun by hand: the driver begins them too late
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return engine
