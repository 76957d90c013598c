"""A query as one statement of Tonnage, and what is made of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tonnage_griddb.enums import ContainerType, RowSetType, TimeUnit, Type
from tonnage_griddb.errors import Code, GSException
from tonnage_griddb.info import Column
from tonnage_griddb.results import AggregationResult, QueryAnalysisEntry
from tonnage_griddb.shape import ROW_NUMBER, SERIES, Shape, folded, quoted
from tonnage_griddb.timestamps import DIGITS, of_nanos
from tonnage_griddb.tql import sampling
from tonnage_griddb.tql.expression import NUMERIC, WHOLE, Writer, bound
from tonnage_griddb.tql.moments import nanos, need, unit_of, whole
from tonnage_griddb.tql.syntax import Call, Name, Order, Query, Star

Rows = list[list[Any]]


@dataclass(frozen=True)
class Plan:
    """How a query is answered.

    Attributes:
        columns: the columns of the rows that `sql` gives.
        is_whole: whether a row has all columns of the container, so that it can be updated.
        has_number: whether the hidden number of the row stands behind the columns.
        finish: makes what the row set holds out of the rows; None for the rows as they are.
    """

    sql: str
    kind: RowSetType
    columns: Sequence[Column]
    is_whole: bool = False
    has_number: bool = False
    finish: Callable[[Rows], list[Any]] | None = None


class Planner:
    """Plans queries on a container.

    Args:
        now: what NOW() is, in nanoseconds.
        is_for_update: whether rows are going to be updated or removed.
        limit: the most rows, from the fetch options.
    """

    def __init__(
        self, shape: Shape, now: int, is_for_update: bool = False, limit: int | None = None
    ) -> None:
        self._shape = shape
        self._now = now
        self._is_for_update = is_for_update
        self._limit = limit
        self._writer = Writer(shape, now)

    def plan(self, query: Query) -> Plan:
        """The plan of a query."""
        source = query.source
        if source is not None and folded(source) != folded(self._shape.name):
            raise GSException(
                f"TQL: the query is one on container {self._shape.name}, and says FROM {source}",
                Code.TQL_WRONG_CONTAINER,
            )
        if self._limit is not None:
            told = self._limit if query.limit is None else min(self._limit, query.limit)
            query = replace(query, limit=told)
        plan = self._rows(query) if query.function is None else self._function(query)
        return _explained(query, plan) if query.explain else plan

    # Rows

    def _rows(self, query: Query) -> Plan:
        columns = self._shape.columns
        if query.columns is not None:
            columns = tuple(self._shape.column(name) for name in query.columns)
        return self._select(query, self._conditions(query), columns)

    def _select(
        self,
        query: Query,
        conditions: list[str],
        columns: Sequence[Column] | None = None,
        order: str | None = None,
    ) -> Plan:
        whole_row = columns is None or columns is self._shape.columns
        taken = self._shape.columns if columns is None else columns
        items = [_item(column) for column in taken]
        has_number = self._is_for_update and whole_row and self._shape.hidden == ROW_NUMBER
        if has_number:
            items.append(quoted(ROW_NUMBER))
        sql = self._from(", ".join(items), conditions)
        sql += order or self._order(query.order)
        sql += _limit(query.limit, query.offset)
        return Plan(sql, RowSetType.CONTAINER_ROWS, taken, whole_row, has_number)

    def _from(self, items: str, conditions: list[str]) -> str:
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {items} FROM {quoted(self._shape.table)}{where}"

    def _conditions(self, query: Query) -> list[str]:
        # Every query names the shard of a time series. So Tonnage reads a range of time alone.
        conditions = [f"NOT {quoted(SERIES)}"] if self._shape.hidden == SERIES else []
        if query.where is not None:
            conditions.append(self._writer.write(query.where))
        return conditions

    def _order(self, asked: tuple[Order, ...]) -> str:
        """NULL is the largest value. Rows that are equal, and all others, come by their key."""
        order = []
        for each in asked:
            name = quoted(self._shape.column(each.column).name)
            order.append(f"{name} DESC NULLS FIRST" if each.is_descending else f"{name} NULLS LAST")
        if self._shape.hidden == ROW_NUMBER:
            order.append(quoted(ROW_NUMBER))
        order += [quoted(name) for name in self._shape.key]
        return f" ORDER BY {', '.join(order)}"

    # Functions

    def _function(self, query: Query) -> Plan:
        call = query.function
        assert call is not None
        maker = _FUNCTIONS.get(call.name)
        if maker is None:
            raise GSException(
                f"TQL: {call.name} cannot be selected: give '*', columns, "
                + ", ".join(sorted(_FUNCTIONS)),
                Code.TQL_FUNCTION_NOT_FOUND,
            )
        return maker(self, query, call)

    def _aggregate(self, query: Query, call: Call) -> Plan:
        need(call, 1)
        if query.order:
            raise GSException(
                f"TQL: {call.name} gives one result, and ORDER BY sorts rows",
                Code.TQL_ORDER_WITH_AGGREGATION,
            )
        argument = call.arguments[0]
        if isinstance(argument, Star):
            if call.name != "COUNT":
                raise GSException(f"TQL: {call.name} takes a column", Code.TQL_INVALID_ARGUMENT)
            return self._one_value(query, "count(*)", "count(*)", call.name, None)
        column = self._column_of(call, argument)
        value, count = _aggregation(call.name, column), f"count({quoted(column.name)})"
        return self._one_value(query, value, count, call.name, column)

    def _one_value(
        self, query: Query, value: str, count: str, function: str, column: Column | None
    ) -> Plan:
        items, conditions = f"{value} AS v, {count} AS n", self._conditions(query)
        sql = self._from(items, conditions)
        if function in ("MAX", "MIN") and self._shape.hidden == SERIES and column == self._key:
            # The rows are sorted by this column: one of them tells.
            name = quoted(self._key.name)
            direction = " DESC" if function == "MAX" else ""
            one = f"{self._from(name, conditions)} ORDER BY {name}{direction} LIMIT 1"
            sql = f"SELECT {items} FROM ({one}) AS r"
        return Plan(
            sql,
            RowSetType.AGGREGATION_RESULT,
            [Column("v", Type.DOUBLE), Column("n", Type.LONG)],
            finish=lambda rows: _slice(_result(rows, function, column), query),
        )

    def _time_average(self, query: Query, call: Call) -> Plan:
        """Weighs each value by half the span between the rows before and behind it."""
        need(call, 1)
        column, key = self._column_of(call, call.arguments[0]), quoted(self._time_key(call).name)
        conditions = [*self._conditions(query), f"{quoted(column.name)} IS NOT NULL"]
        rows = self._from(
            f"CAST({key} AS BIGINT) AS t, CAST({quoted(column.name)} AS DOUBLE) AS v", conditions
        )
        behind, before = "lead(t) OVER (ORDER BY t)", "lag(t) OVER (ORDER BY t)"
        span = f"CAST(coalesce({behind}, t) - coalesce({before}, t) AS DOUBLE)"
        sql = (
            "SELECT sum(v * w) / sum(w) AS v, count(v) AS n FROM ("
            "SELECT v, CASE WHEN span = 0e0 THEN 1e0 ELSE span END AS w FROM ("
            f"SELECT v, {span} AS span FROM ({rows}) AS a) AS b) AS c"
        )
        return Plan(
            sql,
            RowSetType.AGGREGATION_RESULT,
            [Column("v", Type.DOUBLE), Column("n", Type.LONG)],
            finish=lambda rows: _slice(_result(rows, "AVG", None), query),
        )

    def _neighbor(self, query: Query, call: Call) -> Plan:
        need(call, 2)
        if not isinstance(call.arguments[0], Star):
            raise GSException(
                f"TQL: write {call.name}(*, a timestamp)", Code.TQL_INVALID_ARGUMENT
            )
        key = self._time_key(call)
        sign = {
            "TIME_NEXT": ">=",
            "TIME_NEXT_ONLY": ">",
            "TIME_PREV": "<=",
            "TIME_PREV_ONLY": "<",
        }[call.name]
        condition = bound(key, sign, self._nanos(call, 1))
        order = f" ORDER BY {quoted(key.name)}" + ("" if sign.startswith(">") else " DESC")
        one = replace(query, limit=1 if query.limit is None else min(1, query.limit))
        return self._select(one, [*self._conditions(query), condition], order=order)

    def _interpolated(self, query: Query, call: Call) -> Plan:
        need(call, 2)
        column, at = self._column_of(call, call.arguments[0]), self._nanos(call, 1)
        return self.sampling(query, call, [column], at, at, 1)

    def _sampling(self, query: Query, call: Call) -> Plan:
        need(call, 5)
        first = call.arguments[0]
        columns = [] if isinstance(first, Star) else [self._column_of(call, first)]
        count, unit = whole(call.arguments[3]), unit_of(call.arguments[4])
        step = sampling.step(count, unit)
        return self.sampling(query, call, columns, self._nanos(call, 1), self._nanos(call, 2), step)

    def sampling(
        self,
        query: Query,
        call: Call,
        columns: list[Column],
        start: int,
        end: int,
        step: int,
        is_empty_between: bool = False,
    ) -> Plan:
        """Rows at equal distances of time, out of those between and next to them.

        Three reads of ranges: the rows between, the one before, and the one behind.
        """
        key, base = self._time_key(call), self._conditions(query)
        order = f" ORDER BY {quoted(key.name)}"
        every, one = replace(query, limit=None, offset=0), replace(query, limit=1, offset=0)
        between = [*base, bound(key, ">=", start), bound(key, "<=", end)]
        plan = self._select(every, between, order=" ")
        before = self._select(one, [*base, bound(key, "<", start)], order=f"{order} DESC")
        behind = self._select(one, [*base, bound(key, ">", end)], order=order)
        sql = f"{plan.sql.strip()} UNION ALL ({before.sql}) UNION ALL ({behind.sql})"
        places = [self._shape.columns.index(column) for column in columns]
        sample = sampling.Sampling(
            self._shape, places, start, end, step, is_empty_between
        )

        def finish(rows: Rows) -> list[Any]:
            sampled = sample.rows(rows)
            if query.order:
                sampled = _sorted(sampled, self._shape, query.order)
            return _slice(sampled, query)

        return replace(plan, sql=sql, finish=finish, is_whole=False, has_number=False)

    def _extreme_rows(self, query: Query, call: Call) -> Plan:
        need(call, 1)
        column = self._column_of(call, call.arguments[0], moments_too=True)
        name, base = quoted(column.name), self._conditions(query)
        function = "max" if call.name == "MAX_ROWS" else "min"
        extreme = self._from(f"{function}({name})", base)
        return self._select(query, [*base, f"{name} = ({extreme})"])

    def _column_of(self, call: Call, argument: Any, moments_too: bool = False) -> Column:
        if not isinstance(argument, Name):
            raise GSException(f"TQL: {call.name} takes a column", Code.TQL_INVALID_ARGUMENT)
        column = self._shape.column(argument.text)
        takes_any = call.name == "COUNT"
        takes_moments = moments_too or call.name in ("MAX", "MIN")
        if takes_any or column.type in NUMERIC:
            return column
        if takes_moments and column.type == Type.TIMESTAMP:
            return column
        kinds = "a number or a TIMESTAMP" if takes_moments else "a number"
        raise GSException(
            f"TQL: {call.name} takes {kinds}, and column {column.name} is of type "
            f"{column.type.name}",
            Code.TQL_CANNOT_AGGREGATE,
        )

    @property
    def _key(self) -> Column:
        return self._shape.key_columns[0]

    def _time_key(self, call: Call) -> Column:
        if self._shape.type != ContainerType.TIME_SERIES:
            raise GSException(
                f"TQL: {call.name} works on a time series, and container {self._shape.name} is a "
                "collection",
                Code.TQL_INVALID_ARGUMENT,
            )
        return self._key

    def _nanos(self, call: Call, place: int) -> int:
        at = nanos(call.arguments[place], self._now)
        if at is None:
            raise GSException(
                f"TQL: {call.name} takes a timestamp that is written out, such as "
                "TIMESTAMP('2018-12-01T10:00:00.000Z')",
                Code.TQL_INVALID_ARGUMENT,
            )
        return at


# VARIANCE and STDDEV are those of a sample.
_DEVIATIONS = {
    "VARIANCE": "var_samp",
    "VARIANCE_SAMP": "var_samp",
    "VARIANCE_POP": "var_pop",
    "STDDEV": "stddev_samp",
    "STDDEV_SAMP": "stddev_samp",
    "STDDEV_POP": "stddev_pop",
}
_AGGREGATES = ("COUNT", "SUM", "AVG", "MAX", "MIN", *_DEVIATIONS)
_FUNCTIONS: dict[str, Callable[[Planner, Query, Call], Plan]] = {
    **dict.fromkeys(_AGGREGATES, Planner._aggregate),
    **dict.fromkeys(
        ("TIME_NEXT", "TIME_NEXT_ONLY", "TIME_PREV", "TIME_PREV_ONLY"), Planner._neighbor
    ),
    "TIME_AVG": Planner._time_average,
    "TIME_INTERPOLATED": Planner._interpolated,
    "TIME_SAMPLING": Planner._sampling,
    "MAX_ROWS": Planner._extreme_rows,
    "MIN_ROWS": Planner._extreme_rows,
}


def _item(column: Column) -> str:
    """A column among what is selected. Python's datetime has no nanoseconds: a number has them."""
    name = quoted(column.name)
    if column.type == Type.TIMESTAMP and column.time_unit == TimeUnit.NANOSECOND:
        return f"CAST({name} AS BIGINT) AS {name}"
    return name


