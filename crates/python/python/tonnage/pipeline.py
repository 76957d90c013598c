"""Calls on single rows and pairs that do not wait for the answers of earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from tonnage import _tonnage
from tonnage._sizes import seconds
from tonnage.errors import TonnageError
from tonnage.key_value import Key, Pair, pair_of
from tonnage.result import Row
from tonnage.table import Durability, Written, row_of

Answer = Written | Row | Pair | None | TonnageError


class Pipeline:
    """Calls that are sent without waiting, and answered in their order: `Store.pipeline`.

    A store on a server takes them over one stream, so that many calls cost one round trip. A store
    of this process carries each out at once. Read the answers before 65,536 of them wait. One
    thread at a time may use it.

    >>> import tonnage
    >>> with tonnage.connect("memory:") as store:
    ...     _ = store.sql("CREATE TABLE ships (id LONG, name STRING, PRIMARY KEY (id))")
    ...     calls = store.pipeline()
    ...     calls.put("ships", {"id": 7, "name": "ARGO"})
    ...     calls.get("ships", 7)
    ...     calls.get("ships", 8)
    ...     written, argo, missing = calls.answers()
    >>> bool(written), argo, missing
    (True, {'id': 7, 'name': 'ARGO'}, None)
    """

    def __init__(self, native: _tonnage.Pipeline) -> None:
        self._native = native

    def put(
        self,
        table: str,
        row: Mapping[str, Any] | Sequence[Any],
        *,
        condition: str | int | None = None,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> None:
        """Store a row. Its answer is a `Written`.

        Args:
            table: the path of the table.
            row: values by column, or in the order of the columns.
            condition: "absent", "present" or the version that the stored row must have.
            ttl: how long it lives, in seconds; 0 for ever; None for the table's own time to live.
            durability: when the write is acknowledged.
        """
        self._native.put(table, row, condition, durability, seconds(ttl))

    def update(
        self,
        table: str,
        changes: Mapping[str, Any],
        *,
        version: int | None = None,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> None:
        """Change some columns of a row, as `Table.update`. Its answer is a `Written`."""
        self._native.update(table, changes, version, durability, seconds(ttl))

    def delete(
        self,
        table: str,
        *key: Any,
        version: int | None = None,
        durability: Durability = "write",
        **key_by_name: Any,
    ) -> None:
        """Delete the row of a whole key. Its answer is a `Written`, false where there was none."""
        self._native.delete(table, key_by_name or key, version, durability)

    def get(self, table: str, *key: Any, **key_by_name: Any) -> None:
        """Read the row of a whole key. Its answer is a `Row`, or None."""
        self._native.get(table, key_by_name or key)

    def put_pair(
        self,
        key: Key,
        value: str | bytes,
        *,
        condition: str | int | None = None,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> None:
        """Store a pair. Its answer is a `Written`."""
        self._native.put_pair(key, value, condition, durability, seconds(ttl))

    def delete_pair(
        self, key: Key, *, version: int | None = None, durability: Durability = "write"
    ) -> None:
        """Delete a pair. Its answer is a `Written`, false where there was none."""
        self._native.delete_pair(key, version, durability)

    def get_pair(self, key: Key) -> None:
        """Read the pair of a key. Its answer is a `Pair`, or None."""
        self._native.get_pair(key)

    def answers(self) -> Iterator[Answer]:
        """The answers to the calls made so far, in their order; waits for each.

        A call that was refused has its error as answer, which is returned and not raised.
        """
        while (found := self._native.next_answer()) is not None:
            kind, value = found
            if kind == "written":
                yield Written(*value)
            elif value is None or kind == "error":
                yield value
            elif kind == "row":
                yield row_of(value)
            else:
                yield pair_of(value)
