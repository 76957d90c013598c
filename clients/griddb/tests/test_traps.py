"""Where GridDB's meaning is not what a reader expects, or is not Tonnage's own: twenty of them."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from datetime import datetime, timedelta, timezone

import griddb_python as griddb
import pytest
from conftest import COLUMNS, rows, value
from griddb_python import ContainerInfo, GSException, Type, TypeOption

# 1. multi_put overwrites


def test_of_rows_with_one_key_in_a_list_the_last_one_stays(people):
    people.multi_put([["a", True, 1, None], ["b", True, 2, None], ["a", False, 3, None]])
    assert rows(people) == [["a", False, 3, None], ["b", True, 2, None]]


def test_multi_put_replaces_rows_that_exist(people):
    people.put(["a", True, 1, None])
    people.multi_put([["a", False, 2, None]])
    assert people.get("a") == ["a", False, 2, None]


def test_multi_put_leaves_the_callers_list_as_it_was(store, people):
    given = [["a", 1, 1, "text"]]
    store.multi_put({"people": given})
    assert given == [["a", 1, 1, "text"]]


# 2. put tells whether the row existed


def test_put_tells_whether_the_row_existed(people):
    assert people.put(["a", True, 1, None]) is False
    assert people.put(["a", True, 2, None]) is True


# 3. TQL with and without FROM, and column lists


@pytest.mark.parametrize("query", ["select *", "SELECT * FROM people", "select * from PEOPLE"])
def test_a_query_names_its_container_or_does_not(people, query):
    people.put(["a", True, 1, None])
    assert rows(people, query) == [["a", True, 1, None]]


def test_a_query_that_names_another_container_is_refused(people):
    with pytest.raises(GSException, match="container people, and says FROM ships") as raised:
        rows(people, "select * from ships")
    assert raised.value.get_error_code(0) == 150010


def test_some_columns_can_be_selected(people):
    people.put(["a", True, 1, None])
    row_set = people.query("select count, NAME").fetch()
    assert row_set.get_column_names() == ["count", "name"]
    assert list(row_set) == [[1, "a"]]


# 4. count(column)


def test_a_column_is_counted_where_it_is_not_null(people):
    people.multi_put([["a", None, 1, None], ["b", True, 2, None]])
    assert value(people, "select count(status)", Type.LONG) == 1
    assert value(people, "select count(*)", Type.LONG) == 2


# 5. STDDEV and VARIANCE


def test_deviation_and_variance_are_those_of_a_sample(people):
    people.multi_put([[str(n), True, n, None] for n in (2, 4, 5, 7, 9)])
    assert math.isclose(value(people, "select variance(count)"), 29.2 / 4)
    assert math.isclose(value(people, "select stddev(count)"), math.sqrt(29.2 / 4))
    assert math.isclose(value(people, "select stddev_samp(count)"), math.sqrt(29.2 / 4))
    assert math.isclose(value(people, "select stddev_pop(count)"), math.sqrt(29.2 / 5))
    assert math.isclose(value(people, "select variance_pop(count)"), 29.2 / 5)


@pytest.mark.parametrize("function", ["stddev", "variance"])
def test_the_deviation_of_one_row_is_zero(people, function):
    people.put(["a", True, 3, None])
    assert value(people, f"select {function}(count)", Type.DOUBLE) == 0.0


# 6. aggregations over nothing


@pytest.mark.parametrize("function", ["max", "min", "avg", "stddev", "variance"])
def test_an_aggregation_over_nothing_has_no_result(people, function):
    row_set = people.query(f"select {function}(count)").fetch()
    assert not row_set.has_next()
    assert row_set.size == 0


def test_count_and_sum_over_nothing_are_zero(people):
    assert value(people, "select count(*)") == 0
    assert value(people, "select sum(count)") == 0


def test_an_aggregation_over_nulls_has_no_result(series):
    series.put(["2012-01-01T00:00:00Z", None, None, None])
    query = "select max(voltage) where timestamp > TIMESTAMP('2011-12-01T00:00:00Z')"
    assert rows(series, query) == []


# 7. types of results


def test_results_have_the_types_of_the_reference(series):
    def kind(query):
        return type(value(series, query))

    assert kind("select avg(level)") is float
    assert kind("select sum(level)") is int
    assert kind("select sum(voltage)") is float
    assert kind("select max(level)") is int
    assert kind("select min(voltage)") is float


def test_a_result_is_converted_to_the_type_that_is_asked_for(series):
    [result] = rows(series, "select avg(voltage)")
    assert result.get(Type.DOUBLE) == 2.5
    assert result.get(Type.LONG) == 2
    [result] = rows(series, "select max(level)")
    assert result.get(Type.DOUBLE) == 4.0 and type(result.get(Type.DOUBLE)) is float


def test_a_moment_is_had_as_a_timestamp_only(series):
    [result] = rows(series, "select max(timestamp)")
    assert result.get(Type.TIMESTAMP) == datetime(2011, 7, 1, 0, 0, 40)
    with pytest.raises(GSException, match="ask for TIMESTAMP"):
        result.get(Type.LONG)
    [number] = rows(series, "select max(level)")
    with pytest.raises(GSException, match="ask for LONG or DOUBLE"):
        number.get(Type.TIMESTAMP)


# 8. order


def test_a_time_series_comes_in_the_order_of_time(series):
    assert [row[3] for row in rows(series)] == ["a", "b", "c", "d"]


def test_a_collection_comes_in_the_order_of_its_key(people):
    people.multi_put([[name, True, 1, None] for name in "dacb"])
    assert [row[0] for row in rows(people)] == ["a", "b", "c", "d"]


def test_null_is_the_largest_value(people):
    people.multi_put([["a", True, None, None], ["b", True, 2, None], ["c", True, 1, None]])
    assert [row[0] for row in rows(people, "select * order by count")] == ["c", "b", "a"]
    assert [row[0] for row in rows(people, "select * order by count desc")] == ["a", "b", "c"]


# 9. order of text


def test_text_is_compared_though_the_reference_forbids_it(people):
    people.multi_put([[name, True, 1, None] for name in "abc"])
    assert [row[0] for row in rows(people, "select * where name < 'c'")] == ["a", "b"]


# 10. moments are in UTC


def moment(series, key):
    row = series.get(key)
    return None if row is None else row[0]


def test_a_naive_datetime_is_utc(series):
    series.put([datetime(2020, 1, 1, 12), 1.0, 1, None])
    assert moment(series, "2020-01-01T12:00:00.000Z") == datetime(2020, 1, 1, 12)


def test_an_aware_datetime_is_converted(series):
    tokyo = timezone(timedelta(hours=9))
    series.put([datetime(2020, 1, 1, 12, tzinfo=tokyo), 1.0, 1, None])
    assert moment(series, datetime(2020, 1, 1, 3)) == datetime(2020, 1, 1, 3)


def test_what_is_finer_than_a_millisecond_is_cut_off(series):
    series.put([datetime(2020, 1, 1, 0, 0, 0, 123999), 1.0, 1, None])
    stored = datetime(2020, 1, 1, 0, 0, 0, 123000)
    assert moment(series, stored) == stored
    assert moment(series, datetime(2020, 1, 1, 0, 0, 0, 123456)) == stored


def test_a_row_is_found_by_what_is_finer_than_its_key_beside_nanoseconds(store):
    fine = {"name": "fine", "type": Type.TIMESTAMP, "time_unit": griddb.TimeUnit.NANOSECOND}
    two = store.put_container(ContainerInfo("two", [["at", Type.TIMESTAMP], fine]))
    at = datetime(2020, 1, 1, 0, 0, 0, 123456)
    two.put([at, None])
    row = [datetime(2020, 1, 1, 0, 0, 0, 123000), None]
    assert two.get(at) == row
    predicate = store.create_row_key_predicate(Type.TIMESTAMP)
    predicate.set_distinct_keys([at])
    assert store.multi_get({"two": predicate}) == {"two": [row]}


def test_text_and_seconds_are_moments(series):
    series.multi_put([["2020-01-01T00:00:00.000+09:00", 1.0, 1, None], [1.5, 2.0, 2, None]])
    assert moment(series, datetime(2019, 12, 31, 15)) is not None
    assert moment(series, datetime(1970, 1, 1, 0, 0, 1, 500000)) is not None
    series.put([1.001, 3.0, 3, None])
    assert moment(series, datetime(1970, 1, 1, 0, 0, 1, 1000)) is not None


def test_microseconds_are_kept_where_the_column_has_them(store):
    info = ContainerInfo(
        "fine", [{"name": "at", "type": Type.TIMESTAMP, "time_unit": griddb.TimeUnit.MICROSECOND}]
    )
    fine = store.put_container(info)
    at = datetime(2020, 1, 1, 0, 0, 0, 123456)
    fine.put([at])
    assert fine.get(at) == [at]


def test_nanoseconds_come_as_a_timestamp(store):
    column = {"name": "at", "type": Type.TIMESTAMP, "time_unit": griddb.TimeUnit.NANOSECOND}
    fine = store.put_container(ContainerInfo("fine", [["id", Type.INTEGER], column]))
    at = griddb.Timestamp(2024, 9, 3, 10, 55, 45, 123456789)
    fine.multi_put([[1, at], [2, datetime(2024, 9, 3)], [3, None]])
    assert fine.get(1) == [1, at]
    assert rows(fine, "select * where id = 1") == [[1, at]]
    assert fine.get(1)[1].getNanos() == 123456789
    assert fine.get(1)[1].getTime() == 1725360945123
    assert fine.get(2)[1].datetime() == datetime(2024, 9, 3)
    assert value(fine, "select max(at)", Type.TIMESTAMP) == at


# 11. what is wrong in the newer client


def test_not_null_is_not_inverted(store):
    columns = [["id", Type.INTEGER], ["a", Type.STRING, TypeOption.NOT_NULL], ["b", Type.STRING]]
    container = store.put_container(ContainerInfo("strict", columns))
    container.put([1, "x", None])
    with pytest.raises(GSException, match="column a: is NULL"):
        container.put([2, None, "x"])


def test_columns_make_a_round_trip(store):
    columns = [["id", Type.INTEGER], ["a", Type.STRING, TypeOption.NOT_NULL], ["b", Type.STRING]]
    store.put_container(ContainerInfo("strict", columns))
    told = store.get_container_info("strict").column_info_list
    assert [column[:2] for column in told] == [column[:2] for column in columns]
    assert [column[2] for column in told] == [
        TypeOption.NOT_NULL,
        TypeOption.NOT_NULL,
        TypeOption.NULLABLE,
    ]
    assert store.put_container(ContainerInfo("strict", told)) is not None


def test_row_key_column_list_is_an_attribute_and_a_method(store):
    columns = [["a", Type.STRING], ["b", Type.INTEGER], ["c", Type.STRING]]
    store.put_container(ContainerInfo("pair", columns, row_key_column_list=["a", "b"]))
    info = store.get_container_info("pair")
    assert info.row_key_column_list == ["a", "b"]
    assert info.row_key_column_list() == ["a", "b"]


def test_a_predicate_tells_its_type_and_its_keys(store):
    predicate = store.create_row_key_predicate(Type.STRING)
    predicate.set_distinct_keys(["a", "b"])
    assert predicate.key_type == Type.STRING
    assert predicate.get_distinct_keys() == ["a", "b"]


def test_remove_by_a_row_key_tells_whether_there_was_a_row(store):
    info = ContainerInfo(
        "pair", [["a", Type.STRING], ["b", Type.INTEGER]], row_key_column_list=["a", "b"]
    )
    pair = store.put_container(info)
    pair.put(["x", 1])
    key = store.create_row_key(info)
    key.set(["x", 1])
    assert pair.get(key) == ["x", 1]
    assert pair.remove(key) is True
    assert pair.remove(key) is False


# 12. transactions


def test_an_abort_takes_back_what_the_container_object_did(manual):
    manual.set_auto_commit(True)
    manual.multi_put([["old", True, 1, None], ["gone", True, 2, None]])
    manual.set_auto_commit(False)
    manual.put(["new", True, 3, None])
    manual.put(["old", False, 9, None])
    manual.multi_put([["old", False, 10, None], ["many", True, 4, None]])
    manual.remove("gone")
    manual.abort()
    assert rows(manual) == [["gone", True, 2, None], ["old", True, 1, None]]


def test_what_was_committed_stays(manual):
    manual.put(["a", True, 1, None])
    manual.commit()
    manual.put(["b", True, 2, None])
    manual.abort()
    assert rows(manual) == [["a", True, 1, None]]


def test_automatic_commit_keeps_what_is_pending(manual):
    manual.put(["a", True, 1, None])
    manual.set_auto_commit(True)
    manual.set_auto_commit(False)
    manual.abort()
    assert rows(manual) == [["a", True, 1, None]]


def test_rows_without_a_row_key_are_taken_back(store):
    plain = store.put_container(ContainerInfo("plain", [["v", Type.INTEGER]], row_key=False))
    plain.put([1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain.set_auto_commit(False)
    plain.put([2])
    plain.multi_put([[3], [4]])
    plain.abort()
    assert rows(plain) == [[1]]


def test_nanoseconds_survive_an_abort(store):
    column = {"name": "at", "type": Type.TIMESTAMP, "time_unit": griddb.TimeUnit.NANOSECOND}
    fine = store.put_container(ContainerInfo("fine", [["id", Type.INTEGER], column]))
    at = griddb.Timestamp(2024, 9, 3, 10, 55, 45, 123456789)
    fine.put([1, at])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fine.set_auto_commit(False)
    fine.put([1, None])
    fine.abort()
    assert fine.get(1) == [1, at]


def test_others_see_what_is_not_committed(store, manual):
    manual.put(["a", True, 1, None])
    assert store.get_container("people").get("a") == ["a", True, 1, None]


def test_manual_commit_warns_once(people, monkeypatch):
    import tonnage_griddb.undo

    monkeypatch.setattr(tonnage_griddb.undo, "_warned", False)
    with pytest.warns(griddb.TransactionWarning, match="no rows are locked"):
        people.set_auto_commit(False)
    people.set_auto_commit(True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        people.set_auto_commit(False)


def test_commit_and_abort_need_manual_commit(people):
    for call in (people.commit, people.abort):
        with pytest.raises(GSException, match="set_auto_commit") as raised:
            call()
        assert raised.value.get_error_code(0) == 145035


# 13. row sets


def test_get_row_set_gives_the_result_once(store, people):
    people.put(["a", True, 1, None])
    query = people.query("select *")
    assert query.get_row_set() is None
    store.fetch_all([query])
    assert list(query.get_row_set()) == [["a", True, 1, None]]
    assert query.get_row_set() is None


def test_a_new_fetch_closes_the_row_set_before(people):
    people.put(["a", True, 1, None])
    query = people.query("select *")
    first = query.fetch()
    assert list(query.fetch()) == [["a", True, 1, None]]
    with pytest.raises(GSException, match="closed"):
        first.has_next()


def test_the_type_of_a_row_set_is_known_at_once(people):
    types = griddb.RowSetType
    assert people.query("select *").fetch().type == types.CONTAINER_ROWS
    assert people.query("select count(*)").fetch().type == types.AGGREGATION_RESULT
    assert people.query("explain select *").fetch().type == types.QUERY_ANALYSIS


# 14. containers without a row key


def test_without_a_row_key_every_put_appends(store):
    plain = store.put_container(ContainerInfo("plain", [["v", Type.INTEGER]], row_key=False))
    assert plain.put([3]) is False
    assert plain.put([3]) is False
    plain.multi_put([[2], [1]])
    row_set = plain.query("select *").fetch()
    assert row_set.get_column_names() == ["v"]
    assert list(row_set) == [[3], [3], [2], [1]]
    assert not store.get_container_info("plain").row_key


def test_a_container_without_a_row_key_has_no_row_by_key(store):
    plain = store.put_container(ContainerInfo("plain", [["v", Type.INTEGER]], row_key=False))
    with pytest.raises(GSException, match="no row key"):
        plain.get(1)


def test_rows_without_a_row_key_are_updated_and_removed(store):
    plain = store.put_container(ContainerInfo("plain", [["v", Type.INTEGER]], row_key=False))
    plain.multi_put([[1], [1], [2]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain.set_auto_commit(False)
    found = plain.query("select * where v = 1").fetch(True)
    assert found.next() == [1]
    found.update([5])
    assert found.next() == [1]
    found.remove()
    plain.commit()
    assert rows(plain) == [[5], [2]]


# 15. names


@pytest.mark.parametrize("name", ["People", "PEOPLE", "people"])
def test_names_of_containers_are_the_same_in_any_case(store, people, name):
    people.put(["a", True, 1, None])
    assert store.get_container(name).get("a") == ["a", True, 1, None]
    store.multi_put({name: [["b", True, 2, None]]})
    assert len(rows(people)) == 2


def test_words_of_sql_are_names_of_columns(store):
    columns = [
        ["select", Type.INTEGER],
        ["count", Type.INTEGER],
        ["timestamp", Type.TIMESTAMP],
        ["value", Type.DOUBLE],
        ["order", Type.STRING],
    ]
    words = store.put_container(ContainerInfo("table", columns))
    words.put([1, 2, datetime(2020, 1, 1), 3.0, "x"])
    query = (
        'select * from "table" where "select" = 1 and count = 2 and value > 2 '
        "and timestamp = TIMESTAMP('2020-01-01T00:00:00Z') and \"order\" = 'x' "
        'order by count, "order"'
    )
    assert rows(words, query) == [[1, 2, datetime(2020, 1, 1), 3.0, "x"]]


@pytest.mark.parametrize("name", ["a.b", "a-b", "a@b", "50%", 'say "x"'])
def test_signs_in_names_of_containers(store, name):
    made = store.put_container(ContainerInfo(name, [["v", Type.INTEGER]]))
    made.put([1])
    assert rows(store.get_container(name)) == [[1]]
    assert store.get_container_info(name).name == name
    assert name in store.partition_info.get_container_names(0, 0)


# 16. put_container of what exists


def test_a_container_that_exists_is_given(store, people):
    people.put(["a", True, 1, None])
    assert store.put_container(ContainerInfo("people", COLUMNS)).get("a") is not None


def test_a_container_with_other_columns_is_refused(store, people):
    with pytest.raises(GSException, match="people exists with other columns.*modifiable") as raised:
        store.put_container(ContainerInfo("people", COLUMNS[:2]))
    assert raised.value.get_error_code(0) == 60016


def test_modifiable_adds_and_drops_columns(store, people):
    people.put(["a", True, 1, b"x"])
    columns = [COLUMNS[0], COLUMNS[2], ["new", Type.SHORT]]
    changed = store.put_container(ContainerInfo("people", columns), modifiable=True)
    assert rows(changed) == [["a", 1, None]]
    changed.multi_put([["b", 2, 3]])
    assert changed.get("b") == ["b", 2, 3]
    told = store.get_container_info("people").column_info_list
    assert [column[:2] for column in told] == columns


def test_modifiable_adds_columns_to_a_time_series(store, series):
    info = store.get_container_info("plant1")
    info.column_info_list = [*info.column_info_list, ["extra", Type.STRING]]
    changed = store.put_container(info, modifiable=True)
    changed.multi_put([["2011-08-01T00:00:00Z", 1.0, 1, "e", "x"]])
    assert [row[4] for row in rows(changed)] == [None, None, None, None, "x"]


@pytest.mark.parametrize(
    "columns",
    [
        [["new", Type.STRING], *COLUMNS],
        [*COLUMNS, ["new", Type.STRING, TypeOption.NOT_NULL]],
        [COLUMNS[0], ["status", Type.STRING], *COLUMNS[2:]],
    ],
)
def test_other_changes_are_refused(store, people, columns):
    with pytest.raises(GSException, match="people"):
        store.put_container(ContainerInfo("people", columns), modifiable=True)
    assert store.get_container_info("people").column_info_list[0][0] == "name"


# 17. types that Tonnage does not have


@pytest.mark.parametrize(("kind", "limit"), [(Type.BYTE, 1 << 7), (Type.SHORT, 1 << 15)])
def test_small_numbers_have_their_ranges(store, kind, limit):
    small = store.put_container(ContainerInfo("small", [["id", Type.INTEGER], ["v", kind]]))
    small.multi_put([[1, limit - 1], [2, -limit]])
    for beyond in (limit, -limit - 1):
        with pytest.raises(GSException, match=f"row 0: column v: {beyond} is out of range"):
            small.put([3, beyond])
    assert rows(small) == [[1, limit - 1], [2, -limit]]


def test_all_types_make_a_round_trip(store):
    columns = [["id", Type.INTEGER]] + [[kind.name.lower(), kind] for kind in Type]
    every = store.put_container(ContainerInfo("every", columns))
    at = datetime(2020, 1, 1, 0, 0, 0, 123000)
    row = [1, "s", True, 1, 2, 3, 4, 1.5, 2.5, at, "POINT(1 2)", bytearray(b"\0x")]
    row += [["a", "b"], [True], [1], [2], [3], [4], [1.5], [2.5], [at]]
    every.put(row)
    assert every.get(1) == row
    assert rows(every) == [row]
    told = store.get_container_info("every").column_info_list
    assert [column[:2] for column in told] == columns


# 18. partitions


def test_a_loop_over_the_partitions_meets_every_container_once(store, people, series):
    partitions = store.partition_info
    names = []
    for index in range(partitions.partition_count):
        names += partitions.get_container_names(index, 0)
        assert partitions.get_container_count(index) == 2
    assert sorted(names) == ["people", "plant1"]
    assert store.partition_controller.get_container_names(0, 1, 1) == ["plant1"]
    assert partitions.get_partition_index_of_container("people") == 0


# 19. exceptions


def test_an_exception_tells_its_stack_by_index(people):
    with pytest.raises(GSException) as raised:
        rows(people, "select nonsense from")
    error = raised.value
    assert error.get_error_stack_size() >= 1
    assert error.get_error_code(0) == 151001
    assert error.get_message(0) == str(error) != ""
    assert error.get_location(0) == ""
    assert error.is_timeout is False
    assert error.get_error_code(99) == 0 and error.get_message(99) == ""


def test_a_container_that_is_gone_has_griddbs_number(store, people):
    store.drop_container("people")
    with pytest.raises(GSException) as raised:
        people.get("a")
    assert raised.value.get_error_code(0) == 10016
    with pytest.raises(GSException, match="people") as raised:
        people.query("select *").fetch()
    assert raised.value.get_error_code(0) == 10016


# 20. JPype


def run(*arguments, **environment):
    import os

    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "TONNAGE_STORE": "memory:", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_program_for_the_newer_client_runs_by_the_runner(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import jpype\n"
        "jpype.startJVM(classpath=['./gridstore.jar'])\n"
        "import griddb_python, sys\n"
        "print(jpype.isJVMStarted(), sys.argv[1:], __name__)\n"
    )
    done = run("-m", "tonnage_griddb", str(program), "one", "two")
    assert done.stdout == "True ['one', 'two'] __main__\n", done.stderr


def test_the_stand_in_says_what_it_is(tmp_path):
    program = tmp_path / "program.py"
    for use in ("JClass", "dbapi2.connect"):
        program.write_text(f"import jpype, jpype.dbapi2\njpype.{use}('java.lang.String')\n")
        done = run("-m", "tonnage_griddb", str(program))
        assert f"jpype.{use}: the program runs on Tonnage" in done.stderr


def test_a_real_jpype_is_not_shadowed(tmp_path):
    (tmp_path / "jpype.py").write_text("real = True\n")
    import os

    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = run("-c", "import griddb_python, jpype; print(jpype.real)", PYTHONPATH=path)
    assert done.stdout == "True\n", done.stderr
