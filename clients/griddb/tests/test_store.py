"""Containers of a store, several of them in one call, and where the store is."""

from __future__ import annotations

import os
import threading
from datetime import datetime

import griddb_python as griddb
import pytest
import tonnage
from conftest import COLUMNS, rows, value
from griddb_python import ContainerInfo, ContainerType, GSException, Type


def collection(store, name, columns=None):
    columns = columns or [["k", Type.STRING], ["v", Type.LONG]]
    return store.put_container(ContainerInfo(name, columns))


# Containers


def test_a_container_that_does_not_exist_is_none(store):
    assert store.get_container("nobody") is None
    assert store.get_container_info("nobody") is None


def test_a_container_is_dropped_with_its_rows(store):
    collection(store, "a").put(["x", 1])
    store.drop_container("A")
    assert store.get_container("a") is None
    assert rows(collection(store, "a")) == []


def test_dropping_nothing_is_no_error(store):
    store.drop_container("nobody")


def test_a_container_is_made_again_with_other_columns_and_another_kind(store):
    collection(store, "a")
    store.drop_container("a")
    columns = [["at", Type.TIMESTAMP], ["small", Type.BYTE]]
    store.put_container(ContainerInfo("a", columns, ContainerType.TIME_SERIES))
    info = store.get_container_info("a")
    assert info.type == ContainerType.TIME_SERIES
    assert info.column_info_list[1][:2] == ["small", Type.BYTE]


def test_the_positions_of_the_arguments_are_those_of_both_generations(store):
    expiration = griddb.ExpirationInfo(100, griddb.TimeUnit.DAY, 5)
    columns = [["at", Type.TIMESTAMP], ["v", Type.DOUBLE]]
    older = ContainerInfo("a", columns, ContainerType.TIME_SERIES, True, expiration, "near")
    assert store.put_container(older).type == ContainerType.TIME_SERIES
    told = store.get_container_info("a")
    assert (told.expiration.time, told.expiration.unit) == (100, griddb.TimeUnit.DAY)
    assert told.data_affinity == told.dataAffinity == "near"
    newer = ContainerInfo("b", columns, ContainerType.COLLECTION, True, ["at"])
    assert newer.row_key_column_list == ["at"]


def test_columns_are_told_as_dicts_too(store):
    columns = [
        {"name": "id", "type": Type.LONG},
        {"name": "at", "type": Type.TIMESTAMP, "time_unit": griddb.TimeUnit.MICROSECOND},
        {"name": "s", "type": Type.STRING, "option": griddb.TypeOption.NOT_NULL},
    ]
    store.put_container(ContainerInfo("a", columns))
    told = store.get_container_info("a").column_info_list_dict
    assert [(each["name"], each["type"]) for each in told] == [
        ("id", Type.LONG),
        ("at", Type.TIMESTAMP),
        ("s", Type.STRING),
    ]
    assert told[1]["time_unit"] == griddb.TimeUnit.MICROSECOND
    assert told[2]["option"] == griddb.TypeOption.NOT_NULL


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        (lambda: ContainerInfo("a", []), "no columns"),
        (lambda: ContainerInfo("a", [["x", Type.STRING], ["X", Type.LONG]]), "name X is taken"),
        (lambda: ContainerInfo("a", [["x", Type.BLOB]]), "row_key=False"),
        (
            lambda: ContainerInfo("a", [["x", Type.LONG]], ContainerType.TIME_SERIES),
            "make it a TIMESTAMP",
        ),
        (lambda: ContainerInfo("a", [["x", 99]]), "is not a column"),
        (lambda: ContainerInfo("a", ["x"]), "is not a column"),
        (lambda: ContainerInfo("", [["x", Type.LONG]]), "not a name of a container"),
        (
            lambda: ContainerInfo(
                "a", [["x", Type.LONG], ["y", Type.LONG]], row_key_column_list=["y"]
            ),
            "the first columns",
        ),
        (lambda: "a", "not a ContainerInfo"),
    ],
)
def test_what_is_no_container_is_refused(store, info, reason):
    with pytest.raises(GSException, match=reason):
        store.put_container(info())
    assert store.partition_info.get_container_names(0) == []


