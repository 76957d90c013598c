"""Random queries and changes, in Tonnage and in DuckDB: all types, with and without indexes.

Usage: fuzz_duckdb.py [--seed N] [--rounds N] [--seconds N] [--show ROUND]. Each round has tables of
its own; its number and the seed give it again. Every query runs on tables with indexes, on the same
tables without, and in DuckDB; after each change the tables are compared whole. Prints counts, and a
line for each difference that EXPLAINED does not name.
"""

import argparse
import collections
import http.client
import json
import os
import random
import re
import sys
import tempfile
import time

import duckdb

from fuzz_queries import Maker, Table, written
from fuzz_values import equal, from_duck, from_tonnage
from suite import Server

# Errors that one of the two gives, with the reason why that is no fault. What both refuse is equal.
EXPLAINED = [
    ("tonnage", "sum is out of range for LONG", "DuckDB sums in 128 bits"),
    ("tonnage", "Arithmetic overflow|too (large|small) to store|is out of range for",
     "overflow, in a row that the other drops before"),
    ("duckdb", "Overflow in|ut of range|out of range",
     "overflow, in a row that the other drops before"),
    ("tonnage", r"Timestamp -?\d+ out of range", "date_trunc reaches from 1677 to 2262"),
    ("tonnage", "Can't compare arrays of different types|Cannot cast Timestamp",
     "a DATE cast in WITH, below a subquery that is tied to it"),
    ("tonnage", "Expects PARTITION BY expression to be ordered|not satisfy order requirements",
     "a window by a column that WHERE ties to itself"),
    ("tonnage", "Projections require unique expression names",
     "a cast is named after what is cast"),
    ("duckdb", "INTERNAL Error|BindBuiltinScalarFunction did not return",
     "DuckDB fails within itself"),
    ("tonnage", r"'(NaN|-?inf|-?1e300)' is not a number: beside a NUMBER",
     "a literal with a point is a decimal, which has no such value"),
    ("tonnage", "a subquery is where it cannot be carried out",
     "sql.md, Limits: IN (subquery) in GROUP BY"),
]


# A connection that was idle for longer is opened anew.
IDLE_SECONDS_MAX = 5


class Refused(Exception):
    pass


class Tonnage:
    def __init__(self, server):
        self.http = http.client.HTTPConnection(server.http.removeprefix("http://"), timeout=600)
        self.asked = time.time()

    def ask(self, path, body):
        # DuckDB may have taken longer than the server keeps an idle connection.
        if time.time() - self.asked > IDLE_SECONDS_MAX:
            self.http.close()
        self.http.request("POST", path, json.dumps(body))
        answer = self.http.getresponse()
        told = answer.read()
        self.asked = time.time()
        # Decimals are written as numbers.
        return answer.status, json.loads(told, parse_float=str)

    def run(self, sql):
        """How many rows a statement changed, or those that it returned."""
        status, told = self.ask("/v1/sql", {"sql": sql})
        if status != 200:
            raise Refused(told["detail"])
        return rows_of(told) if "columns" in told else told.get("changed")

    def queries(self, texts):
        """Rows, or errors."""
        status, told = self.ask("/v1/fetch-all", [{"sql": text} for text in texts])
        assert status == 200, told
        return [rows_of(answer) for answer in told]


def rows_of(answer):
    if "problem" in answer:
        return Refused(answer["problem"]["detail"])
    kinds = [column["type"] for column in answer["columns"]]
    return [[from_tonnage(value, kind) for value, kind in zip(row, kinds)]
            for row in answer["rows"]]


class Duck:
    def __init__(self):
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute("SET errors_as_json = false")

    def query(self, text):
        try:
            return [[from_duck(value) for value in row]
                    for row in self.connection.execute(text).fetchall()]
        except Exception as error:
            return Refused(str(error))

    def run(self, sql):
        sql = re.sub(r"^UPSERT INTO", "INSERT OR REPLACE INTO", sql)
        try:
            told = self.connection.execute(sql).fetchall()
        except duckdb.Error as error:
            raise Refused(str(error)) from None
        if "RETURNING" in sql:
            return [[from_duck(value) for value in row] for row in told]
        return told[0][0] if told else None


def explained(ours, theirs):
    for side, pattern, reason in EXPLAINED:
        error = ours if side == "tonnage" else theirs
        if isinstance(error, Refused) and re.search(pattern, str(error)):
            return reason
    return None


