"""Rows at equal distances of time.

1. Sort the rows by time: those of the range, the one before it and the one behind it.
2. For each point of time find the last row up to it, and the first row from it on.
3. A row of just this time is taken as it is.
4. Else the columns to interpolate lie on the line between the two rows. Without both of them the
   point is left out. The other columns are those of the row before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from tonnage_griddb.enums import TimeUnit, Type
from tonnage_griddb.errors import Code, GSException
from tonnage_griddb.shape import Shape
from tonnage_griddb.timestamps import NANOS_PER, nanos_of, of_nanos
from tonnage_griddb.tql.expression import WHOLE

UNITS = (
    TimeUnit.DAY,
    TimeUnit.HOUR,
    TimeUnit.MINUTE,
    TimeUnit.SECOND,
    TimeUnit.MILLISECOND,
)


def step(count: int | None, unit: TimeUnit) -> int:
    """The distance of two points in nanoseconds."""
    if unit not in UNITS:
        raise GSException(
            f"points of time cannot be a {unit.name} apart: give "
            + ", ".join(each.name for each in UNITS),
            Code.TQL_INVALID_ARGUMENT,
        )
    if count is None or count <= 0:
        raise GSException(
            "the distance of two points of time is a whole number above 0",
            Code.TQL_INVALID_ARGUMENT,
        )
    return count * NANOS_PER[unit]


class Sampling:
    """Samples the rows of a time series.

    Args:
        places: where the columns to interpolate stand in a row.
        is_empty_between: leave all columns empty at points without a row.
    """

    def __init__(
        self,
        shape: Shape,
        places: Sequence[int],
        start: int,
        end: int,
        step: int,
        is_empty_between: bool = False,
    ) -> None:
        self._columns = shape.columns
        self._key = shape.key_places[0]
        self._places = places
        self._points = range(start, end + 1, step)
        self._is_empty_between = is_empty_between

    def rows(self, rows: list[list[Any]]) -> list[list[Any]]:
        """The sampled rows, out of rows in any order."""
        rows = sorted(rows, key=lambda row: nanos_of(row[self._key]))
        times = [nanos_of(row[self._key]) for row in rows]
        sampled = []
        for point in self._points:
            at = bisect_left(times, point)
            if at < len(times) and times[at] == point:
                sampled.append(rows[at])
                continue
            before = rows[at - 1] if at else None
            behind = rows[at] if at < len(rows) else None
            row = self._between(point, before, behind)
            if row is not None:
                sampled.append(row)
        return sampled

    def _between(
        self, point: int, before: list[Any] | None, behind: list[Any] | None
    ) -> list[Any] | None:
        if before is None or (self._places and behind is None):
            return None
        moment = of_nanos(point, self._columns[self._key].time_unit)
        if self._is_empty_between:
            row = [_empty(column.type, column.nullable) for column in self._columns]
            row[self._key] = moment
            return row
        row = list(before)
        row[self._key] = moment
        for place in self._places:
            assert behind is not None
            start, end = nanos_of(before[self._key]), nanos_of(behind[self._key])
            row[place] = self._on_line(place, before, behind, point - start, end - start)
        return row

    def _on_line(
        self, place: int, before: list[Any], behind: list[Any], way: int, span: int
    ) -> float | int | None:
        low, high = before[place], behind[place]
        if low is None or high is None:
            return None
        if self._columns[place].type not in WHOLE:
            return low + (high - low) * (way / span)
        # In whole numbers: a double has no room for a LONG, and 29 hundredths of 100 are 28.99.
        value = low * span + (high - low) * way
        return value // span if value >= 0 else -(-value // span)


def _empty(kind: Type, is_nullable: bool) -> Any:
    if is_nullable:
        return None
    values: dict[Type, Any] = {
        Type.STRING: "",
        Type.GEOMETRY: "",
        Type.BOOL: False,
        Type.FLOAT: 0.0,
        Type.DOUBLE: 0.0,
        Type.TIMESTAMP: of_nanos(0, TimeUnit.MILLISECOND),
    }
    if kind == Type.BLOB:
        return bytearray()
    if kind in WHOLE:
        return 0
    return values.get(kind, [])
