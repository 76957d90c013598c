"""A container: rows of one shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tonnage

from tonnage_griddb import bulk, conditions, indexes
from tonnage_griddb.enums import (
    Aggregation,
    ContainerType,
    IndexType,
    InterpolationMode,
    QueryOrder,
    TimeUnit,
    Type,
)
from tonnage_griddb.errors import Code, GSException, translated
from tonnage_griddb.info import Column, IndexInfo
from tonnage_griddb.keys import key_values
from tonnage_griddb.query import Query
from tonnage_griddb.results import AggregationResult
from tonnage_griddb.shape import ROW_NUMBER, Shape, fits, quoted
from tonnage_griddb.timestamps import nanos_of
from tonnage_griddb.tql import sampling
from tonnage_griddb.tql.plan import Plan, Planner
from tonnage_griddb.tql.syntax import Call, Expression, Name, Order, Star
from tonnage_griddb.tql.syntax import Query as Syntax
from tonnage_griddb.undo import UndoLog, warn_once
from tonnage_griddb.values import Codec

if TYPE_CHECKING:
    import pandas

    from tonnage_griddb.catalog import Catalog

_FUNCTIONS = {
    Aggregation.MINIMUM: "MIN",
    Aggregation.MAXIMUM: "MAX",
    Aggregation.TOTAL: "SUM",
    Aggregation.AVERAGE: "AVG",
    Aggregation.VARIANCE: "VARIANCE",
    Aggregation.STANDARD_DEVIATION: "STDDEV",
    Aggregation.COUNT: "COUNT",
    Aggregation.WEIGHTED_AVERAGE: "TIME_AVG",
}


class Container:
    """A container. `Store.put_container` and `Store.get_container` give it."""

    def __init__(self, store: tonnage.Store, catalog: Catalog, shape: Shape) -> None:
        self._store = store
        self._catalog = catalog
        self._shape = shape
        self._codec = Codec(shape)
        self._auto_commit = True
        self._undo = UndoLog()
        self._is_closed = False
        with translated(f"container {shape.name}"):
            self._table = store.table(shape.table)
        self._ttl = shape.ttl_seconds
        self._stored_names = [*([shape.hidden] if shape.hidden else []), *shape.names]
        self._has_nanos = any(has_nanos(column) for column in shape.columns)

    @property
    def type(self) -> ContainerType:
        """COLLECTION or TIME_SERIES."""
        return self._shape.type

    # Rows

    def put(self, row: list[Any]) -> bool:
        """Store a row, replacing the one with the same key. Return whether there was one."""
        self._check_open()
        encoded = self._named(self._codec.encode_row(row))
        with self._translated():
            if not self._shape.key:
                self._table.put(encoded, ttl=self._ttl)
                self._note_new_row()
                return False
            if not self._auto_commit:
                self._note([self._codec.key_of(row)])
            # The condition that holds says whether the row existed. Another thread may put or
            # remove it between the two.
            while True:
                if self._table.put_if_absent(encoded, ttl=self._ttl):
                    return False
                if self._table.put_if_present(encoded, ttl=self._ttl):
                    return True

    def multi_put(self, row_list: Any, root_allocator: object | None = None) -> None:
        """Store many rows, replacing those with the same keys. Of rows with one key the last stays.

        Args:
            row_list: a list of rows, or an Arrow record batch.
            root_allocator: accepted and ignored.

        A row that does not fit raises before any row is stored.
        """
        self._check_open()
        bulk.put_many(self._store, [(self, row_list)])

    def put_rows(self, rows: pandas.DataFrame) -> None:
        """Store the rows of a pandas data frame, whose columns are in the container's order."""
        from tonnage_griddb import frames

        self.multi_put(frames.rows_of(rows))

    def get(self, key: Any) -> list[Any] | None:
        """Return the row of a key: a value, or a `RowKey` or a list for several key columns."""
        self._check_open()
        values = self._key_values(key)
        encoded = self._codec.encode_key(values)
        with self._translated():
            if self._has_nanos:
                return self._get_by_query(values)
            row = self._table.get(*encoded)
        return None if row is None else self._decoded(row)

    def remove(self, key: Any) -> bool:
        """Remove the row of a key. Return whether there was one."""
        self._check_open()
        encoded = self._codec.encode_key(self._key_values(key))
        with self._translated():
            if not self._auto_commit:
                self._note([encoded])
            return self._table.delete(*encoded)

    # Queries

    def query(self, query: str = "", *, query_string: str = "") -> Query:
        """Make a query in TQL. `Query.fetch` parses it, and raises its errors.

        Args:
            query: the text; `query_string` is its name in the newer client.
        """
        self._check_open()
        return Query.of_text(self, query or query_string)

    def query_by_time_series_range(
        self, start: Any, end: Any, order: QueryOrder | int = QueryOrder.ASCENDING
    ) -> Query:
        """Make a query for the rows of a range of time, both ends included. None is an open end."""
        name = self._need_series()
        ordering = Order(name, QueryOrder(order) == QueryOrder.DESCENDING)

        def planned(planner: Planner) -> Plan:
            return planner.plan(Syntax(where=self._between(start, end), order=(ordering,)))

        return Query(self, planned)

    def query_by_time_series_sampling(
        self,
        start: Any,
        end: Any,
        column_name_list: Sequence[str] | None,
        mode: InterpolationMode | int,
        interval: int,
        interval_unit: TimeUnit | int,
    ) -> Query:
        """Make a query for rows at equal distances of time.

        Args:
            column_name_list: the columns to interpolate between two rows. The others take the value
                of the row before.
            mode: LINEAR_OR_PREVIOUS, or EMPTY to leave the columns empty where there is no row.
        """
        self._need_series()

        def planned(planner: Planner) -> Plan:
            columns = [self._shape.column(name) for name in column_name_list or ()]
            step = sampling.step(interval, TimeUnit(interval_unit))
            is_empty = InterpolationMode(mode) == InterpolationMode.EMPTY
            call = Call("TIME_SAMPLING", (Star(),))
            return planner.sampling(
                Syntax(), call, columns, nanos_of(start), nanos_of(end), step, is_empty
            )

        return Query(self, planned)

    def aggregate_time_series(
        self,
        start: Any,
        end: Any,
        type: Aggregation | int,
        column_name: str | None = None,
    ) -> AggregationResult | None:
        """Aggregate the rows of a range of time, both ends included.

        Returns:
            The result; None when no row has a value.
        """
        self._need_series()
        function = _FUNCTIONS[Aggregation(type)]
        argument: Expression = Star() if column_name is None else Name(column_name)
        call = Call(function, (argument,))

        def planned(planner: Planner) -> Plan:
            return planner.plan(Syntax(function=call, where=self._between(start, end)))

        results = list(Query(self, planned).fetch())
        return results[0] if results else None

    # Indexes

    def create_index(
        self,
        column_name: str | IndexInfo,
        index_type: IndexType | int = IndexType.DEFAULT,
        name: str | None = None,
    ) -> None:
        """Make an index on a column, or on the columns of an `IndexInfo`.

        An index that exists already stays as it is.
        """
        self._check_open()
        indexes.create(self, indexes.info_of(column_name, index_type, name))

    def drop_index(
        self,
        column_name: str | IndexInfo | None = None,
        index_type: IndexType | int = IndexType.DEFAULT,
        name: str | None = None,
    ) -> None:
        """Drop the indexes on a column, or the one of a name. It need not exist."""
        self._check_open()
        indexes.drop(self, indexes.info_of(column_name, index_type, name))

    # Transactions

    def set_auto_commit(self, enabled: bool) -> None:
        """Switch between automatic and manual commit.

        Under manual commit, too, a change is stored at once, and others see it. `abort` takes back
        the changes that this object made since the last commit: it stores the rows as they were.
        Rows are not locked. Two programs that change the same rows do not wait for each other.
        """
        if enabled and not self._auto_commit:
            self.commit()
        if not enabled and self._auto_commit:
            warn_once()
        self._auto_commit = bool(enabled)

    def commit(self) -> None:
        """Keep the changes made under manual commit."""
        self._check_manual()
        self._undo.forget()

    def abort(self) -> None:
        """Take back the changes that this object made since the last commit."""
        self._check_manual()
        with self._translated():
            self._undo.take_back(self._table, lambda row: self._restore(row))

    def flush(self) -> None:
        """Make all changes so far durable."""
        with self._translated():
            self._store.sync()

    def close(self) -> None:
        """Close this object. Take back what it did not commit, as GridDB does."""
        if not self._is_closed and not self._auto_commit:
            self.abort()
        self._is_closed = True

    def __repr__(self) -> str:
        return f"Container({self._shape.name!r}, {self._shape.type.name})"

    # What row sets and stores use

    def _replace(self, row: list[Any], number: int | None) -> None:
        """Store a row that a query gave, with other values."""
        encoded = self._named(self._codec.encode_row(row))
        with self._translated():
            if number is None:
                self._note([self._codec.key_of(row)])
            else:
                self._note([(number,)])
                encoded[ROW_NUMBER] = number
            self._table.put_if_present(encoded, ttl=self._ttl)

    def _remove_row(self, row: list[Any], number: int | None) -> None:
        key = self._codec.key_of(row) if number is None else (number,)
        with self._translated():
            self._note([key])
            self._table.delete(*key)

    def _note(self, keys: Sequence[tuple[Any, ...]]) -> None:
        """Remember rows before they change, when an abort may want them back."""
        if self._auto_commit:
            return
        for key in dict.fromkeys(keys):
            self._undo.remember(key, self._stored(key))

    def _stored(self, key: tuple[Any, ...]) -> dict[str, Any] | None:
        """A row as it can be stored again. Python's datetime has no nanoseconds, and text has."""
        if not self._has_nanos:
            return self._table.get(*key)
        items = [quoted(self._shape.hidden)] if self._shape.hidden else []
        for column in self._shape.columns:
            name = quoted(column.name)
            items.append(f"CAST({name} AS STRING) AS {name}" if has_nanos(column) else name)
        condition = " AND ".join(
            f"{quoted(name)} = ${place}" for place, name in enumerate(self._table.primary_key, 1)
        )
        rows = self._store.sql(
            f"SELECT {', '.join(items)} FROM {quoted(self._shape.table)} WHERE {condition}", key
        )
        return next(rows.rows(), None)

    def _note_new_row(self) -> None:
        """Remember that the last row of a container without a row key is new."""
        if self._auto_commit:
            return
        for key in self._numbers_from(None)[:1]:
            self._undo.remember((key,), None)

    def _numbers_from(self, last: int | None) -> list[int]:
        """The numbers of the rows behind one, the latest first."""
        condition = "" if last is None else f" WHERE {quoted(ROW_NUMBER)} > {last}"
        limit = " LIMIT 1" if last is None else ""
        rows = self._store.sql(
            f"SELECT {quoted(ROW_NUMBER)} FROM {quoted(self._shape.table)}{condition} "
            f"ORDER BY {quoted(ROW_NUMBER)} DESC{limit}"
        )
        return [row[0] for row in rows.rows(tuples=True)]

    def _restore(self, row: dict[str, Any]) -> None:
        self._table.put(row, ttl=self._ttl)

    def _named(self, row: Sequence[Any]) -> dict[str, Any]:
        """A row by the names of its columns: so it fits, or fails, also after an ALTER TABLE."""
        return dict(zip(self._stored_names, row))

    def _decoded(self, row: dict[str, Any]) -> list[Any]:
        try:
            return [
                bytearray(value) if isinstance(value, bytes) else value
                for value in map(row.__getitem__, self._shape.names)
            ]
        except KeyError:
            raise self._altered() from None

    def _check_shape(self) -> None:
        """Raise when the container has other columns than when this object was made."""
        if not fits(self._shape, self._store.table(self._shape.table)):
            raise self._altered()

    def _altered(self) -> GSException:
        return GSException(
            f"container {self._shape.name} was altered: get it from the store again",
            Code.SCHEMA_UNMATCH,
        )

    def _get_by_query(self, values: list[Any]) -> list[Any] | None:
        where = conditions.equal(self._shape.key_columns, values)
        rows = Query(self, lambda planner: planner.plan(Syntax(where=where))).fetch()
        return next(rows, None)

    def _between(self, start: Any, end: Any) -> Expression | None:
        first, last = (None if at is None else [at] for at in (start, end))
        return conditions.between(self._shape.key_columns, first, last)

    def _key_values(self, key: Any) -> list[Any]:
        if not self._shape.key:
            raise GSException(
                f"container {self._shape.name} has no row key: look by a query",
                Code.KEY_NOT_FOUND,
            )
        return key_values(key, len(self._shape.key))

    def _need_series(self) -> str:
        self._check_open()
        if self._shape.type != ContainerType.TIME_SERIES:
            raise GSException(
                f"container {self._shape.name} is a collection, and the call needs a time series",
                Code.UNSUPPORTED_OPERATION,
            )
        return self._shape.key[0]

    def _check_open(self) -> None:
        if self._is_closed:
            raise GSException(
                f"container {self._shape.name} is closed: get it from the store again",
                Code.CONTAINER_CLOSED,
            )

    def _check_manual(self) -> None:
        self._check_open()
        if self._auto_commit:
            raise GSException(
                f"container {self._shape.name} commits by itself: call set_auto_commit(False)",
                Code.ILLEGAL_COMMIT_MODE,
            )

    def _translated(self) -> Any:
        return translated(f"container {self._shape.name}")


def has_nanos(column: Column) -> bool:
    """Whether a column holds moments that Python's datetime cannot."""
    return column.type == Type.TIMESTAMP and column.time_unit == TimeUnit.NANOSECOND
