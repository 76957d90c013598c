"""SQL."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

import tonnage


@pytest.fixture
def phones(store: tonnage.Store) -> tonnage.Store:
    return filled(store)


@pytest.fixture
def local_phones(local_store: tonnage.Store) -> tonnage.Store:
    return filled(local_store)


def filled(store: tonnage.Store) -> tonnage.Store:
    store.sql(
        "CREATE TABLE phones (maker STRING, price INTEGER, id LONG, "
        "PRIMARY KEY (SHARD(maker), price, id))"
    )
    store.sql("INSERT INTO phones VALUES ('Nokia', 300, 1), ('Nokia', 900, 2), ('Apple', 999, 3)")
    return store


def test_rows_counts_and_messages(phones: tonnage.Store) -> None:
    assert phones.sql("SELECT id FROM phones ORDER BY id").fetchall() == [{"id": n} for n in (1, 2, 3)]
    deleted = phones.sql("DELETE FROM phones WHERE price > 950")
    assert deleted.changes == tonnage.Changes(deleted=1) and not deleted.has_rows
    made = phones.sql("CREATE TABLE IF NOT EXISTS t (k LONG, PRIMARY KEY (k))")
    assert made.message == "created table t"
    with pytest.raises(TypeError, match="gives no rows"):
        deleted.fetchall()


def test_parameters_by_number(phones: tonnage.Store) -> None:
    by_number = phones.sql("SELECT id FROM phones WHERE maker = $1 AND price < $2", ["Nokia", 500])
    assert by_number.fetchall() == [{"id": 1}]
    values = phones.sql(
        "SELECT $1 AS a, $2 AS b, $3 AS c", [Decimal("1.50"), datetime(2022, 1, 3), None]
    )
    assert values.fetchone() == {"a": Decimal("1.50"), "b": datetime(2022, 1, 3), "c": None}


def test_parameters_by_name(local_phones: tonnage.Store) -> None:
    by_name = local_phones.sql("SELECT id FROM phones WHERE maker = :maker", {"maker": "Apple"})
    assert by_name.fetchall() == [{"id": 3}]
    [together] = local_phones.fetch_all([("SELECT id FROM phones WHERE price = :p", {"p": 300})])
    assert isinstance(together, tonnage.Result) and together.fetchone() == {"id": 1}


def test_a_statement_is_prepared_once_and_run_often(phones: tonnage.Store) -> None:
    statement = phones.prepare("SELECT max(price) AS p FROM phones WHERE maker = $1")
    assert [statement.execute([maker]).fetchone() for maker in ("Nokia", "Apple", "None")] == [
        {"p": 900},
        {"p": 999},
        {"p": None},
    ]


def test_many_statements_in_one_call_have_an_answer_each(phones: tonnage.Store) -> None:
    counted, failed, named, dearer, deleted = phones.fetch_all(
        [
            "SELECT count(*) AS n FROM phones",
            "SELECT nothing FROM phones",
            ("SELECT id FROM phones WHERE price = $1", [300]),
            ("SELECT id FROM phones WHERE price = $1", [Decimal(900)]),
            "DELETE FROM phones WHERE price > 950",
        ]
    )
    assert isinstance(dearer, tonnage.Result) and dearer.fetchone() == {"id": 2}
    assert isinstance(deleted, tonnage.Result) and deleted.changes == tonnage.Changes(deleted=1)
    assert counted.fetchone() == {"n": 3} and named.fetchone() == {"id": 1}
    assert isinstance(failed, tonnage.TonnageError) and "nothing" in str(failed)


def test_a_query_without_from_is_of_its_table(local_phones: tonnage.Store) -> None:
    rows = local_phones.query_table("phones", "select * where id = 2").fetchall()
    assert rows == [{"maker": "Nokia", "price": 900, "id": 2}]


def test_an_error_names_the_place(phones: tonnage.Store) -> None:
    with pytest.raises(tonnage.InvalidRequest, match="line 1"):
        phones.sql("SELEC id FROM phones")
    with pytest.raises(tonnage.TonnageError, match="missing"):
        phones.sql("SELECT * FROM missing")


def test_a_statement_ends_in_time(phones: tonnage.Store) -> None:
    phones.sql("CREATE TABLE n (k LONG, PRIMARY KEY (k))")
    phones.table("n").bulk_put({"k": list(range(3_000))})
    endless = "SELECT count(*) FROM n a, n b, n c WHERE a.k + b.k + c.k = -1"
    with pytest.raises(tonnage.TimedOut):
        phones.sql(endless, timeout=0.2).fetchall()


def test_threads_share_a_session_so_there_are_no_transactions() -> None:
    with tonnage.connect("memory:") as store, pytest.raises(tonnage.Unsupported, match="atomic_write"):
        store.sql("BEGIN")


UUID_TEXT = "550e8400-e29b-41d4-a716-446655440000"
# For each type a value, and others that mean the same.
PARAMETERS: dict[str, list[Any]] = {
    "INTEGER": [7, Decimal(7), Decimal("7.00"), 7.0],
    "LONG": [2**53 + 1, Decimal(2**53 + 1)],
    "FLOAT": [0.5, Decimal("0.5"), 0.5],
    "DOUBLE": [0.1, Decimal("0.1")],
    "NUMBER(8,3)": [Decimal("0.125"), 0.125, Decimal("0.1250")],
    "NUMBER(60,20)": [Decimal("0.00000000000000000001")],
    "STRING": ["a text"],
    "BOOLEAN": [True],
    "BINARY": [b"\x00\xff", bytearray(b"\x00\xff"), memoryview(b"\x00\xff")],
    "BINARY(2)": [b"\x00\xff"],
    "TIMESTAMP(0)": [
        datetime(2022, 1, 3, 6),
        datetime(2022, 1, 3, 7, tzinfo=timezone(timedelta(hours=1))),
        "2022-01-03 06:00:00",
    ],
    "TIMESTAMP(6)": [datetime(2022, 1, 3, 6, 0, 0, 123_456), "2022-01-03 06:00:00.123456"],
    "TIMESTAMP(9)": [datetime(2022, 1, 3, 6, 0, 0, 123_456)],
    "DATE": [date(2022, 1, 3), "2022-01-03"],
    "TIME": [time(6, 0, 0, 123_456), "06:00:00.123456"],
    "UUID": [UUID(UUID_TEXT), UUID_TEXT],
    "ENUM(red, green)": ["green"],
}


@pytest.mark.parametrize("column", PARAMETERS)
def test_parameters_are_stored_and_found(store: tonnage.Store, column: str) -> None:
    store.sql(f"CREATE TABLE t (k LONG, v {column}, PRIMARY KEY (k))")
    values = PARAMETERS[column]
    for k, value in enumerate(values):
        store.sql("INSERT INTO t VALUES ($1, $2)", [k, value])
        store.sql("UPDATE t SET v = $1 WHERE k = $2", [value, k])
    stored = [row["v"] for row in store.sql("SELECT v FROM t ORDER BY k").rows()]
    assert stored == [stored[0]] * len(values)
    assert stored[0] == (values[0] if column != "TIMESTAMP(0)" else datetime(2022, 1, 3, 6))
    for value in values:
        for condition in ("v = $1", "v IN ($1)", "$1 = v", "v BETWEEN $1 AND $1", "NOT v <> $1"):
            found = store.sql(f"SELECT count(*) AS n FROM t WHERE {condition}", [value]).fetchone()
            assert found == {"n": len(values)}, (condition, value)
    assert store.sql("DELETE FROM t WHERE v = $1", [values[0]]).changes.deleted == len(values)