def test_rows_of_a_key_of_several_columns(store):
    info = ContainerInfo(
        "pairs",
        [["a", Type.STRING], ["at", Type.TIMESTAMP], ["v", Type.LONG]],
        row_key_column_list=["a", "at"],
    )
    pairs = store.put_container(info)
    noon = datetime(2020, 1, 1, 12)
    pairs.multi_put([["x", noon, 1], ["y", noon, 2], ["x", datetime(2020, 1, 2), 3]])
    assert pairs.get(["x", noon]) == ["x", noon, 1]
    assert pairs.put(["x", noon, 9]) is True
    key = store.create_row_key(info)
    key.set(["y", noon])
    predicate = store.create_row_key_predicate(key)
    predicate.set_distinct_keys([key])
    assert store.multi_get({"pairs": predicate}) == {"pairs": [["y", noon, 2]]}
    with pytest.raises(GSException, match="the row key has 2 columns"):
        pairs.get("x")


@pytest.fixture
def stale(store):
    """A container object from before the container got another column and lost one."""
    container = collection(store, "a")
    container.put(["x", 1])
    changed = ContainerInfo("a", [["k", Type.STRING], ["other", Type.LONG]])
    store.put_container(changed, modifiable=True)
    return container


def test_an_object_from_before_a_change_puts_nothing_into_the_wrong_column(store, stale):
    for put in (lambda: stale.put(["y", 2]), lambda: stale.multi_put([["y", 2]])):
        with pytest.raises(GSException, match="container a"):
            put()
    with pytest.raises(GSException, match="was altered: get it from the store again"):
        stale.get("x")
    with pytest.raises(GSException, match="container a"):
        rows(stale)
    assert rows(store.get_container("a")) == [["x", None]]


@pytest.mark.parametrize("is_altered", [False, True])
def test_a_change_that_was_cut_short_loses_nothing(store, is_altered):
    """A crash before or after the ALTER TABLE: the entry has both shapes, and one of them fits."""
    before = ContainerInfo("a", [["k", Type.STRING], ["small", Type.BYTE]])
    container = store.put_container(before)
    after = ContainerInfo("a", [["k", Type.STRING], ["small", Type.BYTE], ["more", Type.SHORT]])
    catalog = container._catalog
    wanted = catalog.find("a")
    store.put_container(after, modifiable=True)
    catalog._remember(catalog.find("a"), wanted)
    if not is_altered:
        store._tonnage.sql('ALTER TABLE a (DROP "more")')
    told = store.get_container_info("a").column_info_list
    expected = after if is_altered else before
    assert [each[:2] for each in told] == [each[:2] for each in expected.column_info_list]


def test_letters_beyond_ascii_differ_by_case(store):
    collection(store, "é").put(["x", 1])
    collection(store, "É").put(["x", 2])
    assert rows(store.get_container("é")) == [["x", 1]]
    assert rows(store.get_container("É")) == [["x", 2]]


# A time series and tables of others


def test_a_table_that_was_made_without_the_client_is_a_container(store):
    inner = store._tonnage
    inner.sql("CREATE TABLE plain (id LONG, s STRING NOT NULL, b BINARY, PRIMARY KEY (id))")
    inner.sql("CREATE TABLE clock (at TIMESTAMP(6), v DOUBLE, PRIMARY KEY (at))")
    inner.sql("CREATE TABLE other (id LONG, doc JSON, PRIMARY KEY (id))")
    inner.table("plain").put([1, "x", b"y"])
    plain = store.get_container("plain")
    assert plain.get(1) == [1, "x", bytearray(b"y")]
    assert plain.put([2, "z", None]) is False
    clock = store.get_container("clock")
    assert clock.type == ContainerType.TIME_SERIES
    clock.multi_put([["2020-01-01T00:00:00.000001Z", 1.0], ["2020-01-01T00:00:00Z", 2.0]])
    assert [row[1] for row in rows(clock)] == [2.0, 1.0]
    with pytest.raises(GSException, match="column doc of type JSON has no counterpart"):
        store.get_container("other")
    assert store.partition_info.get_container_names(0) == ["clock", "plain"]


def test_the_extremes_of_whole_seconds_are_moments(store):
    store._tonnage.sql("CREATE TABLE clock (at TIMESTAMP(0), v DOUBLE, PRIMARY KEY (at))")
    clock = store.get_container("clock")
    clock.put(["2020-01-01T00:00:10Z", 1.0])
    [result] = rows(clock, "select MAX(at)")
    assert result.get() == datetime(2020, 1, 1, 0, 0, 10)


