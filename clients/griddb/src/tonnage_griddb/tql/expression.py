"""Conditions of TQL as SQL."""

from __future__ import annotations

from collections.abc import Callable

from tonnage_griddb.enums import TimeUnit, Type
from tonnage_griddb.errors import Code, GSException
from tonnage_griddb.info import Column
from tonnage_griddb.shape import Shape, folded, quoted
from tonnage_griddb.timestamps import DIGITS, NANOS_PER, text
from tonnage_griddb.tql import moments
from tonnage_griddb.tql.moments import need, unit_of, whole
from tonnage_griddb.tql.syntax import (
    Binary,
    Call,
    Expression,
    IsNull,
    Like,
    Moment,
    Name,
    Null,
    Number,
    Star,
    Text,
    Truth,
    Unary,
)

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_INTERVALS = {
    TimeUnit.YEAR: "years",
    TimeUnit.MONTH: "months",
    TimeUnit.DAY: "days",
    TimeUnit.HOUR: "hours",
    TimeUnit.MINUTE: "minutes",
    TimeUnit.SECOND: "seconds",
    TimeUnit.MILLISECOND: "milliseconds",
    TimeUnit.MICROSECOND: "microseconds",
    TimeUnit.NANOSECOND: "nanoseconds",
}
# Comparisons that bound a range, and how they read from the other side.
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# The most conditions that stand behind each other without parentheses.
_CHAIN_MAX = 64
# Units that a column of milliseconds has no room for.
_FINE = (TimeUnit.MICROSECOND, TimeUnit.NANOSECOND)


