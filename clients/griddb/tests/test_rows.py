"""Rows on their way in and out: conversions, row sets, changes through a query."""

from __future__ import annotations

import warnings
from datetime import datetime

import griddb_python as griddb
import pyarrow
import pytest
from conftest import rows
from griddb_python import ContainerInfo, ContainerType, GSException, Type

# In


@pytest.mark.parametrize(
    ("kind", "given", "stored"),
    [
        (Type.BOOL, 1, True),
        (Type.BOOL, 0, False),
        (Type.DOUBLE, 3, 3.0),
        (Type.FLOAT, 2, 2.0),
        (Type.DOUBLE, float("inf"), float("inf")),
        (Type.BLOB, "text", bytearray(b"text")),
        (Type.BLOB, b"bytes", bytearray(b"bytes")),
        (Type.BLOB, bytearray(), bytearray()),
        (Type.STRING, "", ""),
        (Type.TIMESTAMP, 1577836800.0, datetime(2020, 1, 1)),
        (Type.INTEGER_ARRAY, (1, 2), [1, 2]),
        (Type.DOUBLE_ARRAY, [1, 2.5], [1.0, 2.5]),
        (Type.TIMESTAMP_ARRAY, ["2020-01-01T00:00:00.000Z"], [datetime(2020, 1, 1)]),
        (Type.STRING_ARRAY, [], []),
    ],
)
def test_values_are_taken_as_either_client_takes_them(store, kind, given, stored):
    container = store.put_container(ContainerInfo("a", [["id", Type.LONG], ["v", kind]]))
    container.put([1, given])
    container.multi_put([[2, given], [3, None]])
    assert rows(container) == [[1, stored], [2, stored], [3, None]]


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Type.STRING, 3),
        (Type.BOOL, "true"),
        (Type.INTEGER, 1.5),
        (Type.INTEGER, True),
        (Type.INTEGER, "1"),
        (Type.INTEGER, 1 << 31),
        (Type.LONG, 1 << 63),
        (Type.DOUBLE, "1.5"),
        (Type.DOUBLE, 10**400),
        (Type.TIMESTAMP, "yesterday"),
        (Type.TIMESTAMP, 3),
        (Type.BLOB, 3),
        (Type.INTEGER_ARRAY, [1, "x"]),
        (Type.INTEGER_ARRAY, [1, None]),
        (Type.BYTE_ARRAY, [200]),
        (Type.STRING_ARRAY, "abc"),
    ],
)
def test_values_that_do_not_fit_are_refused_with_their_place(store, kind, given):
    container = store.put_container(ContainerInfo("a", [["id", Type.LONG], ["v", kind]]))
    with pytest.raises(GSException, match="container a, row 1: column v: "):
        container.multi_put([[1, None], [2, given]])
    assert rows(container) == []


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ([1], "row 0: 1 values for the 4 columns name, status, count, lob"),
        (["a", True, 1, None, 5], "5 values"),
        ("abcd", "'abcd' is not a row"),
        (None, "None is not a row"),
        ([None, True, 1, None], "column name: is NULL"),
    ],
)
def test_what_is_no_row_is_refused(people, row, reason):
    for put in (people.put, lambda given: people.multi_put([given])):
        with pytest.raises(GSException, match=reason):
            put(row)
    assert rows(people) == []


def test_the_extremes_of_whole_numbers_make_a_round_trip(store):
    container = store.put_container(ContainerInfo("a", [["v", Type.LONG]]))
    container.multi_put([[(1 << 63) - 1], [-(1 << 63)], [0]])
    assert rows(container) == [[-(1 << 63)], [0], [(1 << 63) - 1]]


def test_multi_put_takes_lists_of_rows_only(people):
    with pytest.raises(GSException, match="give a list of rows, not generator"):
        people.multi_put(row for row in [])


def test_a_large_value_makes_a_round_trip(people):
    blob = bytearray(range(256)) * 20_000
    people.put(["a", True, 1, blob])
    assert people.get("a")[3] == blob


# Out


def test_a_row_set_is_read_by_its_cursor_and_by_a_loop(people):
    people.multi_put([[name, True, 1, None] for name in "abc"])
    row_set = people.query("select name").fetch()
    assert row_set.size == 3
    assert row_set.has_next() and row_set.has_next()
    assert row_set.next() == ["a"]
    assert list(row_set) == [["b"], ["c"]]
    assert not row_set.has_next() and row_set.size == 3
    with pytest.raises(GSException, match="no more rows"):
        row_set.next()


def test_a_partial_row_set_has_the_same_rows_and_size(people):
    people.multi_put([[f"{n:05}", True, n, None] for n in range(20_000)])
    query = people.query("select count")
    query.set_fetch_options(partial=True)
    row_set = query.fetch()
    assert row_set.next() == [0] and row_set.has_next()
    assert row_set.size == 20_000
    assert sum(1 for _ in row_set) == 19_999


