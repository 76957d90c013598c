#!/usr/bin/env python3
"""Holds the files under `slt` against SQLite or DuckDB: whose answers they are.

    python3 crates/sql/tests/slt_reference.py sqlite            # compares; SQLite comes with Python
    python3 crates/sql/tests/slt_reference.py duckdb            # needs `pip install duckdb`
    python3 crates/sql/tests/slt_reference.py duckdb --write    # puts the reference's answers into the files

A file takes part where a comment at its head names the reference: `# reference: sqlite, duckdb`. Records with `skipif` or `onlyif`
before them are left out as these say. Definitions are put into the reference's words: what Tonnage calls a shard key is a
part of the primary key, and a child table has its parent's key columns.
"""

import argparse
import datetime
import pathlib
import re
import sys

FILES = pathlib.Path(__file__).parent / "slt"

TYPES = {
    "sqlite": {"STRING": "TEXT", "LONG": "INTEGER", "BINARY": "BLOB", "JSON": "TEXT", "UUID": "TEXT", "DOUBLE": "REAL"},
    "duckdb": {"STRING": "VARCHAR", "LONG": "BIGINT", "BINARY": "BLOB"},
}


class Dialect:
    """Tonnage's statements in the words of the reference."""

    def __init__(self, engine):
        self.engine = engine
        self.keys = {}

    def translate(self, sql):
        definition = re.match(r"\s*CREATE TABLE ([\w.]+) \((.*)\)\s*$", sql, re.S)
        if definition:
            sql = self.definition(*definition.groups())
        if self.engine == "duckdb":
            # A word of its own there.
            sql = re.sub(r"\bat\b", '"at"', sql)
        sql = re.sub(r"\bUPSERT INTO\b", "INSERT OR REPLACE INTO", sql)
        for path in self.keys:
            if "." in path:
                sql = re.sub(rf"\b{re.escape(path)}\b", path.replace(".", "_"), sql)
        return sql

    def definition(self, path, body):
        body = re.sub(r"SHARD\(([^)]*)\)", r"\1", body)
        body = re.sub(r"TIMESTAMP\(\d\)", "TEXT" if self.engine == "sqlite" else "TIMESTAMP", body)
        for ours, theirs in TYPES[self.engine].items():
            body = re.sub(rf"\b{ours}\b", theirs, body)
        key = re.search(r"PRIMARY KEY \(([^)]*)\)", body)
        names = [name.strip() for name in key.group(1).split(",")] if key else [body.split()[0]]
        columns = [(name, re.search(rf"(?<![\w\"]){re.escape(name)} (\w+)", body).group(1)) for name in names]
        inherited = self.keys.get(path.rpartition(".")[0], [])
        self.keys[path] = inherited + columns
        if inherited:
            own = ", ".join(f"{name} {kind} NOT NULL" for name, kind in inherited)
            body = f"{own}, {body}".replace("PRIMARY KEY (", "PRIMARY KEY (" + "".join(f"{name}, " for name, _ in inherited))
        return f"CREATE TABLE {path} ({body})"


class Sqlite:
    def __init__(self):
        import sqlite3

        self.errors = sqlite3.Error
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        # As SQL says and the others do it: LIKE tells capitals from small letters.
        self.connection.execute("PRAGMA case_sensitive_like = ON")

    def query(self, sql):
        return self.connection.execute(sql).fetchall()

    def count(self, sql):
        return self.connection.execute(sql).rowcount


class DuckDb:
    def __init__(self):
        import duckdb

        self.errors = duckdb.Error
        self.connection = duckdb.connect(":memory:")
        self.connection.execute("SET default_null_order = 'NULLS_LAST_ON_ASC_FIRST_ON_DESC'")
        self.connection.execute("SET integer_division = true")

    def query(self, sql):
        return self.connection.execute(sql).fetchall()

    def count(self, sql):
        row = self.connection.execute(sql).fetchone()
        return row[0] if row else 0


def cell(value):
    """A value as the files write it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    return str(value) or "(empty)"


def is_same(ours, theirs):
    """Numbers may differ in their last digits: sums are added up in another order. SQLite writes truth as 1 and 0."""
    if ours == theirs or (ours, theirs) in {("true", "1"), ("false", "0")}:
        return True
    try:
        a, b = float(ours), float(theirs)
    except ValueError:
        return False
    return abs(a - b) <= 1e-9 * max(1.0, abs(b))


def are_same(ours, theirs):
    if len(ours) != len(theirs):
        return False
    split = [(a.split(), b.split()) for a, b in zip(ours, theirs)]
    return all(len(a) == len(b) and all(map(is_same, a, b)) for a, b in split)


def check(engine, path, write):
    """Runs one file; gives how many records were compared, and what differed."""
    dialect, reference = Dialect(engine), {"sqlite": Sqlite, "duckdb": DuckDb}[engine]()
    compared, differences, blocks = 0, [], []
    for block in path.read_text().rstrip("\n").split("\n\n"):
        lines = block.split("\n")
        blocks.append(block)
        start = next((place for place, line in enumerate(lines) if line.split(" ")[0] in ("statement", "query")), None)
        if start is None or f"skipif {engine}" in lines[:start] or any(
            line.startswith("onlyif") and line != f"onlyif {engine}" for line in lines[:start]
        ):
            continue
        words = lines[start].split()
        answer_at = lines.index("----") if "----" in lines else len(lines)
        sql = "\n".join(lines[start + 1 : answer_at])
        try:
            if words[0] == "query":
                rows = [" ".join(map(cell, row)) for row in reference.query(dialect.translate(sql))]
                expected = lines[answer_at + 1 :]
                if "rowsort" in words:
                    rows.sort()
                    expected.sort()
                if write:
                    blocks[-1] = "\n".join(lines[:answer_at] + ["----"] + rows)
                elif not are_same(expected, rows):
                    differences.append((sql, "\n".join(expected), "\n".join(rows)))
            else:
                count = reference.count(dialect.translate(sql))
                if words[1] == "error":
                    differences.append((sql, "an error", "none"))
                elif words[1] == "count" and write:
                    blocks[-1] = block.replace(lines[start], f"statement count {count}")
                elif words[1] == "count" and int(words[2]) != count:
                    differences.append((sql, words[2], str(count)))
            compared += 1
        except reference.errors as error:
            compared += 1
            if words[:2] != ["statement", "error"]:
                differences.append((sql, "no error", str(error)))
    if write:
        path.write_text("\n\n".join(blocks) + "\n")
    return compared, differences


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("engine", choices=["sqlite", "duckdb"])
    arguments.add_argument("--write", action="store_true", help="put the reference's answers into the files")
    arguments.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = arguments.parse_intermixed_args()
    failed = False
    for path in arguments.files or sorted(FILES.glob("*.slt")):
        named = re.search(r"^# reference: (.*)$", path.read_text(), re.M)
        if not named or arguments.engine not in named.group(1):
            continue
        compared, differences = check(arguments.engine, path, arguments.write)
        print(f"{path.name}: {compared} records, {len(differences)} differ from {arguments.engine}")
        for sql, ours, theirs in differences:
            failed = True
            print(f"\n{sql}\n-- the file says:\n{ours}\n-- {arguments.engine} says:\n{theirs}\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
