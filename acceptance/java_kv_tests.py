"""Tests of the direct driver of another store, unchanged, on `tonnage-kv`:

1. `BulkPutTest` and `BulkTableTest` of oracle/nosql: 16 tests, by stand-ins of ours (`kv_stand_ins`) for
   the classes of that store's own tests that they name;
2. `japicmp` of the classes that both jars have, against `oracle-nosql-client` 18.3.10: what differs
   stands in `kv_api_differences`, which may only shrink.

Sources lie at `$ACCEPTANCE_SOURCES/oracle+nosql`, else they are cloned; jars come from Maven's
repository. Nothing of them is kept here. Needs a JDK 17 and Maven.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

from java_kv import built, compiled, run
from sources import checked_out

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = "kvtest/kvstore-IT/src/main/java/oracle/kv/impl/api"
CLASSES = {"oracle.kv.impl.api.bulk.BulkPutTest": f"{TESTS}/bulk/BulkPutTest.java",
           "oracle.kv.impl.api.table.BulkTableTest": f"{TESTS}/table/BulkTableTest.java"}
JUNIT = ["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]
API = ["com.oracle.kv:oracle-nosql-client:18.3.10",
       "com.github.siom79.japicmp:japicmp:0.23.1:jar:jar-with-dependencies"]
# What the store itself sends and reads, what every object has, and interfaces that do more by
# themselves: nothing that a program misses.
INTERNAL = re.compile(r"NON_ABSTRACT|oracle\.kv\.impl|java\.io\.|FastExternal|serialVersionUID|"
                      r" (?:equals\(java\.lang\.Object\)|hashCode\(\)|toString\(\))")
DIFFERENCES = os.path.join(HERE, "kv_api_differences")


def fetched(artifacts, directory):
    for artifact in artifacts:
        run("mvn", "-B", "-q", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
            f"-Dartifact={artifact}", f"-DoutputDirectory={directory}")
    return sorted(glob.glob(os.path.join(directory, "*.jar")))


def run_tests(jars, directory):
    sources = [checked_out("oracle+nosql", file, os.path.join(directory, "nosql"))
               for file in CLASSES.values()]
    if None in sources:
        print("# left out: BulkPutTest and BulkTableTest: their sources are not to be had")
        return
    sources += glob.glob(os.path.join(HERE, "kv_stand_ins", "**", "*.java"), recursive=True)
    jars = jars + fetched(JUNIT, os.path.join(directory, "junit"))
    classpath = compiled(sources, jars, os.path.join(directory, "classes"))
    # Its output goes on as it comes: the tests delete 100,000 pairs one by one.
    sys.stdout.flush()
    done = subprocess.run(["java", "-cp", classpath, "RunTests", *CLASSES], timeout=3600)
    assert done.returncode == 0, f"the runner ended with {done.returncode}"


def differences(old, new, japicmp):
    """What classes of both jars lack or have otherwise, one a line: class, kind, and member."""
    told = run("java", "-jar", japicmp, "-o", old, "-n", new, "-m", "-a", "public",
               "--ignore-missing-classes")
    found, inside = [], None
    for line in told.splitlines():
        head = re.match(r"(\*\*\*|---|\+\+\+)!? +(MODIFIED|REMOVED|NEW) (?:CLASS|INTERFACE|ENUM): "
                        r"(?:[\w()<\-> ]*? )?(oracle\.kv\.[\w.$]+)", line)
        if head:
            inside = head[3] if head[2] == "MODIFIED" else None
            continue
        member = re.match(r"\s+(?:\*\*\*|---)! +(REMOVED|MODIFIED) "
                          r"(METHOD|CONSTRUCTOR|FIELD|SUPERCLASS|INTERFACE): (.*)", line)
        if inside and member and not INTERNAL.search(line):
            text = re.sub(r"\((?:<- [^)]*|-)\)|\([a-z ]+\)$", "", member[3])
            found.append(f"{inside}: {member[1].lower()} {member[2].lower()} "
                         f"{re.sub(' +', ' ', text).strip()}")
    return sorted(set(found))


def offered_classes_are_those_of_the_driver(jars, directory):
    api = {os.path.basename(jar): jar for jar in fetched(API, os.path.join(directory, "api"))}
    old = next(jar for name, jar in api.items() if name.startswith("oracle"))
    tool = next(jar for name, jar in api.items() if name.startswith("japicmp"))
    found = differences(old, jars[0], tool)
    if "--write" in sys.argv:
        with open(DIFFERENCES, "r+") as file:
            head = [line for line in file if line.startswith("#")]
            file.seek(0)
            file.truncate()
            file.writelines(head + [line + "\n" for line in found])
    with open(DIFFERENCES) as file:
        known = [line.rstrip("\n") for line in file if not line.startswith("#")]
    print(f"# japicmp: {len(found)} members differ in {len({line.split(':')[0] for line in found})} "
          f"classes of both")
    wrong = [f"+ {line}" for line in found if line not in known]
    wrong += [f"- {line}" for line in known if line not in found]
    print("".join(f"# {line}\n" for line in wrong), end="")
    assert not wrong, f"{len(wrong)} differences are not those of the list"


def main():
    with tempfile.TemporaryDirectory() as directory:
        jars = built(os.path.join(directory, "build"))[:2]
        run_tests(jars, directory)
        try:
            offered_classes_are_those_of_the_driver(jars, directory)
            outcome = "pass"
        except Exception as error:
            outcome = f"FAIL {type(error).__name__}: {error}".splitlines()[0]
        print(f"offered_classes_are_those_of_the_driver: {outcome}", flush=True)


if __name__ == "__main__":
    main()
    sys.exit(0)
