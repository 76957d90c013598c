"""YCSB's own binding for Redis, unchanged: workloads a to f over the listener.

Usage: redis_ycsb.py [--records N] [--operations N]. The binding keeps the hashes of all keys in one
sorted set, `_indices`: with 300,000 records it is far beyond what one value holds. Its class is
compiled here; its source lies at `$ACCEPTANCE_SOURCES/OWNER+NAME`, else it is cloned; where neither
is to be had, the suite says what it left out. Nothing of it is kept here. Needs a JDK and Maven.
"""

import argparse
import os
import re
import signal
import socket
import subprocess
import tempfile

from sources import checked_out

JARS = ["site.ycsb:core:0.17.0", "org.hdrhistogram:HdrHistogram:2.1.4",
        "org.apache.htrace:htrace-core4:4.1.0-incubating",
        "org.codehaus.jackson:jackson-mapper-asl:1.9.4",
        "org.codehaus.jackson:jackson-core-asl:1.9.4",
        "redis.clients:jedis:2.9.0", "org.apache.commons:commons-pool2:2.4.2"]
SOURCE = "redis/src/main/java/site/ycsb/db/RedisClient.java"
SHARES = {
    "a": "read=0.5 update=0.5", "b": "read=0.95 update=0.05", "c": "read=1 update=0",
    "d": "read=0.95 update=0 insert=0.05", "e": "read=0 update=0 scan=0.95 insert=0.05",
    "f": "read=0.5 update=0 readmodifywrite=0.5",
}


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=1_800, **options)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told[-2000:]
    return told


def compiled(directory):
    """The class path of the binding; none where its source is not to be had."""
    source = checked_out("brianfrankcooper+YCSB", SOURCE, os.path.join(directory, "ycsb"))
    if source is None:
        return None
    libraries, classes = os.path.join(directory, "libraries"), os.path.join(directory, "classes")
    for artifact in JARS:
        run("mvn", "-B", "-q", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
            f"-Dartifact={artifact}", f"-DoutputDirectory={libraries}")
    jars = [os.path.join(libraries, name) for name in os.listdir(libraries)]
    run("javac", "-nowarn", "-d", classes, "-cp", os.pathsep.join(jars), source)
    return os.pathsep.join([classes, *jars])


def ycsb(classpath, port, phase, arguments, properties):
    """Runs a phase, and gives its operations of each kind by their outcomes."""
    properties = {"redis.host": "127.0.0.1", "redis.port": port, "recordcount": arguments.records,
                  "operationcount": arguments.operations, "maxscanlength": 20,
                  "workload": "site.ycsb.workloads.CoreWorkload", **properties}
    words = [word for name, value in properties.items() for word in ("-p", f"{name}={value}")]
    told = run("java", "-cp", classpath, "site.ycsb.Client", phase, "-db",
               "site.ycsb.db.RedisClient", "-threads", "8", *words)
    counts = re.findall(r"^\[(\w[\w-]*)\], Return=(\w+), (\d+)$", told, re.MULTILINE)
    rate = re.search(r"Throughput\(ops/sec\), ([\d.]+)", told)
    assert counts, told[-2000:]
    print(f"# {phase} {' '.join(f'{k}={v}' for k, v in properties.items() if 'proportion' in k)}: "
          f"{rate and rate[1]} operations/s", flush=True)
    return {(kind, outcome): int(count) for kind, outcome, count in counts}


def asked(port, command):
    """The first line that a command is answered with."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(command + b"\r\nQUIT\r\n")
        return connection.makefile("rb").readline().strip()


def it_loads_and_every_key_is_in_its_index(classpath, port, arguments):
    counts = ycsb(classpath, port, "-load", arguments, {})
    assert counts == {("INSERT", "OK"): arguments.records}, counts
    assert asked(port, b"ZCARD _indices") == b":%d" % arguments.records
    # The hashes, and the index.
    assert asked(port, b"DBSIZE") == b":%d" % (arguments.records + 1)


def workload(name):
    def case(classpath, port, arguments):
        shares = dict(part.split("=") for part in SHARES[name].split())
        shares = {f"{kind}proportion": share for kind, share in shares.items()}
        counts = ycsb(classpath, port, "-t", arguments, shares)
        assert all(outcome == "OK" for _, outcome in counts), counts
        kinds = {kind for kind, _ in counts}
        assert "SCAN" in kinds if name == "e" else "READ" in kinds, counts

    case.__name__ = f"it_runs_workload_{name}"
    return case


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--records", type=int, default=320_000)
    arguments.add_argument("--operations", type=int, default=20_000)
    arguments = arguments.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        classpath = compiled(directory)
        if classpath is None:
            print("# left out: YCSB's binding: its source is not to be had")
            return
        server = subprocess.Popen(
            [os.environ["TONNAGE"], "serve", "--store", os.path.join(directory, "store"), "--create",
             "--http", "off", "--flight", "off", "--redis", "127.0.0.1:0"],
            stdout=subprocess.PIPE, text=True)
        found = (re.match(r"Redis +redis://[\d.]+:(\d+)", line) for line in server.stdout)
        port = int(next(filter(None, found))[1])
        try:
            for case in [it_loads_and_every_key_is_in_its_index, *map(workload, SHARES)]:
                try:
                    case(classpath, port, arguments)
                    outcome = "pass"
                except AssertionError as error:
                    outcome = f"FAIL {error}".splitlines()[0]
                print(f"{case.__name__}: {outcome}", flush=True)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)


if __name__ == "__main__":
    main()
