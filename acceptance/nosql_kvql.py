"""The public query tests of Oracle NoSQL Database (KVQL) against the listener of its protocol.

The cases come from $ACCEPTANCE_SOURCES/oracle+nosql, a git directory `repo`, or from a clone:
folders with definitions, rows, queries and what these should give. A query passes when its rows
agree (values, names, kinds of numbers; the order where the file says ordered), or when it was to
fail and is refused as a mistake; an answer "not supported" passes nowhere.

`nosql_kvql_passed` lists how many pass of each folder, of those with rows and of those that must
fail. A number may only grow: more is a failure here too, until the list says so
(`KVQL_WRITE=FILE` writes it anew). `KVQL_ONLY=a,b` runs some folders, `KVQL_OUT=FILE` keeps one
line of JSON for each query, `KVQL_LIMIT=n` asks for so many rows at a time.
"""

import collections
import json
import os
import re
import sys
import tempfile
import time

import borneo
from borneo import (
    GetTableRequest,
    PrepareRequest,
    PutRequest,
    QueryRequest,
    TableRequest,
)
from borneo.exception import QueryException

from kvql_cases import generated, properties, records, statements, variables
from kvql_values import parse_json, plain, same, variable
from nosql import NosqlListener
from sources import checked_out

OWNER = "oracle+nosql"
CASES = "kvtest/kvquery-IT/src/main/resources/cases"
PASSED = "nosql_kvql_passed"

NONDETERMINISTIC = (
    "gb/q/noidx09",
    "gb/q/noidx12",
    "gb/q/noidx15",
    "gb/q/distinct02",
)  # only the number of rows counts
# Errors that a statement which must fail may have: "not supported", "unknown" and time-outs are
# none.
REFUSALS = (
    borneo.IllegalArgumentException,
    QueryException,
    borneo.TableNotFoundException,
    borneo.IndexNotFoundException,
    borneo.ResourceNotFoundException,
    borneo.ResourceExistsException,
)
KINDS = ("unordered-result", "ordered-result", "compile-exception", "runtime-exception")