class Round:
    def __init__(self, number, seed, tonnage, counts, show):
        self.number, self.tonnage, self.counts = number, tonnage, counts
        self.rng = random.Random(f"{seed}/{number}")
        self.duck, self.show, self.history, self.differences = Duck(), show, [], []
        self.tables = [Table(self.rng, f"t{n}") for n in range(self.rng.choice([1, 2, 2, 3]))]
        self.maker = Maker(self.rng, self.tables)

    def note(self, sql):
        self.history.append(sql)
        if self.show:
            print(sql + ";")

    def define(self):
        for table in self.tables:
            for sql in table.definitions(False):
                self.note(sql)
                self.tonnage.run(sql)
            for sql in table.definitions(True):
                self.duck.run(sql)
        for table in self.tables:
            self.change(self.maker.filling(table, self.rng.choice([0, 3, 12, 40])))

    def drop(self):
        for table in self.tables:
            for suffix in ("", "_p"):
                self.tonnage.run(f"DROP TABLE {table.name}{suffix}")

    def differs(self, what, sql, *sides):
        self.counts["differences"] += 1
        short = " | ".join(str(side)[:300] for side in sides)
        self.differences.append(f"round {self.number}: {what}: {sql}\n#     {short}")

    def change(self, made):
        """Whether all agree, and the round may go on."""
        if "VALUES " in made and made.endswith("VALUES "):
            return True
        self.counts["changes"] += 1
        told = []
        for runner, text in ((self.tonnage, written(made, False)),
                             (self.tonnage, written(made, False, "_p")),
                             (self.duck, written(made, True))):
            if runner is self.tonnage:
                self.note(text)
            try:
                told.append(runner.run(text))
            except Refused as error:
                told.append(error)
        refused = [isinstance(one, Refused) for one in told]
        if any(refused):
            if all(refused):
                self.counts["changes refused by all"] += 1
                # Rows are written one by one, and the error tells how many were.
                if "rows changed before that" in str(told[0]):
                    self.counts["explained: a change that fails midway keeps what it wrote"] += 1
                    return False
            elif reason := explained(told[0] if refused[0] else told[1], told[2]):
                self.counts[f"explained: {reason}"] += 1
                return False
            else:
                self.differs("change", written(made, False), *told)
                return False
        elif not self.are_told_alike(made, *told):
            self.differs("change", written(made, False), *told)
            return False
        return self.compare_tables(made)

    def are_told_alike(self, made, left, plain, right):
        if "RETURNING" in made:
            self.counts["changes with RETURNING"] += 1
            return equal(left, right) and equal(plain, right)
        # Rows that are stored over others are counted by DuckDB in another way.
        return left == plain == right or "UPSERT" in made or "EXCLUDED" in made

    def compare_tables(self, made):
        for table in self.tables:
            plain = ", ".join(column for column, kind in table.columns if kind != "json")
            texts = [f"SELECT {plain} FROM {table.name}{suffix}" for suffix in ("", "_p")]
            left, bare = self.tonnage.queries(texts)
            right = self.duck.query(f"SELECT {plain} FROM {table.name}")
            if isinstance(left, Refused) or isinstance(right, Refused) or not (
                    equal(left, right) and equal(bare, right)):
                self.differs("table after", written(made, False), left, bare, right)
                return False
        return True

    def ask(self, count):
        made = [self.maker.query() for _ in range(count)]
        texts = [written(one, False) for one in made]
        if self.show:
            for text in texts:
                print(text + ";")
        bare = [written(one, False, "_p") for one in made]
        answers = self.tonnage.queries(texts + bare)
        for number, one in enumerate(made):
            self.counts["queries"] += 1
            left, plain = answers[number], answers[number + count]
            right = self.duck.query(written(one, True))
            self.judge(texts[number], left, plain, right)

    def judge(self, text, left, plain, right):
        refused = [isinstance(side, Refused) for side in (left, plain, right)]
        if all(refused):
            self.counts["refused by all"] += 1
        elif any(refused):
            if reason := explained(left if refused[0] else plain, right):
                self.counts[f"explained: {reason}"] += 1
            else:
                self.differs("refused", text, left, plain, right)
        elif not equal(left, plain):
            self.differs("with and without index", text, left, plain, right)
        elif not equal(left, right):
            self.differs("answer", text, left, right)
        else:
            self.counts["equal"] += 1
            self.counts["equal, with rows"] += bool(left)

    def run(self):
        self.define()
        for _ in range(12):
            if not self.change(self.maker.change()):
                break
            self.ask(8)
        self.drop()
        return self.differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=int(os.environ.get("FUZZ_SEED", "1")))
    parser.add_argument("--rounds", type=int, default=int(os.environ.get("FUZZ_ROUNDS", "60")))
    parser.add_argument("--seconds", type=int, default=10**9)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--show", type=int, help="print the statements of one round")
    arguments = parser.parse_args()
    counts, ends = collections.Counter(), time.time() + arguments.seconds
    numbers = range(arguments.first, arguments.first + arguments.rounds)
    if arguments.show is not None:
        numbers = [arguments.show]
    told = []
    for store in ["memory:", "disk"]:
        with tempfile.TemporaryDirectory() as directory:
            server = Server("", os.path.join(directory, "s") if store == "disk" else store)
            try:
                for number in numbers:
                    if (number % 4 == 3) != (store == "disk") or time.time() > ends:
                        continue
                    run = Round(number, arguments.seed, Tonnage(server), counts,
                                arguments.show is not None)
                    for difference in run.run():
                        told.append(difference)
                        print(f"#   {difference}", flush=True)
            finally:
                server.stop()
    for what, count in sorted(counts.items()):
        print(f"# {count} {what}")
    failure = f"FAIL {len(told)} differences, seed {arguments.seed}"
    print("all_agree: " + (failure if told else "pass"))


if __name__ == "__main__":
    sys.exit(main())
