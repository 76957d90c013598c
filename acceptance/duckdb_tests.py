"""DuckDB's own sqllogictest files, below test/sql, against a server.

The files come from $ACCEPTANCE_SOURCES/duckdb+duckdb, a git directory `repo`, or from a clone,
always of one commit. `project_tests` runs them. An argument is a pattern of the files to run; then
the counts of `duckdb_refusals` are left aside.

FOLDERS are those that test SQL itself. The others test how DuckDB works inside, or what a store
with a server does another way:

- storage, attach, copy, copy_database, export, vacuum, storage_version, secrets: files of DuckDB;
- catalog, pg_catalog, settings, pragma, show_select, variables, logging, extensions: its catalog,
  settings and shell;
- optimizer, explain, detailed_profiler, parallelism, vector_types, tpch, tpcds: plans and speed;
- index, constraints, generated_columns, alter, create, trigger, transactions: definitions of
  tables. What Tonnage takes of them, sql_features.txt and its own tests try;
- parser, peg_parser, binder, error: the words of its parser and its errors;
- collate, timezone: extension icu;
- sample, table_function, connect, variant: what Tonnage has nothing like.

Of the folders that run, SKIPPED names parts for the same reasons.
"""

import os
import re
import sys
import tempfile

from project_tests import (
    LeftOut, Project, compare_rows, difference, hashed_alike, run_project)
from shown_values import binary_text
from sources import checked_out
from sql_tokens import joined, solid, split, tokens
from sqllogictest import Record

OWNER = "duckdb+duckdb"
COMMIT = "044a04a7cd39e6e8235f756597ae42dde084e5e5"
FOLDERS = """aggregate cast conjunction cte delete filter function insert join json keywords limit
    merge order ordinality overflow pivot prepared projection returning select setops subquery topn
    types update upsert window""".split()
SKIPPED = {
    r"aggregate/aggregate_state_export/": "states of aggregates are DuckDB's own",
    r"function/autocomplete/|function/index/|function/tokenize/": "its shell and its indexes",
    r"function/variant/|types/(variant|geo|bignum|bit|union|type)/":
        "types that Tonnage has nothing like",
    r"types/alias/": "types by names of one's own",
    r"json/table/": "files of JSON",
    r"materialized_cte_parallel_buffered": "tables of millions of rows, and LIMIT without an order",
    r"test_between_sideeffects|test_volatile_independence": "random numbers",
}
REQUIRED = set("""parquet json icu core_functions skip_reload noforcestorage no_force_storage
    notwindows notmingw notmusl 64bit longdouble strinline nothreadsan no_alternative_verify
    no_latest_storage no_vector_verification no_extension_autoloading vector_size block_size ram
    disk_space""".split())
GROUPS = {
    "<signed>": "tinyint smallint integer bigint hugeint",
    "<unsigned>": "utinyint usmallint uinteger ubigint uhugeint",
}
GROUPS["<integral>"] = GROUPS["<signed>"] + " " + GROUPS["<unsigned>"]
GROUPS["<numeric>"] = GROUPS["<integral>"] + " float double"
GROUPS["<alltypes>"] = GROUPS["<numeric>"] + " bool interval varchar"

# What ends a file: it needs another database, or the same one from disk.
ENDING = set("restart reconnect sleep unzip load include require-env".split())
IGNORED = set("tags hash-threshold reset mode continue".split())

# Statements about DuckDB itself.
OWN_STATEMENTS = set("""PRAGMA EXPLAIN ATTACH DETACH USE LOAD INSTALL CHECKPOINT FORCE CALL EXPORT
    IMPORT COPY SHOW DESCRIBE DESC SUMMARIZE VACUUM ANALYZE UPDATE_EXTENSIONS COMMENT""".split())
OWN_NAMES = re.compile(
    r"\b(duckdb_\w+\s*\(|pragma_\w+|sqlite_master|sqlite_temp_master|information_schema|pg_catalog"
    r"|test_all_types|test_vector_types|repeat_row|stats\s*\(|dbgen|dsdgen|vector_type\s*\("
    r"|current_setting|__internal\w+|finalize\s*\(|json_serialize\w*|json_deserialize\w*"
    r"|json_execute\w*|enable_logging|sql_auto_complete|getvariable)", re.I)
