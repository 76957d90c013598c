"""Statements and queries of SQLite's sqllogictest, in a store in memory and in one on disk.

The files come from $ACCEPTANCE_SOURCES/gregrahn+sqllogictest, a git directory `repo`, or from a
clone. The sample is fixed: all of select1 to select5 and of evidence, and the first
SQLITE_QUERIES (100) queries of every file below index and random. Another number, or `all`, leaves
the list of refusals aside.

A query is right, wrong, or refused with an error. No answer may be wrong. `sqlite_refusals` lists
the classes of refusals with their counts and reasons; a count may only shrink.

What other databases would not take either is adapted first:

- INTEGER is LONG, FLOAT is DOUBLE, VARCHAR(n) and TEXT are STRING; UNIQUE and DESC are left out.
- A table without primary key gets one behind its columns: a hidden identity, as SQLite's rowid is.
  A query with `*` reads such a table through a subquery that leaves it out.
"""

import collections
import hashlib
import os
import re
import sys
import tempfile

from sources import checked_out
from sqllogictest import Connection, Record, class_of, compare_classes, refusals
from suite import Server

OWNER = "gregrahn+sqllogictest"
BATCH = 500
REFUSALS = "sqlite_refusals"
NAME = "postgresql"


def records(path, place):
    """The records of a file that are meant for everybody or for PostgreSQL."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    at = 0
    while at < len(lines):
        skips = False
        block = at
        while at < len(lines) and lines[at].strip():
            at += 1
        whole, start = lines[block:at], block + 1
        at += 1
        while whole and (whole[0].startswith("#") or re.match("skipif|onlyif", whole[0])):
            words = whole[0].split()
            skips |= words[0] == "skipif" and words[1] == NAME
            skips |= words[0] == "onlyif" and words[1] != NAME
            whole = whole[1:]
        if not whole or skips:
            continue
        words = whole[0].split()
        if words[0] == "halt":
            return
        if words[0] == "statement":
            sql = "\n".join(whole[1:])
            yield Record(f"{place}:{start}", sql, words[1] == "ok", None, None, None)
        elif words[0] == "query":
            divider = whole.index("----") if "----" in whole else len(whole)
            order = words[2] if len(words) > 2 else "nosort"
            yield Record(f"{place}:{start}", "\n".join(whole[1:divider]), True, words[1], order,
                         whole[divider + 1:])


class Adapter:
    """Statements of SQLite in words that a store with keys takes."""

    def __init__(self):
        self.hidden = {}

    def statement(self, sql):
        table = re.match(r"\s*CREATE\s+TABLE\s+(?:IF NOT EXISTS\s+)?(\w+)\s*\((.*)\)\s*$", sql,
                         re.I | re.S)
        if table:
            return self.table(sql, table[1], table[2])
        sql = re.sub(r"^\s*CREATE\s+UNIQUE\s+INDEX", "CREATE INDEX", sql, flags=re.I)
        if re.match(r"\s*CREATE\s+INDEX", sql, re.I):
            return re.sub(r"\s+(DESC|ASC)\b", "", sql, flags=re.I)
        return self.query(sql)

    def table(self, sql, name, columns):
        head = sql[:sql.index("(")]
        columns = re.sub(r"\bINTEGER\b|\bINT\b", "LONG", columns, flags=re.I)
        columns = re.sub(r"\bFLOAT\b|\bREAL\b", "DOUBLE", columns, flags=re.I)
        columns = re.sub(r"\bVARCHAR\s*\(\d+\)|\bTEXT\b", "STRING", columns, flags=re.I)
        columns = re.sub(r"\s+UNIQUE\b", "", columns, flags=re.I)
        if re.search(r"PRIMARY\s+KEY", columns, re.I):
            self.hidden.pop(name.lower(), None)
            return f"{head}({columns})"
        self.hidden[name.lower()] = [column.split()[0] for column in columns.split(",")]
        columns += ", rowid_ LONG GENERATED ALWAYS AS IDENTITY (CACHE 1000), PRIMARY KEY (rowid_)"
        return f"{head}({columns})"

    def query(self, sql):
        if not re.search(r"(SELECT|ALL|DISTINCT|,|\.)\s*\*", sql, re.I):
            return sql

        def read(found):
            columns = self.hidden.get(found[2].lower())
            if columns is None:
                return found[0]
            names = ", ".join(columns)
            alias = "" if re.match(r"\s+(AS\s+)?(?!CROSS|JOIN|INNER|LEFT|WHERE|ON|GROUP|ORDER)\w",
                                   sql[found.end():], re.I) else f" AS {found[2]}"
            return f"{found[1]}(SELECT {names} FROM {found[2]}){alias}"

        # What stands behind FROM, JOIN, and a comma of FROM; nothing else is followed by a table.
        pattern = re.compile(r"(\bFROM[\s(]+|\bJOIN\s+|,\s*)(" + "|".join(self.hidden or ["-"])
                             + r")\b(?!\s*\.)(?!\s*\()", re.I)
        if re.match(r"\s*DELETE", sql, re.I):
            return sql
        return pattern.sub(read, sql)


def text(value, letter):
    """A value as SQLite's runner prints it."""
    if value is None:
        return "NULL"
    if letter == "I":
        try:
            return str(int(float(value))) if not isinstance(value, int) else str(int(value))
        except ValueError:
            return "0"
    if letter == "R":
        return f"{float(value):.3f}"
    shown = str(int(value)) if isinstance(value, bool) else str(value)
    return "".join(c if " " <= c <= "~" else "@" for c in shown) or "(empty)"


