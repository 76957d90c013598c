"""What the client for Java does a second, with its server on the same machine. Not a part of
`make acceptance`: run it on a machine that does nothing else.

    acceptance/run TARGET/release/tonnage java_speed      or, with other sizes:
    TONNAGE=... python acceptance/java_speed.py --pairs 5000000 --keys 1000000 --threads 32

It prints rates, and p99 of single calls: bulk put and bulk get of pairs, single puts and gets, and
YCSB's workloads a, b and c by `tonnage-ycsb`. Needs a JDK 17 and Maven.
"""

import argparse
import os
import re
import sys
import tempfile

from java_kv import CORE, built, compiled, run
from suite import Server

HERE = os.path.dirname(os.path.abspath(__file__))


def pairs(jars, directory, options):
    classpath = compiled([os.path.join(HERE, "speed", "Speed.java")], jars,
                         os.path.join(directory, "speed"))
    server = Server(store=os.path.join(directory, "pairs"))
    try:
        told = run("java", "-cp", classpath, "Speed", server.http, str(options.pairs),
                   str(options.keys), str(options.threads), str(options.calls))
    finally:
        server.stop()
    print(told, end="", flush=True)


def ycsb(jars, directory, options):
    libraries = os.path.join(directory, "libraries")
    for artifact in CORE:
        run("mvn", "-B", "-q", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
            f"-Dartifact={artifact}", f"-DoutputDirectory={libraries}")
    classpath = os.pathsep.join(
        jars + [os.path.join(libraries, name) for name in os.listdir(libraries)])
    for name, reads in (("a", 0.5), ("b", 0.95), ("c", 1.0)):
        server = Server(store=os.path.join(directory, "ycsb-" + name))
        try:
            common = ["java", "-cp", classpath, "site.ycsb.Client", "-db",
                      "dev.tonnage.ycsb.TonnageDb", "-p", "tonnage.url=" + server.http, "-p",
                      "workload=site.ycsb.workloads.CoreWorkload", "-p",
                      f"recordcount={options.records}", "-p", f"operationcount={options.operations}"]
            run(*common, "-load", "-threads", "2", "-p", "batchsize=10000")
            told = run(*common, "-t", "-threads", str(options.threads), "-p",
                       "requestdistribution=zipfian", "-p", f"readproportion={reads}", "-p",
                       f"updateproportion={1 - reads:.2f}")
        finally:
            server.stop()
        rate = re.search(r"\[OVERALL\], Throughput\(ops/sec\), ([\d.]+)", told)[1]
        tails = re.findall(r"\[(READ|UPDATE)\], 99thPercentileLatency\(us\), (\d+)", told)
        assert "Return=ERROR" not in told, told[-2000:]
        print(f"YCSB {name}, {options.threads} threads: {float(rate):,.0f} operations/s, " +
              ", ".join(f"p99 of {kind.lower()}s {int(tail):,} us" for kind, tail in tails),
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5_000_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--calls", type=int, default=400_000)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--operations", type=int, default=400_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        kv, client, binding = built(os.path.join(directory, "build"))
        pairs([client], directory, options)
        ycsb([binding, client], directory, options)
    # compare.py wants to be told of a case.
    print("java_speed: pass")


if __name__ == "__main__":
    main()
    sys.exit(0)
