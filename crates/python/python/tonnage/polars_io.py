"""A table as a lazy frame of polars: only the columns and rows that are wanted leave the store.

    frame = tonnage.polars_io.scan(store.table("positions"))
    frame.filter(pl.col("ship") == 7).select("at", "lat").collect()

The store answers columns, `head`, and conditions that compare whole numbers, texts, booleans,
moments and days with constants: `==`, `!=`, `<`, `<=`, `>`, `>=`, `is_between`, `is_null` and
`is_not_null`, with `&`, `|` and `~`. Each condition is applied to the rows again, so that any other
is right, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tonnage._polars_condition import Condition, quoted
from tonnage.result import refuse_unknown_to_polars
from tonnage.table import Table

if TYPE_CHECKING:
    import polars as pl


def scan(table: Table) -> pl.LazyFrame:
    """A lazy frame over a table. Each `collect` reads the table as it is then.

    Args:
        table: a table of an open store, of this process or behind a server.
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    schema = pl.DataFrame(_Empty(table)).schema

    def source(
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        # What the condition needs is read beside what is wanted.
        wanted = with_columns if with_columns is not None else schema.names()
        needed = predicate.meta.root_names() if predicate is not None else []
        columns = [name for name in schema.names() if name in wanted or name in needed]
        left = n_rows
        text, values = _query(table, columns, predicate, n_rows)
        with table._store.sql(text, values or None) as rows:
            for batch in rows:
                frame = pl.DataFrame(batch)
                if predicate is not None:
                    frame = frame.filter(predicate)
                if left is not None:
                    frame = frame.head(left)
                    left -= frame.height
                yield frame.select(wanted)
                if left == 0:
                    return

    return register_io_source(source, schema=schema)


class _Empty:
    """The columns of a table, without its rows."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        names = ", ".join(quoted(column.name) for column in self._table.columns)
        text = f"SELECT {names} FROM {_path(self._table)} LIMIT 0"
        rows = self._table._store.sql(text)
        refuse_unknown_to_polars(rows)
        return rows.__arrow_c_stream__()


def _query(
    table: Table, columns: list[str], predicate: pl.Expr | None, n_rows: int | None
) -> tuple[str, list[Any]]:
    names = ", ".join(map(quoted, columns or table.primary_key[:1]))
    condition = Condition({column.name: column.type for column in table.columns})
    where = None
    if predicate is not None:
        where = condition.text(json.loads(predicate.meta.serialize(format="json")))
    text = f"SELECT {names} FROM {_path(table)}"
    if where is not None:
        text += f" WHERE {where}"
    # What is left out of a condition may leave out some of the first rows.
    if n_rows is not None and predicate is None:
        text += f" LIMIT {n_rows}"
    return text, condition.values


def _path(table: Table) -> str:
    return ".".join(map(quoted, table.path.split(".")))