def _aggregation(function: str, column: Column) -> str:
    name = quoted(column.name)
    if function in ("MAX", "MIN"):
        extreme = f"{function.lower()}({name})"
        if column.type != Type.TIMESTAMP:
            return extreme
        # A table of others may have another precision, such as whole seconds.
        return f"CAST(CAST({extreme} AS TIMESTAMP({DIGITS[column.time_unit]})) AS BIGINT)"
    if function == "COUNT":
        return f"count({name})"
    number = name if column.type in WHOLE else f"CAST({name} AS DOUBLE)"
    return f"{_DEVIATIONS.get(function, function.lower())}({number})"


def _result(rows: Rows, function: str, column: Column | None) -> list[AggregationResult]:
    """One result, or none where there was nothing to work on: COUNT and SUM give 0 then."""
    value, count = rows[0]
    if count == 0 and function == "SUM":
        value = 0 if column is not None and column.type in WHOLE else 0.0
    if function in _DEVIATIONS and count == 1:
        value = 0.0
    if value is None:
        return []
    if function in ("MAX", "MIN") and column is not None and column.type == Type.TIMESTAMP:
        step = {TimeUnit.MILLISECOND: 1_000_000, TimeUnit.MICROSECOND: 1_000}
        value = of_nanos(value * step.get(column.time_unit, 1), column.time_unit)
    return [AggregationResult(value)]


