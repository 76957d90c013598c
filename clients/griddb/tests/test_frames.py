"""pandas and NumPy. The tests run where these are installed."""

from __future__ import annotations

from datetime import datetime

import griddb_python as griddb
import pytest
from conftest import rows
from griddb_python import ContainerInfo, GSException, Type

numpy = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")


def test_a_data_frame_goes_in_and_comes_out(people):
    frame = pandas.DataFrame(
        [["a", True, 1, bytearray(b"x")], ["b", None, numpy.nan, None]],
        columns=["name", "status", "count", "lob"],
    )
    frame["count"] = frame["count"].astype("Int64")
    people.put_rows(frame)
    assert rows(people) == [["a", True, 1, bytearray(b"x")], ["b", None, None, None]]
    back = people.query("select *").fetch().fetch_rows()
    assert list(back.columns) == ["name", "status", "count", "lob"]
    assert back["name"].tolist() == ["a", "b"]


def test_an_empty_result_is_an_empty_frame(people):
    back = people.query("select *").fetch().fetch_rows()
    assert list(back.columns) == ["name", "status", "count", "lob"] and len(back) == 0


@pytest.mark.parametrize(
    ("kind", "given", "stored"),
    [
        (Type.LONG, numpy.int64(7), 7),
        (Type.DOUBLE, numpy.float32(0.5), 0.5),
        (Type.BOOL, numpy.bool_(True), True),
        (Type.TIMESTAMP, pandas.Timestamp("2020-01-01T00:00:00"), datetime(2020, 1, 1)),
    ],
)
def test_values_of_numpy_and_pandas_are_taken(store, kind, given, stored):
    container = store.put_container(ContainerInfo("a", [["id", Type.LONG], ["v", kind]]))
    container.multi_put([[1, given]])
    assert rows(container) == [[1, stored]]


def test_moments_of_pandas_keep_their_nanoseconds(store):
    at = {"name": "at", "type": Type.TIMESTAMP, "time_unit": griddb.TimeUnit.NANOSECOND}
    fine = store.put_container(ContainerInfo("fine", [at, ["v", Type.LONG]]))
    texts = ["1969-12-31T23:59:59.123456788Z", "1969-12-31T23:59:59.123456789Z"]
    fine.put_rows(pandas.DataFrame({"at": pandas.to_datetime(texts), "v": [1, 2]}))
    fine.put([pandas.Timestamp("2020-01-01T09:00:00.000000001", tz="Asia/Tokyo"), 3])
    assert [[row[0].getNanos(), row[1]] for row in rows(fine)] == [
        [123456788, 1],
        [123456789, 2],
        [1, 3],
    ]


def test_moments_of_pandas_are_cut_to_what_a_key_holds(store):
    series = store.put_container(ContainerInfo("series", [["at", Type.TIMESTAMP]]))
    series.put([pandas.Timestamp("2020-01-01T00:00:00.123000999")])
    assert series.get(pandas.Timestamp("2020-01-01T00:00:00.123999001")) is not None


@pytest.mark.parametrize("unit", ["MILLISECOND", "NANOSECOND"])
def test_no_moment_of_pandas_is_refused(store, unit):
    at = {"name": "at", "type": Type.TIMESTAMP, "time_unit": griddb.TimeUnit[unit]}
    container = store.put_container(ContainerInfo("a", [["id", Type.LONG], at]))
    with pytest.raises(GSException, match="does not fit a column of type TIMESTAMP"):
        container.put([1, pandas.NaT])