OWN_FILES = re.compile(
    r"\b(read_(csv|json|parquet|text|blob|ndjson|csv_auto|json_auto|json_objects|ndjson_objects)\w*"
    r"|parquet_scan|parquet_\w+|glob|sniff_csv)\s*\("
    r"|'[^']*\.(csv|json|ndjson|parquet|tsv|db)(\.gz)?'"
    r"|\{(TEST_DIR|DATA_DIR|TEMP_DIR|WORKING_DIR\w*)\}|__TEST_DIR__|__WORKING_DIRECTORY__", re.I)
# Settings that change no answer.
HARMLESS = re.compile(
    r"\b(enable_verification|disable_verification|verify\w*|debug\w*|threads|explain_output"
    r"|profil\w*|enable_profiling|disable_profiling|preserve_insertion_order|perfect_ht_threshold"
    r"|memory_limit|max_memory|external_threads|disabled_optimizers|\w*_optimizer"
    r"|nested_loop_join_threshold"
    r"|merge_join_threshold|pivot_filter_threshold|enable_progress_bar|immediate_transaction_mode"
    r"|force_\w+|temp_directory|checkpoint_threshold|wal_autocheckpoint|storage\w*"
    r"|scalar_subquery\w*|dynamic_or_filter_threshold|late_materialization\w*|partitioned_write\w*"
    r"|ordered_aggregate\w*|asof_loop_join_threshold|max_expression_depth|streaming_\w*"
    r"|prefer_range_joins|pivot_limit"
    r"|errors_as_json|enable_\w*macro\w*|warnings\w*|logging\w*|file_search_path|home_directory"
    r"|allocator\w*|\w*compression|enable_object_cache|max_temp\w*|schema|search_path|variable"
    r"|lambda_syntax|enable_mbedtls\w*|arrow_\w+|produce_arrow\w*|index_scan\w*)\b", re.I)

TYPES = {
    "SIGNED": "INTEGER", "INT1": "TINYINT", "INT2": "SMALLINT", "SHORT": "SMALLINT",
    "INT16": "SMALLINT", "INT32": "INTEGER", "INT64": "BIGINT", "OID": "BIGINT",
    # The next wider type that holds all their numbers.
    "UTINYINT": "INTEGER", "UINT8": "INTEGER", "USMALLINT": "INTEGER", "UINT16": "INTEGER",
    "UINTEGER": "LONG", "UINT32": "LONG", "UBIGINT": "NUMBER(20, 0)", "UINT64": "NUMBER(20, 0)",
    "HUGEINT": "NUMBER(39, 0)", "INT128": "NUMBER(39, 0)", "UHUGEINT": "NUMBER(39, 0)",
    "UINT128": "NUMBER(39, 0)",
    "BPCHAR": "STRING", "NVARCHAR": "STRING", "LOGICAL": "BOOLEAN", "DEC": "DECIMAL",
    "TIMESTAMP_S": "TIMESTAMP(0)", "TIMESTAMP_MS": "TIMESTAMP(3)", "TIMESTAMP_US": "TIMESTAMP(6)",
    "TIMESTAMP_NS": "TIMESTAMP(9)", "GUID": "UUID",
}


def column_type(parts):
    """A type and what follows it, in words of the store."""
    parts = solid(parts)
    out, at = [], 0
    is_type = True
    while at < len(parts):
        part = parts[at]
        opens = at + 1 < len(parts) and parts[at + 1].text == "("
        if is_type and part.word in ("STRUCT", "ROW") and opens:
            end = closing_of(parts, at + 1)
            fields = [one for one in split(parts[at + 2:end], ",") if one]
            out.append("RECORD(" + ", ".join(
                field[0].text + " " + column_type(field[1:]) for field in fields) + ")")
            at = end
        elif is_type and part.word == "MAP" and opens:
            end = closing_of(parts, at + 1)
            inside = split(parts[at + 2:end], ",")
            if len(inside) == 2 and inside[0][0].word in ("VARCHAR", "TEXT", "STRING"):
                out.append(f"MAP({column_type(inside[1])})")
            else:
                out.append(joined(parts[at:end + 1]))
            at = end
        elif is_type and part.word in ("DECIMAL", "NUMERIC", "DEC") and not opens:
            out.append("NUMBER(18, 3)")
        elif is_type and part.word in TYPES:
            out.append(TYPES[part.word])
        else:
            out.append(part.text)
        is_type = False
        at += 1
    return " ".join(out)


def closing_of(parts, opening):
    depth = 0
    for at in range(opening, len(parts)):
        depth += (parts[at].text == "(") - (parts[at].text == ")")
        if depth == 0:
            return at
    return len(parts) - 1


