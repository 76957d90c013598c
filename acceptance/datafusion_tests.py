"""DataFusion's own sqllogictest files against a server.

The files come with the crate `datafusion-sqllogictest`, in the version of DataFusion that
Cargo.lock names; cargo fetches it where it is missing. `project_tests` runs them. An argument is a
pattern of the files to run; then the counts of `datafusion_refusals` are left aside.

Tables over CSV files of apache/arrow-testing are made from these files. Tables over other files are
left out, and what reads them. SKIPPED names the files that are left out whole.
"""

import csv
import glob
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile

from duckdb_tests import closing_of
from hidden_keys import CONSTRAINTS
from project_tests import (
    LeftOut, Project, difference, hashed_alike, is_any_part, is_ordered, run_project)
from shown_values import Cell, alike, number, sort_key
from sources import checked_out
from sql_tokens import solid, split, tokens
from sqllogictest import Record

HERE = os.path.dirname(os.path.abspath(__file__))
CRATE = "datafusion-sqllogictest"
DATA_OWNER = "apache+arrow-testing"
DATA_COMMIT = "9cfebfef8982fb8612e0a2c59059752bd32321a3"
SKIPPED = {
    r"explain|tpch/plans": "plans",
    r"^(parquet|csv_files|arrow_files|avro|json\.slt|copy|create_external_table|dynamic_file"
    r"|encrypted_parquet|file_row_index|input_file_name|insert_to_external|listing_table"
    r"|schema_evolution|clickbench|imdb|preserve_file_partitioning|repartition_scan|tpch/)":
        "files",
    r"^(information_schema|describe|metadata|arrow_field|options|set_variable|ident_normalization)":
        "its catalog and settings",
    r"^(dynamic_filter_pushdown|dynamic_row_group|limit_pruning|projection_pushdown"
    r"|push_down_filter|push_down_topk|sort_pushdown|statistics_registry|repartition"
    r"|range_partitioning"
    r"|monotonic_projection|filter_without_sort|window_topk_pushdown)": "how plans are made",
    r"^(async_udf|create_function|cast_extension_type|union_function|dictionary_struct"
    r"|slt_features)": "what its test program adds, or that program",
    r"^spark/": "functions of datafusion-spark",
}
OWN_STATEMENTS = set("EXPLAIN SHOW DESCRIBE DESC COPY SET RESET ANALYZE".split())
OWN_NAMES = re.compile(r"\binformation_schema\b|\bdatafusion\.|\bparquet_metadata\s*\("
                       r"|\b(statistics_cache|list_files_cache|metadata_cache)\s*\(", re.I)
OWN_FILES = re.compile(r"'[^']*\.(csv|json|parquet|avro|arrow|tbl)(\.gz)?'", re.I)
# Settings that change answers. Others say how plans run and are shown.
CHANGING = re.compile(r"sql_parser|time[_ ]?zone|ansi_mode|catalog\.default|null_ordering"
                      r"|listing_table|format\.|default_null|spark", re.I)

TYPES = {
    "INT UNSIGNED": "LONG", "INTEGER UNSIGNED": "LONG", "TINYINT UNSIGNED": "INTEGER",
    "SMALLINT UNSIGNED": "INTEGER", "BIGINT UNSIGNED": "NUMBER(20, 0)", "UNSIGNED": "LONG",
    "TIMESTAMP": "TIMESTAMP(9)",
}


def column_type(parts):
    """A type and what follows it, in words of the store."""
    parts = solid(parts)
    if not parts:
        return ""
    two = " ".join(part.text for part in parts[:2]).upper()
    if two in TYPES:
        return " ".join([TYPES[two]] + [part.text for part in parts[2:]])
    opens = parts[1].text if len(parts) > 1 else ""
    if parts[0].word == "TIMESTAMP" and opens == "(":
        return " ".join(part.text for part in parts)
    if parts[0].word in TYPES:
        return " ".join([TYPES[parts[0].word]] + [part.text for part in parts[1:]])
    if parts[0].word in ("STRUCT", "ARRAY", "ROW") and opens in ("<", "("):
        sign = {"<": ">", "(": ")"}[opens]
        end = max((n for n, part in enumerate(parts) if part.text == sign), default=len(parts))
        inside = split(parts[2:end], ",")
        if parts[0].word == "ARRAY":
            made = f"ARRAY({column_type(parts[2:end])})"
        elif all(len(field) > 1 for field in inside):
            fields = [field[0].text + " " + column_type(
                field[1:] if field[1].text != ":" else field[2:]) for field in inside]
            made = f"RECORD({', '.join(fields)})"
        else:
            made = " ".join(part.text for part in parts[:end + 1])
        return " ".join([made] + [part.text for part in parts[end + 1:]])
    return " ".join(part.text for part in parts)


