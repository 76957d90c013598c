"""Bulk puts into one container or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tonnage

from tonnage_griddb import arrow
from tonnage_griddb.errors import Code, GSException, translated
from tonnage_griddb.shape import Shape

if TYPE_CHECKING:
    from tonnage_griddb.handle import ContainerHandle


def put_many(store: tonnage.Store, entries: Sequence[tuple[ContainerHandle, Any]]) -> None:
    """Store rows in several containers by one bulk put, replacing those with the same keys.

    Checks all rows before it stores the first one.
    """
    streams = []
    for container, rows in entries:
        shape, codec = container._shape, container._codec
        source: Any
        if arrow.is_batch(rows):
            source = arrow.source_of(rows, shape)
            keys = [] if container._auto_commit else _keys_of_table(shape, source)
        elif isinstance(rows, (list, tuple)):
            source = codec.encode(rows)
            keys = [] if container._auto_commit else _keys_of(shape, rows)
        else:
            raise GSException(
                f"container {shape.name}: give a list of rows, not {type(rows).__name__}",
                Code.ILLEGAL_PARAMETER,
            )
        with translated(f"container {shape.name}"):
            # Values go to columns by their order, which an ALTER TABLE changes.
            container._check_shape()
            if not container._auto_commit:
                container._note([codec.encode_key(key) for key in keys])
        if len(rows):
            stream = tonnage.Stream(source, shape.table, name=shape.name, ttl=container._ttl)
            streams.append((container, stream))
    if not streams:
        return
    # Without a row key, the numbers of rows tell which ones are new.
    marks = [
        (container, (container._numbers_from(None) or [0])[0])
        for container, _ in streams
        if not container._auto_commit and not container._shape.key
    ]
    with translated("multi_put"):
        report = store.bulk_put([stream for _, stream in streams], on_existing="blind")
    for container, last in marks:
        for number in reversed(container._numbers_from(last)):
            container._undo.remember((number,), None)
    if report.failed:
        told = [
            GSException(
                f"container {streams[failure.stream][0]._shape.name}, row {failure.position}: "
                f"{failure.reason}",
                Code.ILLEGAL_PARAMETER,
            )
            for failure in report.failures
        ]
        raise GSException(
            f"multi_put: {report.failed} rows were not stored, the others were: {told[0]}",
            Code.ILLEGAL_PARAMETER,
            others=told,
        )


def _keys_of(shape: Shape, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [[row[place] for place in shape.key_places] for row in rows] if shape.key else []


def _keys_of_table(shape: Shape, table: Any) -> list[list[Any]]:
    return [list(key) for key in zip(*(arrow.values_of(table[name]) for name in shape.key))]