class Loop:
    def __init__(self, name, values):
        self.name, self.values, self.items = name, values, []


class DuckDB(Project):
    name = "duckdb"
    refusals = "duckdb_refusals"

    def types(self, parts):
        return column_type(parts)

    def items(self, path, name):
        """The records of a file, or the reason why none of it runs."""
        for pattern, reason in SKIPPED.items():
            if re.search(pattern, name):
                return f"folder: {reason}"
        try:
            return list(expanded(parsed(path, name), {}))
        except Needs as needs:
            return f"requires {needs}"

    def left_out(self, record, words):
        """Why a record does not run, or nothing."""
        first = words[0] if words else ""
        if record.label and record.label.startswith("connection"):
            return "connections beside each other"
        if first in ("SET", "RESET") or (first == "PRAGMA"):
            if HARMLESS.search(record.sql) or not record.expected_ok:
                return "settings of DuckDB"
            return "its settings, which change answers"
        if first in OWN_STATEMENTS:
            return "statements about DuckDB itself"
        if first == "CREATE" and ({"SECRET", "DATABASE"} & set(words)):
            return "statements about DuckDB itself"
        if OWN_FILES.search(record.sql):
            return "files"
        if OWN_NAMES.search(record.sql):
            return "functions and tables about DuckDB itself"
        return None

    def compare(self, record, rows):
        expected = record.lines
        hashed = re.fullmatch(r"(\d+) values hashing to (\w+)", expected[0]) \
            if len(expected) == 1 else None
        if hashed:
            if hashed_alike(rows, record.order, shown, int(hashed[1]), hashed[2]):
                return None
            return difference("hash", rows, [expected])
        columns = len(rows[0]) if rows else len(record.letters)
        by_row = columns > 1 and len(expected) == len(rows)
        if by_row or (expected and all("\t" in line for line in expected)):
            expected = [[text for text in line.split("\t") if text] for line in expected]
        elif len(expected) % columns == 0:
            expected = [expected[at:at + columns] for at in range(0, len(expected), columns)]
        else:
            return difference(f"{len(rows)} rows of {columns}", rows, [expected])
        return compare_rows(record, rows, expected)


def shown(cell):
    """A value as DuckDB hashes it."""
    if cell.kind == "bool":
        return str(int(cell.text == "true"))
    return binary_text(cell.text) if cell.kind == "binary" else cell.text


class Needs(Exception):
    """A file needs something that is not there."""


