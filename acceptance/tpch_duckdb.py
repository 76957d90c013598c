"""The 22 queries of TPC-H, in Tonnage and in DuckDB: all answers are equal.

The data comes from tpchgen-cli, at scale factor TPCH_SCALE (0.1). The queries come from
$ACCEPTANCE_SOURCES/apache+datafusion-benchmarks, or from a clone. They are timed in one run each,
which is enough to see what is slow."""

import decimal
import os
import re
import subprocess
import sys
import tempfile
import time

import duckdb

from fuzz_duckdb import Refused, Tonnage, rows_of
from fuzz_values import from_duck
from sources import checked_out
from suite import Server

PROJECT = "apache+datafusion-benchmarks"
KEYS = {
    "nation": "n_nationkey",
    "region": "r_regionkey",
    "part": "p_partkey",
    "supplier": "s_suppkey",
    "partsupp": "ps_partkey, ps_suppkey",
    "customer": "c_custkey",
    "orders": "o_orderkey",
    "lineitem": "l_orderkey, l_linenumber",
}


def generate(directory):
    program = os.path.join(os.path.dirname(sys.executable), "tpchgen-cli")
    scale = os.environ.get("TPCH_SCALE", "0.1")
    command = [program, "parquet", "-s", scale, "--output-dir", directory]
    subprocess.run(command, check=True, capture_output=True)


def load(directory, store):
    for table, key in KEYS.items():
        file = os.path.join(directory, f"{table}.parquet")
        command = [os.environ["TONNAGE"], "load", "--store", store, "--create", "--primary-key",
                   key, table, file]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def is_near(one, two):
    """Means of decimals are cut off after four more digits than the decimals have, and DuckDB's are
    doubles."""
    numbers = (float, decimal.Decimal)
    if isinstance(one, numbers) and isinstance(two, numbers):
        one, two = float(one), float(two)
        return abs(one - two) <= max(1e-6, 1e-9 * abs(two))
    return one == two


def query(text, tonnage, duck):
    """What the last query of a text gives; a view comes before and goes after."""
    statements = [one.strip() for one in text.split(";") if one.strip()]
    ours = theirs = None
    seconds = [0.0, 0.0]
    for statement in statements:
        is_query = re.match(r"(--.*\n|\s)*(select|with)", statement, re.I)
        started = time.time()
        status, told = tonnage.ask("/v1/sql", {"sql": statement})
        if status != 200:
            raise Refused(told["detail"])
        seconds[0] += time.time() - started
        started = time.time()
        found = duck.execute(statement).fetchall()
        seconds[1] += time.time() - started
        if is_query:
            ours = rows_of(told)
            theirs = [[from_duck(value) for value in row] for row in found]
    return ours, theirs, seconds


def main():
    with tempfile.TemporaryDirectory() as directory:
        queries = checked_out(PROJECT, "tpch/queries", directory)
        if queries is None:
            print(f"# left out: {PROJECT} is neither in $ACCEPTANCE_SOURCES nor on the network")
            print("sources: pass")
            return
        generate(directory)
        store = os.path.join(directory, "store")
        load(directory, store)
        duck = duckdb.connect()
        for table in KEYS:
            file = os.path.join(directory, f"{table}.parquet")
            duck.execute(f"CREATE TABLE {table} AS SELECT * FROM '{file}'")
        server = Server("", store)
        try:
            tonnage = Tonnage(server)
            for number in range(1, 23):
                with open(os.path.join(queries, f"q{number}.sql"), encoding="utf-8") as file:
                    text = file.read()
                try:
                    ours, theirs, seconds = query(text, tonnage, duck)
                    is_equal = len(ours) == len(theirs) and all(
                        len(a) == len(b) and all(map(is_near, a, b)) for a, b in zip(ours, theirs))
                    outcome = "pass" if is_equal else f"FAIL {ours[:3]} instead of {theirs[:3]}"
                    print(f"# q{number}: {len(theirs)} rows; {seconds[0]:.2f} s, "
                          f"DuckDB {seconds[1]:.2f} s")
                except Refused as error:
                    outcome = f"FAIL {error}"
                print(f"q{number}: {outcome}", flush=True)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