def _limit(limit: int | None, offset: int) -> str:
    told = "" if limit is None else f" LIMIT {limit}"
    return f"{told} OFFSET {offset}" if offset else told


def _slice(items: list[Any], query: Query) -> list[Any]:
    end = None if query.limit is None else query.offset + query.limit
    return items[query.offset : end]


def _sorted(rows: Rows, shape: Shape, order: tuple[Order, ...]) -> Rows:
    """Rows by several columns, NULL as the largest value."""
    for each in reversed(order):
        place = shape.columns.index(shape.column(each.column))
        rows = sorted(
            rows,
            key=lambda row: (row[place] is None, 0 if row[place] is None else row[place]),
            reverse=each.is_descending,
        )
    return rows


def _explained(query: Query, plan: Plan) -> Plan:
    def entries(rows: Rows) -> list[QueryAnalysisEntry]:
        found: list[QueryAnalysisEntry] = []
        for kind, text in rows:
            for line in filter(None, str(text).split("\n")):
                depth = (len(line) - len(line.lstrip())) // 2
                found.append(
                    QueryAnalysisEntry([len(found), depth, kind, "STRING", line.strip(), ""])
                )
        return found

    columns = [Column("plan_type", Type.STRING), Column("plan", Type.STRING)]
    sql = f"{query.explain} {plan.sql}"
    return Plan(sql, RowSetType.QUERY_ANALYSIS, columns, finish=entries)