class Writer:
    """Writes conditions on a container.

    Args:
        now: what NOW() is throughout the query, in nanoseconds.
    """

    def __init__(self, shape: Shape, now: int) -> None:
        self._shape = shape
        self._now = now

    def write(self, node: Expression) -> str:
        """An expression in SQL, in parentheses where it has several parts."""
        at = moments.nanos(node, self._now)
        if at is not None:
            return moment(at)
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, Name):
            return self._name(node)
        if isinstance(node, Like):
            return self._like(node)
        if isinstance(node, Binary) and node.sign in ("AND", "OR"):
            return _tied([self.write(part) for part in _chain(node)], node.sign)
        if isinstance(node, Binary) and node.sign in _FLIPPED:
            return self._comparison(node)
        if isinstance(node, Binary):
            sign = "<>" if node.sign == "XOR" else node.sign
            return f"({self.write(node.left)} {sign} {self.write(node.right)})"
        if isinstance(node, Unary):
            return f"({node.sign} {self.write(node.operand)})"
        if isinstance(node, IsNull):
            negated = "NOT " if node.is_negated else ""
            return f"({self.write(node.operand)} IS {negated}NULL)"
        return _literal(node)

    def _comparison(self, node: Binary) -> str:
        """Compare. A column of moments compares with a literal of its own precision."""
        for side, other, sign in (
            (node.left, node.right, node.sign),
            (node.right, node.left, _FLIPPED[node.sign]),
        ):
            at = moments.nanos(other, self._now)
            if at is not None and isinstance(side, Name):
                return f"({bound(self._shape.column(side.text), sign, at)})"
        return f"({self.write(node.left)} {node.sign} {self.write(node.right)})"

    def _name(self, node: Name) -> str:
        known = folded(node.text) in map(folded, self._shape.names)
        if not known and node.text.upper() == "NAN":
            return "CAST('NaN' AS DOUBLE)"
        if not known and node.text.upper() == "INF":
            return "CAST('Infinity' AS DOUBLE)"
        return quoted(self._shape.column(node.text).name)

    def _like(self, node: Like) -> str:
        # An empty pattern matches nothing in TQL, in SQL the empty text. NULL stays unknown.
        if isinstance(node.pattern, Text) and not node.pattern.value:
            answer = "TRUE" if node.is_negated else "FALSE"
            return f"(CASE WHEN {self.write(node.operand)} IS NOT NULL THEN {answer} END)"
        pattern = self.write(node.pattern)
        escape = f" ESCAPE {self.write(node.escape)}" if node.escape else ""
        if not escape and isinstance(node.pattern, Text):
            # The backslash is a sign like any other in TQL, and escapes in SQL.
            pattern = _text(node.pattern.value.replace("\\", "\\\\"))
        negated = "NOT " if node.is_negated else ""
        return f"({self.write(node.operand)} {negated}LIKE {pattern}{escape})"

    def _call(self, call: Call) -> str:
        writer = _FUNCTIONS.get(call.name)
        if writer is not None:
            return writer(self, call)
        if call.name.startswith("ST_"):
            raise GSException(
                f"TQL: {call.name} works on shapes, and Tonnage keeps GEOMETRY as text",
                Code.TQL_NOT_IMPLEMENTED,
            )
        raise GSException(f"TQL: there is no function {call.name}", Code.TQL_FUNCTION_NOT_FOUND)

    def _plain(self, call: Call, name: str, *counts: int) -> str:
        need(call, *counts)
        return f"{name}({', '.join(self.write(argument) for argument in call.arguments)})"

    # Functions

    def _char_length(self, call: Call) -> str:
        return self._plain(call, "char_length", 1)

    def _concat(self, call: Call) -> str:
        return self._plain(call, "concat", *range(1, 1_000))

    def _substring(self, call: Call) -> str:
        start = whole(call.arguments[1]) if len(call.arguments) > 1 else None
        length = whole(call.arguments[2]) if len(call.arguments) > 2 else None
        if (start is not None and start < 1) or (length is not None and length < 0):
            raise GSException(
                "TQL: SUBSTRING begins at 1 or after, and takes no negative length",
                Code.TQL_INVALID_ARGUMENT,
            )
        return self._plain(call, "substr", 2, 3)

    def _upper(self, call: Call) -> str:
        # ASCII alone, as TQL has it.
        need(call, 1)
        return f"translate({self.write(call.arguments[0])}, '{_LOWER}', '{_LOWER.upper()}')"

    def _lower(self, call: Call) -> str:
        need(call, 1)
        return f"translate({self.write(call.arguments[0])}, '{_LOWER.upper()}', '{_LOWER}')"

    def _rounding(self, call: Call) -> str:
        need(call, 1)
        name = {"ROUND": "round", "FLOOR": "floor"}.get(call.name, "ceil")
        return f"{name}(CAST({self.write(call.arguments[0])} AS DOUBLE))"

    def _array_length(self, call: Call) -> str:
        return self._plain(call, "array_length", 1)

    def _element(self, call: Call) -> str:
        need(call, 2)
        place = whole(call.arguments[0])
        if place is None or place < 0:
            raise GSException(
                "TQL: ELEMENT takes the place of the element, from 0, as a number",
                Code.TQL_INVALID_ARGUMENT,
            )
        return f"{self.write(call.arguments[1])}[{place + 1}]"

    def _add(self, call: Call) -> str:
        need(call, 3)
        unit, count = unit_of(call.arguments[0]), whole(call.arguments[2])
        if count is None:
            raise GSException(
                "TQL: TIMESTAMPADD takes its duration as a whole number that is written out",
                Code.TQL_NOT_IMPLEMENTED,
            )
        at = self.write(call.arguments[1])
        if unit in _FINE:
            at = f"CAST({at} AS TIMESTAMP(9))"
        return f"({at} + INTERVAL '{count} {_INTERVALS[unit]}')"

    def _difference(self, call: Call) -> str:
        need(call, 3)
        unit = unit_of(call.arguments[0])
        later, earlier = self.write(call.arguments[1]), self.write(call.arguments[2])
        if unit in _FINE:
            digits = DIGITS[unit]
            return f"({_ticks(later, digits)} - {_ticks(earlier, digits)})"
        if unit in NANOS_PER:
            step = NANOS_PER[unit] // 1_000_000
            return f"(({_millis(later)} - {_millis(earlier)}) / {step})"
        months = _months(later, earlier)
        return f"({months} / 12)" if unit == TimeUnit.YEAR else months

    def _to_timestamp(self, call: Call) -> str:
        return self._plain(call, "to_timestamp_millis", 1)

    def _to_epoch(self, call: Call) -> str:
        need(call, 1)
        at = moments.nanos(call.arguments[0], self._now)
        return str(at // 1_000_000) if at is not None else _millis(self.write(call.arguments[0]))

    def _moment(self, call: Call) -> str:
        raise GSException(
            f"TQL: {call.name} takes what is written out", Code.TQL_INVALID_ARGUMENT
        )


_FUNCTIONS: dict[str, Callable[[Writer, Call], str]] = {
    "CHAR_LENGTH": Writer._char_length,
    "CONCAT": Writer._concat,
    "SUBSTRING": Writer._substring,
    "UPPER": Writer._upper,
    "LOWER": Writer._lower,
    "ROUND": Writer._rounding,
    "FLOOR": Writer._rounding,
    "CEILING": Writer._rounding,
    "ARRAY_LENGTH": Writer._array_length,
    "ELEMENT": Writer._element,
    **dict.fromkeys((*moments.OF_TEXT, "NOW"), Writer._moment),
    **dict.fromkeys(("TIMESTAMPADD", "TIMESTAMP_ADD"), Writer._add),
    **dict.fromkeys(("TIMESTAMPDIFF", "TIMESTAMP_DIFF"), Writer._difference),
    "TO_TIMESTAMP_MS": Writer._to_timestamp,
    "TO_EPOCH_MS": Writer._to_epoch,
}


def _chain(node: Binary) -> list[Expression]:
    """What a chain of ANDs or ORs ties, however long it is."""
    parts: list[Expression] = []
    left: Expression = node
    while isinstance(left, Binary) and left.sign == node.sign:
        parts.append(left.right)
        left = left.left
    return [left, *reversed(parts)]


def _tied(parts: list[str], sign: str) -> str:
    """Conditions that AND or OR ties, in their order.

    Tonnage counts each sign of a chain as a level, and refuses SQL of more than 1,024 levels. So
    the halves of a long chain stand in parentheses, which is one level more than a half has. The
    answer is the same, NULL included.
    """
    if len(parts) > _CHAIN_MAX:
        half = len(parts) // 2
        parts = [_tied(parts[:half], sign), _tied(parts[half:], sign)]
    return f"({f' {sign} '.join(parts)})"


def bound(column: Column, sign: str, nanos: int) -> str:
    """A column on one side of a moment.

    A moment that is finer than the column goes to the next one that the column can hold. So Tonnage
    reads a range of keys.
    """
    if column.type == Type.TIMESTAMP:
        step = NANOS_PER[column.time_unit]
        nanos = nanos // step * step if sign in (">", "<=") else -(-nanos // step) * step
    return f"{quoted(column.name)} {sign} {moment(nanos)}"


def moment(nanos: int) -> str:
    """A moment as a literal of SQL."""
    return f"TIMESTAMP '{text(nanos).replace('T', ' ')}'"


def _literal(node: Expression) -> str:
    if isinstance(node, Number):
        # A literal with a point is a decimal in Tonnage, a double in TQL.
        is_double = not node.is_whole and "e" not in node.text.lower()
        return f"{node.text}e0" if is_double else node.text
    if isinstance(node, Text):
        return _text(node.value)
    if isinstance(node, Truth):
        return "TRUE" if node.value else "FALSE"
    if isinstance(node, Null):
        return "NULL"
    if isinstance(node, Star):
        raise GSException("TQL: '*' stands for all columns, and is no value", Code.TQL_SYNTAX)
    assert not isinstance(node, Moment)
    raise GSException(f"TQL: {node} is not a value", Code.TQL_SYNTAX)


def _text(value: str) -> str:
    escaped = value.replace("'", "''")
    return f"'{escaped}'"


def _ticks(moment: str, digits: int) -> str:
    """A moment as a number, with so many digits behind the second."""
    return f"CAST(CAST({moment} AS TIMESTAMP({digits})) AS BIGINT)"


def _millis(moment: str) -> str:
    return _ticks(moment, 3)


def _months(later: str, earlier: str) -> str:
    """The whole months between two moments, towards zero."""
    def number(of: str) -> str:
        year, month = f"date_part('year', {of})", f"date_part('month', {of})"
        return f"(CAST({year} AS BIGINT) * 12 + CAST({month} AS BIGINT))"

    def rest(of: str) -> str:
        return f"({_millis(of)} - {_millis(f'''date_trunc('month', {of})''')})"

    months = f"({number(later)} - {number(earlier)})"
    return (
        f"(CASE WHEN {months} > 0 AND {rest(later)} < {rest(earlier)} THEN {months} - 1 "
        f"WHEN {months} < 0 AND {rest(later)} > {rest(earlier)} THEN {months} + 1 "
        f"ELSE {months} END)"
    )


NUMERIC = (Type.BYTE, Type.SHORT, Type.INTEGER, Type.LONG, Type.FLOAT, Type.DOUBLE)
WHOLE = (Type.BYTE, Type.SHORT, Type.INTEGER, Type.LONG)
