"""Every column type there and back through each library, with its extremes and NULL."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

import tonnage

pyarrow = pytest.importorskip("pyarrow")

MICROSECOND = datetime(1, 1, 1, 0, 0, 0, 1)

# For each column its type, and values that reach its ends. NULL is put beside them.
COLUMNS: dict[str, tuple[str, list[Any]]] = {
    "i": ("INTEGER", [-(2**31), -1, 0, 2**31 - 1]),
    "l": ("LONG", [-(2**63), -1, 0, 2**63 - 1]),
    "f": ("FLOAT", [-3.4028234663852886e38, 1.401298464324817e-45, -0.0, math.inf, -math.inf]),
    "d": ("DOUBLE", [-1.7976931348623157e308, 5e-324, -0.0, math.inf, -math.inf]),
    "n": ("NUMBER(38,10)", [Decimal("-9999999999999999999999999999.9999999999"), Decimal("1E-10")]),
    "wide": (
        "NUMBER(76,20)",
        [Decimal(f"{sign}{'9' * 56}.{'9' * 20}") for sign in ("", "-")]
        + [Decimal("-1E-20"), Decimal("0E-20")],
    ),
    "whole": ("NUMBER(20,0)", [Decimal("-99999999999999999999"), Decimal(0)]),
    "s": ("STRING", ["", "schöne Grüße 🚢", "\x00", "\U0010ffff", "x" * 70_000]),
    "b": ("BOOLEAN", [True, False]),
    "y": ("BINARY", [b"", b"\x00\xff", bytes(range(256)) * 300]),
    "t0": ("TIMESTAMP(0)", [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)]),
    "t3": ("TIMESTAMP(3)", [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_000)]),
    "t6": ("TIMESTAMP(6)", [MICROSECOND, datetime(9999, 12, 31, 23, 59, 59, 999_999)]),
    "t9": ("TIMESTAMP(9)", [datetime(1677, 9, 21, 0, 12, 44), datetime(2262, 4, 11, 23, 47)]),
    "day": ("DATE", [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)]),
    "clock": ("TIME", [time(), time(23, 59, 59, 999_999)]),
    "u": ("UUID", [UUID(int=0), UUID(int=2**128 - 1)]),
    "j": ("JSON", [{"a": [1, None, {"b": "ü", "c": 1.5}]}, [], {}, True, 7]),
    "e": ("ENUM(red, green)", ["red", "green"]),
    "z": ("BINARY(4)", [b"\x00\x00\x00\x00", b"\xff\xfe\xfd\xfc"]),
    "list": ("ARRAY(LONG)", [[], [-(2**63), None, 2**63 - 1]]),
    "map": ("MAP(STRING)", [{}, {"a": "x", "": None}]),
    "rec": ("RECORD(x DOUBLE, name STRING)", [{"x": -0.0, "name": None}, {"x": None, "name": ""}]),
}
# What pandas cannot hold: whole numbers in lists beside NULL become floats, and maps become lists
# of pairs.
# Rows that do not fit any more are told of; none of them is stored as something else.
LESS = [
    (library, column) for library in ("pandas", "pandas_nullable") for column in ("list", "map")
]


# Decimals of more than 38 digits, which these libraries do not hold.
REFUSED = {("polars", "wide"): "which polars does not hold", ("duckdb", "wide"): "256"}


def table_of(store: tonnage.Store, name: str, column: str) -> tonnage.Table:
    store.sql(f"CREATE TABLE {name} (k LONG, {column} {COLUMNS[column][0]}, PRIMARY KEY (k))")
    return store.table(name)


def shown(rows: list[dict[str, Any]]) -> list[str]:
    """Rows so that -0.0 and 0.0 differ, and NaN is itself."""
    return [repr(sorted(row.items())) for row in sorted(rows, key=lambda row: row["k"])]


def plain(rows: tonnage.Batches) -> Any:
    return rows.fetchall()


def columns(rows: tonnage.Batches) -> Any:
    found = rows.fetchall()
    return {name: [row[name] for row in found] for name in rows.columns}


def arrow(rows: tonnage.Batches) -> Any:
    return rows.arrow()


def polars(rows: tonnage.Batches) -> Any:
    pytest.importorskip("polars")
    return rows.pl()


def pandas(rows: tonnage.Batches) -> Any:
    pytest.importorskip("pandas")
    return rows.df()


def pandas_arrow(rows: tonnage.Batches) -> Any:
    pandas = pytest.importorskip("pandas")
    return rows.arrow().to_pandas(types_mapper=pandas.ArrowDtype)


def pandas_nullable(rows: tonnage.Batches) -> Any:
    """The types of pandas 2 that hold NULL: Int64, boolean, string."""
    pandas = pytest.importorskip("pandas")
    types = {
        pyarrow.int32(): pandas.Int32Dtype(),
        pyarrow.int64(): pandas.Int64Dtype(),
        pyarrow.float32(): pandas.Float32Dtype(),
        pyarrow.float64(): pandas.Float64Dtype(),
        pyarrow.bool_(): pandas.BooleanDtype(),
        pyarrow.string(): pandas.StringDtype(),
    }
    return rows.arrow().to_pandas(types_mapper=types.get)


def duckdb(rows: tonnage.Batches) -> Any:
    duckdb = pytest.importorskip("duckdb")
    found = rows.arrow()
    return duckdb.from_arrow(found)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize(
    "through", [plain, columns, arrow, polars, pandas, pandas_arrow, pandas_nullable, duckdb]
)
def test_values_come_back_as_they_were(
    through: Callable[[tonnage.Batches], Any], column: str
) -> None:
    with tonnage.connect("memory:") as store:
        values = [*COLUMNS[column][1], None]
        source = table_of(store, "source", column)
        rows = [{"k": k, column: value} for k, value in enumerate(values)]
        assert source.bulk_put(rows).inserted == len(rows)
        assert shown(source.scan().fetchall()) == shown(rows)
        if reason := REFUSED.get((through.__name__, column)):
            with pytest.raises(NotImplementedError if through is polars else Exception, match=reason):
                through(source.scan())
            return
        copy = table_of(store, "copy", column)
        report = copy.bulk_put(through(source.scan()))
        stored = shown(copy.scan().fetchall())
        if (through.__name__, column) in LESS:
            assert report.inserted + len(report.failures) == len(rows) and report.failures
            assert set(stored) <= set(shown(rows))
            return
        assert (report.inserted, report.failures) == (len(rows), [])
        assert stored == shown(rows)


@pytest.mark.parametrize("column", COLUMNS)
def test_values_go_over_a_server_and_back(column: str, store: tonnage.Store) -> None:
    values = [*COLUMNS[column][1], None]
    table = table_of(store, "t", column)
    rows = [{"k": k, column: value} for k, value in enumerate(values)]
    assert table.bulk_put(rows[:2]).inserted == 2
    for row in rows[2:]:
        table.put(row)
    assert shown(table.scan().fetchall()) == shown(rows)
    assert shown([dict(table.get(k) or {}) for k in range(len(rows))]) == shown(rows)


def test_numbers_of_any_digits_find_their_rows(store: tonnage.Store) -> None:
    store.sql("CREATE TABLE t (k NUMBER(60, 20), n NUMBER(76), PRIMARY KEY (k))")
    table = store.table("t")
    key, most = Decimal("1234567890123456789012345678901234567890.5"), 10**76 - 1
    table.put([key, most])
    table.put([-key, Decimal(-most)])
    assert (table.get(key) or {})["n"] == most
    assert table.get(key + Decimal("1E-20")) is None
    found = store.sql("SELECT k, n FROM t WHERE k < $1 AND n = $2", [Decimal("1E-30"), -most])
    assert found.fetchall() == [{"k": -key, "n": -most}]
    with pytest.raises(tonnage.InvalidRequest, match="76 digits"):
        table.put([1, Decimal("1E76")])
    with pytest.raises(OverflowError, match="76 digits"):
        table.put([1, 10**76])


def test_polars_refuses_a_table_that_it_cannot_hold(local_store: tonnage.Store) -> None:
    pytest.importorskip("polars")
    from tonnage import polars_io

    local_store.sql("CREATE TABLE t (k LONG, n NUMBER(39), PRIMARY KEY (k))")
    with pytest.raises(tonnage.Unsupported, match="column 'n'.*CAST"):
        polars_io.scan(local_store.table("t"))


def test_json_is_given_as_its_text_or_as_a_dict_or_a_list(store: tonnage.Store) -> None:
    store.sql("CREATE TABLE t (k LONG, j JSON, PRIMARY KEY (k))")
    table = store.table("t")
    table.put([1, '{"a": "text"}'])
    table.put([2, '"text"'])
    with pytest.raises(tonnage.InvalidRequest, match="is not JSON"):
        table.put([3, "text"])
    assert [(table.get(k) or {})["j"] for k in (1, 2)] == [{"a": "text"}, "text"]


def test_pandas_keeps_whole_numbers_beside_null(local_store: tonnage.Store) -> None:
    pytest.importorskip("pandas")
    local_store.sql("CREATE TABLE t (k LONG, v LONG, PRIMARY KEY (k))")
    table = local_store.table("t")
    table.bulk_put([(1, 2**53 + 1), (2, None)])
    frame = table.scan().df()
    assert str(frame.dtypes.iloc[0]) == "int64" and str(frame.dtypes.iloc[1]) == "Int64"
    assert frame.set_index("k")["v"][1] == 2**53 + 1


def test_nan_is_kept(store: tonnage.Store) -> None:
    store.sql("CREATE TABLE t (k LONG, f FLOAT, d DOUBLE, PRIMARY KEY (k))")
    table = store.table("t")
    table.bulk_put([{"k": 1, "f": math.nan, "d": math.nan}])
    table.put({"k": 2, "f": math.nan, "d": math.nan})
    assert all(math.isnan(row["f"]) and math.isnan(row["d"]) for row in table.scan().rows())


def test_numpy_columns_of_pandas_go_in(store: tonnage.Store) -> None:
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "k": numpy.arange(3, dtype="int64"),
            "small": numpy.array([-128, 0, 127], dtype="int8"),
            "unsigned": numpy.array([0, 1, 2**32 - 1], dtype="uint32"),
            "half": numpy.array([1.5, -0.0, numpy.inf], dtype="float32"),
            "flag": numpy.array([True, False, True]),
            "text": numpy.array(["a", "", None], dtype=object),
            "kind": pandas.Categorical(["x", "y", None]),
            "at": numpy.array(
                ["2022-01-03T00:00:00.5", "1969-12-31", "NaT"], dtype="datetime64[ns]"
            ),
        }
    )
    store.sql(
        "CREATE TABLE t (k LONG, small INTEGER, unsigned LONG, half FLOAT, flag BOOLEAN, "
        "text STRING, kind STRING, at TIMESTAMP(3), PRIMARY KEY (k))"
    )
    assert store.table("t").bulk_put(frame).failures == []
    rows = sorted(store.table("t").scan().rows(), key=lambda row: row["k"])
    assert [row["small"] for row in rows] == [-128, 0, 127]
    assert [row["unsigned"] for row in rows] == [0, 1, 2**32 - 1]
    assert [row["kind"] for row in rows] == ["x", "y", None]
    assert [row["text"] for row in rows] == ["a", "", None]
    assert [row["at"] for row in rows] == [
        datetime(2022, 1, 3, 0, 0, 0, 500_000),
        datetime(1969, 12, 31),
        None,
    ]


def test_moments_of_pandas_keep_their_nanoseconds(store: tonnage.Store) -> None:
    pandas = pytest.importorskip("pandas")
    store.sql("CREATE TABLE moments (k LONG, at TIMESTAMP(9), PRIMARY KEY (k))")
    moments = store.table("moments")
    moments.bulk_put([{"k": 1, "at": pandas.Timestamp("2022-01-03T06:00:00.123456789")}])
    moments.put({"k": 2, "at": pandas.Timestamp("1969-12-31T23:59:59.999999999", tz="UTC")})
    told = store.sql("SELECT CAST(at AS STRING) AS at FROM moments ORDER BY k").fetchall()
    assert [row["at"] for row in told] == [
        "2022-01-03T06:00:00.123456789",
        "1969-12-31T23:59:59.999999999",
    ]


def test_missing_values_of_pandas_are_null(store: tonnage.Store) -> None:
    pandas = pytest.importorskip("pandas")
    store.sql("CREATE TABLE t (k LONG, v LONG, at TIMESTAMP(9), PRIMARY KEY (k))")
    table = store.table("t")
    table.bulk_put([{"k": 1, "v": pandas.NA, "at": pandas.NaT}])
    table.put({"k": 2, "v": pandas.NA, "at": pandas.NaT})
    assert [(row["v"], row["at"]) for row in table.scan().rows()] == [(None, None)] * 2


def test_scalars_of_numpy_keep_what_they_are(store: tonnage.Store) -> None:
    numpy = pytest.importorskip("numpy")
    store.sql("CREATE TABLE t (k LONG, at TIMESTAMP(9), n NUMBER(8,3), s STRING, PRIMARY KEY (k))")
    table = store.table("t")
    at = numpy.datetime64("2022-01-03T06:00:00.123456789")
    table.put({"k": numpy.int64(1), "at": at, "n": numpy.float32(0.1), "s": numpy.str_("a")})
    table.bulk_put([{"k": 2, "at": numpy.datetime64("NaT", "ns"), "n": numpy.int16(7)}])
    table.put({"k": 3, "at": numpy.datetime64("2022-01-03"), "n": numpy.float64(0.125)})
    found = store.sql("SELECT CAST(at AS STRING) AS at, n, s FROM t ORDER BY k").fetchall()
    assert [(row["n"], row["s"]) for row in found] == [
        (Decimal("0.1"), "a"),
        (Decimal(7), None),
        (Decimal("0.125"), None),
    ]
    assert [row["at"] for row in found] == [
        "2022-01-03T06:00:00.123456789",
        None,
        "2022-01-03T00:00:00",
    ]
    # A duration of NumPy was the number of its nanoseconds.
    with pytest.raises(TypeError, match="timedelta64"):
        table.put({"k": numpy.timedelta64(5, "ns")})


def test_a_time_of_day_has_no_zone(store: tonnage.Store) -> None:
    store.sql("CREATE TABLE t (k LONG, clock TIME, PRIMARY KEY (k))")
    table = store.table("t")
    table.put({"k": 1, "clock": time(6, tzinfo=timezone.utc)})
    with pytest.raises(ValueError, match="zone"):
        table.put({"k": 2, "clock": time(6, tzinfo=timezone(timedelta(hours=1)))})
    assert [row["clock"] for row in table.scan().rows()] == [time(6)]
