"""Programs that were written for the direct driver of another store, unchanged, on `tonnage-kv`:

1. `BulkPutExample`, the sample of the white paper on bulk put, with pairs and with a table;
2. YCSB's own binding `nosqldb`, with YCSB's core of the registry: operations of workloads a, b, c;
3. `tonnage-ycsb`, with the same core: those of a to f.

Their sources lie at `$ACCEPTANCE_SOURCES/OWNER+NAME`, else they are cloned; where neither is to be
had, the suite says what it left out. Nothing of them is kept here. Needs a JDK 17 and Maven.
"""

import os
import re
import subprocess
import sys
import tempfile

from sources import checked_out
from suite import Server

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORE = ["site.ycsb:core:0.17.0", "org.hdrhistogram:HdrHistogram:2.1.4",
        "org.apache.htrace:htrace-core4:4.1.0-incubating",
        "org.codehaus.jackson:jackson-mapper-asl:1.9.4",
        "org.codehaus.jackson:jackson-core-asl:1.9.4"]
RECORDS, OPERATIONS = 20_000, 20_000


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **options)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told[-2000:]
    return told


def built(directory):
    """The jars of the checkout, built anew."""
    run("mvn", "-B", "-q", "-DskipTests", f"-Djava.build={directory}", "package",
        cwd=os.path.join(ROOT, "clients", "java"))
    return [os.path.join(directory, name, f"{name}-0.1.0.jar")
            for name in ("tonnage-kv", "tonnage-client", "tonnage-ycsb")]


def compiled(sources, classpath, directory):
    run("javac", "-nowarn", "-d", directory, "-cp", os.pathsep.join(classpath), *sources)
    return os.pathsep.join([directory, *classpath])


def sample(classpath, server, *arguments):
    port = server.http.rsplit(":", 1)[1]
    return run("java", "-cp", classpath, "bulkput.BulkPutExample", "-store", "kvstore",
               "-host", "127.0.0.1", "-port", port, *arguments)


def the_sample_loads_pairs(classpath, server):
    arguments = ["-load", "300000", "-streamParallelism", "3", "-perShardParallelism", "3"]
    told = sample(classpath, server, *arguments)
    assert "Loaded 300,000 records, 0 pre-existing." in told, told
    assert told.count(" completed, loaded: 100000") == 3, told
    told = sample(classpath, server, *arguments)
    assert "Loaded 300,000 records, 300,000 pre-existing." in told, told


def the_sample_loads_rows(classpath, server):
    arguments = ["-load", "100000", "-streamParallelism", "2", "-heapPercent", "30", "-useTable"]
    told = sample(classpath, server, *arguments)
    assert "Loaded 100,000 rows to users, 0 pre-existing." in told, told
    told = sample(classpath, server, *arguments)
    assert "Loaded 100,000 rows to users, 100,000 pre-existing." in told, told


def ycsb(classpath, server, workload, phase, database="site.ycsb.db.NoSqlDbClient"):
    """Runs a workload, and gives its operations of each kind that succeeded, and failed."""
    host = server.http.removeprefix("http://")
    told = run("java", "-cp", classpath, "site.ycsb.Client", phase, "-db", database, "-threads",
               "8", "-p", "helperHost=" + host, "-p", "tonnage.url=" + server.http,
               "-p", "workload=site.ycsb.workloads.CoreWorkload", "-p", f"recordcount={RECORDS}",
               "-p", f"operationcount={OPERATIONS}", "-p", "fieldcount=2", *workload)
    counts = re.findall(r"^\[(\w+)\], Return=(\w+), (\d+)$", told, re.MULTILINE)
    rate = re.search(r"Throughput\(ops/sec\), ([\d.]+)", told)
    print(f"# ycsb {phase} {' '.join(workload)}: {rate and rate[1]} operations/s")
    assert counts, told[-2000:]
    return {(kind, outcome): int(count) for kind, outcome, count in counts}


def ycsb_loads_and_runs_a_b_and_c(classpath, server):
    counts = ycsb(classpath, server, [], "-load")
    assert counts == {("INSERT", "OK"): RECORDS}, counts
    for share in (0.5, 0.95, 1.0):
        workload = ["-p", f"readproportion={share}", "-p", f"updateproportion={1 - share:.2f}"]
        counts = ycsb(classpath, server, workload, "-t")
        assert sum(counts.values()) == OPERATIONS, counts
        assert all(outcome == "OK" for _, outcome in counts), counts


def our_binding_runs_a_to_f(classpath, server):
    database = "dev.tonnage.ycsb.TonnageDb"
    counts = ycsb(classpath, server, ["-p", "batchsize=1000"], "-load", database)
    assert sum(counts.values()) == RECORDS, counts
    assert {outcome for _, outcome in counts} == {"OK", "BATCHED_OK"}, counts
    shares = {
        "a": "read=0.5 update=0.5", "b": "read=0.95 update=0.05", "c": "read=1 update=0",
        "d": "read=0.95 update=0 insert=0.05", "e": "read=0 update=0 scan=0.95 insert=0.05",
        "f": "read=0.5 update=0 readmodifywrite=0.5",
    }
    for name, share in shares.items():
        workload = ["-p", "maxscanlength=20"]
        for part in share.split():
            workload += ["-p", part.replace("=", "proportion=")]
        counts = ycsb(classpath, server, workload, "-t", database)
        assert all(outcome == "OK" for _, outcome in counts), (name, counts)
        kinds = {kind for kind, _ in counts}
        assert "SCAN" in kinds if name == "e" else "READ" in kinds, (name, counts)


def told(case, *arguments):
    server = Server(store="memory:")
    try:
        case(*arguments, server)
        outcome = "pass"
    except Exception as error:  # a case that fails must not hide the others
        outcome = f"FAIL {type(error).__name__}: {error}".splitlines()[0]
    finally:
        server.stop()
    print(f"{case.__name__}: {outcome}", flush=True)


def main():
    with tempfile.TemporaryDirectory() as directory:
        jars = built(os.path.join(directory, "build"))
        file = checked_out("swatianand+NoSQL", "BulkPutExample.java",
                           os.path.join(directory, "sample"))
        if file is None:
            print("# left out: BulkPutExample: its sources are not to be had")
        else:
            classpath = compiled([file], jars, os.path.join(directory, "sample-classes"))
            told(the_sample_loads_pairs, classpath)
            told(the_sample_loads_rows, classpath)
        source = "nosqldb/src/main/java/site/ycsb/db/NoSqlDbClient.java"
        libraries = os.path.join(directory, "libraries")
        for artifact in CORE:
            run("mvn", "-B", "-q", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
                f"-Dartifact={artifact}", f"-DoutputDirectory={libraries}")
        jars += [os.path.join(libraries, name) for name in os.listdir(libraries)]
        told(our_binding_runs_a_to_f, os.pathsep.join(jars))
        file = checked_out("brianfrankcooper+YCSB", source, os.path.join(directory, "ycsb"))
        if file is None:
            print("# left out: YCSB's binding: its sources are not to be had")
            return
        classpath = compiled([file], jars, os.path.join(directory, "ycsb-classes"))
        told(ycsb_loads_and_runs_a_b_and_c, classpath)


if __name__ == "__main__":
    main()
    sys.exit(0)
