"""A store behind a server: connecting, and what a server does not offer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

import tonnage
from conftest import SHIPS, served

TLS = Path(__file__).parents[2] / "server" / "tests" / "listeners" / "tls"


@pytest.fixture
def address() -> Iterator[str]:
    with served("memory:") as address:
        yield address


@pytest.fixture
def store(address: str) -> Iterator[tonnage.Store]:
    with tonnage.connect(address) as store:
        store.sql(SHIPS)
        yield store


def test_what_one_program_puts_another_one_reads(address: str) -> None:
    with tonnage.connect(address) as one, tonnage.connect(address) as other:
        one.sql(SHIPS)
        one.table("ships").bulk_put({"mmsi": [1, 2], "at": ["2022-01-03", "2022-01-04"]})
        assert [table.path for table in other.tables()] == ["ships"]
        assert other.table("ships").count() == 2


def test_what_is_stored_over_a_server_is_there_when_it_ended(tmp_path: Path) -> None:
    with served(str(tmp_path / "s")) as address, tonnage.connect(address) as store:
        store.kv()["k"] = b"v"
        with pytest.raises(tonnage.Unavailable):
            tonnage.connect(tmp_path / "s")
    with tonnage.connect(tmp_path / "s") as store:
        assert store.kv()["k"] == b"v"


def test_nobody_at_the_address_is_told_with_it() -> None:
    with pytest.raises(tonnage.Unavailable, match="grpc://127.0.0.1:9: no connection"):
        tonnage.connect("grpc://127.0.0.1:9", connect_timeout=5)


def test_an_address_without_a_port_is_refused() -> None:
    with pytest.raises(tonnage.InvalidRequest, match="grpc://HOST:PORT"):
        tonnage.connect("grpc://localhost")


def test_what_is_for_a_store_of_this_process_is_refused_for_a_server(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cache"):
        tonnage.connect("grpc://localhost:1", cache="1GiB")
    with pytest.raises(ValueError, match="token"):
        tonnage.connect(tmp_path / "s", token="secret")
    with pytest.raises(ValueError, match="user with a password"):
        tonnage.connect("grpc://localhost:1", user="ann")


def test_a_token_opens_a_server_with_users(tmp_path: Path) -> None:
    users = tmp_path / "users.toml"
    # The hash of the token "secret".
    users.write_text(
        '[[user]]\nname = "ann"\nroles = ["admin"]\n'
        'tokens = ["2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"]\n'
    )
    with served("memory:", "--users", str(users)) as address:
        with pytest.raises(tonnage.InvalidRequest, match="token"):
            tonnage.connect(address, token="wrong")
        with tonnage.connect(address, token="secret") as store:
            assert store.tables() == []


def test_a_server_with_tls_is_checked_against_the_roots(tmp_path: Path) -> None:
    certificate, key = TLS / "cert.pem", TLS / "key.pem"
    with served("memory:", "--tls-cert", str(certificate), "--tls-key", str(key)) as address:
        address = address.replace("127.0.0.1", "localhost")
        assert address.startswith("grpc+tls://")
        with tonnage.connect(address, tls_roots=certificate) as store:
            assert store.tables() == []
        with pytest.raises(tonnage.Unavailable, match="certificate"):
            tonnage.connect(address)


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda store: store.settle(), "sync"),
        (lambda store: store.checkpoint("copy"), "tonnage checkpoint"),
        (lambda store: store.query_table("ships", "select *"), "FROM ships"),
        (lambda store: store.sql("SELECT :n", {"n": 1}), r"\$1"),
        (lambda store: store.table("ships").delete_range(7), "DELETE FROM ships"),
        (lambda store: store.table("ships").rows_estimate(), "count"),
        (lambda store: list(store.table("ships").scan(relatives=["x"])), "bulk_get_related"),
        (lambda store: store.table("ships").bulk_put([], on_exists=print), "on_exists"),
    ],
)
def test_what_a_server_does_not_offer_is_refused_with_the_remedy(
    store: tonnage.Store, call: Callable[[tonnage.Store], object], remedy: str
) -> None:
    with pytest.raises(tonnage.Unsupported, match=remedy):
        call(store)


def test_parents_come_with_their_children(store: tonnage.Store) -> None:
    store.sql("CREATE TABLE users (id LONG, name STRING, PRIMARY KEY (id))")
    store.sql("CREATE TABLE users.mails (n LONG, subject STRING, PRIMARY KEY (n))")
    store.table("users").bulk_put({"id": [1, 2, 3], "name": ["a", "b", "c"]})
    store.table("users.mails").bulk_put({"id": [1, 1, 3], "n": [1, 2, 1], "subject": ["x", "y", "z"]})
    rows: dict[str, list[object]] = {"users": [], "users.mails": []}
    for table, batch in store.table("users").bulk_get_related([1, 2], ["users.mails"]):
        rows[table] += batch.rows(tuples=True)
    assert sorted(rows["users"]) == [(1, "a"), (2, "b")]
    assert rows["users.mails"] == [(1, 1, "x"), (1, 2, "y")]
    assert list(store.table("users").bulk_get_related([], ["users.mails"])) == []


def test_a_check_reads_the_store_behind_the_server(store: tonnage.Store) -> None:
    store.table("ships").bulk_put({"mmsi": [1, 2], "at": ["2022-01-03", "2022-01-04"]})
    report = store.check()
    assert report["is_sound"] and report["rows"] == {"ships": 2} and report["damages"] == []


def test_fetch_all_takes_values_of_every_type(store: tonnage.Store) -> None:
    moment = datetime(2022, 1, 3, 6, 0, 0, 500_000)
    values = [moment, Decimal("-12.50"), b"\x00\xff", 2.0, date(2022, 1, 3), None]
    answers = store.fetch_all([("SELECT $1 AS v", (value,)) for value in values])
    assert [answer.fetchone()["v"] for answer in answers] == values


def test_a_call_ends_in_its_time(address: str) -> None:
    with tonnage.connect(address) as store:
        store.sql("CREATE TABLE n (k LONG, PRIMARY KEY (k))")
        store.table("n").bulk_put({"k": list(range(3_000))})
    with tonnage.connect(address, timeout=timedelta(seconds=1)) as store:
        with pytest.raises(tonnage.TimedOut):
            store.sql("SELECT count(*) FROM n a, n b, n c WHERE a.k + b.k + c.k = -1").fetchall()


def test_rows_are_scanned_in_order_and_within_a_range(store: tonnage.Store) -> None:
    store.sql("CREATE TABLE o (k LONG, PRIMARY KEY (k))")
    table = store.table("o")
    table.bulk_put({"k": list(range(100))})
    last = table.scan(direction="reverse", limit=3).rows()
    assert [row["k"] for row in last] == [99, 98, 97]
    some = table.scan(range=tonnage.Range("k", low=10, high=12), direction="forward").rows()
    assert [row["k"] for row in some] == [10, 11, 12]


def test_pairs_are_scanned_counted_and_deleted(store: tonnage.Store) -> None:
    kv = store.kv()
    for minor in "abc":
        kv.put(f"/u/-/{minor}", minor.encode())
    kv.put("/other", b"x")
    assert kv.count() == 4
    values = [row["value"] for row in kv.scan(direction="forward").rows()]
    assert sorted(values) == [b"a", b"b", b"c", b"x"]
    below = kv.bulk_get(["/u"], depth="children_only", limit_per_key=2)
    assert len(list(below.rows())) == 2
    end = tonnage.KeyRange(low="b")
    assert kv.delete_subtree("/u", depth="children_only", range=end) == 2
    assert kv.count() == 2


def test_too_many_errors_that_only_the_server_sees_are_an_error_of_their_own(
    store: tonnage.Store,
) -> None:
    store.sql("CREATE TABLE long (k STRING, PRIMARY KEY (k))")
    rows = [{"k": "short"}, {"k": "x" * 200_000}, {"k": "y" * 200_000}]
    with pytest.raises(tonnage.TooManyErrors) as stopped:
        store.table("long").bulk_put(rows, errors_max=1)
    assert stopped.value.report.inserted == 1
    with pytest.raises(tonnage.BulkPutError) as failed:
        store.table("long").bulk_put([{"k": "short"}], on_existing="fail")
    assert not isinstance(failed.value, tonnage.TooManyErrors)


def test_rows_with_fewer_columns_take_the_defaults(store: tonnage.Store) -> None:
    store.sql("CREATE TABLE d (k LONG, v STRING DEFAULT 'none', PRIMARY KEY (k))")
    table = store.table("d")
    table.bulk_put([{"k": 1}, {"k": 2, "v": None}, {"k": 3, "v": "x"}])
    table.put({"k": 4})
    assert {row["k"]: row["v"] for row in table.scan().rows()} == {
        1: "none",
        2: None,
        3: "x",
        4: "none",
    }


def test_keys_that_would_be_rounded_are_no_other_keys(store: tonnage.Store) -> None:
    store.sql("CREATE TABLE fixes (at TIMESTAMP(0), PRIMARY KEY (at))")
    fixes, second = store.table("fixes"), datetime(2022, 1, 3, 6)
    half = second + timedelta(milliseconds=500)
    report = fixes.bulk_put([{"at": second}, {"at": half}])
    assert (report.inserted, report.failed) == (1, 1)
    assert fixes.bulk_get([half]).fetchall() == []
    assert fixes.bulk_get([half, second]).fetchall() == [{"at": second}]


def test_the_interpreter_ends_with_a_load_under_way(address: str) -> None:
    script = """
        import itertools, sys, threading, time, tonnage
        store = tonnage.connect(sys.argv[1])
        store.sql("CREATE TABLE t (k LONG, PRIMARY KEY (k))")
        rows = ({"k": k} for k in itertools.count())
        threading.Thread(target=lambda: store.table("t").bulk_put(rows), daemon=True).start()
        time.sleep(0.5)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), address]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    with tonnage.connect(address) as store:
        assert store.table("t").count() >= 0


