"""Arrow in and out: pyarrow, polars, pandas and DuckDB, each where it is installed."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

import tonnage

pyarrow = pytest.importorskip("pyarrow")
AT = datetime(2022, 1, 3)


@pytest.fixture
def fleet() -> "pyarrow.Table":
    return pyarrow.table(
        {
            "mmsi": pyarrow.array([n % 10 for n in range(1_000)], pyarrow.int64()),
            "at": pyarrow.array([AT + timedelta(seconds=n) for n in range(1_000)], pyarrow.timestamp("us")),
            "lat": pyarrow.array([None if n % 7 == 0 else n / 2 for n in range(1_000)]),
            "name": pyarrow.array([f"ship {n % 10}" for n in range(1_000)]),
        }
    )


@pytest.fixture
def table(store: tonnage.Store, fleet: "pyarrow.Table") -> tonnage.Table:
    made = store.create_table("fleet", fleet, primary_key=["mmsi", "at"], shard="mmsi")
    assert made.bulk_put(fleet).inserted == 1_000
    return made


def ordered(found: "pyarrow.Table") -> "pyarrow.Table":
    return found.sort_by([("at", "ascending")]).combine_chunks()


def test_a_table_is_made_from_a_schema(store: tonnage.Store, fleet: "pyarrow.Table") -> None:
    made = store.create_table("fleet", fleet.schema, primary_key=["mmsi", "at"], shard="mmsi")
    assert [(column.name, column.type) for column in made.columns] == [
        ("mmsi", "LONG"),
        ("at", "TIMESTAMP(6)"),
        ("lat", "DOUBLE"),
        ("name", "STRING"),
    ]
    assert (made.primary_key, made.shard_key) == (["mmsi", "at"], ["mmsi"])
    assert [column.nullable for column in made.columns] == [False, False, True, True]
    with pytest.raises(tonnage.Conflict):
        store.create_table("fleet", fleet.schema, primary_key="mmsi")
    with pytest.raises(ValueError, match="beginning of the primary key"):
        store.create_table("other", fleet.schema, primary_key=["mmsi", "at"], shard="at")


def test_what_went_in_as_arrow_comes_out_the_same(table: tonnage.Table, fleet: "pyarrow.Table") -> None:
    found = ordered(table.scan().arrow())
    assert found.to_pylist() == fleet.to_pylist()


def test_a_reader_is_drawn_batch_by_batch(table: tonnage.Table, fleet: "pyarrow.Table") -> None:
    reader = pyarrow.RecordBatchReader.from_batches(fleet.schema, iter(fleet.to_batches(100)))
    assert table.bulk_put(reader).existed == 1_000
    assert table.bulk_put(fleet.to_batches(100)[0]).existed == 100


def test_keys_may_be_arrow(table: tonnage.Table) -> None:
    keys = pyarrow.table({"mmsi": pyarrow.array([1, 3], pyarrow.int64())})
    latest = table.bulk_get(keys, direction="reverse", limit_per_key=1).arrow()
    assert latest.column("lat").to_pylist() == [495.5, 496.5]


def test_batches_are_arrow_arrays(table: tonnage.Table) -> None:
    batches = [pyarrow.record_batch(batch) for batch in table.scan()]
    assert sum(batch.num_rows for batch in batches) == 1_000
    assert table.scan().arrow().schema == pyarrow.schema(table.scan())


def test_a_stream_is_handed_over_once(table: tonnage.Table) -> None:
    rows = table.scan()
    rows.arrow()
    with pytest.raises(RuntimeError, match="taken already"):
        rows.arrow()


def test_a_stream_that_fails_raises_in_the_reader(store: tonnage.Store, table: tonnage.Table) -> None:
    with pytest.raises(Exception, match="no ship"):
        table.bulk_get(["no ship"]).arrow()


def test_an_array_without_columns_is_refused(table: tonnage.Table) -> None:
    with pytest.raises(ValueError):
        table.bulk_put(pyarrow.array([1, 2, 3]))


def test_every_type_goes_through_arrow(store: tonnage.Store) -> None:
    store.sql(
        "CREATE TABLE t (k LONG, i INTEGER, f FLOAT, d DOUBLE, n NUMBER(20,4), s STRING, b BOOLEAN, "
        "y BINARY, t0 TIMESTAMP(0), t9 TIMESTAMP(9), u UUID, j JSON, day DATE, clock TIME, "
        "PRIMARY KEY (k))"
    )
    table = store.table("t")
    table.put(
        {
            "k": 1, "i": -1, "f": 1.5, "d": -0.0, "n": Decimal("-0.0001"), "s": "", "b": False,
            "y": b"", "t0": "1900-01-01T00:00:00", "t9": "2022-01-03T00:00:00.123456789",
            "u": "12345678-1234-5678-1234-567812345678", "j": {"a": 1}, "day": "1969-12-31",
            "clock": "23:59:59.999999999",
        }
    )
    table.put({"k": 2})
    before = table.scan().arrow().sort_by("k")
    copied = store.create_table("copy", before, primary_key="k")
    assert [column.type for column in copied.columns] == [column.type for column in table.columns]
    copied.bulk_put(before)
    after = copied.scan().arrow()
    assert after.sort_by("k").equals(before)


def test_polars_in_and_out(store: tonnage.Store, table: tonnage.Table) -> None:
    polars = pytest.importorskip("polars")
    frame = table.scan().pl()
    assert frame.shape == (1_000, 4)
    other = store.create_table("other", frame, primary_key=["mmsi", "at"], shard="mmsi")
    assert other.bulk_put(frame).inserted == 1_000
    assert other.scan().pl().sort("at").equals(frame.sort("at"))
    assert other.bulk_get(polars.DataFrame({"mmsi": [1]})).pl().height == 100


def test_pandas_in_and_out(store: tonnage.Store, table: tonnage.Table) -> None:
    pytest.importorskip("pandas")
    frame = table.scan().df()
    assert frame.shape == (1_000, 4)
    other = store.create_table("other", frame, primary_key=["mmsi", "at"], shard="mmsi")
    assert other.bulk_put(frame).inserted == 1_000
    assert ordered(other.scan().arrow()).to_pylist() == ordered(table.scan().arrow()).to_pylist()


def test_duckdb_in_and_out(store: tonnage.Store, table: tonnage.Table) -> None:
    duckdb = pytest.importorskip("duckdb")
    found = table.scan().arrow()
    counted = duckdb.sql("SELECT count(*), sum(lat) FROM found").fetchall()
    assert counted == [(1_000, sum(row["lat"] or 0 for row in table.scan().rows()))]
    relation = duckdb.sql("SELECT mmsi + 100 AS mmsi, \"at\", lat, name FROM found")
    assert table.bulk_put(relation).inserted == 1_000


def numbers(store: tonnage.Store) -> tonnage.Table:
    store.sql(
        "CREATE TABLE numbers (k LONG, n NUMBER(8,3), at TIMESTAMP(0), i INTEGER, PRIMARY KEY (k))"
    )
    return store.table("numbers")


def test_a_table_stores_its_values_exactly_or_not_at_all(store: tonnage.Store) -> None:
    table = numbers(store)
    rows = pyarrow.table(
        {
            "k": pyarrow.array(range(6), pyarrow.int64()),
            "n": pyarrow.array([Decimal(n) for n in ("1.2500", "0.1255", "7", "8", "9", "10")]),
            "at": pyarrow.array([AT, AT, AT + timedelta(milliseconds=5), AT, AT, AT]),
            "i": pyarrow.array([1.0, 1.0, 1.0, 1.5, 2.0**31, None]),
        }
    )
    report = table.bulk_put(rows)
    assert (report.inserted, report.failed) == (2, 4)
    faults = [(failure.position, failure.column) for failure in report.failures]
    assert sorted(faults) == [(1, "n"), (2, "at"), (3, "i"), (4, "i")]
    stored = sorted(table.scan().rows(), key=lambda row: row["k"])
    assert [(row["k"], row["n"], row["i"]) for row in stored] == [
        (0, Decimal("1.250"), 1),
        (5, Decimal("10.000"), None),
    ]


@pytest.mark.parametrize("through", ["arrow", "pandas", "polars"])
def test_a_table_and_its_file_store_the_same(
    store: tonnage.Store, tmp_path: Path, through: str
) -> None:
    import pyarrow.parquet

    rows = pyarrow.table(
        {
            "k": pyarrow.array(range(4), pyarrow.int64()),
            "n": pyarrow.array([0.125, 0.1255, 99_999.999, 100_000.0]),
            "at": pyarrow.array([AT, AT + timedelta(microseconds=1), AT, AT], pyarrow.timestamp("us")),
            "i": pyarrow.array(["7", "x", "8", None]),
        }
    )
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(rows, path)
    if through == "pandas":
        pytest.importorskip("pandas")
        given = rows.to_pandas()
    elif through == "polars":
        given = pytest.importorskip("polars").DataFrame(rows)
    else:
        given = rows
    table = numbers(store)
    told = [table.bulk_put(source) for source in (given, path)]
    assert [(report.failed, report.inserted + report.existed) for report in told] == [(2, 2)] * 2
    faults = [{(f.position, f.column, f.reason) for f in report.failures} for report in told]
    assert faults[0] == faults[1]


def test_dictionaries_lists_and_runs_of_arrow_go_in(store: tonnage.Store) -> None:
    store.sql(
        "CREATE TABLE t (k LONG, n NUMBER(8,3), s STRING, l ARRAY(LONG), r LONG, b BOOLEAN, "
        "PRIMARY KEY (k))"
    )
    rows = pyarrow.table(
        {
            "k": pyarrow.array([1, 2, 3], pyarrow.int64()),
            "n": pyarrow.array(["0.125", "0.1255", None]).dictionary_encode(),
            "s": pyarrow.array(["a", "b", "a"]).dictionary_encode(),
            "l": pyarrow.array([[1, 2], [3], None], pyarrow.list_view(pyarrow.int64())),
            "r": pyarrow.RunEndEncodedArray.from_arrays([2, 3], [7, None]),
            "b": pyarrow.ExtensionArray.from_storage(
                pyarrow.bool8(), pyarrow.array([1, 0, None], pyarrow.int8())
            ),
        }
    )
    report = store.table("t").bulk_put(rows)
    assert [(failure.position, failure.column) for failure in report.failures] == [(1, "n")]
    stored = sorted(store.table("t").scan().rows(), key=lambda row: row["k"])
    assert stored == [
        {"k": 1, "n": Decimal("0.125"), "s": "a", "l": [1, 2], "r": 7, "b": True},
        {"k": 3, "n": None, "s": "a", "l": None, "r": None, "b": None},
    ]


def test_columns_of_polars_without_values_are_null(store: tonnage.Store) -> None:
    polars = pytest.importorskip("polars")
    store.sql("CREATE TABLE t (k LONG, v DOUBLE, l ARRAY(LONG), PRIMARY KEY (k))")
    nothing = polars.DataFrame({"k": [1, 2], "v": [None, None]})
    assert nothing.schema["v"] == polars.Null
    table = store.table("t")
    assert table.bulk_put(nothing).inserted == 2
    nested = polars.DataFrame({"k": [3, 4], "l": [[None, None], None]})
    assert table.bulk_put(nested).inserted == 2
    assert table.bulk_put(nothing[:0]).read == 0
    stored = sorted(table.scan().rows(), key=lambda row: row["k"])
    assert [row["l"] for row in stored] == [None, None, [None, None], None]
    assert {row["v"] for row in stored} == {None}


def test_times_with_nanoseconds_go_to_pandas(store: tonnage.Store) -> None:
    pandas = pytest.importorskip("pandas")
    store.sql("CREATE TABLE t (k LONG, fine TIME, plain TIME, v LONG, PRIMARY KEY (k))")
    table = store.table("t")
    table.put({"k": 1, "fine": "06:00:00.000000001", "plain": "06:00", "v": 1})
    table.put({"k": 2})
    frame = table.scan().df().sort_values("k")
    assert list(frame.columns) == ["k", "fine", "plain", "v"]
    assert str(frame["fine"].dtype) == "time64[ns][pyarrow]" and str(frame["v"].dtype) == "Int64"
    assert frame["plain"].iloc[0] == time(6) and frame["fine"].isna().tolist() == [False, True]
    lists = store.sql("SELECT [fine] AS l FROM t WHERE k = 1").df()
    assert isinstance(lists, pandas.DataFrame) and len(lists) == 1


def test_intervals_are_refused_where_a_library_has_none(store: tonnage.Store) -> None:
    text = "SELECT INTERVAL '1 month 2 days' AS i"
    with pytest.raises(TypeError, match="'i' is an INTERVAL.*CAST"):
        store.sql(text).fetchall()
    pytest.importorskip("pandas")
    assert len(store.sql(text).df()) == 1
    pytest.importorskip("polars")
    with pytest.raises(tonnage.Unsupported, match="'i' is an INTERVAL.*CAST"):
        store.sql(text).pl()