def test_a_row_set_does_not_see_later_changes(people):
    people.multi_put([[name, True, 1, None] for name in "abc"])
    row_set = people.query("select name").fetch()
    people.remove("b")
    people.put(["d", True, 1, None])
    assert list(row_set) == [["a"], ["b"], ["c"]]


def test_rows_are_lists_that_a_program_may_change(people):
    people.put(["a", True, 1, None])
    row = people.get("a")
    row[2] = 99
    assert people.get("a")[2] == 1


# Changes through a query


def test_rows_are_updated_through_a_query(manual):
    manual.multi_put([[name, True, n, None] for n, name in enumerate("abc")])
    row_set = manual.query("select * where count > 0").fetch(True)
    while row_set.has_next():
        row = row_set.next()
        row[2] += 10
        row_set.update(row)
    manual.commit()
    assert [row[2] for row in rows(manual)] == [0, 11, 12]


def test_an_update_leaves_the_row_key_as_it_is(manual):
    manual.put(["a", True, 1, None])
    row_set = manual.query("select *").fetch(for_update=True)
    row_set.next()
    row_set.update(["other", False, 5, None])
    assert rows(manual) == [["a", False, 5, None]]


def test_arguments_have_the_names_of_both_generations(manual):
    manual.put(["a", True, 1, None])
    for query in (manual.query(query="select *"), manual.query(query_string="select *")):
        for name in ("for_update", "forUpdate"):
            row_set = query.fetch(**{name: True})
            row_set.next()
            row_set.update(["a", False, 2, None])
    assert manual.get("a") == ["a", False, 2, None]


def test_rows_are_removed_through_a_query_and_come_back_by_abort(manual):
    manual.multi_put([[name, True, n, None] for n, name in enumerate("abc")])
    manual.commit()
    row_set = manual.query("select * where count < 2").fetch(True)
    for _ in row_set:
        row_set.remove()
    assert [row[0] for row in rows(manual)] == ["c"]
    manual.abort()
    assert [row[0] for row in rows(manual)] == ["a", "b", "c"]


def test_rows_of_a_time_series_are_changed_through_a_query(series):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        series.set_auto_commit(False)
    row_set = series.query("select * where level > 2").fetch(True)
    row_set.next()
    row_set.update([None, 9.5, 9, "x"])
    row_set.next()
    row_set.remove()
    series.commit()
    assert [row[3] for row in rows(series)] == ["x", "c", "d"]


@pytest.mark.parametrize(
    ("use", "reason", "code"),
    [
        (("select *", False, 1), r"fetch\(True\)", 145039),
        (("select *", True, 0), "call next", 145037),
        (("select name", True, 1), r"select '\*'", 145003),
        (("select *", True, 2), "call next", 145037),
    ],
)
def test_changes_that_have_no_row_are_refused(manual, use, reason, code):
    """A query, whether it is for update, and how many rows are read and removed before."""
    query, is_for_update, steps = use
    manual.put(["a", True, 1, None])
    row_set = manual.query(query).fetch(is_for_update)
    for _ in range(min(steps, 1)):
        row_set.next()
    for _ in range(steps - 1):
        row_set.remove()
    with pytest.raises(GSException, match=reason) as raised:
        row_set.remove()
    assert raised.value.get_error_code(0) == code


def test_rows_are_fetched_for_update_under_manual_commit_only(people):
    with pytest.raises(GSException, match=r"set_auto_commit\(False\)") as raised:
        people.query("select *").fetch(True)
    assert raised.value.get_error_code(0) == 145035


# Arrow

SHIPS = [
    ["id", Type.LONG],
    ["name", Type.STRING],
    ["small", Type.BYTE],
    ["at", Type.TIMESTAMP],
    ["fine", Type.FLOAT],
    ["blob", Type.BLOB],
    ["tags", Type.STRING_ARRAY],
]
SCHEMA = pyarrow.schema(
    [
        ("id", pyarrow.int64()),
        ("name", pyarrow.string()),
        ("small", pyarrow.int8()),
        ("at", pyarrow.timestamp("ms")),
        ("fine", pyarrow.float32()),
        ("blob", pyarrow.binary()),
        ("tags", pyarrow.list_(pyarrow.string())),
    ]
)
NOON = datetime(2020, 1, 1, 12)


def batch(*ids):
    columns = [list(ids), [f"ship {n}" for n in ids], [1] * len(ids), [NOON] * len(ids)]
    columns += [[0.5] * len(ids), [b"x"] * len(ids), [["a"]] * len(ids)]
    return pyarrow.record_batch(
        [pyarrow.array(column, field.type) for column, field in zip(columns, SCHEMA)],
        schema=SCHEMA,
    )


def test_record_batches_go_in_and_come_out(store):
    allocator = griddb.RootAllocator(1 << 30)
    ships = store.put_container(ContainerInfo("ships", SHIPS))
    ships.multi_put(batch(1, 2, 3), allocator)
    assert ships.get(2) == [2, "ship 2", 1, NOON, 0.5, bytearray(b"x"), ["a"]]
    query = ships.query("select *")
    query.set_fetch_options(batch_size=2, root_allocator=allocator)
    row_set = query.fetch()
    assert row_set.next_record_batch().equals(batch(1, 2))
    assert row_set.next_record_batch().equals(batch(3))
    assert row_set.next_record_batch() is None


