"""Rows of GridDB as rows of Tonnage, and back.

Both generations' conversions work: text for a TIMESTAMP, whole numbers for a BOOL. The check goes
column by column: a column whose values all have its own class passes unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import repeat
from typing import Any

from tonnage_griddb.enums import TimeUnit, Type
from tonnage_griddb.errors import Code, GSException
from tonnage_griddb.info import Column
from tonnage_griddb.shape import ROW_NUMBER, SERIES, Shape, element_of
from tonnage_griddb.timestamps import (
    Timestamp,
    naive,
    nanos_of,
    of_nanos,
    text,
    truncated,
)

_RANGES = {
    Type.BYTE: (-(1 << 7), (1 << 7) - 1),
    Type.SHORT: (-(1 << 15), (1 << 15) - 1),
    Type.INTEGER: (-(1 << 31), (1 << 31) - 1),
    Type.LONG: (-(1 << 63), (1 << 63) - 1),
}
_PLAIN: dict[Type, frozenset[type]] = {
    Type.STRING: frozenset({str}),
    Type.GEOMETRY: frozenset({str}),
    Type.BOOL: frozenset({bool}),
    Type.BYTE: frozenset({int}),
    Type.SHORT: frozenset({int}),
    Type.INTEGER: frozenset({int}),
    Type.LONG: frozenset({int}),
    Type.FLOAT: frozenset({float}),
    Type.DOUBLE: frozenset({float}),
    Type.BLOB: frozenset({bytes, bytearray}),
}
# What the rows of a container hold in its hidden column.
HIDDEN = {SERIES: False, ROW_NUMBER: None}


class Codec:
    """Converts the rows of a container."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    def encode(self, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Convert rows to those of Tonnage's table. Raise naming the row and column of a misfit.

        One row that does not fit refuses them all, as in GridDB.
        """
        shape = self._shape
        self._check_lengths(rows)
        columns: list[Any] = list(zip(*rows))
        is_changed = False
        for place, column in enumerate(shape.columns):
            if not columns or _is_plain(column, columns[place]):
                continue
            columns[place] = self._encode_column(column, columns[place])
            is_changed = True
        if shape.hidden:
            columns.insert(0, repeat(HIDDEN[shape.hidden]))
        elif not is_changed:
            return rows
        return list(zip(*columns)) if rows else []

    def encode_row(self, row: Sequence[Any]) -> Sequence[Any]:
        """One row as Tonnage's table takes it."""
        return self.encode([row])[0]

    def encode_key(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """A row key as Tonnage's table takes it."""
        columns = self._shape.key_columns
        if not columns:
            raise GSException(
                f"container {self._shape.name} has no row key", Code.KEY_NOT_FOUND
            )
        key = [self._encode_column(column, [value])[0] for column, value in zip(columns, values)]
        return tuple([False, *key] if self._shape.hidden == SERIES else key)

    def key_of(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """The row key of a row, as Tonnage's table takes it."""
        return self.encode_key([row[place] for place in self._shape.key_places])

    def _check_lengths(self, rows: Sequence[Sequence[Any]]) -> None:
        count = len(self._shape.columns)
        for position, row in enumerate(rows):
            if not isinstance(row, (list, tuple)):
                raise self._refused(position, f"{row!r} is not a row: give a list of values")
            if len(row) != count:
                raise self._refused(
                    position,
                    f"{len(row)} values for the {count} columns {', '.join(self._shape.names)}",
                )

    def _encode_column(self, column: Column, values: Iterable[Any]) -> list[Any]:
        encode = _encoder(column)
        encoded = []
        for position, value in enumerate(values):
            try:
                if value is None and not column.nullable:
                    raise GSException("is NULL, and must not be", Code.EMPTY_PARAMETER)
                encoded.append(None if value is None else encode(value))
            except GSException as error:
                raise self._refused(
                    position, f"column {column.name}: {error}", error.get_error_code(0)
                ) from error
        return encoded

    def _refused(
        self, position: int, reason: str, code: int = Code.ILLEGAL_PARAMETER
    ) -> GSException:
        return GSException(f"container {self._shape.name}, row {position}: {reason}", code)


class Decoder:
    """Converts rows of some columns as Tonnage gives them."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._decoders = [
            (place, decoder)
            for place, decoder in enumerate(map(_decoder, columns))
            if decoder is not None
        ]

    def decode(self, row: Sequence[Any]) -> list[Any]:
        """A row as a program is given it."""
        values = list(row)
        for place, decoder in self._decoders:
            if values[place] is not None:
                values[place] = decoder(values[place])
        return values


def _is_plain(column: Column, values: Sequence[Any]) -> bool:
    """Whether a column of values goes into Tonnage as it is."""
    kinds = set(map(type, values))
    if type(None) in kinds:
        if not column.nullable:
            return False
        kinds.discard(type(None))
        values = [value for value in values if value is not None]
    if not kinds:
        return True
    if not kinds <= _PLAIN.get(column.type, frozenset()):
        return False
    if column.type in _RANGES:
        low, high = _RANGES[column.type]
        return bool(low <= min(values) and max(values) <= high)
    return True


def _encoder(column: Column) -> Callable[[Any], Any]:
    kind = column.type
    element = element_of(column)
    if element is not None:
        each = _encoder(element)
        return lambda value: _array(column, each, value)
    if kind == Type.TIMESTAMP:
        return lambda value: _moment(column.time_unit, value)
    if kind in _RANGES:
        return lambda value: _whole(kind, value)
    if kind in (Type.FLOAT, Type.DOUBLE):
        return lambda value: _float(kind, value)
    return {
        Type.BOOL: _bool,
        Type.BLOB: _blob,
        Type.STRING: _text,
        Type.GEOMETRY: _text,
    }[kind]


def _misfit(value: Any, kind: Type) -> GSException:
    told = repr(value)
    told = told if len(told) <= 60 else told[:60] + "..."
    return GSException(
        f"{told} ({type(value).__name__}) does not fit a column of type {kind.name}",
        Code.ILLEGAL_PARAMETER,
    )


def _item(value: Any) -> Any:
    """NumPy's numbers as Python's own."""
    item = getattr(value, "item", None)
    return item() if callable(item) else value


def _whole(kind: Type, value: Any) -> int:
    value = _item(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _misfit(value, kind)
    low, high = _RANGES[kind]
    if not low <= value <= high:
        raise GSException(
            f"{value} is out of range for {kind.name} ({low} to {high})", Code.ILLEGAL_PARAMETER
        )
    return int(value)


def _float(kind: Type, value: Any) -> float:
    value = _item(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _misfit(value, kind)
    try:
        return float(value)
    except OverflowError:
        raise _misfit(value, kind) from None


def _bool(value: Any) -> bool:
    value = _item(value)
    if isinstance(value, (bool, int)):
        return bool(value)
    raise _misfit(value, Type.BOOL)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    raise _misfit(value, Type.STRING)


def _blob(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise _misfit(value, Type.BLOB)


def _moment(unit: TimeUnit, value: Any) -> Any:
    if value != value:
        # pandas has a datetime that is none.
        raise _misfit(value, Type.TIMESTAMP)
    if isinstance(value, datetime) and unit != TimeUnit.NANOSECOND:
        at = naive(value)
        rest = at.microsecond % 1_000 if unit == TimeUnit.MILLISECOND else 0
        is_finer = rest or getattr(at, "nanosecond", 0)
        return of_nanos(nanos_of(at), unit) if is_finer else at
    if not isinstance(value, (datetime, Timestamp, str, float)):
        raise _misfit(value, Type.TIMESTAMP)
    return text(truncated(nanos_of(value), unit), 9 if unit == TimeUnit.NANOSECOND else 3)


def _array(column: Column, each: Callable[[Any], Any], value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise _misfit(value, column.type)
    if any(element is None for element in value):
        raise GSException("an element of an array is NULL, and must not be", Code.EMPTY_PARAMETER)
    encoded = [each(element) for element in value]
    # Tonnage takes an array as JSON, which has no moments.
    return [at.isoformat() if isinstance(at, datetime) else at for at in encoded]


def _decoder(column: Column) -> Callable[[Any], Any] | None:
    if column.type == Type.BLOB:
        return bytearray
    if column.type == Type.TIMESTAMP and column.time_unit == TimeUnit.NANOSECOND:
        return lambda nanos: of_nanos(nanos, TimeUnit.NANOSECOND)
    return None
