"""Tables: single rows, bulk gets, scans."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal

from tonnage import _tonnage
from tonnage._sizes import seconds, size
from tonnage.range import Range
from tonnage.result import Batches, Row

if TYPE_CHECKING:
    from tonnage.report import BulkPutter, PutReport

Direction = Literal["unordered", "forward", "reverse"]
Durability = Literal["none", "write", "fsync"]


@dataclass(frozen=True)
class Column:
    """A column of a table, with its type as DDL names it."""

    name: str
    type: str
    nullable: bool


@dataclass(frozen=True)
class Written:
    """What became of a conditional write.

    Attributes:
        stored: whether it was carried out.
        version: the version of the stored row; None when there is none.
    """

    stored: bool
    version: int | None

    def __bool__(self) -> bool:
        return self.stored


def expiry(milliseconds: int | None) -> datetime | None:
    """A moment in UTC, naive as the timestamps of columns are."""
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).replace(tzinfo=None)


def read_arguments(
    *,
    columns: Sequence[str] | None = None,
    range: Range | None = None,
    direction: Direction = "unordered",
    limit: int | None = None,
    limit_per_key: int | None = None,
    relatives: Sequence[str] = (),
    keys_only: bool = False,
    batch_rows: int = 8192,
    batch_bytes: int | str = "4MiB",
    max_concurrent_requests: int | None = None,
    memory: int | str | None = None,
    timeout: float | timedelta | None = None,
) -> dict[str, Any]:
    """The options of a read as the native library takes them."""
    return {
        "columns": None if columns is None else list(columns),
        "range": range,
        "direction": direction,
        "limit": limit,
        "limit_per_key": limit_per_key,
        "relatives": list(relatives),
        "keys_only": keys_only,
        "batch_rows": batch_rows,
        "batch_bytes": size(batch_bytes),
        "max_concurrent_requests": max_concurrent_requests,
        "memory_bytes": size(memory),
        "timeout": seconds(timeout),
    }


def row_of(found: tuple[dict[str, Any], int, int | None]) -> Row:
    """A row as the native part gives it."""
    values, version, expires_ms = found
    row = Row(values)
    row.version = version
    row.expires = expiry(expires_ms)
    return row


class Table:
    """A table of a store.

    Keys are given in the order of the key columns (`table.get(7, "x")`) or by name
    (`table.get(ship=7, at="x")`).
    """

    def __init__(self, store: BulkPutter, native: _tonnage.Table) -> None:
        self._store = store
        self._native = native

    @property
    def path(self) -> str:
        """The name, `parent.child` for a child table."""
        return self._native.path

    @property
    def columns(self) -> list[Column]:
        return [Column(*column) for column in self._native.columns]

    @property
    def primary_key(self) -> list[str]:
        return self._native.primary_key

    @property
    def shard_key(self) -> list[str]:
        return self._native.shard_key

    @property
    def ddl(self) -> str:
        """The statement that makes the table."""
        return self._native.ddl

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def put(
        self,
        row: Mapping[str, Any] | Sequence[Any],
        *,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> int:
        """Store a row, whatever is there. Returns its version.

        Args:
            row: values by column, or in the order of the columns.
            ttl: how long it lives, in seconds; 0 for ever; None for the table's own time to live.
            durability: when the write is acknowledged.
        """
        _, version = self._native.put(row, None, durability, seconds(ttl))
        assert version is not None
        return version

    def put_if_absent(
        self,
        row: Mapping[str, Any] | Sequence[Any],
        *,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> Written:
        """Store a row if its key is free."""
        return Written(*self._native.put(row, "absent", durability, seconds(ttl)))

    def put_if_present(
        self,
        row: Mapping[str, Any] | Sequence[Any],
        *,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> Written:
        """Replace a row if there is one."""
        return Written(*self._native.put(row, "present", durability, seconds(ttl)))

    def put_if_version(
        self,
        row: Mapping[str, Any] | Sequence[Any],
        version: int,
        *,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> Written:
        """Replace a row if it still has this version."""
        return Written(*self._native.put(row, version, durability, seconds(ttl)))

    def update(
        self,
        changes: Mapping[str, Any],
        *,
        version: int | None = None,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> Written:
        """Change some columns of a row; the others stay, and so does its expiry without a ttl.

        Nothing that others write to other columns is lost. Without a row of the key nothing is
        stored.

        Args:
            changes: the key columns, and the columns to change, by name.
            version: changes the row only if it still has this version.
            ttl: how long the row lives from now on, in seconds; 0 for ever.
            durability: when the write is acknowledged.
        """
        return Written(*self._native.update(changes, version, durability, seconds(ttl)))

    def get(self, *key: Any, **key_by_name: Any) -> Row | None:
        """The row of a whole key; None when there is none."""
        found = self._native.get(key_by_name or key)
        if found is None:
            return None
        return row_of(found)

    def delete(
        self,
        *key: Any,
        version: int | None = None,
        durability: Durability = "write",
        **key_by_name: Any,
    ) -> bool:
        """Delete the row of a whole key. Returns whether there was one, of that version if given."""
        return self._native.delete(key_by_name or key, version, durability)

    def delete_range(
        self,
        *prefix: Any,
        range: Range | None = None,
        relatives: Sequence[str] = (),
        durability: Durability = "write",
    ) -> int:
        """Delete the rows of a partial key, in a range of the next key column. Returns how many.

        Args:
            prefix: the leading key columns; at least the shard key.
            relatives: child and ancestor tables whose rows go along, by path.
        """
        return self._native.delete_range(prefix, range, list(relatives), durability)

    def bulk_put(self, source: Any, **options: Any) -> PutReport:
        """Put what a source gives into the table. See `Store.bulk_put` for sources and options."""
        return self._store.bulk_put(source, self.path, **options)

    def bulk_get(self, keys: Any, **options: Any) -> Batches:
        """Get the rows of many whole or partial keys.

        Args:
            keys: an Arrow table, reader or data frame with key columns, or an iterable of keys:
                single values for the first key column, tuples, or dicts.
            **options: `columns`, `range`, `direction` ('unordered', 'forward', 'reverse'), `limit`,
                `limit_per_key`, `keys_only`, `batch_rows`, `batch_bytes`,
                `max_concurrent_requests`, `memory`, `timeout`.

        Returns:
            The rows as a stream of record batches. Unordered rows come as they are ready.
        """
        if options.get("relatives"):
            raise ValueError("bulk_get gives rows of one table: use bulk_get_related")
        return Batches(self._native.bulk_get(keys, read_arguments(**options)))

    def bulk_get_related(
        self, keys: Any, relatives: Sequence[str], **options: Any
    ) -> Iterator[tuple[str, _tonnage.RecordBatch]]:
        """Get the rows of many keys with those of child and ancestor tables.

        Args:
            keys: as for `bulk_get`.
            relatives: the paths of the tables whose rows come along.

        Returns:
            Record batches, each with the path of its table.
        """
        return iter(self._native.bulk_get_related(keys, read_arguments(relatives=relatives, **options)))

    def bulk_get_within(
        self,
        regions: Iterable[Mapping[str, Any]],
        *,
        origins: bool = False,
        columns: Sequence[str] | None = None,
        limit: int | None = None,
        batch_rows: int = 8192,
        timeout: float | timedelta | None = None,
    ) -> Batches:
        """Get the rows of many regions, through the table's index on places.

        Args:
            regions: `{"box": [west, south, east, north]}`, `{"circle": [lon, lat, metres]}` or
                `{"polygon": ...}` with rings of `[lon, lat]` or a Polygon of GeoJSON.
            origins: whether each row has the number of its region, from 0, as a column `_key`.

        Returns:
            The rows, in no order. One that several regions hold comes once for each.
        """
        arguments = read_arguments(
            columns=columns, limit=limit, batch_rows=batch_rows, timeout=timeout
        )
        text = json.dumps([dict(region) for region in regions])
        return Batches(self._native.bulk_get_within(text, origins, arguments))

    def scan(self, **options: Any) -> Batches:
        """Get all rows. Options as for `bulk_get`; `limit_per_key` counts for each shard key.

        `direction="reverse", limit_per_key=1` gives the latest row of each shard key.
        """
        return Batches(self._native.scan(read_arguments(**options)))

    def scan_parts(self, parts: int, **options: Any) -> list[Batches]:
        """Cut the table into parts to be read side by side, at most `parts` of them."""
        return [Batches(part) for part in self._native.scan_parts(parts, read_arguments(**options))]

    def count(self) -> int:
        """Count all rows, by reading their keys."""
        return self._native.count()

    def rows_estimate(self) -> int:
        """About how many rows there are, without reading them."""
        return self._native.rows_estimate()

    def __repr__(self) -> str:
        return f"Table({self.path!r})"


