"""Tonnage: a bulk-first store of tables, JSON and key/value pairs, in your program or behind a server.

>>> import tonnage
>>> with tonnage.connect("memory:") as store:
...     _ = store.sql("CREATE TABLE ships (mmsi LONG, name STRING, PRIMARY KEY (mmsi))")
...     ships = store.table("ships")
...     report = ships.bulk_put([{"mmsi": 1, "name": "ARGO"}, {"mmsi": 2, "name": "PEQUOD"}])
...     rows = ships.bulk_get([2]).fetchall()
>>> report.inserted
2
>>> rows
[{'mmsi': 2, 'name': 'PEQUOD'}]
"""

from tonnage import _cpu as _cpu

_cpu.check()

from tonnage._connect import connect
from tonnage._lifetime import install as _install
from tonnage._tonnage import Cancel, RecordBatch, __version__
from tonnage.errors import (
    BulkPutError,
    Cancelled,
    Conflict,
    Corruption,
    Exhausted,
    Internal,
    InvalidRequest,
    NotFound,
    TimedOut,
    TonnageError,
    TooManyErrors,
    Unavailable,
    Unsupported,
)
from tonnage.key_value import KeyValue, Pair
from tonnage.pipeline import Pipeline
from tonnage.range import KeyRange, Range
from tonnage.report import Counts, ExistingRow, FailedRow, PutReport, StreamReport
from tonnage.result import Batches, Changes, Result, Row, Statement
from tonnage.store import Delete, Put, Store, Stream
from tonnage.table import Column, Table, Written

_install()


def load_ipython_extension(shell: object) -> None:
    """Called by `%load_ext tonnage`; see `tonnage.notebook`."""
    from tonnage.notebook import load_ipython_extension as load

    load(shell)


__all__ = [
    "Batches",
    "BulkPutError",
    "Cancel",
    "Cancelled",
    "Changes",
    "Column",
    "Conflict",
    "Corruption",
    "Counts",
    "Delete",
    "Exhausted",
    "ExistingRow",
    "FailedRow",
    "Internal",
    "InvalidRequest",
    "KeyRange",
    "KeyValue",
    "NotFound",
    "Pair",
    "Pipeline",
    "Put",
    "PutReport",
    "Range",
    "RecordBatch",
    "Result",
    "Row",
    "Statement",
    "Store",
    "Stream",
    "StreamReport",
    "Table",
    "TimedOut",
    "TonnageError",
    "TooManyErrors",
    "Unavailable",
    "Unsupported",
    "Written",
    "__version__",
    "connect",
]
