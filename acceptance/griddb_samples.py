"""The published samples of GridDB's Python client, of two generations, on the client of
`clients/griddb`: each runs as it is, and what it prints and stores is compared.

The samples come out of the repository griddb/python_client: a copy of it lies at
`$ACCEPTANCE_SOURCES/griddb+python_client`, else it is cloned into the cache. Nothing of it is kept
here: `griddb_transcripts` has a digest of what each prints, and the checks below say what matters.
Where neither is to be had, the suite says what it left out.

A transcript is written anew with `GRIDDB_TRANSCRIPTS=write`: read what the samples print before.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile

import python_package
from python_package import HERE, ROOT, package
from suite import Server

TRANSCRIPTS = os.path.join(HERE, "griddb_transcripts")
REPOSITORY = "griddb/python_client"
ARGUMENTS = ["239.0.0.1", "31999", "myCluster", "admin", "admin"]

# The two generations: the tag of the sources, and how their programs are run. Those of the newer
# one start a Java virtual machine, for which the runner has a stand-in.
GENERATIONS = {"0.8.5": [], "5.8.0": ["-m", "tonnage_griddb"]}
# These go first in their folder: others read what they store.
FIRST = ["multiPut", "sample1", "sample2"]
LAST = ["ContainerNames"]
# It makes a container of a name that another sample uses with other columns.
ALONE = ["PutRowsWithDataFrame"]
# It needs a Java virtual machine, wherever the store is.
NEVER = ["sampleSQLNoSQL"]

# What a sample must print.
PRINTS = {
    "ArrayData": r"\[0, \['Sales', .*'Research'\], \[39, 92, 18, 51\]\]",
    "BlobData": r"bytearray\(b'.*import griddb_python",
    "ContainerInformation": r"type=Collection\n.*True\n.*3\n"
    r".*id , 4 .*\n.*productName , 0 .*\n.*count , 4 ",
    "ContainerNames": r"(?m)^container0\n(.*\n)*container99\n(.*\n)*SamplePython_GetRow\n",
    "FetchRowsWithDataFrame": r"name01\s+True\s+1 .*\n.*name02\s+False\s+2 ",
    "GetRow": r"notebook PC , count= 108 ",
    "TQLAggregation": r"max= 108\n",
    "TQLSelect": r"id= 0 , .*count= 108\n.*id= 1 , .*count= 72\n.*id= 4 , .*count= 62\n(?!.*id=)",
    "TQLTimeseries": r"2\.625000\n(.*\n)*.*2018-12-01 10:10:00 , 3 , 5\.700000 \)\n"
    r"(.*\n)*.*2018-12-01 10:30:00 , 3 , 8\.200000 \)\n",
    "multiGet": r"container0 \[\['name0', True, 0\], \['name1', True, 1\]\]\n(.*\n)*container9 ",
    "multiQuery": r"(\['name10', True, 10\]\n){10}",
    "sample1": r"Person: name=name02 status=False count=2 lob=\[65, 66, .*74\]",
    "sample2": r"^Time=\d{4}-.* Active=False Voltage=100\.0\n$",
    "sample3": r"Average voltage = 100\.0\n",
    "sampleArrow": r"^$",
}
# What a sample must have stored: a container, a query, and its rows.
STORES = {
    "PutRow": ("SamplePython_PutRow", "select *", [[0, "display", 150]]),
    "PutRows": ("SamplePython_PutRows", "select *", [[i, "dvd", 10 * i] for i in range(5)]),
    "PutRowsWithDataFrame": (
        "SamplePython_PutRows", "select name, count", [["name01", 1], ["name02", 1]]
    ),
    "RemoveRowByRowkey": ("SamplePython_RemoveRowByRowKey", "select id", [[0], [1], [2], [4]]),
    "RemoveRowByTQL": ("SamplePython_RemoveRowByTQL", "select id", [[0], [1], [4]]),
    "UpdateRowByTQL": (
        "SamplePython_UpdateRowByTQL", "select * where id = 4", [[4, "printer", 325]]
    ),
    "CreateCollection": ("SamplePython_collection1", "select *", []),
    "CreateTimeSeries": ("SamplePython_timeseries1", "select *", []),
    "TimeSeriesRowExpiration": ("SamplePython_RowExpiration", "select *", []),
    "CreateIndex": ("SamplePython_Index", "select * where count > 1", []),
    "multiPut": ("container99", "select * where count = 99", [["name99", True, 99]]),
    "sample1": ("col01", "select name, count", [["name02", 2]]),
    "sampleArrow": ("p01", "select *", [[1, "abc", True], [2, "def", False]]),
}


def main():
    with tempfile.TemporaryDirectory() as directory:
        environment = package(directory, os.path.join(ROOT, "clients", "griddb", "src"))
        print(f"example_bulk_operations: {example(directory, environment)}", flush=True)
        repository = python_package.repository(REPOSITORY)
        if repository is None:
            print(f"# left out: the samples, there is no {REPOSITORY} to be had", flush=True)
            return
        transcripts = Transcripts()
        for tag, runner in GENERATIONS.items():
            cases = generation(directory, repository, tag, runner, environment, transcripts)
            for case, told in cases:
                print(f"{case}: {told}", flush=True)
        transcripts.save()


def generation(directory, repository, tag, runner, environment, transcripts):
    """Each sample of a generation, with what became of it on a store of its own process and over a
    server. A folder of them shares a store."""
    folder = os.path.join(directory, tag)
    os.makedirs(folder)
    command = ["git", "--git-dir", repository, "archive", tag, "sample"]
    archive = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)
    servers = {}
    for path, _, files in sorted(os.walk(folder)):
        names = sorted((file[:-3] for file in files if file.endswith(".py")), key=order)
        shared = os.path.join(directory, f"store {tag} {os.path.basename(path)}")
        for name in names:
            store = f"{shared} {name}" if name in ALONE else shared
            relative = os.path.relpath(os.path.join(path, name), folder)
            case = re.sub(r"\W", "_", f"{tag}_{relative}")
            # The old style of the newer generation starts no virtual machine.
            with_runner = runner if "import jpype" in text(path, name) else []
            told = {**environment, "TONNAGE_STORE": store}
            yield case, outcome(path, name, with_runner, told, case, transcripts)
            if name in NEVER:
                continue
            if store not in servers:
                servers[store] = Server(store="memory:")
            told["TONNAGE_STORE"] = servers[store].flight
            became = outcome(path, name, with_runner, told, case, transcripts)
            yield f"{case}_over_a_server", became
    for server in servers.values():
        server.stop()


def example(directory, environment):
    """Our own program with the bulk operations that GridDB's blog describes; it checks itself."""
    program = os.path.join(ROOT, "clients", "griddb", "examples", "bulk_operations.py")
    told = {**environment, "TONNAGE_STORE": os.path.join(directory, "store of the example")}
    run = subprocess.run(
        [sys.executable, program, "--rows", "10000"],
        env=told, capture_output=True, text=True, timeout=300, check=False,
    )
    for line in run.stdout.splitlines():
        print(f"# {line}")
    return "pass" if run.returncode == 0 else f"FAIL {last_line(run.stderr)}"


