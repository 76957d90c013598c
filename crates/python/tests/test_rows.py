"""Single rows."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest

import tonnage

AT = datetime(2022, 1, 3, 12, 30, 15, 250_000)


def test_a_row_is_read_back_by_its_key(ships: tonnage.Table) -> None:
    version = ships.put({"mmsi": 7, "at": AT, "lat": 48.5, "name": "ARGO"})
    row = ships.get(7, AT)
    assert row == {"mmsi": 7, "at": AT, "lat": 48.5, "name": "ARGO"}
    assert row.version == version and row.expires is None
    assert ships.get(mmsi=7, at=AT) == row
    assert ships.get(8, AT) is None


def test_a_row_may_be_a_sequence_in_the_order_of_the_columns(ships: tonnage.Table) -> None:
    ships.put((7, AT, None, "ARGO"))
    assert ships.get(7, AT) == {"mmsi": 7, "at": AT, "lat": None, "name": "ARGO"}
    with pytest.raises(ValueError, match="2 values for 4 columns"):
        ships.put((7, AT))


def test_conditions_tell_the_version_that_is_there(ships: tonnage.Table) -> None:
    row = {"mmsi": 7, "at": AT, "name": "ARGO"}
    first = ships.put_if_absent(row)
    assert first and first.version is not None
    refused = ships.put_if_absent(row)
    assert not refused and refused.version == first.version
    assert ships.put_if_version({**row, "name": "PEQUOD"}, first.version)
    assert not ships.put_if_version(row, first.version)
    assert not ships.delete(7, AT, version=first.version)
    assert ships.delete(7, AT) and not ships.delete(7, AT)
    assert not ships.put_if_present(row)


def test_an_update_changes_the_columns_that_are_named(ships: tonnage.Table) -> None:
    changes = {"mmsi": 7, "at": AT, "name": "PEQUOD"}
    assert not ships.update(changes) and ships.get(7, AT) is None
    first = ships.put({"mmsi": 7, "at": AT, "name": "ARGO"}, ttl=timedelta(days=1))
    before = ships.get(7, AT)
    second = ships.update(changes)
    after = ships.get(7, AT)
    assert second and before is not None and after is not None
    assert after == {**before, "name": "PEQUOD"}
    assert after.expires == before.expires
    refused = ships.update(changes, version=first)
    assert not refused and refused.version == second.version
    assert ships.update({"mmsi": 7, "at": AT}, version=second.version, ttl=0)
    forever = ships.get(7, AT)
    assert forever is not None and forever.expires is None
    with pytest.raises(ValueError, match="nmae"):
        ships.update({**changes, "nmae": "x"})


def test_a_time_to_live_is_seconds_or_a_timedelta(ships: tonnage.Table) -> None:
    ships.put({"mmsi": 7, "at": AT}, ttl=timedelta(days=1))
    row = ships.get(7, AT)
    assert row is not None and row.expires is not None
    left = row.expires - datetime.now(timezone.utc).replace(tzinfo=None)
    assert timedelta(hours=23) < left <= timedelta(days=1, seconds=5)


def test_every_type_of_column_is_read_back_as_it_was_put(store: tonnage.Store) -> None:
    store.sql(
        "CREATE TABLE t (k LONG, i INTEGER, f FLOAT, d DOUBLE, n NUMBER(20,4), s STRING, b BOOLEAN, "
        "y BINARY, t3 TIMESTAMP(3), u UUID, j JSON, day DATE, clock TIME, PRIMARY KEY (k))"
    )
    table = store.table("t")
    full = {
        "k": -(2**63),
        "i": 2**31 - 1,
        "f": 0.5,
        "d": 1e300,
        "n": Decimal("1234567890123456.7890"),
        "s": "schöne Grüße 🚢",
        "b": True,
        "y": b"\x00\xff",
        "t3": datetime(1969, 12, 31, 23, 59, 59, 999_000),
        "u": UUID("12345678-1234-5678-1234-567812345678"),
        "j": {"a": [1, None, "x"]},
        "day": date(1900, 2, 28),
        "clock": time(23, 59, 59, 999_999),
    }
    empty = {name: None for name in full} | {"k": 2**63 - 1}
    table.put(full)
    table.put(empty)
    assert table.get(full["k"]) == full
    assert table.get(empty["k"]) == empty
    rows = {row["k"]: row for row in table.scan().rows()}
    assert rows == {full["k"]: full, empty["k"]: empty}


def test_nested_columns_are_lists_and_dicts(store: tonnage.Store) -> None:
    store.sql(
        "CREATE TABLE t (k LONG, tags ARRAY(STRING), counts MAP(LONG), "
        "place RECORD(lat DOUBLE, name STRING), PRIMARY KEY (k))"
    )
    table = store.table("t")
    rows = [
        {"k": 1, "tags": ["a", "b"], "counts": {"x": 1}, "place": {"lat": 0.5, "name": "Delft"}},
        {"k": 2, "tags": [], "counts": {}, "place": None},
    ]
    table.put(rows[0])
    table.bulk_put(rows[1:])
    assert [table.get(1), table.get(2)] == rows
    assert sorted(table.scan().rows(), key=lambda row: row["k"]) == rows


def test_aware_datetimes_are_turned_to_utc(ships: tonnage.Table) -> None:
    zone = timezone(timedelta(hours=2))
    ships.put({"mmsi": 7, "at": datetime(2022, 1, 3, 14, 30, tzinfo=zone)})
    assert ships.get(7, datetime(2022, 1, 3, 12, 30)) is not None


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"mmsi": "seven", "at": AT}, "mmsi"),
        ({"mmsi": 2**64, "at": AT}, "mmsi"),
        ({"mmsi": 7}, "at"),
        ({"mmsi": 7, "at": AT, "lon": 1.0}, "lon"),
        ({"mmsi": 7, "at": AT, "name": object()}, "name"),
    ],
)
def test_what_does_not_fit_is_refused_by_the_name_of_its_column(
    ships: tonnage.Table, row: dict[str, object], said: str
) -> None:
    with pytest.raises((ValueError, TypeError, OverflowError), match=said):
        ships.put(row)
    assert ships.count() == 0


def test_a_group_of_one_shard_key_is_written_together_or_not_at_all(store: tonnage.Store) -> None:
    store.sql("CREATE TABLE berths (port STRING, n LONG, ship STRING, PRIMARY KEY (SHARD(port), n))")
    berths = store.table("berths")

    def berth(n: int, ship: str) -> tonnage.Put:
        return tonnage.Put("berths", {"port": "Delft", "n": n, "ship": ship}, "absent")

    assert store.write(berth(1, "ARGO"), berth(2, "ARGO")) is not None
    assert store.write(berth(3, "PEQUOD"), berth(2, "PEQUOD")) is None
    assert berths.get("Delft", 3) is None
    assert store.write(tonnage.Delete("berths", {"port": "Delft", "n": 1})) is not None
    assert berths.count() == 1


def test_a_range_under_a_shard_key_is_deleted(local_ships: tonnage.Table) -> None:
    ships = local_ships
    ships.bulk_put({"mmsi": 7, "at": AT + timedelta(seconds=n)} for n in range(10))
    cut = tonnage.Range("at", high=AT + timedelta(seconds=4), high_inclusive=False)
    assert ships.delete_range(7, range=cut) == 4
    assert ships.count() == 6


def test_a_pipeline_answers_in_the_order_of_the_calls(
    store: tonnage.Store, ships: tonnage.Table
) -> None:
    calls = store.pipeline()
    row = {"mmsi": 7, "at": AT, "name": "ARGO"}
    calls.put("ships", row, condition="absent")
    calls.put("ships", row, condition="absent")
    calls.update("ships", {**row, "name": "PEQUOD"})
    calls.get("ships", 7, AT)
    calls.get("ships", mmsi=8, at=AT)
    calls.delete("ships", 7, AT)
    calls.delete("ships", 7, AT)
    calls.put("ships", {**row, "nmae": "x"})
    calls.put_pair("fleet", b"x")
    calls.get_pair("fleet")
    calls.delete_pair("fleet")
    calls.get_pair("fleet")
    first, second, third, found, missing, *rest = calls.answers()
    assert first and not second and second.version == first.version and third
    assert found == {"mmsi": 7, "at": AT, "lat": None, "name": "PEQUOD"}
    assert isinstance(found, tonnage.Row) and found.version == third.version
    assert missing is None
    gone, again, strange, put, pair, removed, none = rest
    assert gone and not again
    assert isinstance(strange, tonnage.InvalidRequest) and "nmae" in str(strange)
    assert put and isinstance(pair, tonnage.Pair) and pair.value == b"x"
    assert removed and none is None
    assert list(calls.answers()) == []
    with pytest.raises(tonnage.NotFound):
        calls.put("boats", {"id": 1})
