"""Bulk gets and scans."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

import tonnage

AT = datetime(2022, 1, 3)


@pytest.fixture
def fleet(ships: tonnage.Table) -> tonnage.Table:
    ships.bulk_put(
        {"mmsi": n % 10, "at": AT + timedelta(seconds=n), "lat": float(n), "name": None}
        for n in range(1_000)
    )
    return ships


def test_whole_and_partial_keys_are_mixed(fleet: tonnage.Table) -> None:
    rows = fleet.bulk_get([3, (4, AT + timedelta(seconds=14)), {"mmsi": 5}]).fetchall()
    by_ship = {ship: sum(row["mmsi"] == ship for row in rows) for ship in range(10)}
    assert {ship: count for ship, count in by_ship.items() if count} == {3: 100, 4: 1, 5: 100}


def test_the_latest_of_each_key(fleet: tonnage.Table) -> None:
    latest = fleet.bulk_get(range(10), direction="reverse", limit_per_key=1, columns=["mmsi", "lat"])
    assert latest.columns == ["mmsi", "lat"]
    assert latest.fetchall() == [{"mmsi": ship, "lat": 990.0 + ship} for ship in range(10)]


def test_a_scan_gives_the_latest_of_each_shard_key(local_ships: tonnage.Table) -> None:
    local_ships.bulk_put({"mmsi": n % 10, "at": AT + timedelta(seconds=n)} for n in range(100))
    latest = local_ships.scan(direction="reverse", limit_per_key=1).rows()
    assert sorted(row["at"] for row in latest) == [AT + timedelta(seconds=n) for n in range(90, 100)]


def test_no_keys_give_no_rows(fleet: tonnage.Table) -> None:
    rows = fleet.bulk_get([], columns=["lat", "mmsi"])
    assert (rows.columns, rows.fetchall()) == (["lat", "mmsi"], [])


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        ({}, ["k", "v", "w"]),
        ({"columns": ["w", "v"]}, ["w", "v"]),
        ({"keys_only": True}, ["k"]),
    ],
)
def test_a_get_of_many_tables_has_the_columns_that_are_wanted(
    store: tonnage.Store, options: dict[str, Any], columns: list[str]
) -> None:
    """The story of a bug: where no row was found, an answer had all columns of its table."""
    for name in ["full", "empty"]:
        store.sql(f"CREATE TABLE {name} (k LONG, v STRING, w LONG, PRIMARY KEY (k))")
    store.table("full").put({"k": 1, "v": "a", "w": 2})
    answers = store.multi_get({"full": [1], "empty": [1]}, **options)
    for name, rows in [("full", 1), ("empty", 0)]:
        answer = answers[name]
        assert isinstance(answer, tonnage.Batches)
        assert (answer.columns, len(answer.fetchall())) == (columns, rows), name


def test_a_limit_bounds_all_rows(fleet: tonnage.Table) -> None:
    assert len(fleet.bulk_get([1, 2], limit=150).fetchall()) == 150
    assert len(fleet.scan(limit=7).fetchall()) == 7


def test_a_range_of_the_next_key_column(fleet: tonnage.Table) -> None:
    window = tonnage.Range("at", AT, AT + timedelta(seconds=20), high_inclusive=False)
    rows = fleet.bulk_get([0, 1], range=window, direction="forward").rows(tuples=True)
    assert [row[2] for row in rows] == [0.0, 10.0, 1.0, 11.0]


def test_keys_may_come_out_of_a_generator_that_reads_the_store(fleet: tonnage.Table) -> None:
    def keys() -> Iterator[int]:
        yield from {row["mmsi"] for row in fleet.scan(columns=["mmsi"]).rows()}

    assert len(fleet.bulk_get(keys(), limit_per_key=2).fetchall()) == 20


def test_a_generator_of_keys_that_raises_ends_the_read(fleet: tonnage.Table) -> None:
    def keys() -> Iterator[int]:
        yield 1
        raise RuntimeError("no more keys")

    with pytest.raises(tonnage.InvalidRequest, match="no more keys"):
        fleet.bulk_get(keys()).fetchall()


def test_a_bad_key_is_named(fleet: tonnage.Table) -> None:
    with pytest.raises(tonnage.TonnageError, match="mmsi"):
        fleet.bulk_get(["no ship"]).fetchall()
    with pytest.raises(tonnage.TonnageError, match="key"):
        fleet.bulk_get([(1, AT, 3)]).fetchall()


def test_a_scan_gives_all_rows_and_its_parts_together_do(fleet: tonnage.Table) -> None:
    assert sum(len(batch) for batch in fleet.scan()) == 1_000
    parts = fleet.scan_parts(4, columns=["lat"])
    assert sorted(row["lat"] for part in parts for row in part.rows()) == [
        float(n) for n in range(1_000)
    ]


def test_children_come_with_their_parents(local_store: tonnage.Store) -> None:
    store = local_store
    store.sql("CREATE TABLE users (id LONG, name STRING, PRIMARY KEY (id))")
    store.sql("CREATE TABLE users.mails (n LONG, text STRING, PRIMARY KEY (n))")
    store.table("users").bulk_put({"id": id, "name": f"u{id}"} for id in range(3))
    store.table("users.mails").bulk_put(
        {"id": id, "n": n, "text": "hello"} for id in range(3) for n in range(2)
    )
    rows = [
        (table, row["id"])
        for table, batch in store.table("users").bulk_get_related([1, 2], ["users.mails"])
        for row in batch.rows()
    ]
    assert sorted(rows) == [
        ("users", 1),
        ("users", 2),
        *[("users.mails", 1)] * 2,
        *[("users.mails", 2)] * 2,
    ]


def test_rows_are_taken_once(fleet: tonnage.Table) -> None:
    rows = fleet.scan()
    assert rows.fetchone() is not None
    assert len(rows.fetchmany(10)) == 10
    assert len(rows.fetchall()) == 989
    rows.close()
    with pytest.raises(RuntimeError, match="taken already"):
        next(iter(rows))


def test_a_closed_read_lets_go(fleet: tonnage.Table) -> None:
    with fleet.scan(batch_rows=1) as rows:
        assert rows.fetchone() is not None
    with pytest.raises(RuntimeError):
        next(iter(rows))


def test_options_that_do_not_fit_are_named(fleet: tonnage.Table) -> None:
    with pytest.raises(ValueError, match="sideways"):
        fleet.scan(direction="sideways")
    with pytest.raises(tonnage.InvalidRequest, match="limit_per_key"):
        fleet.bulk_get([1], limit_per_key=0).fetchall()
    with pytest.raises(ValueError, match="size"):
        fleet.bulk_get([1], memory="many")
