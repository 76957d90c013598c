"""How fast the package is: beside the Rust library, and beside others on the same rows.

    cargo build --release --workspace --example library_speeds
    crates/python/bench/run                    # 10,000,000 rows
    crates/python/bench/run --rows 100000      # a trial

Each line has a measurement, what is wanted of it, and whether that was reached. Python and the Rust
library take turns three times; the medians are compared. Nothing is worth comparing while other
programs keep the processors busy: the load is printed first.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc

import tonnage

SHIPS = 10_000
BATCH = 65_536
DDL = (
    "CREATE TABLE positions (ship LONG, at TIMESTAMP(0), lat DOUBLE, lon DOUBLE, speed FLOAT, "
    "name STRING, PRIMARY KEY (SHARD(ship), at))"
)


def positions(count: int) -> pa.Table:
    """Rows as receivers send them: by time, of all ships in turn."""
    import pyarrow.compute as pc

    numbers = pa.array(range(count), pa.int64())
    ships = pc.subtract(numbers, pc.multiply(pc.divide(numbers, SHIPS), SHIPS))
    steps = pc.divide(numbers, SHIPS)
    seconds = pc.add(pc.multiply(steps, 10), 1_641_168_000)
    return pa.table(
        {
            "ship": ships,
            "at": seconds.cast(pa.timestamp("s")),
            "lat": pc.add(
                pc.divide(ships.cast(pa.float64()), 200.0), pc.divide(steps.cast(pa.float64()), 1e4)
            ),
            "lon": pc.subtract(pc.divide(steps.cast(pa.float64()), 1e3), 120.0),
            "speed": pc.divide(ships.cast(pa.float32()), pa.scalar(500.0, pa.float32())),
            "name": pc.binary_join_element_wise("ship ", ships.cast(pa.string()), ""),
        }
    )


def write(path: Path, table: pa.Table) -> None:
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=BATCH)


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def told(
    name: str, value: float, unit: str, wanted: float | None = None, least: bool = True
) -> None:
    line = f"{name:58} {value:14,.2f} {unit:10}"
    if wanted is not None:
        reached = value >= wanted if least else value <= wanted
        bound = "at least" if least else "at most"
        line += f" wanted {bound} {wanted:,.2f}: {'yes' if reached else 'NO'}"
    print(line, flush=True)


class Bench:
    def __init__(self, folder: Path, rows: int, keys: int, turns: int, library: Path) -> None:
        self.folder, self.turns, self.library = folder, turns, library
        self.stores = 0
        self.table = positions(rows)
        step = max(1, rows // keys)
        self.keys = self.table.select(["ship", "at"]).take(pa.array(range(0, rows, step)))
        write(folder / "positions.arrow", self.table)
        write(folder / "keys.arrow", self.keys)

    def fresh(self) -> Path:
        """A new place. The last store may still be closing in its own."""
        self.stores += 1
        shutil.rmtree(self.folder / f"store {self.stores - 2}", ignore_errors=True)
        return self.folder / f"store {self.stores}"

    def beside_the_library(self) -> None:
        """Bulk put and bulk get of Arrow, by Python and by the Rust library, in turn."""
        rust: list[dict[str, float]] = []
        puts, gets = [], []
        for _ in range(self.turns):
            files = [str(self.folder / name) for name in ("positions.arrow", "keys.arrow")]
            run = [str(self.library), str(self.fresh()), *files]
            rust.append(json.loads(subprocess.run(run, check=True, capture_output=True).stdout))
            with tonnage.connect(self.fresh()) as store:
                store.sql(DDL)
                table = store.table("positions")
                batches = self.table.to_batches(BATCH)
                reader = pa.RecordBatchReader.from_batches(self.table.schema, iter(batches))
                puts.append(seconds(lambda: table.bulk_put(reader)))
                store.settle()
                found: list[pa.Table] = []
                gets.append(seconds(lambda: found.append(table.bulk_get(self.keys).arrow())))
            assert rust[-1]["put"] == self.table.num_rows
            assert found[0].num_rows == rust[-1]["got"] == self.keys.num_rows
        rows, keys = self.table.num_rows, self.keys.num_rows
        put, get = statistics.median(puts), statistics.median(gets)
        rust_put = statistics.median(run["put_seconds"] for run in rust)
        rust_get = statistics.median(run["get_seconds"] for run in rust)
        told("bulk put of a pyarrow reader", rows / put, "rows/s")
        told("  the Rust library", rows / rust_put, "rows/s")
        told("  of the library's rate", rust_put / put, "", 0.9)
        told("bulk get of keys in a pyarrow table", keys / get, "keys/s")
        told("  the Rust library", keys / rust_get, "keys/s")
        told("  of the library's rate", rust_get / get, "", 0.85)

    def dicts(self, count: int) -> None:
        rows = self.table.slice(0, count).to_pylist()
        with tonnage.connect(self.fresh()) as store:
            store.sql(DDL)
            taken = seconds(lambda: store.table("positions").bulk_put(iter(rows)))
        told("bulk put of an iterator of dicts", count / taken, "rows/s", 250_000)

    def lists(self) -> None:
        """Ten containers of 10,000 rows of lists, as a client of GridDB puts them."""
        rows = {
            f"c{number}": [[n, f"name {n}", n / 3] for n in range(10_000)] for number in range(10)
        }
        with tonnage.connect(self.fresh()) as store:
            for name in rows:
                store.sql(
                    f"CREATE TABLE {name} (id LONG, name STRING, value DOUBLE, PRIMARY KEY (id))"
                )
            taken = seconds(lambda: store.multi_put(rows))
        told("multi_put of 10 tables x 10,000 rows of lists", 100_000 / taken, "rows/s", 620_000)

    def queries(self) -> None:
        """100 queries of one row each on a table of 100 rows, by key and by another column."""
        with tonnage.connect(self.fresh()) as store:
            store.sql("CREATE TABLE t (id LONG, name STRING, value DOUBLE, PRIMARY KEY (id))")
            store.table("t").bulk_put([n, f"name {n}", n / 3] for n in range(100))
            for what, condition in (
                ("by key", "id = {}"),
                ("by another column", "name = 'name {}'"),
            ):
                texts = [f"SELECT * FROM t WHERE {condition.format(n)}" for n in range(100)]

                def run() -> None:
                    for answer in store.fetch_all(texts):
                        assert isinstance(answer, tonnage.Result) and len(answer.fetchall()) == 1

                run()
                taken = statistics.median(seconds(run) for _ in range(20))
                told(f"100 one-row queries {what} by fetch_all", taken * 1e3, "ms", 3, least=False)

    def beside_others(self, count: int) -> None:
        """The same rows in rocksdict and DuckDB, each by its fastest way in."""
        part = self.table.slice(0, count)
        with tonnage.connect(self.fresh()) as store:
            store.sql(DDL)
            table = store.table("positions")
            told("tonnage, bulk put", count / seconds(lambda: table.bulk_put(part)), "rows/s")
            keys = part.select(["ship", "at"])
            told(
                "tonnage, bulk get", count / seconds(lambda: table.bulk_get(keys).arrow()), "keys/s"
            )
        self.rocksdict(part)
        self.duckdb(part)

    def rocksdict(self, part: pa.Table) -> None:
        try:
            from rocksdict import Options, Rdict, WriteBatch
        except ImportError:
            print("rocksdict is not installed: left out")
            return
        rows = part.to_pylist()
        pairs = [
            (
                f"{row['ship']:08}{row['at']:%Y%m%d%H%M%S}".encode(),
                json.dumps(row, default=str).encode(),
            )
            for row in rows
        ]
        database = Rdict(str(self.folder / "rocksdict"), Options(raw_mode=True))

        def put() -> None:
            for begin in range(0, len(pairs), 10_000):
                batch = WriteBatch(raw_mode=True)
                for key, value in pairs[begin : begin + 10_000]:
                    batch.put(key, value)
                database.write(batch)
            database.flush()

        told(
            "rocksdict, write batches (keys and values made before)",
            len(pairs) / seconds(put),
            "rows/s",
        )
        keys = [key for key, _ in pairs]
        told("rocksdict, multi-get", len(keys) / seconds(lambda: database[keys]), "keys/s")
        database.close()
        Rdict.destroy(str(self.folder / "rocksdict"))

    def duckdb(self, part: pa.Table) -> None:
        try:
            import duckdb
        except ImportError:
            print("DuckDB is not installed: left out")
            return
        connection = duckdb.connect(str(self.folder / "duck.db"))
        columns = 'ship BIGINT, "at" TIMESTAMP, lat DOUBLE, lon DOUBLE, speed FLOAT, name VARCHAR'
        for name in ("positions", "appended"):
            connection.execute(f'CREATE TABLE {name} ({columns}, PRIMARY KEY (ship, "at"))')
        connection.register("part", part)
        insert = "INSERT INTO positions SELECT * FROM part"
        told(
            "DuckDB, INSERT of Arrow into a table with a key",
            part.num_rows / seconds(lambda: connection.execute(insert)),
            "rows/s",
        )
        frame = part.to_pandas()
        taken = seconds(lambda: connection.append("appended", frame))
        told("DuckDB, append of a data frame", part.num_rows / taken, "rows/s")
        connection.register("keys", part.select(["ship", "at"]))
        join = 'SELECT p.* FROM positions p JOIN keys k ON p.ship = k.ship AND p."at" = k."at"'
        told(
            "DuckDB, join with the keys",
            part.num_rows / seconds(lambda: connection.sql(join).to_arrow_table()),
            "keys/s",
        )
        connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument(
        "--others", type=int, default=1_000_000, help="rows for rocksdict and DuckDB"
    )
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--library", type=Path, required=True, help="the example library_speeds")
    parser.add_argument(
        "--folder", type=Path, default=None, help="where stores go, and go away again"
    )
    arguments = parser.parse_args()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"{os.cpu_count()} processors, load {load}; Python {sys.version.split()[0]}, "
        f"tonnage {tonnage.__version__}"
    )
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        keys = min(arguments.keys, arguments.rows)
        bench = Bench(Path(folder), arguments.rows, keys, arguments.turns, arguments.library)
        bench.beside_the_library()
        bench.dicts(min(1_000_000, arguments.rows))
        bench.lists()
        bench.queries()
        bench.beside_others(min(arguments.others, arguments.rows))


if __name__ == "__main__":
    main()
