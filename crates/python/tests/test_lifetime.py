"""Opening, closing, forking, Ctrl-C, the end of the interpreter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

import tonnage
from tonnage import _cpu


def python(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_store_is_closed_and_opened_again(tmp_path: Path) -> None:
    with tonnage.connect(tmp_path / "s") as store:
        store.kv()["k"] = b"v"
    assert store.is_closed
    with pytest.raises(tonnage.Unavailable, match="closed"):
        store.kv()
    with tonnage.connect(tmp_path / "s") as store:
        assert store.kv()["k"] == b"v"


def test_a_store_that_does_not_exist_is_not_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(tonnage.NotFound):
        tonnage.connect(tmp_path / "s", create=False)


def test_a_second_process_hears_who_owns_the_store(tmp_path: Path) -> None:
    with tonnage.connect(tmp_path / "s"):
        other = python("import sys, tonnage; tonnage.connect(sys.argv[1])", str(tmp_path / "s"))
    assert other.returncode == 1
    assert "tonnage.errors.Unavailable" in other.stderr and str(tmp_path / "s") in other.stderr
    assert f"process {os.getpid()}" in other.stderr


def test_a_table_of_a_store_that_is_closed_refuses(tmp_path: Path) -> None:
    store = tonnage.connect(tmp_path / "s")
    store.sql("CREATE TABLE t (k LONG, PRIMARY KEY (k))")
    table = store.table("t")
    store.close()
    with pytest.raises(tonnage.Unavailable):
        table.get(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_store_is_dead_in_a_forked_child_and_lives_in_the_parent(tmp_path: Path) -> None:
    store = tonnage.connect(tmp_path / "s")
    store.kv()["k"] = b"v"
    child = os.fork()
    if child == 0:
        try:
            store.kv()
        except tonnage.Unavailable as error:
            with tonnage.connect("memory:") as own:
                own.kv()["k"] = b"child"
            # RocksDB's threads did not come along.
            try:
                tonnage.connect(tmp_path / "other")
            except tonnage.Unavailable as refused:
                os._exit(0 if "fork" in str(error) and "spawn" in str(refused) else 2)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert store.kv()["k"] == b"v"
    store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_in_the_middle_of_a_load_leaves_it_alone(store: tonnage.Store) -> None:
    store.sql("CREATE TABLE t (k LONG, PRIMARY KEY (k))")
    table, rows = store.table("t"), store.sql("SELECT 1 AS one")
    is_running, goes_on = threading.Event(), threading.Event()

    def source():  # type: ignore[no-untyped-def]
        yield {"k": 0}
        is_running.set()
        goes_on.wait(30)
        yield from ({"k": k} for k in range(1, 10_000))

    load = threading.Thread(target=lambda: table.bulk_put(source()))
    load.start()
    assert is_running.wait(30)
    child = os.fork()
    if child == 0:
        calls = [lambda: table.get(1), lambda: store.sql("SELECT 1"), rows.fetchall, store.close]
        refused = 0
        for call in calls:
            try:
                call()
            except tonnage.Unavailable as error:
                refused += "spawn" in str(error)
        os._exit(0 if refused == len(calls) else 1)
    _, status = os.waitpid(child, 0)
    goes_on.set()
    load.join(30)
    assert os.waitstatus_to_exitcode(status) == 0
    assert table.count() == 10_000 and rows.fetchall() == [{"one": 1}]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_ends_by_itself(tmp_path: Path) -> None:
    ended = python(
        """
        import os, sys, warnings, tonnage
        warnings.simplefilter("ignore")
        store = tonnage.connect(sys.argv[1])
        child = os.fork()
        if child == 0:
            sys.exit(7)
        _, status = os.waitpid(child, 0)
        store.kv()["k"] = b"v"
        sys.exit(os.waitstatus_to_exitcode(status) - 7)
        """,
        str(tmp_path / "s"),
    )
    assert ended.returncode == 0, ended.stderr


def test_a_child_that_is_spawned_has_stores_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "spawned.py"
    script.write_text(
        textwrap.dedent(
            """
            import multiprocessing, sys, tonnage

            def work(path):
                with tonnage.connect(path) as store:
                    store.kv()["k"] = b"child"

            if __name__ == "__main__":
                with tonnage.connect(sys.argv[1] + "/parent") as store:
                    context = multiprocessing.get_context("spawn")
                    child = context.Process(target=work, args=(sys.argv[1] + "/child",))
                    child.start()
                    child.join()
                    sys.exit(child.exitcode)
            """
        )
    )
    ended = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr
    with tonnage.connect(tmp_path / "child") as store:
        assert store.kv()["k"] == b"child"


def test_ctrl_c_stops_a_load_and_keeps_its_report(tmp_path: Path) -> None:
    store = tonnage.connect(tmp_path / "s")
    store.sql("CREATE TABLE t (k LONG, PRIMARY KEY (k))")

    def rows():  # type: ignore[no-untyped-def]
        k = 0
        while True:
            if k == 20_000:
                os.kill(os.getpid(), signal.SIGINT)
            yield {"k": k}
            k += 1

    with pytest.raises(KeyboardInterrupt) as stopped:
        store.table("t").bulk_put(rows())
    report = stopped.value.report  # type: ignore[attr-defined]
    assert report.inserted == store.table("t").count() >= 1
    store.close()


def test_the_interpreter_ends_with_a_load_under_way(tmp_path: Path) -> None:
    ended = python(
        """
        import itertools, sys, threading, time, tonnage
        store = tonnage.connect(sys.argv[1])
        store.sql("CREATE TABLE t (k LONG, PRIMARY KEY (k))")
        rows = ({"k": k} for k in itertools.count())
        threading.Thread(target=lambda: store.table("t").bulk_put(rows), daemon=True).start()
        time.sleep(0.5)
        """,
        str(tmp_path / "s"),
    )
    assert ended.returncode == 0, ended.stderr
    with tonnage.connect(tmp_path / "s") as store:
        assert store.check()["is_sound"]


def test_eight_threads_share_a_store(store: tonnage.Store) -> None:
    store.sql("CREATE TABLE t (thread LONG, k LONG, PRIMARY KEY (SHARD(thread), k))")
    table = store.table("t")
    failures: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            table.bulk_put({"thread": thread, "k": k} for k in range(2_000))
            assert len(table.bulk_get([thread]).fetchall()) == 2_000
            for k in range(50):
                table.put({"thread": thread, "k": -k - 1})
            counted = store.sql("SELECT count(*) AS n FROM t WHERE thread = $1", [thread]).fetchone()
            assert counted == {"n": 2_050}
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert failures == [] and table.count() == 8 * 2_050


def test_an_old_processor_is_refused_before_it_dies(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor: 0\nflags: sse2 avx2 bmi2\n")
    if _cpu.platform.machine() in ("x86_64", "AMD64"):
        with pytest.raises(ImportError, match="pclmulqdq"):
            _cpu.check(cpuinfo)
    _cpu.check(tmp_path / "missing")


@pytest.mark.parametrize("first", ["tonnage", "rocksdict"])
def test_another_rocksdb_in_the_process_is_in_nobodys_way(tmp_path: Path, first: str) -> None:
    pytest.importorskip("rocksdict")
    ended = python(
        """
        import sys
        path, first = sys.argv[1:]
        for name in sorted(["tonnage", "rocksdict"], reverse=first == "tonnage"):
            __import__(name)
        import rocksdict, tonnage
        other = rocksdict.Rdict(path + "/other")
        with tonnage.connect(path + "/own") as store:
            store.kv().bulk_put({str(n): b"own" for n in range(10_000)})
            for n in range(10_000):
                other[n] = n
            other.flush()
            store.settle()
            assert store.check()["is_sound"] and store.kv().count() == 10_000
        assert other[9_999] == 9_999
        other.close()
        """,
        str(tmp_path),
        first,
    )
    assert ended.returncode == 0, ended.stderr


def test_upkeep(tmp_path: Path) -> None:
    with tonnage.connect(tmp_path / "s") as store:
        store.sql("CREATE TABLE t (k LONG, PRIMARY KEY (k))")
        store.table("t").bulk_put({"k": list(range(100))})
        store.sync()
        store.settle()
        assert store.check()["rows"] == {"t": 100} and store.check()["is_sound"]
        assert store.statistics()["shards"] == 1
        store.checkpoint(tmp_path / "copy")
    with tonnage.connect(tmp_path / "copy") as copy:
        assert copy.table("t").count() == 100
