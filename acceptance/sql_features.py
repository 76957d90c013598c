"""What users of PostgreSQL and DuckDB try first, one feature a line of sql_features.txt: it works, or
the refusal says what to write instead. Each line runs in a process of `tonnage sql` of its own, in
the order of the file, over one store."""

import csv
import io
import os
import re
import subprocess
import tempfile

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sql_features.txt")
TABLES = """
CREATE TABLE t (id INTEGER, a INTEGER, b STRING, x DOUBLE, d DATE, at TIMESTAMP(3), doc JSON,
    PRIMARY KEY (id));
INSERT INTO t VALUES
    (1, 10, 'red', 1.5, '2024-01-15', '2024-01-15 10:30:00', '{"a":1,"l":[1,2,3],"s":"x"}'),
    (2, 20, 'blue', 2.5, '2024-02-20', '2024-02-20 12:00:00', '{"a":2,"m":{"k":"v"}}'),
    (3, 30, 'red', NULL, NULL, NULL, NULL);
CREATE TABLE u (id INTEGER, t_id INTEGER, v NUMBER(10, 2), PRIMARY KEY (id));
INSERT INTO u VALUES (1, 1, 1.10), (2, 1, 2.20), (3, 2, 3.30);
"""


def run(store, text):
    command = [os.environ["TONNAGE"], "sql", "--store", store, "--format", "csv", text]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def answer(printed):
    """The rows of the last answer, without its names: `;` between rows, `,` between values."""
    rows = list(csv.reader(io.StringIO(printed.strip().split("\n\n")[-1])))[1:]
    out = io.StringIO()
    csv.writer(out, lineterminator=";").writerows(rows)
    return out.getvalue().rstrip(";")


def judge(done, expected):
    if expected.startswith("!"):
        words = expected[1:].strip()
        if done.returncode == 0:
            return f"it works: {answer(done.stdout)}"
        is_told = words in done.stderr and "panicked" not in done.stderr
        return None if is_told else f"the refusal lacks '{words}': {done.stderr.strip()}"
    if done.returncode != 0:
        return done.stderr.strip()
    if expected in ("ok", "*") or answer(done.stdout) == expected:
        return None
    return f"{answer(done.stdout)} instead of {expected}"


def main():
    works = refused = 0
    with tempfile.TemporaryDirectory() as directory, open(LIST, encoding="utf-8") as lines:
        store = os.path.join(directory, "store")
        made = run(store, TABLES)
        assert made.returncode == 0, made.stderr
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            name, rest = line.rstrip("\n").split(" | ", 1)
            statements, _, expected = rest.rpartition(" =>")
            expected = expected.strip()
            done = run(store, statements.replace("DIR", directory))
            fault = judge(done, expected)
            works += fault is None and not expected.startswith("!")
            refused += fault is None and expected.startswith("!")
            case = re.sub(r"\W+", "_", name).strip("_")
            told = "pass" if fault is None else "FAIL " + " ".join(fault.split())
            print(f"{case}: {told}", flush=True)
            if os.environ.get("SQL_REFUSALS") and expected.startswith("!"):
                print(f"#   {' '.join(done.stderr.split())}")
    print(f"# {works} features work, {refused} are refused with a remedy")


if __name__ == "__main__":
    main()