def test_a_container_is_a_table_for_others(store, people):
    people.put(["a", True, 1, None])
    [row] = store._tonnage.sql('SELECT "name", "count" FROM people').fetchall()
    assert row == {"name": "a", "count": 1}


# Several containers


def test_multi_put_writes_to_containers_of_different_shapes(store, people, series):
    store.multi_put(
        {
            "people": [["a", True, 1, None]],
            "plant1": [["2012-01-01T00:00:00Z", 1.0, 1, "z"]],
        }
    )
    assert len(rows(people)) == 1 and len(rows(series)) == 5


def test_multi_put_takes_nothing(store, people):
    store.multi_put({})
    store.multi_put({"people": []})
    people.multi_put([])
    assert rows(people) == []


def test_multi_put_writes_nothing_when_a_container_is_missing(store, people):
    with pytest.raises(GSException, match="no container nobody") as raised:
        store.multi_put({"people": [["a", True, 1, None]], "nobody": [[1]]})
    assert raised.value.get_error_code(0) == 10016
    assert rows(people) == []


def test_multi_put_writes_nothing_when_a_row_does_not_fit(store, people, series):
    with pytest.raises(GSException, match="plant1, row 1: column level: 'low' .str. does not fit"):
        store.multi_put(
            {
                "people": [["a", True, 1, None]],
                "plant1": [
                    ["2012-01-01T00:00:00Z", 1.0, 1, "z"],
                    ["2012-01-02T00:00:00Z", 1.0, "low", "z"],
                ],
            }
        )
    assert rows(people) == [] and len(rows(series)) == 4


def test_one_container_named_twice_in_other_case_gets_both_lists(store, people):
    store.multi_put({"people": [["a", True, 1, None]], "PEOPLE": [["b", True, 2, None]]})
    assert len(rows(people)) == 2


def predicate(store, kind, keys=None, limits=None):
    made = store.create_row_key_predicate(kind)
    if keys is not None:
        made.set_distinct_keys(keys)
    if limits is not None:
        made.set_range(*limits)
    return made


def test_multi_get_gives_rows_of_keys_ranges_and_all(store, series):
    for name in "abc":
        collection(store, name).multi_put([[key, n] for n, key in enumerate("vwxyz")])
    found = store.multi_get(
        {
            "a": predicate(store, Type.STRING, keys=["z", "v", "missing", "z"]),
            "b": predicate(store, Type.STRING, limits=("w", "y")),
            "c": predicate(store, Type.STRING),
            "plant1": predicate(
                store, Type.TIMESTAMP, limits=(datetime(2011, 7, 1, 0, 0, 20), None)
            ),
        }
    )
    assert list(found) == ["a", "b", "c", "plant1"]
    assert found["a"] == [["z", 4], ["v", 0]]
    assert found["b"] == [["w", 1], ["x", 2], ["y", 3]]
    assert len(found["c"]) == 5
    assert [row[3] for row in found["plant1"]] == ["c", "d"]


def test_multi_get_by_the_keys_of_a_time_series(store, series):
    keys = [datetime(2011, 7, 1, 0, 0, 10), datetime(2011, 7, 1)]
    found = store.multi_get({"plant1": predicate(store, Type.TIMESTAMP, keys=keys)})
    assert [row[3] for row in found["plant1"]] == ["b", "a"]


def test_multi_get_by_thousands_of_keys_beside_nanoseconds(store):
    # Such rows come by a query, which names all keys.
    fine = {"name": "fine", "type": Type.TIMESTAMP, "time_unit": griddb.TimeUnit.NANOSECOND}
    columns = [["id", Type.LONG], fine]
    store.put_container(ContainerInfo("fine", columns)).multi_put([[n, None] for n in range(10)])
    keys = list(range(2_000, 4, -1))
    found = store.multi_get({"fine": predicate(store, Type.LONG, keys=keys)})
    assert [row[0] for row in found["fine"]] == [5, 6, 7, 8, 9]


def test_multi_get_leaves_out_what_does_not_exist(store, people):
    everything = predicate(store, Type.STRING)
    found = store.multi_get({"nobody": everything, "people": everything})
    assert found == {"people": []}


def test_a_predicate_of_another_type_is_refused(store, people):
    with pytest.raises(GSException, match="row key of type STRING.*on LONG"):
        store.multi_get({"people": predicate(store, Type.LONG)})


