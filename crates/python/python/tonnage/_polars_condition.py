"""Conditions of polars as SQL, as far as both mean the same.

What is not known here is left out: polars applies the whole condition again. So a part may be left
out of an AND, but not below OR or NOT, where it would leave rows out that are wanted. FLOAT and
DOUBLE columns are not compared here, because polars orders NaN differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

_COMPARED = {"Eq": "=", "NotEq": "<>", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_UNITS = {"Milliseconds": 1_000, "Microseconds": 1}
_EPOCH = datetime(1970, 1, 1)


class Condition:
    """Writes a condition, and keeps the values of its parameters.

    Args:
        types: the type of each column, as DDL names it.
    """

    def __init__(self, types: Mapping[str, str]) -> None:
        self._types = types
        self.values: list[Any] = []

    def text(self, node: Any, *, exact: bool = False) -> str | None:
        """The condition as SQL; None when nothing of it can be said.

        Args:
            node: what polars writes as JSON.
            exact: whether no part may be left out.
        """
        match node:
            case {"BinaryExpr": {"left": left, "op": "And", "right": right}}:
                return self._both(left, right, exact)
            case {"BinaryExpr": {"left": left, "op": "Or", "right": right}}:
                return self._joined(left, right, "OR")
            case {
                "BinaryExpr": {"left": {"Column": str(name)}, "op": op, "right": {"Literal": value}}
            }:
                return self._compared(name, _COMPARED.get(op), value)
            case {
                "BinaryExpr": {"left": {"Literal": value}, "op": op, "right": {"Column": str(name)}}
            }:
                return self._compared(name, _MIRRORED.get(_COMPARED.get(op, "")), value)
            case {
                "Function": {"input": [{"Column": str(name)}], "function": {"Boolean": "IsNull"}}
            }:
                return f"{quoted(name)} IS NULL"
            case {
                "Function": {"input": [{"Column": str(name)}], "function": {"Boolean": "IsNotNull"}}
            }:
                return f"{quoted(name)} IS NOT NULL"
            case {"Function": {"input": [inner], "function": {"Boolean": "Not"}}}:
                negated = self.text(inner, exact=True)
                return None if negated is None else f"NOT ({negated})"
            case {
                "Function": {
                    "input": [{"Column": str(name)}, {"Literal": low}, {"Literal": high}],
                    "function": {"Boolean": {"IsBetween": {"closed": "Both"}}},
                }
            }:
                return self._between(name, low, high)
            case {"Column": str(name)} if self._types.get(name) == "BOOLEAN":
                return quoted(name)
        return None

    def _both(self, left: Any, right: Any, exact: bool) -> str | None:
        if exact:
            return self._joined(left, right, "AND")
        parts = [part for part in (self.text(left), self.text(right)) if part is not None]
        return " AND ".join(f"({part})" for part in parts) or None

    def _joined(self, left: Any, right: Any, word: str) -> str | None:
        before = len(self.values)
        one = self.text(left, exact=True)
        other = None if one is None else self.text(right, exact=True)
        if one is None or other is None:
            del self.values[before:]
            return None
        return f"({one}) {word} ({other})"

    def _between(self, name: str, low: Any, high: Any) -> str | None:
        before = len(self.values)
        at_least = self._compared(name, ">=", low)
        at_most = None if at_least is None else self._compared(name, "<=", high)
        if at_least is None or at_most is None:
            del self.values[before:]
            return None
        return f"{at_least} AND {at_most}"

    def _compared(self, name: str, operator: str | None, literal: Any) -> str | None:
        value = _value(literal)
        if operator is None or value is None or not self._fits(name, value):
            return None
        self.values.append(value)
        return f"{quoted(name)} {operator} ${len(self.values)}"

    def _fits(self, name: str, value: Any) -> bool:
        kind = self._types.get(name, "")
        if isinstance(value, bool):
            return kind == "BOOLEAN"
        if isinstance(value, int):
            return kind in ("INTEGER", "LONG") and -(2**63) <= value < 2**63
        if isinstance(value, str):
            return kind == "STRING"
        if isinstance(value, datetime):
            return kind.startswith("TIMESTAMP")
        return kind == "DATE"


def _value(literal: Any) -> Any:
    """The value of a literal; None for NULL and for what is not known here."""
    match literal:
        case {"Dyn": {"Int": int(number)}}:
            return number
        case {"Scalar": {"String": str(text)}} | {"Dyn": {"Str": str(text)}}:
            return text
        case {"Scalar": {"Boolean": bool(truth)}}:
            return truth
        case {"Scalar": {"Datetime": [int(count), str(unit), None]}} if unit in _UNITS:
            try:
                return _EPOCH + timedelta(microseconds=count * _UNITS[unit])
            except OverflowError:
                return None
        case {"Scalar": {"Date": int(days)}}:
            try:
                return date(1970, 1, 1) + timedelta(days=days)
            except OverflowError:
                return None
        case {"Scalar": {"Int64": int(number)}} | {"Scalar": {"Int32": int(number)}}:
            return number
    return None


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