class KvqlRunner:
    """Runs folders of cases through one handle."""

    def __init__(self, cases, handle, limit):
        self.handle, self.cases, self.limit, self.skip = handle, cases, limit, set()

    def ddl(self, text):
        head = text.split(None, 2)
        if len(head) > 1 and head[1].lower() in ("namespace", "user", "role"):
            self.handle.do_system_request(text, 60000, 50)
        else:
            self.handle.do_table_request(TableRequest().set_statement(text), 60000, 50)

    def after(self, folder, props):
        todo = []
        if "after-ddl-file" in props:
            todo += statements(os.path.join(folder, props["after-ddl-file"]))
        elif props.get("before-class") == "RowPropsSetup":
            todo += statements(os.path.join(folder, "after.ddl"))
        todo += generated(props.get("before-class", ""))[2]
        for s in todo:
            try:
                self.ddl(s)
            except Exception:
                pass  # the table may not be there

    def before(self, folder, props):
        ddl, rows, _ = generated(props.get("before-class", ""))
        if "before-ddl-file" in props:
            ddl += statements(os.path.join(folder, props["before-ddl-file"]))
        elif props.get("before-class") == "RowPropsSetup":
            ddl += statements(os.path.join(folder, "before.ddl"))
        for s in ddl:
            try:
                self.ddl(s)
            except borneo.TableExistsException:  # left by a run that was stopped
                self.ddl(
                    "DROP TABLE "
                    + re.search(r"create\s+table\s+(?:if\s+not\s+exists\s+)?([\w.:]+)", s, re.I)[1]
                )
                self.ddl(s)
        for table, row, absent in rows:
            request = PutRequest().set_table_name(table).set_value(row)
            if absent:
                request.set_option(borneo.PutOption.IF_ABSENT)
            self.handle.put(request)
        if "before-data-file" in props:
            path = os.path.join(folder, props["before-data-file"])
            schemas = {}
            for table, text in records(path):
                if table not in schemas:
                    schema = self.handle.get_table(
                        GetTableRequest().set_table_name(table)
                    ).get_schema()
                    schemas[table] = json.loads(schema) if schema else None
                row = plain(text, schemas[table])
                request = PutRequest().set_table_name(table).set_value(row)
                if "row_metadata" in path:
                    request.set_last_write_metadata(row.get("info"))
                self.handle.put(request)

    def prepare(self, text):
        return self.handle.prepare(PrepareRequest().set_statement(text)).get_prepared_statement()

    def bind(self, prepared, text, values, file):
        declared = {}
        bare = re.sub(r"(?m)//.*$|^\s*#.*$|/\*.*?\*/", "", text)
        m = re.match(
            r"\s*declare\b(.*?)(?=\b(?:select|insert|upsert|update|delete)\b)", bare, re.S | re.I
        )
        if m:
            for d in m[1].split(";"):
                w = re.match(r"\s*(\$\w+)\s+(.+?)\s*$", d, re.S)
                if w:
                    declared[w[1]] = w[2]
        for name, kind in declared.items():
            if name not in values:
                raise LookupError(f"variable {name} not defined in the suite")
            value, k, forced = values[name]
            self.set(prepared, name, variable(value, k, forced or kind))
        for name, (value, k, forced) in values.items():
            w = re.fullmatch(r"\$\$(\d+)_(.*)", name)
            if w and w[2] == file:
                prepared.set_variable(int(w[1]) + 1, variable(value, k, forced))
            elif (
                name not in declared and not w and re.search(re.escape(name) + r"\b", bare)
            ):  # an undeclared one, or an alias
                self.set(prepared, name, variable(value, k, forced))

    def set(self, prepared, name, value):
        if name in self.skip:
            return
        try:
            prepared.set_variable(name, value)
        except borneo.IllegalArgumentException as e:
            if "contain the variable" not in str(e):  # declared and not used
                raise

    def answer(self, prepared, text, values, file):
        """Binds and runs; a name that the server says is not a variable (an alias, say) is left out and all is done again."""
        self.skip = set()
        while True:
            prepared.clear_variables()
            self.bind(prepared, text, values, file)
            try:
                return self.rows(prepared)
            except borneo.IllegalArgumentException as e:
                m = re.search(r"contain the variable: (\$\w+)", str(e))
                if not m or m[1] in self.skip:
                    raise
                self.skip.add(m[1])

    def rows(self, prepared):
        request = QueryRequest().set_prepared_statement(prepared)
        if self.limit:
            request.set_limit(self.limit)
        out, turns = [], 0
        while True:
            out += self.handle.query(request).get_results()
            turns += 1
            if request.is_done():
                return out
            if turns > 20000:
                raise RuntimeError("query does not end")

    def case(self, folder, name, query_path, result_path, values):
        """(passed, kind, why)"""
        lines = open(result_path, encoding="utf8").read().split("\n")
        while lines and lines[0].lstrip().startswith("#"):
            lines.pop(0)
        kind = lines[0].strip().lower() if lines else ""
        rest = "\n".join(lines[1:]).strip()
        if kind not in KINDS:
            return False, kind or "none", "the result file has no known head"
        text = open(query_path, encoding="utf8").read().strip()
        change, where = None, {w: text.find(w) for w in ("update", "insert", "delete", "select")}
        at = (
            where["insert"]
            if where["insert"] >= 0
            else where["delete"]
            if where["delete"] >= 0
            else where["update"]
        )
        if 0 <= at < where["select"]:
            change, text = text[: where["select"]], text[where["select"] :]
        stage = "compile-exception"
        try:
            first = self.prepare(change or text)
            second = self.prepare(text) if change else None
            stage = "runtime-exception"
            have = self.answer(first, change or text, values, os.path.basename(query_path))
            if second:
                have = self.rows(second)
        except Exception as e:
            if kind.endswith("exception") and (
                isinstance(e, REFUSALS) or isinstance(e, LookupError)
            ):
                note = (
                    f"{type(e).__name__} " if type(e) is not borneo.IllegalArgumentException else ""
                )
                note += "" if stage == kind else f"failed at {stage} "
                if rest and rest not in str(e):
                    note += f"message: want {rest[:120]!r} have {str(e)[:160]!r}"
                return True, kind, note
            return False, kind, f"{stage}: {type(e).__name__}: {str(e)[:300]}"
        if kind.endswith("exception"):
            return False, kind, f"no exception, {len(have)} rows"
        want = [l.strip() for l in rest.split("\n") if l.strip()]
        if any(f"{folder}/q/{name}".startswith(n) for n in NONDETERMINISTIC):
            return len(want) == len(have), kind, f"{len(want)} rows wanted, {len(have)} came"
        try:
            want = [parse_json(l) for l in want]
        except ValueError as e:
            return False, kind, f"the result file is not JSON: {e}"
        if len(want) != len(have):
            return False, kind, f"{len(want)} rows wanted, {len(have)} came: {have!r:.200}"
        bags = "array_collect" in text.lower()  # the order of what is collected is the server's
        if kind == "ordered-result":
            for i, (w, h) in enumerate(zip(want, have)):
                if why := same(w, h, False, f"row {i}", bags):
                    return False, kind, why
        else:
            left = list(have)
            for w in want:
                hit = next(
                    (i for i, h in enumerate(left) if same(w, h, False, "", bags) is None), None
                )
                if hit is None:
                    return (
                        False,
                        kind,
                        f"no row like {json.dumps(w)[:150]}; left {left!r:.200}; e.g. {same(w, left[0], False, str(), bags)}",
                    )
                left.pop(hit)
        columns = next(
            (
                f"columns {list(h)} for {list(w)}"
                for w, h in zip(want, have)
                if set(w) == set(h) and list(w) != list(h)
            ),
            "",
        )
        return True, kind, columns

    def suite(self, name, emit):
        folder = os.path.join(self.cases, name)
        props = properties(os.path.join(folder, "test.config"))
        values = variables(props)
        self.after(folder, props)
        setup = ""
        try:
            self.before(folder, props)
        except Exception as e:
            setup = f"setup: {type(e).__name__}: {str(e)[:300]}"
        for key, value in props.items():
            if not key.startswith("run-"):
                continue
            m = re.match(r"\s*(.*?)\s*\(.*?\)\s*=\s*(\S+)", value)
            queries, results = m[1], m[2]
            for f in sorted(os.listdir(os.path.join(folder, queries))):
                if not f.endswith(".q"):
                    continue
                r = os.path.join(folder, results, f[:-1] + "r")
                t0 = time.time()
                if setup:
                    passed, kind, why = False, "setup", setup
                elif not os.path.exists(r):
                    passed, kind, why = False, "none", "no result file"
                else:
                    passed, kind, why = self.case(
                        name, f, os.path.join(folder, queries, f), r, values
                    )
                emit(
                    dict(
                        dir=name,
                        query=f"{name}/{queries}/{f}",
                        passed=passed,
                        kind=kind,
                        why=why,
                        ms=round(1000 * (time.time() - t0), 1),
                    )
                )
                if (
                    "delete" in f"{name}/{queries}/{f}" and not setup
                ):  # these cases change their data
                    self.after(folder, props)
                    self.before(folder, props)
        self.after(folder, props)