def test_a_predicate_has_keys_or_a_range(store):
    made = predicate(store, Type.LONG, keys=[1])
    with pytest.raises(GSException, match="keys already"):
        made.set_range(1, 2)
    made = predicate(store, Type.LONG, limits=(1, 2))
    assert made.get_range() == [1, 2]
    with pytest.raises(GSException, match="range already"):
        made.set_distinct_keys([1])


def test_fetch_all_runs_queries_on_many_containers(store):
    queries = []
    for number in range(100):
        container = collection(store, f"c{number}")
        container.multi_put([[str(n), n * number] for n in range(10)])
        queries += [container.query("select * where v = 9"), container.query("select sum(v)")]
    store.fetch_all(queries)
    found = [list(query.get_row_set()) for query in queries]
    assert [each[0].get() for each in found[1::2]] == [45 * number for number in range(100)]
    assert found[2] == [["9", 9]] and found[18] == [["1", 9]]


def test_fetch_all_takes_a_query_twice_and_none(store, people):
    people.put(["a", True, 1, None])
    query = people.query("select count(*)")
    store.fetch_all([query, query])
    assert query.get_row_set().next().get(Type.LONG) == 1
    store.fetch_all([])


def test_a_query_that_fails_leaves_the_others_their_results(store, people):
    people.put(["a", True, 1, None])
    gone = collection(store, "gone")
    store.drop_container("gone")
    good, syntax = people.query("select *"), people.query("nonsense")
    dropped = gone.query("select *")
    with pytest.raises(GSException, match="2 of 3 queries failed") as raised:
        store.fetch_all([good, syntax, dropped])
    stack = [raised.value.get_message(i) for i in range(raised.value.get_error_stack_size())]
    assert any("container people: TQL" in told for told in stack)
    assert any("container gone" in told for told in stack)
    assert list(good.get_row_set()) == [["a", True, 1, None]]
    assert syntax.get_row_set() is None


# Indexes


def explained(container, query):
    return " ".join(entry.get()[4] for entry in rows(container, f"explain {query}"))


def test_an_index_is_made_used_and_dropped(store):
    container = collection(store, "a")
    container.multi_put([[str(n), n] for n in range(5_000)])
    container.create_index("v", griddb.IndexType.TREE, "by_v")
    assert rows(container, "select * where v = 17") == [["17", 17]]
    assert "by_v" in explained(container, "select * where v = 17")
    container.drop_index("v")
    assert "by_v" not in explained(container, "select * where v = 17")


def test_an_index_is_made_twice_and_on_the_row_key(store):
    container = collection(store, "a")
    for _ in range(2):
        container.create_index(column_name="k")
        container.create_index("v", index_type=griddb.IndexType.HASH, name="hash_index")
    container.drop_index("v", name="another")
    container.drop_index("v", name="hash_index")
    container.drop_index("v")


def test_an_index_over_several_columns(store):
    container = collection(store, "a", [["k", Type.STRING], ["x", Type.LONG], ["y", Type.LONG]])
    index = griddb.IndexInfo(["x", "y"], name="both")
    container.create_index(index)
    container.create_index(index)
    container.drop_index(index)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda series: series.create_index("nope"), "no column nope"),
        (lambda series: series.create_index("timestamp"), "needs no index"),
        (lambda series: series.create_index("state", griddb.IndexType.SPATIAL), "shapes"),
    ],
)
def test_an_index_that_cannot_be_is_refused(series, call, reason):
    with pytest.raises(GSException, match=reason):
        call(series)


# Where the store is


def test_connections_to_one_store_share_it(place, monkeypatch):
    factory = griddb.StoreFactory.get_instance()
    first, second = factory.get_store(host=place), factory.get_store(host=place)
    collection(first, "a").put(["x", 1])
    first.close()
    assert rows(second.get_container("a")) == [["x", 1]]
    second.close()
    third = factory.get_store(host=place)
    assert (third.get_container("a") is None) == (place == "memory:")
    third.close()


