"""How fast a server is beside the same store in this process.

    crates/python/bench/run --served                 # 10,000,000 rows
    crates/python/bench/run --served --rows 100000   # a trial

Client and server share the machine. The store in this process and the server take turns three
times; the medians are compared. The load of the machine is printed first.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from speeds import BATCH, DDL, positions, seconds, told

import tonnage

ONE_ROWS = 100


@contextmanager
def served(store: Path) -> Iterator[tonnage.Store]:
    """A server over a store, and a client of it."""
    command = [os.environ["TONNAGE_PROGRAM"], "serve", "--store", str(store), "--create"]
    listeners = ["--http", "127.0.0.1:0", "--flight", "127.0.0.1:0"]
    process = subprocess.Popen([*command, *listeners], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = iter(process.stdout.readline, "ready\n")
    addresses = dict(re.match(r"(\w+) +(\S+)", line).groups() for line in lines)  # type: ignore[union-attr]
    try:
        address = addresses["Flight"].replace("grpc+tcp://", "grpc://")
        with tonnage.connect(address) as client:
            yield client
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def drained(result: tonnage.Result) -> int:
    """How many rows an answer has, batch by batch."""
    return sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(result))


class Turn:
    """What one store or server took, in seconds."""

    def __init__(self, store: tonnage.Store, table: pa.Table) -> None:
        count = table.num_rows
        half = table.slice(0, count // 2)
        store.sql(DDL)
        self.put = seconds(lambda: self._put(store, half))
        self._put(store, table.slice(count // 2))
        rows: list[int] = []
        self.select = seconds(lambda: rows.append(drained(store.sql("SELECT * FROM positions"))))
        assert rows == [count], rows
        store.sql("CREATE TABLE t (id LONG, name STRING, value DOUBLE, PRIMARY KEY (id))")
        store.table("t").bulk_put([n, f"name {n}", n / 3] for n in range(ONE_ROWS))
        asked = [f"SELECT * FROM t WHERE id = {number}" for number in range(ONE_ROWS)]
        store.fetch_all(asked)
        answers: list[list[object]] = []
        self.fetch_all = statistics.median(
            seconds(lambda: answers.append(store.fetch_all(asked))) for _ in range(9)
        )
        assert all(len(list(answer.rows())) == 1 for answer in answers[-1])  # type: ignore[attr-defined]

    @staticmethod
    def _put(store: tonnage.Store, table: pa.Table) -> None:
        batches = iter(table.to_batches(BATCH))
        reader = pa.RecordBatchReader.from_batches(table.schema, batches)
        report = store.table("positions").bulk_put(reader)
        assert report.inserted == table.num_rows, report


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--turns", type=int, default=3)
    told_by = arguments.parse_args()
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"{os.cpu_count()} processors, load {load}", flush=True)
    table = positions(told_by.rows)
    here, there = [], []
    for turn in range(told_by.turns):
        with tempfile.TemporaryDirectory() as folder:
            with tonnage.connect(Path(folder) / "here") as store:
                here.append(Turn(store, table))
        with tempfile.TemporaryDirectory() as folder:
            with served(Path(folder) / "there") as store:
                there.append(Turn(store, table))

    def compared(name: str, rows: int, what: str, wanted: float) -> None:
        own, other = (statistics.median(getattr(t, what) for t in turns) for turns in (here, there))
        told(name, rows / other, "rows/s")
        told("  in this process", rows / own, "rows/s")
        told("  of that rate", own / other, "", wanted)

    compared("bulk put of positions", table.num_rows // 2, "put", 0.5)
    compared("SELECT * of all rows", table.num_rows, "select", 0.7)
    each = statistics.median(turn.fetch_all for turn in there)
    told("100 one-row queries by key by fetch_all", each * 1_000, "ms", 5.0, least=False)
    own = statistics.median(turn.fetch_all for turn in here)
    told("  in this process", own * 1_000, "ms")


if __name__ == "__main__":
    main()