def listed():
    """What the list has: for each folder how many pass with rows, and of those that must fail."""
    found = {}
    with open(PASSED, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                folder, rows, refused = line.split()
                found[folder] = (int(rows), int(refused))
    return found


def counted(outcomes):
    """How many pass with rows, and of those that must fail."""
    passed = [one for one in outcomes if one["passed"]]
    refused = sum(one["kind"].endswith("exception") for one in passed)
    return len(passed) - refused, refused


def kind_of(why):
    """A reason without what is of one query alone."""
    why = re.sub(r"\(\d+, \d+\)|line \d+, column \d+", "..", why)
    why = re.sub(r"'[^']*'|\"[^\"]*\"", "'..'", why)
    why = re.sub(r"\d+", "N", why)
    return why[:110]


def write_list(path, found):
    with open(path, "w", encoding="utf-8") as out:
        out.write(
            "# Folder, queries that pass with rows, and of those that must fail: nosql_kvql.py\n"
        )
        for folder, (rows, refused) in sorted(found.items()):
            out.write(f"{folder} {rows} {refused}\n")


def report(every):
    """Prints counts by folder, reasons by kind, and whether the list is met."""
    by_folder = collections.defaultdict(list)
    for one in every:
        by_folder[one["dir"]].append(one)
    found = {folder: counted(outcomes) for folder, outcomes in by_folder.items()}
    for folder, outcomes in sorted(by_folder.items()):
        rows, refused = found[folder]
        print(f"# {folder}: {rows + refused} of {len(outcomes)}")
    failed = [one for one in every if not one["passed"]]
    kinds = collections.Counter(kind_of(one["why"]) for one in failed)
    for kind, count in kinds.most_common(60):
        print(f"#   {count} fail: {kind}")
    rows, refused = counted(every)
    must_fail = sum(one["kind"].endswith("exception") for one in every)
    print(
        f"# {rows} with rows, {refused} of {must_fail} that must fail, {len(every)} in all",
        flush=True,
    )
    if os.environ.get("KVQL_WRITE"):
        write_list(os.environ["KVQL_WRITE"], found)
    known = listed()
    for folder, counts in sorted(found.items()):
        wanted = known.get(folder, (0, 0))
        said = "pass" if counts == wanted else f"FAIL {counts} pass, the list has {wanted}"
        print(f"{folder}: {said}")


def main():
    asked = os.environ.get("KVQL_ONLY")
    with tempfile.TemporaryDirectory() as directory:
        cases = checked_out(OWNER, CASES, directory)
        if cases is None:
            print(f"# left out: {OWNER} is neither in $ACCEPTANCE_SOURCES nor on the network")
            print("sources: pass")
            return
        is_case = lambda name: os.path.exists(os.path.join(cases, name, "test.config"))
        names = asked.split(",") if asked else sorted(filter(is_case, os.listdir(cases)))
        server = NosqlListener("memory:")
        runner = KvqlRunner(cases, server.handle, int(os.environ.get("KVQL_LIMIT", "0")))
        every = []
        for name in names:
            try:
                runner.suite(name, every.append)
            except Exception as error:
                print(f"# {name}: {type(error).__name__}: {error}")
        if os.environ.get("KVQL_OUT"):
            with open(os.environ["KVQL_OUT"], "w", encoding="utf-8") as out:
                out.writelines(json.dumps(one) + "\n" for one in every)
        report(every)
        server.stop()


if __name__ == "__main__":
    main()
