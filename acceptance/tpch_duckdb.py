"""The 22 queries of TPC-H, in Tonnage and in DuckDB: all answers are equal.

The data comes from tpchgen-cli, at scale factor TPCH_SCALE (0.1). The queries come from
$ACCEPTANCE_SOURCES/apache+datafusion-benchmarks, or from a clone. The tables are analysed. Then the
queries run in TPCH_ROUNDS (4) rounds, and are compared in each: the first reads the store, the
second keeps the columns of the tables, later ones take them from memory. Each round tells the
processor time of both, which other programs on the machine disturb less than the time on the
wall."""

import decimal
import os
import re
import subprocess
import sys
import tempfile

import duckdb
import psutil

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
    command = [os.environ["TONNAGE"], "sql", store, "ANALYZE"]
    subprocess.run(command, check=True, capture_output=True)


def is_near(one, two):
    """Means of decimals are cut off after four more digits than the decimals have, and DuckDB's are
    doubles."""
    numbers = (float, decimal.Decimal)
    if isinstance(one, numbers) and isinstance(two, numbers):
        one, two = float(one), float(two)
        return abs(one - two) <= max(1e-6, 1e-9 * abs(two))
    return one == two


class Timed:
    """How long both took, in seconds of processors."""

    def __init__(self, server):
        self.server, self.ours, self.theirs = psutil.Process(server.process.pid), 0.0, 0.0

    def of(self, process, call):
        began = sum(process.cpu_times()[:2])
        given = call()
        return given, sum(process.cpu_times()[:2]) - began

    def ask(self, tonnage, statement):
        answer, took = self.of(self.server, lambda: tonnage.ask("/v1/sql", {"sql": statement}))
        self.ours += took
        return answer

    def fetch(self, duck, statement):
        rows, took = self.of(psutil.Process(), lambda: duck.execute(statement).fetchall())
        self.theirs += took
        return rows


def query(text, tonnage, duck, timed):
    """What the last query of a text gives; a view comes before and goes after."""
    statements = [one.strip() for one in text.split(";") if one.strip()]
    ours = theirs = None
    for statement in statements:
        is_query = re.match(r"(--.*\n|\s)*(select|with)", statement, re.I)
        status, told = timed.ask(tonnage, statement)
        if status != 200:
            raise Refused(told["detail"])
        found = timed.fetch(duck, statement)
        if is_query:
            ours = rows_of(told)
            theirs = [[from_duck(value) for value in row] for row in found]
    return ours, theirs


def outcome_of(text, tonnage, duck, timed):
    try:
        ours, theirs = query(text, tonnage, duck, timed)
    except Refused as error:
        return f"FAIL {error}"
    is_equal = len(ours) == len(theirs) and all(
        len(a) == len(b) and all(map(is_near, a, b)) for a, b in zip(ours, theirs))
    return "pass" if is_equal else f"FAIL {ours[:3]} instead of {theirs[:3]}"


def texts(queries):
    for number in range(1, 23):
        with open(os.path.join(queries, f"q{number}.sql"), encoding="utf-8") as file:
            yield f"q{number}", file.read()


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
            outcomes = {}
            for number in range(1, int(os.environ.get("TPCH_ROUNDS", "4")) + 1):
                whole, each = [0.0, 0.0], []
                for name, text in texts(queries):
                    timed = Timed(server)
                    outcome = outcome_of(text, tonnage, duck, timed)
                    if outcomes.setdefault(name, "pass") == "pass":
                        outcomes[name] = outcome
                    whole = [whole[0] + timed.ours, whole[1] + timed.theirs]
                    each.append(f"{name} {timed.ours:.2f}/{timed.theirs:.2f}")
                print(f"# round {number}: {whole[0]:.1f} s of processors, DuckDB {whole[1]:.1f} s: "
                      + ", ".join(each), flush=True)
            for name, outcome in outcomes.items():
                print(f"{name}: {outcome}")
        finally:
            server.stop()


if __name__ == "__main__":
    main()
