"""Rows as Arrow record batches. pyarrow is needed here only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tonnage_griddb.enums import TimeUnit, Type
from tonnage_griddb.errors import Code, GSException
from tonnage_griddb.info import Column
from tonnage_griddb.shape import ROW_NUMBER, SERIES, Shape, element_of
from tonnage_griddb.timestamps import Timestamp

if TYPE_CHECKING:
    import pyarrow


class RootAllocator:
    """Accepted where GridDB needs it. Here Arrow's own pool gives the memory."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit

    def close(self) -> None:
        """Do nothing."""


def is_batch(rows: Any) -> bool:
    """Whether rows come as an Arrow record batch or table."""
    return hasattr(rows, "__arrow_c_array__") or hasattr(rows, "__arrow_c_stream__")


def source_of(rows: Any, shape: Shape) -> pyarrow.Table:
    """A record batch as what Tonnage takes. Columns go by name, or else by their order."""
    import pyarrow

    table = pyarrow.table(rows)
    if sorted(table.column_names) != sorted(shape.names):
        if table.num_columns != len(shape.columns):
            raise GSException(
                f"container {shape.name}: the record batch has {table.num_columns} columns, the "
                f"container {len(shape.columns)}: {', '.join(shape.names)}",
                Code.ILLEGAL_PARAMETER,
            )
        table = table.rename_columns(shape.names)
    table = table.select(shape.names)
    for column in shape.columns:
        if not column.nullable and table[column.name].null_count:
            raise GSException(
                f"container {shape.name}: column {column.name} is NULL, and must not be",
                Code.EMPTY_PARAMETER,
            )
    try:
        table = table.cast(_schema([_wide(column) for column in shape.columns]))
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        raise GSException(
            f"container {shape.name}: the record batch does not fit: {error}",
            Code.ILLEGAL_PARAMETER,
        ) from error
    if shape.hidden == SERIES:
        series = pyarrow.array([False] * len(table), pyarrow.bool_())
        table = table.add_column(0, SERIES, series)
    if shape.hidden == ROW_NUMBER:
        table = table.add_column(0, ROW_NUMBER, pyarrow.nulls(len(table), pyarrow.int64()))
    return table


def values_of(column: pyarrow.ChunkedArray) -> list[Any]:
    """The values of a column that has no NULL. Python's datetime has no nanoseconds."""
    import pyarrow

    if column.type != pyarrow.timestamp("ns"):
        return column.to_pylist()
    return [Timestamp.of_nanos(nanos) for nanos in column.cast(pyarrow.int64()).to_pylist()]


def batch_of(rows: Sequence[Sequence[Any]], columns: Sequence[Column]) -> pyarrow.RecordBatch:
    """Rows as a record batch, in the types that GridDB's columns have in Arrow."""
    import pyarrow

    schema = _schema(columns)
    values = zip(*rows) if rows else ([] for _ in columns)
    arrays = []
    for field, items in zip(schema, values):
        moments = [each.nanos if isinstance(each, Timestamp) else each for each in items]
        arrays.append(pyarrow.array(moments, field.type))
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


def _wide(column: Column) -> Column:
    """The column with doubles in place of FLOATs.

    Arrow makes infinity of a double that is not a FLOAT. Tonnage refuses the row.
    """
    doubles = {Type.FLOAT: Type.DOUBLE, Type.FLOAT_ARRAY: Type.DOUBLE_ARRAY}
    return replace(column, type=doubles.get(column.type, column.type))


def _schema(columns: Sequence[Column]) -> pyarrow.Schema:
    import pyarrow

    return pyarrow.schema([pyarrow.field(column.name, _type(column)) for column in columns])


def _type(column: Column) -> pyarrow.DataType:
    import pyarrow

    element = element_of(column)
    if element is not None:
        return pyarrow.list_(_type(element))
    if column.type == Type.TIMESTAMP:
        moments: dict[TimeUnit, pyarrow.DataType] = {
            TimeUnit.MILLISECOND: pyarrow.timestamp("ms"),
            TimeUnit.MICROSECOND: pyarrow.timestamp("us"),
            TimeUnit.NANOSECOND: pyarrow.timestamp("ns"),
        }
        return moments[column.time_unit]
    types: dict[Type, pyarrow.DataType] = {
        Type.STRING: pyarrow.string(),
        Type.GEOMETRY: pyarrow.string(),
        Type.BOOL: pyarrow.bool_(),
        Type.BYTE: pyarrow.int8(),
        Type.SHORT: pyarrow.int16(),
        Type.INTEGER: pyarrow.int32(),
        Type.LONG: pyarrow.int64(),
        Type.FLOAT: pyarrow.float32(),
        Type.DOUBLE: pyarrow.float64(),
        Type.BLOB: pyarrow.binary(),
    }
    return types[column.type]
