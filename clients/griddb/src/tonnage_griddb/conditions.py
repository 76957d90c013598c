"""Conditions on row keys, as a query of TQL has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tonnage_griddb.enums import Type
from tonnage_griddb.info import Column
from tonnage_griddb.timestamps import nanos_of, truncated
from tonnage_griddb.tql.syntax import (
    Binary,
    Expression,
    Moment,
    Name,
    Number,
    Text,
    Truth,
    Unary,
)


def equal(columns: Sequence[Column], values: Sequence[Any]) -> Expression | None:
    """Every column has its value."""
    where: Expression | None = None
    for column, value in zip(columns, values):
        where = both(where, Binary("=", Name(column.name), _stored(column, value)))
    return where


def any_of(columns: Sequence[Column], keys: Sequence[Sequence[Any]]) -> Expression:
    """The columns have the values of one of the keys."""
    where: Expression | None = None
    for key in keys:
        one = equal(columns, key)
        assert one is not None
        where = one if where is None else Binary("OR", where, one)
    return where if where is not None else Truth(False)


def between(
    columns: Sequence[Column], start: Sequence[Any] | None, end: Sequence[Any] | None
) -> Expression | None:
    """The columns, compared one after the other, lie between two keys, both included."""
    where: Expression | None = None
    if start is not None:
        where = _bound(columns, start, ">")
    if end is not None:
        where = both(where, _bound(columns, end, "<"))
    return where


def both(left: Expression | None, right: Expression) -> Expression:
    """Two conditions at once, of which the first may be missing."""
    return right if left is None else Binary("AND", left, right)


def literal(column: Column, value: Any) -> Expression:
    """A value of a column."""
    if column.type == Type.TIMESTAMP:
        return Moment(nanos_of(value))
    if column.type == Type.STRING:
        return Text(str(value))
    number = int(value)
    return Number(str(number)) if number >= 0 else Unary("-", Number(str(-number)))


def _stored(column: Column, value: Any) -> Expression:
    """A value as the column keeps it, without what is finer than its unit of time."""
    if column.type == Type.TIMESTAMP:
        return Moment(truncated(nanos_of(value), column.time_unit))
    return literal(column, value)


def _bound(columns: Sequence[Column], key: Sequence[Any], sign: str) -> Expression:
    first, value = Name(columns[0].name), literal(columns[0], key[0])
    if len(columns) == 1:
        return Binary(f"{sign}=", first, value)
    rest = _bound(columns[1:], key[1:], sign)
    tied = Binary("AND", Binary("=", first, value), rest)
    return Binary("OR", Binary(sign, first, value), tied)