def is_right(record, answer):
    rows = [[text(value, letter) for value, letter in zip(row, record.letters)]
            for row in answer["rows"]]
    if record.order == "rowsort":
        rows.sort()
    values = [value for row in rows for value in row]
    if record.order == "valuesort":
        values.sort()
    expected = [line for line in record.lines if line]
    hashed = re.match(r"(\d+) values hashing to (\w+)$", expected[0]) if expected else None
    if hashed:
        digest = hashlib.md5("".join(value + "\n" for value in values).encode()).hexdigest()
        return len(values) == int(hashed[1]) and digest == hashed[2]
    return values == expected


class Tally:
    def __init__(self, classes):
        self.classes = classes
        self.right = self.done = self.failed = 0
        self.wrong, self.refused, self.unlike = [], [], None

    def answer(self, record, answer):
        if "problem" in answer:
            self.refused.append((answer["problem"]["detail"], record))
        elif is_right(record, answer):
            self.right += 1
        elif class_of(f"differs at {record.place}", self.classes) != "unlisted":
            self.refused.append((f"differs at {record.place}", record))
        elif self.unlike:
            self.refused.append((f"differs behind a refused change: {self.unlike}", record))
        else:
            self.wrong.append((record, answer))

    def statement(self, record, error):
        if (error is None) == record.expected_ok:
            self.done += 1
        else:
            self.failed += 1
            # The rows are no longer those of the file.
            if error and re.match(r"\s*(INSERT|UPDATE|DELETE|REPLACE)", record.sql, re.I):
                self.unlike = error
            self.refused.append((error or "taken, and should not be", record))


def run_file(connection, path, place, queries_max, tally):
    adapter, waiting, asked = Adapter(), [], 0
    tally.unlike = None

    def ask():
        if waiting:
            answers = connection.queries([adapter.query(record.sql) for record in waiting])
            for record, answer in zip(waiting, answers):
                tally.answer(record, answer)
            waiting.clear()

    for record in records(path, place):
        if record.letters is None:
            ask()
            tally.statement(record, connection.statement(adapter.statement(record.sql)))
            continue
        waiting.append(record)
        asked += 1
        if len(waiting) == BATCH:
            ask()
        if asked == queries_max:
            break
    ask()
    for listing in ("VIEWS", "TABLES"):
        status, told = connection.ask("/v1/sql", {"sql": f"SHOW {listing}"})
        for name, *_ in told["rows"] if status == 200 else []:
            connection.statement(f"DROP {listing[:-1]} {name}")


def files(folder):
    for directory, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(".test"):
                yield os.path.relpath(os.path.join(directory, name), folder)


def run_store(folder, kind, store, queries_max, wanted):
    """All files against one server; the tallies by folder."""
    classes = refusals(REFUSALS)
    tallies = collections.defaultdict(lambda: Tally(classes))
    server = Server("", store)
    try:
        connection = Connection(server)
        for name in files(folder):
            if wanted and not re.search(wanted, name):
                continue
            group = re.match(r"(\w+/)?(\w+)", name)[0].replace("/", "_")
            is_whole = not name.startswith(("index", "random"))
            run_file(connection, os.path.join(folder, name), name,
                     None if is_whole else queries_max, tallies[group])
    finally:
        server.stop()
    whole = Tally(classes)
    for group, tally in tallies.items():
        print(f"# {kind} {group}: {tally.right} right, {len(tally.wrong)} wrong, "
              f"{len(tally.refused)} refused; {tally.done} statements as they should be, "
              f"{tally.failed} not", flush=True)
        for record, answer in tally.wrong[:5]:
            print(f"#   wrong at {record.place}: {' '.join(record.sql.split())} gave "
                  f"{str(answer['rows'])[:200]}, expected {record.lines[:9]}")
        what = f"FAIL {len(tally.wrong)} wrong" if tally.wrong else "pass"
        print(f"{kind}_{group}: {what}")
        whole.refused += tally.refused
        whole.right += tally.right
        whole.wrong += tally.wrong
    return whole


def compare_refusals(kind, whole, compares):
    classes = refusals(REFUSALS)
    found = collections.Counter(class_of(error, classes) for error, _ in whole.refused)
    compare_classes(kind, REFUSALS, found, compares)
    unlisted = [both for both in whole.refused if class_of(both[0], classes) == "unlisted"]
    for error, count in collections.Counter(
            re.sub(r"\d+", "N", error)[:160] for error, _ in unlisted).most_common(40):
        example = next(r for e, r in unlisted if re.sub(r"\d+", "N", e)[:160] == error)
        print(f"#   {count} unlisted: {error!r} at {example.place}: "
              f"{' '.join(example.sql.split())[:300]}")
    print(f"{kind}_refused_unlisted: "
          + (f"FAIL {len(unlisted)} of no known class" if unlisted else "pass"))
    queries = whole.right + len(whole.wrong) + sum(1 for _, r in whole.refused if r.letters)
    share = whole.right / max(queries, 1)
    print(f"# {kind}: {queries} queries, {whole.right} right ({share:.2%}), "
          f"{len(whole.wrong)} wrong", flush=True)


def main():
    asked = os.environ.get("SQLITE_QUERIES", "100")
    wanted = sys.argv[1] if len(sys.argv) > 1 else None
    kinds = os.environ.get("SQLITE_STORES", "memory rocksdb").split()
    with tempfile.TemporaryDirectory() as directory:
        folder = os.environ.get("SQLITE_FOLDER") or checked_out(OWNER, "test", directory)
        if folder is None:
            print(f"# left out: {OWNER} is neither in $ACCEPTANCE_SOURCES nor on the network")
            print("sources: pass")
            return
        for kind in kinds:
            store = "memory:" if kind == "memory" else os.path.join(directory, "store")
            whole = run_store(folder, kind, store, None if asked == "all" else int(asked), wanted)
            compare_refusals(kind, whole, asked == "100" and not wanted)


if __name__ == "__main__":
    main()
