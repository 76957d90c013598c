"""The way in must not matter: what Python's ways store of each value.

`values.tsv` of the server's tests says what each type of a column stores of each value, or that it
rejects it. `known_differences.tsv` lists the ways that differ still; the list may only shrink.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest

import tonnage
import tonnage.adbc
from conftest import served

pyarrow = pytest.importorskip("pyarrow")

TABLES = Path(__file__).parents[2] / "server" / "tests"


class Cell(NamedTuple):
    """A value for a column, and what becomes of it."""

    column_type: str
    kind: str
    value: str
    outcome: str


class CannotSay(Exception):
    """A way has no such value."""


def lines(name: str) -> Iterator[str]:
    text = (TABLES / name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if not line.startswith("#"))


CELLS = [Cell(*line.split("\t")) for line in lines("values.tsv")]


def digits(cell: Cell) -> int:
    return len(cell.value.partition(".")[2])


def python_value(cell: Cell) -> Any:
    """The value as an object of Python's library."""
    if cell.kind in ("timestamp", "time") and digits(cell) > 6:
        raise CannotSay
    makers: dict[str, Callable[[str], Any]] = {
        "whole": int,
        "number": Decimal,
        "double": float,
        "boolean": lambda text: text == "true",
        "timestamp": datetime.fromisoformat,
        "date": date.fromisoformat,
        "time": time.fromisoformat,
        "binary": bytes.fromhex,
        "uuid": UUID,
        "text": str,
        "json": str,
        "null": lambda _: None,
    }
    return makers[cell.kind](cell.value)


def arrow_array(cell: Cell) -> Any:
    """The value in the Arrow type of its kind."""
    units = {0: "s", 3: "ms", 6: "us", 9: "ns"}
    unit = units[-(-digits(cell) // 3) * 3] if cell.kind == "timestamp" else ""
    types = {
        "whole": pyarrow.int64(),
        "number": pyarrow.decimal128(38, digits(cell)) if cell.kind == "number" else None,
        "double": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "timestamp": pyarrow.timestamp(unit) if unit else None,
        "date": pyarrow.date32(),
        "time": pyarrow.time64("ns"),
        "binary": pyarrow.binary(),
        "uuid": pyarrow.uuid(),
        "text": pyarrow.string(),
        "json": pyarrow.string(),
        "null": pyarrow.null(),
    }
    if cell.kind == "timestamp" and unit == "ns":
        return pyarrow.array([cell.value]).cast(types[cell.kind])
    value = python_value(cell)
    if cell.kind == "uuid":
        value = value.bytes
    return pyarrow.array([value], types[cell.kind])


def arrow_table(cell: Cell) -> Any:
    return pyarrow.table({"k": pyarrow.array([1], pyarrow.int64()), "v": arrow_array(cell)})


def put_in_bulk(table: tonnage.Table, rows: Any) -> None:
    report = table.bulk_put(rows)
    for failure in report.failures:
        assert failure.column == "v", failure
        raise ValueError(failure.reason)


def rows(table: tonnage.Table, cell: Cell, _: Path) -> None:
    put_in_bulk(table, [{"k": 1, "v": python_value(cell)}])


def put(table: tonnage.Table, cell: Cell, _: Path) -> None:
    table.put({"k": 1, "v": python_value(cell)})


def parameter(table: tonnage.Table, cell: Cell, _: Path) -> None:
    table._store.sql(f"INSERT INTO {table.path} VALUES (1, $1)", [python_value(cell)])


def arrow(table: tonnage.Table, cell: Cell, _: Path) -> None:
    put_in_bulk(table, arrow_table(cell))


def polars(table: tonnage.Table, cell: Cell, _: Path) -> None:
    import polars

    # polars has neither UUIDs nor seconds.
    if cell.kind == "uuid":
        raise CannotSay
    put_in_bulk(table, polars.DataFrame(arrow_table(cell)))


def pandas(table: tonnage.Table, cell: Cell, _: Path) -> None:
    if cell.kind == "time" and digits(cell) > 6:
        raise CannotSay
    put_in_bulk(table, arrow_table(cell).to_pandas())


def parquet(table: tonnage.Table, cell: Cell, directory: Path) -> None:
    import pyarrow.parquet

    path = directory / "rows.parquet"
    pyarrow.parquet.write_table(arrow_table(cell), path)
    put_in_bulk(table, path)


def ingest(table: tonnage.Table, cell: Cell, _: Path) -> None:
    with tonnage.adbc.connect(table._store) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(table.path, arrow_table(cell), mode="append")


LIBRARIES = {polars: "polars", pandas: "pandas", ingest: "adbc_driver_manager"}
SERVED = [rows, put, parameter, arrow]
# Each library where it is installed.
OTHERS = [way for way in (polars, pandas, ingest) if find_spec(LIBRARIES[way])]
LOCAL = [*SERVED, parquet, *OTHERS]


def outcome(table: tonnage.Table, cell: Cell) -> str:
    """What is stored, as the table of outcomes writes it."""
    shown = "v" if cell.column_type.startswith("BINARY") else "CAST(v AS STRING) AS v"
    found = table._store.sql(f"SELECT {shown} FROM {table.path}").fetchall()
    if not found:
        return "rejected"
    value = found[0]["v"]
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return value.hex()
    if cell.column_type.startswith("TIMESTAMP"):
        return str(value).replace("T", " ")
    if cell.column_type.startswith("NUMBER"):
        return format(Decimal(value).normalize(), "f")
    if cell.column_type in ("FLOAT", "DOUBLE"):
        return str(value).removesuffix(".0")
    if cell.column_type.startswith("ARRAY"):
        return str(value).replace(", ", ",")
    return str(value)


def differences(
    store: tonnage.Store, prefix: str, ways: list[Callable[..., None]], directory: Path
) -> set[str]:
    found = set()
    for number, cell in enumerate(CELLS):
        for way in ways:
            path = f"{way.__name__}_{number}"
            store.sql(f"CREATE TABLE {path} (k LONG, v {cell.column_type}, PRIMARY KEY (k))")
            table, raised = store.table(path), None
            try:
                way(table, cell, directory)
            except CannotSay:
                continue
            except Exception as error:
                raised = error
            stored = outcome(table, cell)
            told = f"{prefix} {way.__name__}\t{cell.column_type}\t{cell.kind}\t{cell.value}"
            # A value that goes without a word is worse than one that differs.
            assert (stored == "rejected") == (raised is not None), f"{told}: {stored}, {raised}"
            if stored != cell.outcome:
                found.add(f"{told}\t{stored}")
    return found


def known(prefix: str, ways: list[Callable[..., None]]) -> set[str]:
    names = {f"{prefix} {way.__name__}" for way in ways}
    return {line for line in lines("known_differences.tsv") if line.split("\t")[0] in names}


def test_values_of_this_process(tmp_path: Path) -> None:
    with tonnage.connect("memory:") as store:
        assert differences(store, "python", LOCAL, tmp_path) == known("python", LOCAL)


def test_values_for_a_server(tmp_path: Path) -> None:
    with served("memory:") as address, tonnage.connect(address) as store:
        found = differences(store, "python-served", SERVED, tmp_path)
        assert found == known("python-served", SERVED)
