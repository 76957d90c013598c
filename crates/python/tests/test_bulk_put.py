"""Bulk puts: every kind of source, outcomes, callbacks, ends."""

from __future__ import annotations

import csv
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import tonnage

AT = datetime(2022, 1, 3)


def position(n: int) -> dict[str, object]:
    return {"mmsi": n % 10, "at": AT + timedelta(seconds=n), "lat": n / 2, "name": f"ship {n % 10}"}


def test_dicts_tuples_and_columns_are_sources(ships: tonnage.Table) -> None:
    assert ships.bulk_put(position(n) for n in range(100)).inserted == 100
    assert ships.bulk_put([tuple(position(n).values()) for n in range(100, 150)]).inserted == 50
    columns = {name: [position(n)[name] for n in range(150, 175)] for name in position(0)}
    assert ships.bulk_put(columns).inserted == 25
    assert ships.count() == 175


def test_columns_of_different_lengths_are_refused(ships: tonnage.Table) -> None:
    with pytest.raises(ValueError, match="one length"):
        ships.bulk_put({"mmsi": [1, 2], "at": [AT]})


def test_files_are_sources(ships: tonnage.Table, tmp_path: Path) -> None:
    path = tmp_path / "ships.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["mmsi", "at", "lat", "name"])
        writer.writerows([n, AT.isoformat(), 1.5, "x"] for n in range(10))
        writer.writerow(["nobody", AT.isoformat(), 1.5, "x"])
    report = ships.bulk_put(path)
    assert (report.inserted, report.failed) == (10, 1)
    assert report.failures[0].column == "mmsi" and "line 12" in report.failures[0].reason


def test_rows_that_do_not_fit_are_told_with_their_position(ships: tonnage.Table) -> None:
    rows = [position(n) for n in range(10)]
    rows[3]["mmsi"] = None
    rows[5]["lat"] = object()
    report = ships.bulk_put(rows)
    assert (report.read, report.inserted, report.failed) == (10, 8, 2)
    assert sorted(failure.position for failure in report.failures) == [3, 5]
    assert any("lat" in failure.reason for failure in report.failures)


def test_existing_rows_are_kept_replaced_or_refused(ships: tonnage.Table) -> None:
    ships.bulk_put([position(0)])
    changed = {**position(0), "name": "other"}
    kept = ships.bulk_put([changed])
    assert (kept.inserted, kept.existed) == (0, 1)
    with pytest.raises(tonnage.BulkPutError):
        ships.bulk_put([changed], on_existing="fail")
    assert ships.bulk_put([changed], on_existing="replace").existed == 1
    row = ships.get(0, AT)
    assert row is not None and row["name"] == "other"


def test_existing_rows_are_told_with_their_keys(local_ships: tonnage.Table) -> None:
    local_ships.bulk_put([position(0)])
    seen: list[tonnage.ExistingRow] = []
    local_ships.bulk_put([position(0)], on_exists=seen.extend)
    assert [(row.table, row.key) for row in seen] == [("ships", {"mmsi": 0, "at": AT})]


def test_many_streams_have_a_report_each(store: tonnage.Store, ships: tonnage.Table) -> None:
    store.sql("CREATE TABLE ports (name STRING, PRIMARY KEY (name))")
    completed: list[str] = []
    report = store.bulk_put(
        [
            tonnage.Stream((position(n) for n in range(50)), "ships", name="first"),
            tonnage.Stream([{"name": "Delft"}], "ports", name="second"),
            tonnage.Stream([("/users/1", b"x")], None, name="third"),
        ],
        on_completed=lambda stream: completed.append(stream.name),
    )
    assert [(stream.name, stream.counts.inserted) for stream in report.streams][:2] == [
        ("first", 50),
        ("second", 1),
    ]
    assert len(completed) == 3 and all(stream.completed for stream in report.streams)
    assert store.kv()["/users/1"] == b"x"


def test_a_stream_is_completed_behind_all_its_reports(ships: tonnage.Table) -> None:
    """The story of a bug: a stream was called completed ahead of the rows of it that failed."""
    told: list[str] = []
    ships.bulk_put(
        [position(0), {"mmsi": None}],
        on_failed=lambda rows: told.append("failed"),
        on_completed=lambda stream: told.append("completed"),
    )
    assert told == ["failed", "completed"]


def test_what_a_source_raises_is_the_cause(ships: tonnage.Table) -> None:
    def rows() -> Iterator[dict[str, object]]:
        yield from (position(n) for n in range(10_000))
        raise RuntimeError("the sensor is gone")

    with pytest.raises(tonnage.BulkPutError, match="the sensor is gone") as stopped:
        ships.bulk_put(rows())
    assert isinstance(stopped.value.__cause__, RuntimeError)
    assert stopped.value.report.inserted == ships.count()


