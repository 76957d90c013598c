"""What a row set holds beside rows: aggregations and parts of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tonnage_griddb.enums import Type
from tonnage_griddb.errors import Code, GSException
from tonnage_griddb.timestamps import Timestamp

_WHOLE = (Type.BYTE, Type.SHORT, Type.INTEGER, Type.LONG)


class AggregationResult:
    """The result of an aggregation."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def get(self, type: Type | int | None = None) -> Any:
        """The result as LONG, DOUBLE or TIMESTAMP; as it is without a type.

        A number is given as LONG (cut off behind the point) or DOUBLE, a moment as TIMESTAMP only.
        """
        if type is None:
            return self._value
        kind = Type(type)
        is_moment = isinstance(self._value, (datetime, Timestamp))
        if kind == Type.TIMESTAMP and is_moment:
            return self._value
        if kind in _WHOLE and not is_moment:
            return int(self._value)
        if kind in (Type.FLOAT, Type.DOUBLE) and not is_moment:
            return float(self._value)
        found = "a timestamp: ask for TIMESTAMP" if is_moment else "a number: ask for LONG or DOUBLE"
        raise GSException(
            f"the result cannot be had as {kind.name}, it is {found}", Code.ILLEGAL_PARAMETER
        )

    def __repr__(self) -> str:
        return f"AggregationResult({self._value!r})"


class QueryAnalysisEntry:
    """A line of what EXPLAIN tells."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = list(values)

    def get(self) -> list[Any]:
        """Its number, its depth, its kind, the type of its value, its value, its statement."""
        return list(self._values)

    def __repr__(self) -> str:
        return f"QueryAnalysisEntry({self._values})"