def test_an_empty_result_is_an_empty_record_batch(store):
    ships = store.put_container(ContainerInfo("ships", SHIPS))
    found = ships.query("select *").fetch().next_record_batch()
    assert found.num_rows == 0 and found.schema == SCHEMA


def test_record_batches_go_to_several_containers(store):
    for name in ("one", "two"):
        store.put_container(ContainerInfo(name, SHIPS))
    store.multi_put({"one": batch(1), "two": batch(1, 2)}, griddb.RootAllocator())
    everything = store.create_row_key_predicate(Type.LONG)
    found = store.multi_get({"one": everything, "two": everything}, griddb.RootAllocator())
    assert found["one"].equals(batch(1)) and found["two"].equals(batch(1, 2))


def test_record_batches_go_into_time_series_and_without_a_row_key(store):
    columns = [["at", Type.TIMESTAMP], ["v", Type.DOUBLE]]
    given = pyarrow.record_batch({"at": [NOON], "v": [1.5]})
    clock = store.put_container(ContainerInfo("clock", columns, ContainerType.TIME_SERIES))
    log = store.put_container(ContainerInfo("log", columns, row_key=False))
    clock.multi_put(given)
    log.multi_put(given)
    log.multi_put(given)
    assert rows(clock) == [[NOON, 1.5]]
    assert rows(log) == [[NOON, 1.5], [NOON, 1.5]]


def test_record_batches_are_taken_back_by_an_abort(manual):
    manual.put(["a", True, 1, None])
    manual.commit()
    manual.multi_put(
        pyarrow.record_batch(
            {"name": ["a", "b"], "status": [False, False], "count": [2, 3], "lob": [b"", b""]}
        )
    )
    assert len(rows(manual)) == 2
    manual.abort()
    assert rows(manual) == [["a", True, 1, None]]


def test_keys_of_nanoseconds_in_a_record_batch_are_taken_back_by_an_abort(store):
    at = {"name": "at", "type": Type.TIMESTAMP, "time_unit": griddb.TimeUnit.NANOSECOND}
    fine = store.put_container(ContainerInfo("fine", [at, ["v", Type.LONG]]))
    fine.put(["2020-01-01T00:00:00.123456789Z", 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fine.set_auto_commit(False)
    moments = pyarrow.array([1577836800123456789, 1577836800123456790], pyarrow.timestamp("ns"))
    fine.multi_put(pyarrow.record_batch({"at": moments, "v": [2, 3]}))
    fine.abort()
    assert [row[1] for row in rows(fine)] == [1]


def test_doubles_of_a_record_batch_that_are_no_floats_are_refused(store):
    container = store.put_container(ContainerInfo("a", [["id", Type.LONG], ["v", Type.FLOAT]]))
    with pytest.raises(GSException, match="row 0: the value does not fit FLOAT without loss"):
        container.multi_put(pyarrow.record_batch({"id": [1, 2], "v": [1e39, 0.5]}))
    assert rows(container) == [[2, 0.5]]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"id": [1]}, "1 columns, the container 2"),
        ({"id": ["x"], "v": [1]}, "does not fit"),
        ({"id": [1], "v": [1 << 40]}, "does not fit"),
        ({"id": [None], "v": [1]}, "column id is NULL"),
    ],
)
def test_a_record_batch_that_does_not_fit_is_refused(store, given, reason):
    container = store.put_container(ContainerInfo("a", [["id", Type.LONG], ["v", Type.INTEGER]]))
    with pytest.raises(GSException, match=reason):
        container.multi_put(pyarrow.record_batch(given))
    assert rows(container) == []


# Names


def test_the_oldest_names_are_the_same_constants():
    assert griddb.GS_TYPE_STRING == Type.STRING
    assert griddb.GS_CONTAINER_TIME_SERIES == ContainerType.TIME_SERIES
    assert griddb.GS_INDEX_FLAG_DEFAULT == griddb.IndexType.DEFAULT
    assert griddb.GS_TIME_UNIT_DAY == griddb.TimeUnit.DAY
    assert griddb.GS_ROW_SET_CONTAINER_ROWS == griddb.RowSetType.CONTAINER_ROWS


def test_constants_print_as_their_numbers():
    assert f"{Type.INTEGER} {ContainerType.TIME_SERIES}" == "4 1"
    assert str(griddb.RowSetType.QUERY_ANALYSIS) == "2"


def test_milliseconds_of_a_datetimes_timestamp():
    assert griddb.TimestampUtils.get_time_millis(1577836800.5) == 1577836800500
    assert griddb.TimestampUtils.get_time_millis(1.001) == 1001
    assert griddb.TimestampUtils.get_time_mills(1577836800) == 1577836800000