def test_a_store_on_disk_has_everything_when_it_is_opened_again(tmp_path):
    factory = griddb.StoreFactory.get_instance()
    where = str(tmp_path / "store")
    with factory.get_store(host=where) as store:
        columns = [["at", Type.TIMESTAMP], ["v", Type.SHORT]]
        info = ContainerInfo("A.b", columns, ContainerType.TIME_SERIES)
        container = store.put_container(info)
        container.create_index("v")
        container.put([datetime(2020, 1, 1), 7])
        container.flush()
        before = store.get_container_info("a.B").column_info_list
    with factory.get_store(host=where) as store:
        assert store.get_container_info("a.B").column_info_list == before
        assert store.partition_info.get_container_names(0) == ["A.b"]
        container = store.put_container(info)
        container.create_index("v")
        assert rows(container) == [[datetime(2020, 1, 1), 7]]


def test_the_variable_names_the_store(tmp_path, monkeypatch):
    monkeypatch.setenv("TONNAGE_STORE", str(tmp_path / "named"))
    store = griddb.StoreFactory.get_instance().get_store(
        host="239.0.0.1", port=31999, cluster_name="c", username="admin", password="admin"
    )
    collection(store, "a")
    store.close()
    assert os.path.isdir(tmp_path / "named")


@pytest.mark.parametrize(
    "arguments",
    [
        {"host": "239.0.0.1", "port": 31999},
        {"notification_member": "10.0.0.1:10001,10.0.0.2:10001"},
        {},
    ],
)
def test_what_names_no_store_is_an_error_that_says_what_to_do(monkeypatch, arguments):
    monkeypatch.delenv("TONNAGE_STORE", raising=False)
    with pytest.raises(GSException, match="set TONNAGE_STORE to a directory") as raised:
        griddb.StoreFactory.get_instance().get_store(**arguments)
    assert raised.value.get_error_code(0) == 145028


@pytest.mark.parametrize(
    "arguments", [{"host": "grpc://127.0.0.1:9"}, {"host": "127.0.0.1", "port": 9}]
)
def test_a_server_that_does_not_answer_is_named(monkeypatch, arguments):
    monkeypatch.delenv("TONNAGE_STORE", raising=False)
    with pytest.raises(GSException, match="grpc://127.0.0.1:9"):
        griddb.StoreFactory.get_instance().get_store(**arguments)


def test_databases_do_not_see_each_others_containers(place):
    factory = griddb.StoreFactory.get_instance()
    public = factory.get_store(host=place, database="public")
    fleet = factory.get_store(host=place, database="fleet")
    collection(public, "a").put(["public", 1])
    collection(fleet, "a").put(["fleet", 2])
    collection(fleet, "b")
    assert rows(public.get_container("a")) == [["public", 1]]
    assert rows(fleet.get_container("a"), "select * from A") == [["fleet", 2]]
    assert public.get_container("b") is None
    assert public.partition_info.get_container_names(0) == ["a"]
    assert fleet.partition_info.get_container_names(0) == ["a", "b"]
    public.close()
    fleet.close()


def test_a_store_that_another_process_has_is_an_error_that_names_it(tmp_path):
    where = str(tmp_path / "store")
    with tonnage.connect(where), pytest.raises(GSException, match="open") as raised:
        griddb.StoreFactory.get_instance().get_store(host=where)
    assert raised.value.get_error_code(0) == 145028


def test_what_is_closed_says_so(place):
    store = griddb.StoreFactory.get_instance().get_store(host=place)
    container = collection(store, "a")
    container.close()
    with pytest.raises(GSException, match="container a is closed"):
        container.put(["x", 1])
    store.close()
    store.close()
    with pytest.raises(GSException, match="the store is closed"):
        store.get_container("a")


def test_the_factory_is_one_and_tells_its_version():
    factory = griddb.StoreFactory.get_instance()
    assert factory is griddb.StoreFactory.get_instance()
    assert tonnage.__version__ in factory.get_version()
    factory.close()


# Time


def test_rows_expire(store):
    expiration = griddb.ExpirationInfo(40, griddb.TimeUnit.MILLISECOND)
    info = ContainerInfo("short", [["k", Type.STRING], ["v", Type.LONG]], expiration=expiration)
    short = store.put_container(info)
    short.put(["a", 1])
    short.multi_put([["b", 2]])
    deadline = threading.Event()
    deadline.wait(0.1)
    assert rows(short) == [] and short.get("a") is None
    assert short.put(["a", 1]) is False


def test_threads_put_into_one_container(store):
    container = collection(store, "a")

    def put(thread):
        for number in range(200):
            container.put([f"{thread} {number}", number])

    threads = [threading.Thread(target=put, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert value(container, "select count(*)") == 800