def order(name):
    return (FIRST.index(name) if name in FIRST else len(FIRST), name in LAST, name)


def text(path, name):
    with open(os.path.join(path, f"{name}.py"), encoding="utf-8") as lines:
        return lines.read()


def outcome(path, name, runner, environment, case, transcripts):
    program = [sys.executable, *runner, f"{name}.py", *ARGUMENTS]
    run = subprocess.run(
        program, cwd=path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    if os.environ.get("TONNAGE_ACCEPTANCE_TRACE"):
        print(run.stdout, run.stderr)
    if run.returncode != 0:
        return f"FAIL it ended with {run.returncode}: {last_line(run.stderr)}"
    # Samples print what they catch, by the number in the stack.
    caught = re.search(r"(?m)^\[ 0 \]\n(.*\n)*", run.stdout)
    if caught:
        return "FAIL it caught " + " ".join(caught[0].split())
    if name in PRINTS and not re.search(PRINTS[name], run.stdout):
        return f"FAIL it did not print {PRINTS[name]!r}, but {run.stdout!r}"
    if name in STORES:
        wrong = not_stored(environment, *STORES[name])
        if wrong:
            return f"FAIL {wrong}"
    if name not in PRINTS and name not in STORES and not run.stdout:
        return "FAIL it printed nothing"
    return transcripts.compare(case, run.stdout)


def not_stored(environment, container, query, rows):
    """What is wrong with the rows of a container; nothing when they are these."""
    probe = (
        "import griddb_python as griddb, sys\n"
        "store = griddb.StoreFactory.get_instance().get_store()\n"
        "print(list(store.get_container(sys.argv[1]).query(sys.argv[2]).fetch()))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", probe, container, query],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )
    if run.returncode != 0:
        return last_line(run.stderr)
    found = run.stdout.strip()
    return None if found == repr(rows) else f"{container} has {found}, not {rows!r}"


def last_line(told):
    return (told.strip().splitlines() or ["nothing was said"])[-1]


class Transcripts:
    """The digests of what the samples print, but for moments that are new in each run."""

    def __init__(self):
        self.is_written = os.environ.get("GRIDDB_TRANSCRIPTS") == "write"
        self.known, self.met = {}, {}
        with open(TRANSCRIPTS, encoding="utf-8") as lines:
            for line in lines:
                if line.strip() and not line.startswith("#"):
                    case, digest = line.split()
                    self.known[case.rstrip(":")] = digest

    def compare(self, case, printed):
        lasting = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+", "a moment", printed)
        lasting = re.sub(r"Timestamp=\d+", "a moment", lasting)
        digest = hashlib.sha256(lasting.encode()).hexdigest()[:16]
        self.met[case] = digest
        if self.is_written or self.known.get(case) == digest:
            return "pass"
        return f"FAIL the transcript differs from the checked one: {printed!r}"

    def save(self):
        if not self.is_written:
            return
        with open(TRANSCRIPTS, "w", encoding="utf-8") as lines:
            lines.write("# What the samples print, as digests. griddb_samples.py renews them.\n")
            lines.writelines(f"{case}: {digest}\n" for case, digest in sorted(self.met.items()))


if __name__ == "__main__":
    main()