class DataFusion(Project):
    name = "datafusion"
    refusals = "datafusion_refusals"

    def __init__(self, data):
        self.data = data

    def types(self, parts):
        return column_type(parts)

    def items(self, path, name):
        for pattern, reason in SKIPPED.items():
            if re.search(pattern, name):
                return f"file: {reason}"
        return [self.with_data(item) for item in parsed(path, name)]

    def with_data(self, item):
        """CREATE EXTERNAL TABLE over a file that is there, as CREATE TABLE and INSERT."""
        if isinstance(item, LeftOut) or "EXTERNAL" not in item.sql.upper():
            return item
        parts = solid(tokens(item.sql))
        location = re.search(r"LOCATION\s+'[^']*testing/data/csv/([\w.]+\.csv)'", item.sql)
        opening = next((n for n, part in enumerate(parts) if part.text == "("), 0)
        if not location or not self.data or not opening or parts[opening - 1].word == "OPTIONS":
            return item
        end = closing_of(parts, opening)
        columns = [column for column in split(parts[opening + 1:end], ",") if column
                   and column[0].word not in CONSTRAINTS]
        name = parts[opening - 1].text
        with open(os.path.join(self.data, location[1]), encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        values = ", ".join("(" + ", ".join(
            "NULL" if value == "" else "'" + value.replace("'", "''") + "'" for value in row) + ")"
            for row in rows)
        declared = ", ".join(" ".join(part.text for part in column) for column in columns)
        names = ", ".join(column[0].text for column in columns)
        item.sql = (f"CREATE TABLE {name} ({declared}); "
                    f"INSERT INTO {name} ({names}) VALUES {values}")
        return item

    def left_out(self, record, words):
        """Why a record does not run, or nothing."""
        first = words[0] if words else ""
        if first == "SET" or first == "RESET":
            if CHANGING.search(record.sql) and record.expected_ok:
                return "its settings, which change answers"
            return "settings of DataFusion"
        if first in OWN_STATEMENTS:
            return "statements about DataFusion itself"
        if first == "CREATE" and {"EXTERNAL", "FUNCTION", "UNBOUNDED"} & set(words[:5]):
            return "files, functions in Rust and unbounded tables"
        if OWN_FILES.search(record.sql) and first != "INSERT":
            return "files"
        if OWN_NAMES.search(record.sql):
            return "its catalog"
        return None

    def compare(self, record, rows):
        expected = record.lines
        if any("<slt:ignore>" in line for line in expected):
            pattern = ".*".join(re.escape(" ".join(part.split()))
                                for part in "\n".join(expected).split("<slt:ignore>"))
            gave = " ".join(cell.text for row in rows for cell in row)
            return None if re.search(pattern.replace("\\ ", "\\s+"), gave) \
                else difference("ignored parts", rows, [expected])
        hashed = re.fullmatch(r"(\d+) values hashing to (\w+)", expected[0]) \
            if len(expected) == 1 else None
        if hashed:
            if hashed_alike(rows, record.order, shown, int(hashed[1]), hashed[2]):
                return None
            return difference("hash", rows, [expected])
        rows = [[Cell(cell.kind, " ".join(cell.text.split())) for cell in row] for row in rows]
        lines = [line.split() for line in expected]
        told = [[line] for line in expected]
        if record.order == "valuesort":
            rows = sorted(([cell] for row in rows for cell in row), key=row_key)
            lines = sorted(([word] for line in lines for word in line), key=line_key)
        if len(rows) != len(lines):
            return difference(f"{len(rows)} rows for {len(lines)}", rows, told)
        if is_any_part(record.sql):
            return None
        if record.order == "rowsort":
            rows, lines = sorted(rows, key=row_key), sorted(lines, key=line_key)
        if all(map(fits, rows, lines)):
            return None
        if record.order == "nosort" and len(rows) > 1 and all(
                map(fits, sorted(rows, key=row_key), sorted(lines, key=line_key))):
            if not is_ordered(record.sql):
                return None
            return difference("order", rows, told)
        return difference("values", rows, told)


def shown(cell):
    """A value as DataFusion hashes it."""
    if cell.kind in ("double", "float", "decimal"):
        text = format(number(cell.text).quantize(number("1e-12")).normalize(), "f")
        return "0" if text == "-0" else text
    return cell.text.replace(" ", "T") if cell.kind == "moment" else cell.text


def row_key(row):
    return line_key([word for cell in row for word in cell.text.split()])


def line_key(words):
    line = re.sub(r"(\d-\d\d)T(\d\d:)", r"\1 \2", " ".join(words))
    return [sort_key(word) for word in line.split()]


def fits(row, words):
    """Whether the words of a line are the values of a row, one behind the other."""
    if not row:
        return not words
    cell, rest = row[0], row[1:]
    usual = len(cell.text.split())
    if cell.kind in ("interval", "duration", "nested", "moment", "date"):
        lengths = range(1, len(words) - len(rest) + 1)
    else:
        lengths = [usual]
    return any(same(cell, " ".join(words[:length])) and fits(rest, words[length:])
               for length in lengths)


def same(cell, expected):
    if alike(cell, expected):
        return True
    # It rounds to twelve digits after the point.
    if cell.kind in ("double", "float", "decimal"):
        one, two = number(cell.text), number(expected)
        return one is not None and two is not None and one.is_finite() and two.is_finite() \
            and abs(one - two) <= number("1e-12")
    return False


def parsed(path, name):
    """The records of a file and of those that it includes."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip("\r") for line in file.read().split("\n")]
    items, at, conditions = [], 0, []
    while at < len(lines):
        if not lines[at].strip() or lines[at].startswith("#"):
            at += 1
            continue
        words, place = lines[at].split(), f"{name}:{at + 1}"
        at += 1
        if words[0] in ("skipif", "onlyif"):
            conditions.append((words[0], words[1].lower()))
            continue
        if words[0] in ("statement", "query"):
            start = at
            while at < len(lines) and lines[at].strip() and lines[at] != "----":
                at += 1
            sql = "\n".join(lines[start:at])
            fails = words[1:2] == ["error"]
            result = []
            if at < len(lines) and lines[at] == "----":
                at += 1
                # An error may have empty lines; two of them end it.
                while at < len(lines) and (lines[at] or (
                        fails and at + 1 < len(lines) and lines[at + 1])):
                    result.append(lines[at])
                    at += 1
            if runs_here(conditions):
                items.append(record(place, words, sql, result))
        elif words[0] == "include":
            for one in sorted(glob.glob(os.path.join(os.path.dirname(path), words[1]))):
                items += parsed(one, os.path.join(os.path.dirname(name), os.path.basename(one)))
        elif words[0] == "halt":
            break
        elif words[0] not in ("sleep", "hash-threshold", "control", "subtest"):
            raise ValueError(f"{place}: {words[0]} is not understood")
        conditions = []
    return items


def runs_here(conditions):
    return all((label == "datafusion") == (kind == "onlyif") for kind, label in conditions)


def record(place, words, sql, lines):
    if words[1:2] == ["error"]:
        return Record(place, sql, False, None, None, None)
    if words[0] == "statement":
        if words[1] == "count" and not sql.lstrip().upper().startswith("CREATE"):
            return Record(place, sql, True, "I", "nosort", [words[2]])
        return Record(place, sql, True, None, None, None)
    order = words[2] if len(words) > 2 else "nosort"
    return Record(place, sql, True, words[1] if len(words) > 1 else "", order, lines)


def version():
    """The version of DataFusion that the workspace is built with."""
    with open(os.path.join(HERE, "..", "Cargo.lock"), encoding="utf-8") as file:
        return re.search(r'name = "datafusion"\nversion = "([^"]+)"', file.read())[1]


def archive(wanted):
    """The archive of the crate, or None."""
    home = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
    pattern = os.path.join(home, "registry", "cache", "*", f"{CRATE}-{wanted}.crate")
    if not glob.glob(pattern):
        # Cargo fetches a crate to tell about it.
        with tempfile.TemporaryDirectory() as directory:
            try:
                subprocess.run(["cargo", "info", f"{CRATE}@{wanted}"], cwd=directory, check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            except FileNotFoundError:
                return None
    return next(iter(glob.glob(pattern)), None)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as directory:
        packed = archive(version())
        if packed is None:
            print(f"# left out: the crate {CRATE} {version()} is nowhere to be had")
            print("sources: pass")
            return
        with open(packed, "rb") as file, tarfile.open(fileobj=io.BytesIO(file.read())) as members:
            members.extractall(directory, filter="data")
        folder = os.path.join(directory, f"{CRATE}-{version()}", "test_files")
        data = checked_out(DATA_OWNER, "data/csv", directory, DATA_COMMIT)
        if data is None:
            print(f"# {DATA_OWNER} is nowhere to be had: what reads its files is left out")
        project = DataFusion(data)
        jobs = []
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.slt"), recursive=True)):
            name = os.path.relpath(path, folder)
            if not wanted or re.search(wanted, name):
                jobs.append((project, name, path))
        run_project(project, jobs, not wanted and data is not None)


if __name__ == "__main__":
    main()
