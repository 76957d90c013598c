"""Rows on their way out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tonnage import _tonnage
from tonnage.errors import Unsupported

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Row(dict[str, Any]):
    """A stored row: a dict of its columns, with its version and its expiry.

    Attributes:
        version: for `put_if_version`.
        expires: when it expires, naive in UTC; None for never.
    """

    version: int
    expires: datetime | None


@dataclass(frozen=True)
class Changes:
    """How many rows a statement changed."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    skipped: int = 0

    @property
    def total(self) -> int:
        return self.inserted + self.updated + self.deleted


class Batches:
    """Rows as a stream of Arrow record batches: pulled, bounded in memory, taken once.

    Any library that reads Arrow's C stream takes it: `pyarrow.table(rows)`, `polars.DataFrame(rows)`,
    `duckdb.sql("SELECT ... FROM rows")`. Use it as a context manager, or call `close`, to stop early.
    """

    def __init__(self, native: _tonnage.Batches) -> None:
        self._native = native
        self._row: Iterator[Any] | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._native.column_names

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[_tonnage.RecordBatch]:
        return iter(self._native)

    def rows(self, *, tuples: bool = False) -> Iterator[Any]:
        """Each row as a dict, or as a tuple in the order of `columns`."""
        for batch in self._native:
            yield from batch.rows(tuples=tuples)

    def fetchone(self) -> Any | None:
        """The next row as a dict; None at the end."""
        if self._row is None:
            self._row = self.rows()
        return next(self._row, None)

    def fetchmany(self, count: int) -> list[Any]:
        """The next rows as dicts, at most `count`."""
        rows: list[Any] = []
        while len(rows) < count and (row := self.fetchone()) is not None:
            rows.append(row)
        return rows

    def fetchall(self) -> list[Any]:
        """All rows that are left, as dicts."""
        return list(self._row if self._row is not None else self.rows())

    def arrow(self) -> pyarrow.Table:
        """All rows as a pyarrow table."""
        import pyarrow

        return pyarrow.table(self)

    def pl(self) -> polars.DataFrame:
        """All rows as a polars data frame."""
        import polars

        refuse_unknown_to_polars(self)
        return polars.DataFrame(self)

    def df(self) -> pandas.DataFrame:
        """All rows as a pandas data frame.

        A column of whole numbers with NULLs has the type Int32 or Int64 of pandas: as floating-point
        numbers it would not hold all of them. A column of times with nanoseconds has the Arrow type
        of pandas: `datetime.time` holds microseconds.
        """
        import pandas
        import pyarrow

        table = self.arrow()
        whole = {pyarrow.int32(): pandas.Int32Dtype(), pyarrow.int64(): pandas.Int64Dtype()}
        kept = {
            place: pandas.ArrowDtype
            for place, column in enumerate(table.columns)
            if _has_nanoseconds_of_day(column)
        }
        for place, column in enumerate(table.columns):
            if column.type in whole and column.null_count > 0:
                kept[place] = whole.get
        # What pandas would refuse, or change, takes part as NULL until its column is there.
        plain = table
        for place in kept:
            nulls = pyarrow.nulls(table.num_rows)
            plain = plain.set_column(place, table.field(place).with_type(nulls.type), nulls)
        if hasattr(pandas.DataFrame, "from_arrow"):
            frame = pandas.DataFrame.from_arrow(plain)
        else:
            frame = plain.to_pandas()
        for place, mapper in kept.items():
            frame.isetitem(place, table.column(place).to_pandas(types_mapper=mapper))
        return frame

    def close(self) -> None:
        """Stop the read."""
        self._native.close()

    def __enter__(self) -> Batches:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.columns)})"


def _has_nanoseconds_of_day(column: pyarrow.ChunkedArray) -> bool:
    """Whether a column has times of day, also within other values, that pandas refuses to hold."""
    import pyarrow

    if "time64[ns]" not in str(column.type):
        return False
    try:
        column.to_pandas()
    except pyarrow.ArrowInvalid:
        return True
    return False


def refuse_unknown_to_polars(rows: Batches) -> None:
    """Refuse columns that polars cannot hold: it panics when it meets one."""
    for name, kind in zip(rows.columns, rows._native.column_types, strict=True):
        if "Decimal256" in kind:
            held = "a NUMBER of more than 38 digits"
        elif "Interval" in kind:
            held = "an INTERVAL"
        else:
            continue
        raise Unsupported(
            f"column '{name}' is {held}, which polars does not hold: "
            f"take arrow() or df(), or select CAST({name} AS STRING)"
        )


class Result(Batches):
    """The answer of a statement: rows of a query, else counts or a message.

    Attributes:
        changes: how many rows an INSERT, UPDATE or DELETE changed; None for other statements.
        message: what a definition did; None for other statements.
    """

    def __init__(
        self,
        native: _tonnage.Batches | None,
        changes: Changes | None = None,
        message: str | None = None,
    ) -> None:
        self.changes = changes
        self.message = message
        if native is not None:
            super().__init__(native)

    def __getattr__(self, name: str) -> Any:
        if name in ("_native", "_row"):
            told = self.message or f"{self.changes}"
            raise TypeError(f"the statement gives no rows: {told}")
        raise AttributeError(name)

    @property
    def has_rows(self) -> bool:
        return "_native" in self.__dict__

    def close(self) -> None:
        if self.has_rows:
            super().close()

    def __repr__(self) -> str:
        if self.has_rows:
            return super().__repr__()
        return f"Result({self.message or self.changes})"


def result_of(answer: _tonnage.Batches | tuple[int, int, int, int] | str) -> Result:
    if isinstance(answer, str):
        return Result(None, message=answer)
    if isinstance(answer, tuple):
        return Result(None, changes=Changes(*answer))
    return Result(answer)


class Statement:
    """A statement kept for many executions: parsed once, planned once."""

    def __init__(self, native: _tonnage.Prepared) -> None:
        self._native = native

    @property
    def text(self) -> str:
        return self._native.text

    def execute(self, parameters: Sequence[Any] | Mapping[str, Any] | None = None) -> Result:
        """Run the statement with these values for `$1`, `$2` or for `:name`."""
        return result_of(self._native.execute(parameters))

    def __repr__(self) -> str:
        return f"Statement({self.text!r})"
