"""pandas and NumPy. The tests run where these are installed."""

from __future__ import annotations

from datetime import datetime

import pytest
from conftest import rows
from griddb_python import ContainerInfo, Type

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
