"""A store: tables and key/value pairs, bulk puts, SQL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal

from tonnage import _tonnage
from tonnage._progress import bar
from tonnage._sizes import seconds, size
from tonnage.errors import BulkPutError, TonnageError, TooManyErrors
from tonnage.key_value import KeyValue
from tonnage.pipeline import Pipeline
from tonnage.report import Counts, ExistingRow, FailedRow, PutReport, StreamReport, counts_of, stream_of
from tonnage.result import Batches, Result, Statement, result_of
from tonnage.table import Durability, Table, read_arguments

OnExisting = Literal["keep", "replace", "blind", "fail"]
FAILURES_KEPT = 1000


@dataclass(frozen=True)
class Stream:
    """One of several sources of a bulk put, with its table.

    Attributes:
        source: what `Store.bulk_put` takes.
        table: the path of its table; None for key/value pairs.
        name: a name for reports.
        ttl: how long its rows live, in seconds; None for the table's own time to live.
    """

    source: Any
    table: str | None
    name: str = ""
    ttl: float | timedelta | None = None


@dataclass(frozen=True)
class Put:
    """Put a row in `Store.write`, under a condition: 'absent', 'present' or a version."""

    table: str
    row: Mapping[str, Any] | Sequence[Any]
    condition: Literal["absent", "present"] | int | None = None


@dataclass(frozen=True)
class Delete:
    """Delete a row in `Store.write`, under a condition: 'present' or a version."""

    table: str
    key: Mapping[str, Any]
    condition: Literal["present"] | int | None = None


class Store:
    """An open store, of this process or behind a server. Any thread may use it.

    Close it, or use it as a context manager.
    """

    def __init__(self, native: _tonnage.Store) -> None:
        self._native = native

    @property
    def url(self) -> str:
        return self._native.url

    @property
    def is_closed(self) -> bool:
        return self._native.is_closed

    def close(self) -> None:
        """Close the store. Results that are still open keep its directory until they are closed."""
        self._native.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # Tables and pairs

    def table(self, path: str) -> Table:
        """A table by its path. Raises `NotFound`, naming tables with a name like it."""
        return Table(self, self._native.table(path))

    def tables(self) -> list[Table]:
        """All tables, by path."""
        return [self.table(path) for path in self._native.tables()]

    def create_table(
        self,
        path: str,
        columns: Any,
        *,
        primary_key: str | Sequence[str],
        shard: str | Sequence[str] = (),
        ttl: float | timedelta | None = None,
    ) -> Table:
        """Make a table with the columns of an Arrow schema, or of a table or data frame.

        Args:
            path: its name, `parent.child` for a child table.
            columns: anything with an Arrow schema. No rows are taken.
            primary_key: the key columns, in order.
            shard: how the primary key begins that decides where rows live; all of it by default.
            ttl: how long rows live, in seconds, when their put does not say.
        """
        def names(of: str | Sequence[str]) -> list[str]:
            return [of] if isinstance(of, str) else list(of)

        native = self._native.create_table(
            path, columns, names(primary_key), names(shard), seconds(ttl)
        )
        return Table(self, native)

    def kv(self) -> KeyValue:
        """The key/value pairs."""
        return KeyValue(self, self._native.kv())

    def pipeline(self) -> Pipeline:
        """Calls on single rows and pairs that do not wait for the answers of earlier ones."""
        return Pipeline(self._native.pipeline())

    # Bulk

    def bulk_put(
        self,
        source: Any,
        table: str | None = None,
        *,
        on_existing: OnExisting = "keep",
        durability: Durability = "write",
        ttl: float | timedelta | None = None,
        errors_max: int | str | None = None,
        stream_parallelism: int | None = None,
        per_shard_parallelism: int | None = None,
        memory: int | str | None = None,
        request_bytes: int | str | None = None,
        flush_bytes: int | str | None = None,
        rows_per_second: int | None = None,
        bytes_per_second: int | str | None = None,
        timeout: float | timedelta | None = None,
        on_failed: Callable[[list[FailedRow]], None] | None = None,
        on_exists: Callable[[list[ExistingRow]], None] | None = None,
        on_completed: Callable[[StreamReport], None] | None = None,
        progress: bool | Callable[[Counts], None] = False,
        cancel: _tonnage.Cancel | None = None,
    ) -> PutReport:
        """Put what sources give into the store.

        Args:
            source: an Arrow table or reader, a data frame, a lazy frame of polars, a path of a file
                (CSV, JSON, Parquet, Arrow), a dict of columns, an iterable of dicts or of sequences
                in the order of the columns; or a list of `Stream`, each with a table of its own.
            table: the path of the table; None for key/value pairs or a list of `Stream`.
            on_existing: what happens to a row whose key exists: 'keep' the stored one, 'replace'
                it, replace it without a look ('blind'), or 'fail'.
            durability: when rows count as stored: 'none', 'write', or 'fsync'.
            ttl: how long rows live, in seconds; None for the table's own time to live.
            errors_max: how many rows may fail, or a share such as '1%'; None for any number.
            stream_parallelism: how many sources are read side by side.
            per_shard_parallelism: how many threads sort and write.
            memory: what entries and write buffers may take.
            request_bytes: about how much is handed to the engine at once.
            flush_bytes: make rows durable whenever this much is pending.
            rows_per_second: at most this many.
            bytes_per_second: at most this many bytes of keys and values.
            timeout: the longest that it may take, in seconds. What was read by then is stored.
            on_failed: called with lists of rows that were not stored.
            on_exists: called with lists of rows whose keys exist.
            on_completed: called when all rows of a stream are durable.
            progress: True for a line on standard error; or called with the counts so far.
            cancel: stops the load from another thread.

        Callbacks run on the calling thread and may use the store. Whatever they raise stops the
        load, and is raised here. Ctrl-C stops the load, too; the exception has the report as its
        attribute `report`.

        Raises:
            BulkPutError: when the load stopped early, with its `report`.
        """
        streams = self._streams(source, table, ttl)
        failures: list[FailedRow] = []

        def failed(rows: list[tuple[int, int, str | None, str]]) -> None:
            told = [FailedRow(*row) for row in rows]
            if on_failed is not None:
                on_failed(told)
            else:
                failures.extend(told[: FAILURES_KEPT - len(failures)])

        def exists(rows: list[tuple[int, int, str, dict[str, Any]]]) -> None:
            assert on_exists is not None
            on_exists([ExistingRow(*row) for row in rows])

        def completed(told: dict[str, Any]) -> None:
            assert on_completed is not None
            on_completed(stream_of(told))

        count, percent = _errors_max(errors_max)
        with bar(progress) as show:
            told = self._native.bulk_put(
                streams,
                {
                    "on_existing": on_existing,
                    "durability": durability,
                    "errors_max": count,
                    "errors_percent_max": percent,
                    "stream_parallelism": stream_parallelism,
                    "per_shard_parallelism": per_shard_parallelism,
                    "memory_bytes": size(memory),
                    "request_bytes": size(request_bytes),
                    "flush_bytes": size(flush_bytes),
                    "rows_per_second": rows_per_second,
                    "bytes_per_second": size(bytes_per_second),
                    "timeout": seconds(timeout),
                    "on_failed": failed,
                    "on_exists": exists if on_exists is not None else None,
                    "on_completed": completed if on_completed is not None else None,
                    "progress": None if show is None else lambda counts: show(counts_of(counts)),
                    "cancel": cancel,
                },
            )
        return _report_of(told, failures)

    def multi_put(self, rows: Mapping[str, Any], **options: Any) -> PutReport:
        """Put rows into many tables in one call: a source for each table, by path.

        When one of the tables does not exist, nothing is written.
        """
        return self.bulk_put(
            [Stream(source, table, name=table) for table, source in rows.items()], **options
        )

    def multi_get(self, keys: Mapping[str, Any], **options: Any) -> dict[str, Batches | TonnageError]:
        """Get rows of many tables in one call: keys for each table, by path.

        Returns:
            The rows of each table, or the error that its request ended with.
        """
        answers = self._native.multi_get(list(keys.items()), read_arguments(**options))
        return {
            table: answer if isinstance(answer, TonnageError) else Batches(answer)
            for table, answer in zip(keys, answers)
        }

    def write(
        self,
        *operations: Put | Delete,
        durability: Durability = "write",
        ttl: float | timedelta | None = None,
    ) -> int | None:
        """Carry out operations on rows of one shard key, all together or not at all.

        Returns:
            The version of what was put; None when a condition did not hold and nothing was done.
        """
        told = [
            ("put", operation.table, operation.row, operation.condition)
            if isinstance(operation, Put)
            else ("delete", operation.table, operation.key, operation.condition)
            for operation in operations
        ]
        return self._native.atomic_write(told, durability, seconds(ttl))

    # SQL

    def sql(
        self,
        text: str,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        timeout: float | timedelta | None = None,
        cancel: _tonnage.Cancel | None = None,
    ) -> Result:
        """Run a statement; of several, separated by semicolons, answer the last one's.

        Args:
            text: SQL, with `$1`, `$2` or `:name` where parameters go.
            parameters: a sequence for the numbers, a mapping for the names.
            timeout: the longest that it may take, in seconds, up to its last row.
            cancel: stops the statement from another thread.
        """
        return result_of(self._native.sql(text, parameters, seconds(timeout), cancel))

    def prepare(self, text: str) -> Statement:
        """Keep a statement for many executions."""
        return Statement(self._native.prepare(text))

    def fetch_all(
        self, statements: Iterable[str | tuple[str, Sequence[Any] | Mapping[str, Any]]]
    ) -> list[Result | TonnageError]:
        """Run many statements in one call, side by side. Each has an answer or an error."""
        asked = [(each, None) if isinstance(each, str) else each for each in statements]
        answers = self._native.fetch_all(asked)
        return [
            answer if isinstance(answer, TonnageError) else result_of(answer) for answer in answers
        ]

    def query_table(self, table: str, text: str) -> Result:
        """Run a query without FROM on a table: 'select * where id = 7', 'select max(price)'."""
        return result_of(self._native.query_table(table, text))

    # Upkeep

    def sync(self) -> None:
        """Make everything acknowledged so far durable."""
        self._native.sync()

    def settle(self) -> None:
        """Wait until background work has nothing left to do."""
        self._native.settle()

    def checkpoint(self, directory: str | os.PathLike[str]) -> None:
        """Write a copy of one moment to a directory that does not exist yet. It opens as a store."""
        self._native.checkpoint(os.fspath(directory))

    def check(self) -> dict[str, Any]:
        """Read and verify everything. `is_sound` tells whether all is well, `damages` what is not."""
        return self._native.check()

    def statistics(self) -> dict[str, int]:
        """Rows (an estimate), bytes on disk, bytes that compaction has before it, shards."""
        return self._native.statistics()

    def __repr__(self) -> str:
        return f"Store({self.url!r})"

    def _streams(
        self, source: Any, table: str | None, ttl: float | timedelta | None
    ) -> list[tuple[str, str | None, float | None, Any]]:
        streams = source if _is_streams(source) else [Stream(source, table)]
        if table is not None and streams is source:
            raise ValueError("each Stream names its table: leave 'table' out")
        told = []
        for stream in streams:
            name = stream.name or _name_of(stream.source) or stream.table or "pairs"
            own = ttl if stream.ttl is None else stream.ttl
            told.append((name, stream.table, seconds(own), _drawn(stream.source)))
        return told


def _is_streams(source: Any) -> bool:
    return isinstance(source, (list, tuple)) and any(isinstance(item, Stream) for item in source)


def _drawn(source: Any) -> Any:
    """A lazy frame of polars as the stream of its batches."""
    if hasattr(source, "collect_batches") and not hasattr(source, "__arrow_c_stream__"):
        return source.collect_batches()
    return source


def _name_of(source: Any) -> str:
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""


def _errors_max(limit: int | str | None) -> tuple[int | None, float | None]:
    if limit is None or isinstance(limit, int):
        return limit, None
    if not limit.endswith("%"):
        raise ValueError(f"errors_max is {limit!r}: give a number, or a share such as '1%'")
    return None, float(limit[:-1])


def _report_of(told: dict[str, Any], failures: list[FailedRow]) -> PutReport:
    report = PutReport(
        counts_of(told["total"]),
        [stream_of(stream) for stream in told["streams"]],
        told["seconds"],
        failures,
    )
    raised, error = told["exception"], told["error"]
    if isinstance(raised, KeyboardInterrupt):
        raised.report = report  # type: ignore[attr-defined]
        raise raised
    if error is not None:
        exception = TooManyErrors if told["too_many_errors"] else BulkPutError
        stopped = exception(str(error), report, error.kind, error.retryable)
        raise stopped from raised
    if raised is not None:
        raise raised
    return report


__all__ = ["Delete", "Put", "Store", "Stream"]
