"""Row keys, and conditions on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tonnage_griddb.enums import Type
from tonnage_griddb.errors import Code, GSException


class RowKey:
    """The values of a row key of one column or more. `Store.create_row_key` makes it."""

    def __init__(self, columns: Sequence[str], values: Sequence[Any] | None = None) -> None:
        self._columns = list(columns)
        self._values: list[Any] | None = None
        if values is not None:
            self.set(values)

    def set(self, row_key_value_list: Sequence[Any]) -> None:
        """Set the values, in the order of the key columns."""
        values = list(row_key_value_list)
        if len(values) != len(self._columns):
            raise GSException(
                f"a row key of {len(values)} values for the columns {', '.join(self._columns)}",
                Code.ILLEGAL_PARAMETER,
            )
        self._values = values

    def get(self) -> list[Any]:
        """The values, in the order of the key columns."""
        if self._values is None:
            raise GSException("the row key has no values: call set", Code.EMPTY_PARAMETER)
        return list(self._values)

    def __repr__(self) -> str:
        return f"RowKey({dict(zip(self._columns, self._values or ()))})"


class RowKeyPredicate:
    """Which rows of a container `Store.multi_get` gets: some keys, a range, or all."""

    def __init__(self, key_type: Type | None) -> None:
        self._key_type = key_type
        self._keys: list[Any] | None = None
        self._range: tuple[Any, Any] | None = None

    @property
    def key_type(self) -> Type | None:
        """The type of the row key; None for one of several columns."""
        return self._key_type

    def set_distinct_keys(self, keys: Sequence[Any]) -> None:
        """Get the rows of these keys. Keys that are set already stay."""
        if self._range is not None:
            raise GSException("the predicate has a range already", Code.ILLEGAL_PARAMETER)
        self._keys = (self._keys or []) + list(keys)

    def get_distinct_keys(self) -> list[Any]:
        """The keys: single values, or a list of values for a key of several columns."""
        return [_plain(key) for key in self._keys or ()]

    def set_range(self, start: Any, end: Any) -> None:
        """Get the rows from one key to another, both included. None leaves an end open."""
        if self._keys is not None:
            raise GSException("the predicate has keys already", Code.ILLEGAL_PARAMETER)
        self._range = (start, end)

    def get_range(self) -> list[Any]:
        """The first and the last key; None for an open end."""
        return list(self._range or (None, None))

    @property
    def kind(self) -> str:
        """What the predicate asks for: `keys`, `range` or `all`."""
        if self._keys is not None:
            return "keys"
        return "all" if self._range is None else "range"


def _plain(key: Any) -> Any:
    return key.get() if isinstance(key, RowKey) else key


def key_values(key: Any, count: int) -> list[Any]:
    """The values of a key of so many columns, given as a `RowKey`, a list or one value."""
    values = _plain(key)
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    if len(values) != count:
        raise GSException(
            f"the row key has {count} columns, and {key!r} has {len(values)} values",
            Code.ILLEGAL_PARAMETER,
        )
    return values