def parsed(path, name):
    """The records, loops and gaps of a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.replace("\r", "") for line in file.read().split("\n")]
    stack, at, skips = [[]], 0, False

    def is_empty(number):
        return number >= len(lines) or not lines[number] or lines[number].startswith("#")

    while at < len(lines):
        if is_empty(at) or not lines[at].strip():
            at += 1
            continue
        conditions = []
        words = lines[at].split()
        while words and words[0] in ("skipif", "onlyif"):
            conditions.append((words[0], " ".join(words[1:])))
            at += 1
            words = lines[at].split() if at < len(lines) else []
        if not words:
            continue
        place, kind = f"{name}:{at + 1}", words[0]
        if kind in ("statement", "query"):
            at += 1
            start = at
            while not is_empty(at) and lines[at] != "----":
                at += 1
            sql = "\n".join(lines[start:at])
            at += at < len(lines) and lines[at] == "----"
            start = at
            while at < len(lines) and lines[at]:
                at += 1
            if skips:
                stack[-1].append(LeftOut(place, "mode skip"))
            else:
                stack[-1].append((conditions, record(place, words, sql, lines[start:at])))
            continue
        at += 1
        if kind == "mode" and words[1:2] == ["skip"]:
            skips = True
        elif kind == "mode" and words[1:2] == ["unskip"]:
            skips = False
        elif kind == "halt":
            break
        elif skips or kind in IGNORED:
            continue
        elif kind == "require":
            if words[1].lower() == "exact_vector_size" and words[2] == "2048":
                continue
            if words[1].lower() not in REQUIRED:
                raise Needs(words[1].lower())
        elif kind in ("loop", "foreach", "concurrentloop", "concurrentforeach"):
            loop = Loop(words[1], values_of(kind, words))
            if kind.startswith("concurrent"):
                loop.values = None
            stack[-1].append(loop)
            stack.append(loop.items)
        elif kind == "endloop":
            stack.pop()
        elif kind in ("set", "test-env"):
            if kind == "set" and words[1] == "variable":
                words = words[1:]
            if kind == "test-env" or words[0] == "variable":
                stack[-1].append((words[1], " ".join(words[2:])))
        elif kind in ENDING:
            stack[-1].append(LeftOut(place, f"behind {kind}", 0, ends=True))
        else:
            raise ValueError(f"{place}: {kind} is not understood")
    return stack[0]


def values_of(kind, words):
    if kind.endswith("loop"):
        return [str(number) for number in range(int(words[2]), int(words[3]))]
    values = []
    for word in words[2:]:
        if word.lower() in GROUPS:
            values += GROUPS[word.lower()].split()
        elif word.startswith("!") and word[1:] in values:
            values.remove(word[1:])
        else:
            values.append(word)
    return values


def record(place, words, sql, lines):
    if words[0] == "statement":
        label = "connection" if len(words) > 2 else None
        if words[1] in ("maybe", "debug", "debug_skip"):
            return LeftOut(place, "statement maybe")
        return Record(place, sql, words[1] == "ok", None, None, None, label)
    order, label = "nosort", words[3] if len(words) > 3 else None
    if len(words) > 2:
        order = words[2]
        if order in ("none", "sort"):
            order = {"none": "nosort", "sort": "rowsort"}[order]
        if order not in ("nosort", "rowsort", "valuesort"):
            order, label = "nosort", "connection"
    return Record(place, sql, True, words[1], order, lines, label)


def expanded(items, variables):
    """The records of a file one by one, with the variables of its loops put in."""
    ended = None
    for item in items:
        if isinstance(item, tuple) and isinstance(item[0], str):
            variables[item[0]] = filled(item[1], variables)
            continue
        if isinstance(item, Loop):
            if item.values is None or ended:
                yield LeftOut("", ended or "concurrent loops", count_of(item.items))
                continue
            for value in item.values:
                names, value = item.name.split(","), filled(value, variables)
                inner = dict(zip(names, value.split(","))) if len(names) > 1 else {names[0]: value}
                yield from expanded(item.items, {**variables, **inner})
            continue
        if isinstance(item, LeftOut):
            ended = item.reason if item.ends else ended
            yield item
            continue
        conditions, one = item
        if ended or isinstance(one, LeftOut):
            yield LeftOut("", ended) if ended else one
            continue
        if any(is_met(text, variables) == (kind == "skipif") for kind, text in conditions):
            continue
        lines = [filled(line, variables) for line in one.lines] if one.lines is not None else None
        yield Record(one.place, filled(one.sql, variables), one.expected_ok, one.letters, one.order,
                     lines, filled(one.label, variables) if one.label else None)


def count_of(items):
    return sum(count_of(item.items) if isinstance(item, Loop) else isinstance(item[1], Record)
               if isinstance(item, tuple) else item.count for item in items)


def filled(text, variables):
    for name, value in variables.items():
        text = text.replace("${" + name + "}", value).replace("{" + name + "}", value)
    return text


def is_met(condition, variables):
    """Whether a condition holds: `i=2`, `i>2&&i<5`, or the name of a database."""
    if not re.search("[=<>]", condition):
        return condition.lower() == "duckdb"
    for part in condition.split("&&"):
        name, sign, value = re.match(r"\s*(\w+)\s*(<>|>=|<=|=|<|>)\s*(.*?)\s*$", part).groups()
        given = variables.get(name, "")
        if sign in ("=", "<>"):
            holds = (given == value) == (sign == "=")
        else:
            one, two = float(given), float(value)
            holds = {"<": one < two, ">": one > two, "<=": one <= two, ">=": one >= two}[sign]
        if not holds:
            return False
    return True


def files(folder, wanted):
    for top in FOLDERS:
        for directory, _, names in sorted(os.walk(os.path.join(folder, top))):
            for name in sorted(names):
                path = os.path.join(directory, name)
                place = os.path.relpath(path, folder)
                if name.endswith(".test") and (not wanted or re.search(wanted, place)):
                    yield DuckDB(), place, path


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as directory:
        folder = checked_out(OWNER, "test/sql", directory, COMMIT)
        if folder is None:
            print(f"# left out: {OWNER} is neither in $ACCEPTANCE_SOURCES nor on the network")
            print("sources: pass")
            return
        run_project(DuckDB(), list(files(folder, wanted)), not wanted)


if __name__ == "__main__":
    main()
