"""The statements that each request runs. They are built once: that costs more than running them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import add
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Dialect,
    Insert,
    Select,
    Table,
    Update,
    bindparam,
    func,
    literal_column,
    or_,
    select,
    true,
    tuple_,
    union_all,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from memory_v2.service import tables

EVENTS_LOCK = 5_719_437_002
"""The advisory lock of PostgreSQL under which events get their position: positions then become visible in order, so
that a reader's cursor never passes one that commits late. It is taken last, just before the commit."""
Statement = Select[Any] | Insert | Update | Delete


class Prepared:
    """A statement for values of these names. The driver is asked directly: it answers in less time than SQLAlchemy
    takes to pass that on."""

    def __init__(self, statement: Statement, dialect: Dialect, names: list[str]) -> None:
        compiled: Any = statement.compile(dialect=dialect, column_keys=names)
        self._text, self._errors = str(compiled), dialect.loaded_dbapi.Error
        types = {name: bind.type.dialect_impl(dialect) for bind, name in compiled.bind_names.items()}
        self._given = [(name, type_.bind_processor(dialect)) for name, type_ in types.items()]
        self._fixed = {name: value for name, value in compiled.params.items() if name not in names}
        columns = [(column.name, column.type.dialect_impl(dialect)) for column in statement.exported_columns]
        raw = dialect.name == "sqlite"  # psycopg makes the values itself
        self._columns = [(name, type_.result_processor(dialect, None) if raw else None) for name, type_ in columns]

    def run(self, connection: Connection, values: Mapping[str, Any]) -> int:
        """Runs it; how many rows it has changed."""
        return int(self._ask(connection, values).rowcount)

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows that it returns."""
        return [
            {name: make(value) if make else value for (name, make), value in zip(self._columns, row, strict=True)}
            for row in self._ask(connection, values)
        ]

    def _ask(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        values = {**self._fixed, **values}
        given = {name: make(values[name]) if make else values[name] for name, make in self._given}
        driver: Any = connection.connection.driver_connection
        try:
            return driver.execute(self._text, given)
        except self._errors as error:
            raise DBAPIError.instance(self._text, None, error, self._errors) from error


class Statements:
    """The statements of one dialect that have been prepared."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._prepared: dict[tuple[Any, ...], Prepared] = {}

    def __call__(self, values: Mapping[str, Any], build: Callable[..., Statement], *about: Any) -> Prepared:
        """The statement that `build` makes, for values of these names."""
        key = build, about, tuple(values)
        if key not in self._prepared:
            self._prepared[key] = Prepared(build(*about), self._dialect, list(values))
        return self._prepared[key]


def _alive(table: Table) -> ColumnElement[bool]:
    alive = or_(table.c.expires_at.is_(None), table.c.expires_at > bindparam("my_now"))
    return (table.c.tenant == bindparam("my_tenant")) & alive


def _mine(table: Table) -> ColumnElement[bool]:
    return _alive(table) & (table.c.id == bindparam("my_id"))


def get(table: Table, lock: bool) -> Select[Any]:
    query = select(table).where(_mine(table))
    return query.with_for_update() if lock else query


def insert(table: Table) -> Insert:
    return table.insert()


def update(table: Table) -> Update:
    return table.update().where(_mine(table))


def delete(table: Table) -> Delete:
    return table.delete().where(_mine(table))


def delete_ended(table: Table) -> Delete:
    ended = table.c.expires_at <= bindparam("my_now")
    return table.delete().where(table.c.tenant == bindparam("my_tenant"), table.c.id == bindparam("my_id"), ended)


def used_bytes() -> Select[Any]:
    def total(table: Table) -> Any:
        return select(func.coalesce(func.sum(table.c.bytes), 0)).where(_alive(table)).scalar_subquery()

    return select(reduce(add, map(total, tables.COUNTED)).label("used"))


def immediate_values(count: int) -> Select[Any]:
    table = tables.immediate
    ids: list[Any] = [bindparam(f"id_{number}") for number in range(count)]
    return select(table.c.id, table.c.value).where(_alive(table), table.c.id.in_(ids))


def upsert_immediate(dialect: str, count: int) -> Insert:
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
    return upsert.returning(select(old.c.value).where(key).scalar_subquery().label("old"))


def insert_event(dialect: str) -> Insert:
    """PostgreSQL takes the lock of all events in the same statement, before it gives the row its position."""
    if dialect != "postgresql":
        return insert(tables.outbox)
    columns = [column for column in tables.outbox.c if column.name != "position"]
    lock = select(func.pg_advisory_xact_lock(EVENTS_LOCK)).subquery()
    row = select(*(bindparam(column.name, type_=column.type) for column in columns)).select_from(lock)
    return tables.outbox.insert().from_select(columns, row)
