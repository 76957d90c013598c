"""Tests of Redis itself, in Tcl: those of 7.2.4 that run against a server elsewhere, and those of 7.4.1
for fields that expire.

They lie at `$ACCEPTANCE_SOURCES/redis+redis`, else they are cloned; nothing of them is kept here.
Needs `tclsh`. Each test is a case, by the name of its unit and its own. Their harness is changed
where it needs what this server refuses on purpose: it empties scripts, which there are none of, and sets
the forms of small collections. After a failure it connects anew, so that one does not lead to others. What is expected to fail stands
in `redis_suite_refusals`, with the reasons; the list may only shrink. `--write` writes it anew and
keeps the reasons that are known.

Usage: redis_suite.py [--write] [UNIT...]
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

from sources import checked_out

HERE = os.path.dirname(os.path.abspath(__file__))
REFUSALS = os.path.join(HERE, "redis_suite_refusals")
COMMIT = "d2c8a4b91e8c0e6aefd1f5bc0bf582cddbe046b7"
LATER_COMMIT = "74b289a0e12f9f65a6daeec6a66cadc76792f644"
# Its tests stop the search for expired fields by DEBUG, which there is none of: that is left out.
LATER_UNIT = "unit/type/hash-field-expire"
UNITS = ["unit/protocol", "unit/keyspace", "unit/scan", "unit/quit", "unit/expire", "unit/multi",
         "unit/sort", "unit/bitops", "unit/bitfield", "unit/type/string", "unit/type/incr",
         "unit/type/hash", "unit/type/list", "unit/type/list-3",
         "unit/type/set", "unit/type/zset"]
# What needs another kind of server: replicas, files of its own, its debugger.
DENIED = "-needs:debug -needs:repl -needs:save -needs:reset -needs:config-maxmemory -cluster:only -slow"
UNIT_SECONDS = 600


def changed(path, *changes):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for before, after in changes:
        assert before in text, f"{path} has no {before!r}"
        text = text.replace(before, after)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def prepared(directory, commit=COMMIT):
    """The tests, changed as said above; None where they are not to be had."""
    if checked_out("redis+redis", "tests", directory, commit) is None:
        return None
    if commit == LATER_COMMIT:
        changed(os.path.join(directory, "tests", LATER_UNIT + ".tcl"),
                ('start_server {tags {"external:skip needs:debug"}}', 'start_server {tags {"hfe"}}'))
        changed(os.path.join(directory, "tests/test_helper.tcl"), ("proc r {args} {\n", """proc r {args} {
    if {[string equal -nocase [lindex $args 0] debug]} { return OK }
"""))
    changed(os.path.join(directory, "tests/support/server.tcl"),
            ("    r function flush\n", ""),
            ("        r config set $param $val\n", "        catch {r config set $param $val}\n"))
    changed(os.path.join(directory, "tests/test_helper.tcl"), ("proc r {args} {\n", """proc r {args} {
    if {[string equal -nocase [lindex $args 0] config]
            && [string equal -nocase [lindex $args 1] set]
            && [regexp {max-(list|zip)|compress-depth|set-max} [lindex $args 2]]} {
        return OK
    }
"""))
    failure = '            send_data_packet $::test_server_fd err [join $details "\\n"]\n'
    changed(os.path.join(directory, "tests/support/test.tcl"),
            (failure, failure + "            catch {reconnect}\n"))
    os.makedirs(os.path.join(directory, "tests/tmp"), exist_ok=True)
    return directory


def run_unit(unit, directory):
    """A server for a unit. Gives the outcome of each of its tests: None, or what went wrong."""
    program = os.environ["TONNAGE"]
    store = os.path.join(directory, "store", unit.replace("/", "-"))
    command = [program, "serve", "--store", store, "--create", "--http", "off", "--flight", "off",
               "--redis", "127.0.0.1:0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = next(line for line in server.stdout if line.startswith("Redis"))
        port = re.search(r":(\d+)\s*$", line)[1]
        arguments = ["tclsh", "tests/test_helper.tcl", "--host", "127.0.0.1", "--port", port,
                     "--baseport", str(random.randrange(21_100, 29_000, 100)), "--clients", "1", "--singledb", "--durable",
                     "--ignore-encoding", "--ignore-digest", "--tags", DENIED, "--timeout", "120",
                     "--single", unit]
        try:
            done = subprocess.run(arguments, cwd=directory, capture_output=True, text=True,
                                  errors="replace", timeout=UNIT_SECONDS, check=False)
            printed = done.stdout
        except subprocess.TimeoutExpired as late:
            printed = (late.stdout or b"").decode(errors="replace")
    finally:
        server.terminate()
        server.wait(60)
    told = outcomes(printed)
    return told or {"the unit tells of its tests": "it says " + printed[-200:].replace("\n", " ")}


def outcomes(printed):
    told = {}
    printed = re.sub(r"\x1b\[[0-9;]*m", "", printed)
    for line in printed.splitlines():
        if passed := re.match(r"\[ok\]: (.*) \(\d+ ms\)$", line):
            told.setdefault(passed[1], None)
        elif failed := re.match(r"\[err\]: (.*) in tests/\S+\.tcl$", line):
            told[failed[1]] = "it fails"
        elif re.match(r"\[(exception|TIMEOUT)\]", line):
            told["the unit runs to its end"] = line
    return told


def case_name(unit, test):
    return re.sub(r"\W+", "_", f"{unit.removeprefix('unit/')} {test}").strip("_")


def known_refusals():
    known = {}
    with open(REFUSALS, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                case, reason = line.rstrip("\n").split(": ", 1)
                known[case] = reason
    return known


def write_refusals(failed, known):
    with open(REFUSALS, encoding="utf-8") as lines:
        head = [line for line in lines if line.startswith("#")]
    with open(REFUSALS, "w", encoding="utf-8") as file:
        file.writelines(head)
        file.writelines(f"{case}: {known.get(case, '?')}\n" for case in sorted(failed))


def main():
    units = [word for word in sys.argv[1:] if not word.startswith("--")] or [*UNITS, LATER_UNIT]
    if not shutil.which("tclsh"):
        print("# left out: tclsh is not installed")
        return
    with tempfile.TemporaryDirectory() as directory:
        folders = {commit: os.path.join(directory, commit) for commit in (COMMIT, LATER_COMMIT)}
        if None in [prepared(folder, commit) for commit, folder in folders.items()]:
            print("# left out: the tests of Redis are not to be had")
            return
        known, failed, passed = known_refusals(), set(), 0
        for unit in units:
            told = run_unit(unit, folders[LATER_COMMIT if unit == LATER_UNIT else COMMIT])
            count = sum(outcome is None for outcome in told.values())
            print(f"# {unit}: {count} of {len(told)} pass", flush=True)
            passed += count
            for test, outcome in told.items():
                case = case_name(unit, test)
                if outcome is not None:
                    failed.add(case)
                if "--write" in sys.argv:
                    continue
                # One that is expected to fail and passes is to be taken off the list.
                if outcome is None and case in known:
                    print(f"{case}: FAIL it passes: take it off redis_suite_refusals")
                elif outcome is None or case in known:
                    print(f"{case}: pass")
                else:
                    print(f"{case}: FAIL {outcome}")
        print(f"# {passed} pass, {len(failed)} are refused")
        if "--write" in sys.argv:
            write_refusals(failed, known)


if __name__ == "__main__":
    main()
    sys.exit(0)
