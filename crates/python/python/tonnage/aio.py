"""The same store for asyncio: the names of `tonnage`, awaitable.

    async with await tonnage.aio.connect("fleet") as store:
        positions = await store.table("positions")
        report = await positions.bulk_put("positions.csv")
        async for row in await store.sql("SELECT * FROM positions"):
            print(row)

Each call runs on a thread of its own while others go on. A call that is cancelled stops a bulk put
or a statement; other calls come to their end.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import tonnage
from tonnage import _tonnage
from tonnage.report import PutReport
from tonnage.result import Batches as _Batches
from tonnage.result import Changes, Result as _Result, Row
from tonnage.table import Column, Table as _Table, Written

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

T = TypeVar("T")
ROWS_AT_ONCE = 1024


async def connect(target: str | os.PathLike[str] = "memory:", **options: Any) -> Store:
    """Open a store. Takes what `tonnage.connect` takes."""
    return Store(await asyncio.to_thread(tonnage.connect, target, **options))


async def _cancellable(call: Callable[[_tonnage.Cancel], T]) -> T:
    """Runs a call on a thread. Cancelling this stops the call, and waits for its end."""
    cancel = _tonnage.Cancel()
    running = asyncio.ensure_future(asyncio.to_thread(call, cancel))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancel.cancel()
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()
        raise


class Store:
    """An open store, as `tonnage.Store`. Its methods are awaited."""

    def __init__(self, store: tonnage.Store) -> None:
        self.blocking = store
        """The store for code that may block."""

    @property
    def url(self) -> str:
        return self.blocking.url

    @property
    def is_closed(self) -> bool:
        return self.blocking.is_closed

    async def __aenter__(self) -> Store:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the store."""
        await asyncio.to_thread(self.blocking.close)

    async def table(self, path: str) -> Table:
        """A table by its path. Raises `NotFound`, naming tables with a name like it."""
        return Table(await asyncio.to_thread(self.blocking.table, path))

    async def tables(self) -> list[Table]:
        """All tables, by path."""
        return [Table(table) for table in await asyncio.to_thread(self.blocking.tables)]

    async def create_table(self, path: str, columns: Any, **options: Any) -> Table:
        """Make a table. Takes what `tonnage.Store.create_table` takes."""
        made = await asyncio.to_thread(self.blocking.create_table, path, columns, **options)
        return Table(made)

    async def bulk_put(self, source: Any, table: str | None = None, **options: Any) -> PutReport:
        """Put what sources give into the store. Takes what `tonnage.Store.bulk_put` takes.

        Callbacks run on a thread. Cancelling stops the load; what is stored by then stays.
        """
        return await _cancellable(
            lambda cancel: self.blocking.bulk_put(source, table, **{"cancel": cancel, **options})
        )

    async def multi_put(self, rows: Mapping[str, Any], **options: Any) -> PutReport:
        """Put rows into many tables in one call."""
        return await _cancellable(
            lambda cancel: self.blocking.multi_put(rows, **{"cancel": cancel, **options})
        )

    async def multi_get(
        self, keys: Mapping[str, Any], **options: Any
    ) -> dict[str, Batches | tonnage.TonnageError]:
        """Get rows of many tables in one call, each with its rows or its error."""
        answers = await asyncio.to_thread(self.blocking.multi_get, keys, **options)
        return {
            table: answer if isinstance(answer, tonnage.TonnageError) else Batches(answer)
            for table, answer in answers.items()
        }

    async def write(self, *operations: tonnage.Put | tonnage.Delete, **options: Any) -> int | None:
        """Carry out operations on rows of one shard key, all together or not at all."""
        return await asyncio.to_thread(self.blocking.write, *operations, **options)

    async def sql(
        self,
        text: str,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Result:
        """Run a statement. Takes what `tonnage.Store.sql` takes. Cancelling stops it."""
        answer = await _cancellable(
            lambda cancel: self.blocking.sql(text, parameters, **{"cancel": cancel, **options})
        )
        return Result(answer)

    async def fetch_all(
        self, statements: Iterable[str | tuple[str, Sequence[Any] | Mapping[str, Any]]]
    ) -> list[Result | tonnage.TonnageError]:
        """Run many statements in one call, side by side. Each has an answer or an error."""
        answers = await asyncio.to_thread(self.blocking.fetch_all, statements)
        return [
            answer if isinstance(answer, tonnage.TonnageError) else Result(answer)
            for answer in answers
        ]

    async def sync(self) -> None:
        """Make everything that was acknowledged durable."""
        await asyncio.to_thread(self.blocking.sync)

    def __repr__(self) -> str:
        return f"tonnage.aio.Store({self.url!r})"


class Table:
    """A table, as `tonnage.Table`. What reads or writes is awaited."""

    def __init__(self, table: _Table) -> None:
        self.blocking = table
        """The table for code that may block."""

    @property
    def path(self) -> str:
        return self.blocking.path

    @property
    def columns(self) -> list[Column]:
        return self.blocking.columns

    @property
    def primary_key(self) -> list[str]:
        return self.blocking.primary_key

    async def put(self, row: Mapping[str, Any] | Sequence[Any], **options: Any) -> int:
        """Store a row, whatever is there. Returns its version."""
        return await asyncio.to_thread(self.blocking.put, row, **options)

    async def put_if_absent(
        self, row: Mapping[str, Any] | Sequence[Any], **options: Any
    ) -> Written:
        """Store a row if its key is free."""
        return await asyncio.to_thread(self.blocking.put_if_absent, row, **options)

    async def put_if_version(
        self, row: Mapping[str, Any] | Sequence[Any], version: int, **options: Any
    ) -> Written:
        """Replace a row if it still has this version."""
        return await asyncio.to_thread(self.blocking.put_if_version, row, version, **options)

    async def update(self, changes: Mapping[str, Any], **options: Any) -> Written:
        """Change some columns of a row; the others stay."""
        return await asyncio.to_thread(self.blocking.update, changes, **options)

    async def get(self, *key: Any, **key_by_name: Any) -> Row | None:
        """The row of a whole key; None when there is none."""
        return await asyncio.to_thread(self.blocking.get, *key, **key_by_name)

    async def delete(self, *key: Any, **options: Any) -> bool:
        """Delete the row of a whole key. Returns whether there was one."""
        return await asyncio.to_thread(self.blocking.delete, *key, **options)

    async def bulk_put(self, source: Any, **options: Any) -> PutReport:
        """Put what a source gives into the table. See `Store.bulk_put`."""
        return await _cancellable(
            lambda cancel: self.blocking.bulk_put(source, **{"cancel": cancel, **options})
        )

    async def bulk_get(self, keys: Any, **options: Any) -> Batches:
        """Get the rows of many whole or partial keys."""
        return Batches(await asyncio.to_thread(self.blocking.bulk_get, keys, **options))

    async def bulk_get_within(self, regions: Any, **options: Any) -> Batches:
        """Get the rows of many regions."""
        return Batches(await asyncio.to_thread(self.blocking.bulk_get_within, regions, **options))

    async def scan(self, **options: Any) -> Batches:
        """Get all rows."""
        return Batches(await asyncio.to_thread(self.blocking.scan, **options))

    async def count(self) -> int:
        """Count all rows."""
        return await asyncio.to_thread(self.blocking.count)

    def __repr__(self) -> str:
        return f"tonnage.aio.Table({self.path!r})"


class Batches:
    """Rows, as `tonnage.Batches`: `async for` gives each as a dict."""

    def __init__(self, batches: _Batches) -> None:
        self.blocking: _Batches = batches
        """The rows for code that may block."""

    @property
    def columns(self) -> list[str]:
        return self.blocking.columns

    async def __aiter__(self) -> AsyncIterator[Any]:
        while rows := await self.fetchmany(ROWS_AT_ONCE):
            for row in rows:
                yield row

    async def fetchone(self) -> Any | None:
        """The next row as a dict; None at the end."""
        return await asyncio.to_thread(self.blocking.fetchone)

    async def fetchmany(self, count: int) -> list[Any]:
        """The next rows as dicts, at most `count`."""
        return await asyncio.to_thread(self.blocking.fetchmany, count)

    async def fetchall(self) -> list[Any]:
        """All rows that are left, as dicts."""
        return await asyncio.to_thread(self.blocking.fetchall)

    async def arrow(self) -> pyarrow.Table:
        """All rows as a pyarrow table."""
        return await asyncio.to_thread(self.blocking.arrow)

    async def pl(self) -> polars.DataFrame:
        """All rows as a polars data frame."""
        return await asyncio.to_thread(self.blocking.pl)

    async def df(self) -> pandas.DataFrame:
        """All rows as a pandas data frame."""
        return await asyncio.to_thread(self.blocking.df)

    async def close(self) -> None:
        """Stop the read."""
        await asyncio.to_thread(self.blocking.close)

    async def __aenter__(self) -> Batches:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"tonnage.aio.{self.blocking!r}"


class Result(Batches):
    """The answer of a statement, as `tonnage.Result`."""

    blocking: _Result

    def __init__(self, result: _Result) -> None:
        super().__init__(result)

    @property
    def changes(self) -> Changes | None:
        return self.blocking.changes

    @property
    def message(self) -> str | None:
        return self.blocking.message

    @property
    def has_rows(self) -> bool:
        return self.blocking.has_rows


__all__ = ["Batches", "Result", "Store", "Table", "connect"]