def test_a_callback_that_raises_each_time_stops_the_load_too(ships: tonnage.Table) -> None:
    """The reports of the rows that failed were never taken, and the load waited for ever."""
    pyarrow = pytest.importorskip("pyarrow")

    def raises(counts: tonnage.Counts) -> None:
        raise KeyError(counts.read)

    count = 2_000_000
    moments = pyarrow.nulls(count, pyarrow.timestamp("s"))
    rows = pyarrow.table({"mmsi": pyarrow.array(range(count)), "at": moments})
    with pytest.raises(tonnage.BulkPutError) as stopped:
        ships.bulk_put(rows, progress=raises)
    assert isinstance(stopped.value.__cause__, KeyError)


def test_what_a_callback_raises_stops_the_load(ships: tonnage.Table) -> None:
    def refuse(rows: list[tonnage.FailedRow]) -> None:
        raise KeyError(rows[0].position)

    def rows() -> Iterator[dict[str, object]]:
        yield {"mmsi": None}
        for n in range(10_000_000):
            yield position(n)

    with pytest.raises(tonnage.BulkPutError) as stopped:
        ships.bulk_put(rows(), on_failed=refuse)
    assert isinstance(stopped.value.__cause__, KeyError)


def test_a_source_may_read_the_store_that_it_feeds(ships: tonnage.Table) -> None:
    ships.bulk_put(position(n) for n in range(10))

    def rows() -> Iterator[dict[str, object]]:
        for row in ships.scan().rows():
            assert ships.get(row["mmsi"], row["at"]) is not None
            yield {**row, "mmsi": row["mmsi"] + 100}

    assert ships.bulk_put(rows()).inserted == 10


def test_a_load_is_cancelled_from_another_thread(ships: tonnage.Table) -> None:
    cancel = tonnage.Cancel()

    def rows() -> Iterator[dict[str, object]]:
        n = 0
        while True:
            if n == 5_000:
                threading.Timer(0.1, cancel.cancel).start()
            yield position(n)
            n += 1

    with pytest.raises(tonnage.BulkPutError) as stopped:
        ships.bulk_put(rows(), cancel=cancel)
    assert stopped.value.kind == "cancelled"
    assert stopped.value.report.inserted + stopped.value.report.existed == stopped.value.report.read


def test_a_load_ends_in_time_though_its_source_waits(ships: tonnage.Table) -> None:
    def rows() -> Iterator[dict[str, object]]:
        yield position(0)
        time.sleep(3)
        yield position(1)

    began = time.monotonic()
    with pytest.raises(tonnage.BulkPutError) as stopped:
        ships.bulk_put(rows(), timeout=0.5)
    assert stopped.value.kind == "timed out"
    assert time.monotonic() - began < 2.5


def test_progress_is_told_while_it_runs(ships: tonnage.Table) -> None:
    told: list[int] = []

    def rows() -> Iterator[dict[str, object]]:
        for n in range(4):
            yield position(n)
            time.sleep(0.1)

    ships.bulk_put(rows(), progress=lambda counts: told.append(counts.read))
    assert told == sorted(told) and told[-1] == 4


def test_a_limit_of_failures_stops_the_load(ships: tonnage.Table) -> None:
    with pytest.raises(tonnage.TooManyErrors) as stopped:
        ships.bulk_put([{"mmsi": None}] * 10, errors_max=3)
    assert isinstance(stopped.value, tonnage.BulkPutError)
    assert stopped.value.report.failed > 3
    with pytest.raises(ValueError, match="1%"):
        ships.bulk_put([], errors_max="3")


def test_many_tables_are_put_and_got_in_one_call(store: tonnage.Store) -> None:
    for name in "abc":
        store.sql(f"CREATE TABLE {name} (k LONG, v STRING, PRIMARY KEY (k))")
    store.multi_put({name: [{"k": k, "v": name * k} for k in range(5)] for name in "abc"})
    answers = store.multi_get({"a": [1, 2], "c": [4], "missing": [1]})
    assert sorted(row["v"] for row in answers["a"].rows()) == ["a", "aa"]
    assert [row["v"] for row in answers["c"].rows()] == ["cccc"]
    assert isinstance(answers["missing"], tonnage.NotFound)
    with pytest.raises(tonnage.NotFound):
        store.multi_put({"a": [{"k": 100, "v": ""}], "missing": []})
    assert store.table("a").get(100) is None
