"""Evaluates moments that do not depend on a row, such as TIMESTAMPADD(HOUR, NOW(), -6).

So a comparison with the row key compares with a literal, which Tonnage turns into a range of keys.
"""

from __future__ import annotations

import calendar
from datetime import timedelta

from tonnage_griddb.enums import TimeUnit
from tonnage_griddb.errors import Code, GSException
from tonnage_griddb.timestamps import EPOCH, NANOS_PER, NANOS_PER_SECOND, parse
from tonnage_griddb.tql.syntax import Call, Expression, Moment, Name, Number, Text, Unary

UNITS = [unit.name for unit in TimeUnit]
# What makes a moment of a text. The precision that the last three name is the text's anyway.
OF_TEXT = ("TIMESTAMP", "TIMESTAMP_MS", "TIMESTAMP_US", "TIMESTAMP_NS")


def nanos(expression: Expression, now: int) -> int | None:
    """The nanoseconds of an expression that is a moment; None for any other."""
    if isinstance(expression, Moment):
        return expression.nanos
    if not isinstance(expression, Call):
        return None
    arguments = expression.arguments
    if expression.name == "NOW":
        need(expression, 0)
        return now
    if expression.name in OF_TEXT:
        need(expression, 1)
        if not isinstance(arguments[0], Text):
            raise GSException(
                f"TQL: {expression.name} takes a text, such as '2018-12-01T10:00:00.000Z'",
                Code.TQL_INVALID_ARGUMENT,
            )
        return parse(arguments[0].value)
    if expression.name == "TO_TIMESTAMP_MS":
        need(expression, 1)
        count = whole(arguments[0])
        return None if count is None else count * 1_000_000
    if expression.name in ("TIMESTAMPADD", "TIMESTAMP_ADD"):
        need(expression, 3)
        at, count = nanos(arguments[1], now), whole(arguments[2])
        if at is None or count is None:
            return None
        return add(at, unit_of(expression.arguments[0]), count)
    return None


def add(at: int, unit: TimeUnit, count: int) -> int:
    """A moment later by so many units, in UTC."""
    if unit in NANOS_PER:
        return at + count * NANOS_PER[unit]
    months = count * 12 if unit == TimeUnit.YEAR else count
    seconds, rest = divmod(at, NANOS_PER_SECOND)
    try:
        day = EPOCH + timedelta(seconds=seconds)
        year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
        last = calendar.monthrange(year, month + 1)[1]
        later = day.replace(year=year, month=month + 1, day=min(day.day, last))
    except (ValueError, OverflowError, calendar.IllegalMonthError) as error:
        raise GSException(
            "TQL: a timestamp is outside of the years 1 to 9999", Code.TQL_INVALID_ARGUMENT
        ) from error
    return int((later - EPOCH).total_seconds()) * NANOS_PER_SECOND + rest


def unit_of(expression: Expression) -> TimeUnit:
    """The unit that the argument of a function names."""
    name = expression.text.upper() if isinstance(expression, Name) else None
    if name not in UNITS:
        raise GSException(
            f"TQL: the unit of time is {name or 'missing'}: give {', '.join(UNITS)}",
            Code.TQL_INVALID_ARGUMENT,
        )
    return TimeUnit[name]


def whole(expression: Expression) -> int | None:
    """A whole number that is written out; None for anything else."""
    if isinstance(expression, Unary) and expression.sign == "-":
        inner = whole(expression.operand)
        return None if inner is None else -inner
    if isinstance(expression, Number) and expression.is_whole:
        return int(expression.text)
    return None


def need(call: Call, *counts: int) -> None:
    """Raise when a function has another number of arguments."""
    if len(call.arguments) not in counts:
        told = " or ".join(str(count) for count in counts)
        raise GSException(
            f"TQL: {call.name} takes {told} arguments, not {len(call.arguments)}",
            Code.TQL_ARGUMENT_COUNT,
        )
