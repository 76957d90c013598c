"""The indexes of a container."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tonnage_griddb.enums import ContainerType, IndexType, Type
from tonnage_griddb.errors import Code, GSException
from tonnage_griddb.info import IndexInfo
from tonnage_griddb.shape import quoted

if TYPE_CHECKING:
    from tonnage_griddb.handle import ContainerHandle


def info_of(column: str | IndexInfo | None, kind: IndexType | int, name: str | None) -> IndexInfo:
    """The index that the arguments of `create_index` and `drop_index` describe."""
    if isinstance(column, IndexInfo):
        return column
    return IndexInfo([] if column is None else [column], name, kind)


def create(container: ContainerHandle, index: IndexInfo) -> None:
    """Make an index. One that exists already stays as it is."""
    shape = container._shape
    columns = [shape.column(each) for each in index.column_name_list]
    if index.type == IndexType.SPATIAL or any(each.type == Type.GEOMETRY for each in columns):
        raise GSException(
            f"container {shape.name}: Tonnage has no index on shapes",
            Code.UNSUPPORTED_OPERATION,
        )
    names = [each.name for each in columns]
    if shape.type == ContainerType.TIME_SERIES and names == list(shape.key):
        raise GSException(
            f"time series {shape.name}: the row key needs no index, its rows are sorted",
            Code.INDEX_INVALID,
        )
    chosen = index.name or "_".join(["griddb", *names])
    current = container._catalog.need(shape.name)
    known = current.indexes
    if names in known.values() and index.name is None:
        return
    if chosen in known and known[chosen] != names:
        raise GSException(
            f"container {shape.name} has an index {chosen} on "
            f"{', '.join(known[chosen])}: choose another name",
            Code.INDEX_INVALID,
        )
    with container._translated():
        container._store.sql(
            f"CREATE INDEX IF NOT EXISTS {quoted(chosen)} ON {quoted(shape.table)} "
            f"({', '.join(quoted(each) for each in names)})"
        )
    container._catalog.set_indexes(current, {**known, chosen: names})


def drop(container: ContainerHandle, index: IndexInfo) -> None:
    """Drop the indexes on these columns, or the one of this name."""
    shape = container._shape
    names = [shape.column(each).name for each in index.column_name_list]
    if not names and index.name is None:
        raise GSException("drop_index needs a column or a name", Code.EMPTY_PARAMETER)
    current = container._catalog.need(shape.name)
    known = current.indexes
    gone = [
        each
        for each, columns in known.items()
        if (not names or columns == names) and (index.name is None or index.name == each)
    ]
    with container._translated():
        for each in gone:
            container._store.sql(f"DROP INDEX IF EXISTS {quoted(each)} ON {quoted(shape.table)}")
    left = {each: columns for each, columns in known.items() if each not in gone}
    container._catalog.set_indexes(current, left)