def test_ctrl_c_stops_a_load_over_a_server_and_keeps_its_report(store: tonnage.Store) -> None:
    def rows() -> Iterator[dict[str, int]]:
        for k in range(100_000_000):
            if k == 20_000:
                os.kill(os.getpid(), signal.SIGINT)
            yield {"mmsi": k, "at": k}

    with pytest.raises(KeyboardInterrupt) as stopped:
        store.table("ships").bulk_put({**row, "at": "2022-01-03"} for row in rows())
    report = stopped.value.report  # type: ignore[attr-defined]
    assert report.inserted <= store.table("ships").count()


def test_a_server_that_goes_away_stops_the_load_with_its_report() -> None:
    with served("memory:", "--drain-timeout", "0s") as address:
        store = tonnage.connect(address)
        store.sql(SHIPS)

        def rows() -> Iterator[dict[str, object]]:
            for k in range(100_000_000):
                if k == 50_000:
                    leaving.set()
                yield {"mmsi": k, "at": "2022-01-03"}

        leaving, stopped = threading.Event(), []

        def load() -> None:
            try:
                store.table("ships").bulk_put(rows())
            except tonnage.BulkPutError as error:
                stopped.append(error)

        thread = threading.Thread(target=load)
        thread.start()
        assert leaving.wait(30)
    thread.join(60)
    assert not thread.is_alive()
    [error] = stopped
    assert error.retryable and error.report.read >= 50_000


def test_a_store_is_not_used_after_it_was_closed(address: str) -> None:
    store = tonnage.connect(address)
    store.close()
    assert store.is_closed
    with pytest.raises(tonnage.Unavailable, match="closed"):
        store.tables()
