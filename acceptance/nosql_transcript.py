"""Requests to the protocol's own server, recorded with its answers, asked of this server again.

The recording is not part of this repository. $ACCEPTANCE_SOURCES/nosql-transcript, or
$NOSQL_TRANSCRIPT, is a folder with `transcript.txt`, the answers, and `transcript.py` and
`nson_tap.py`, the program that asks. Without it the suite says that it was left out.

Codes, shapes and values of the answers are compared, and what the SDK made of them: numbers, times and
bytes that differ from store to store are left out, and so are the words of errors. A case is a
group of requests. `nosql_transcript_differences` lists the requests that are answered otherwise, with
the reasons; it may only shrink. `--write FILE` writes what differs now, without reasons.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from nosql import NosqlListener

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = "nosql_transcript_differences"
# What the answers tell of one store and one time alone.
OF_STORE = {"tp", "od", "rv", "ev", "md", "em", "pq", "mp", "et", "xp", "li", "last_index",
            "version", "existing_version", "existing_modified", "modified_ago_s", "id", "headers",
            "expires_in_hours", "expires_mod_hour", "expires_mod_day", "hex"}
OF_TIME = re.compile(r"expire|modified|remaining|_ago|duration")


def folder():
    sources = os.environ.get("ACCEPTANCE_SOURCES", "")
    named = os.environ.get("NOSQL_TRANSCRIPT", os.path.join(sources, "nosql-transcript"))
    return named if os.path.exists(os.path.join(named, "transcript.txt")) else None


def read(path):
    with open(path, encoding="utf-8") as lines:
        probes = (json.loads(line) for line in lines if line.startswith("{"))
        return {probe["probe"]: probe for probe in probes if "probe" in probe}


def plain(value, key=None):
    """A value without what differs from store to store."""
    if key in OF_STORE or key and OF_TIME.search(key):
        return "of one store" if value not in (None, 0, "") else value
    if key in ("x", "message"):
        return "words"
    if isinstance(value, dict):
        if set(value) == {"binary"}:
            return "bytes"
        return {name: plain(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner, key) for inner in value]
    if isinstance(value, str):
        if re.fullmatch(r"version of \d+ bytes", value):
            return "version"
        # The schema of a table, with its number.
        return re.sub(r'("id" : )"\d+"', r'\1"of one store"', value)
    return value


def differs(recorded, answered):
    if answered is None:
        return "it was not asked"
    for part in ("sdk", "wire", "status"):
        is_, was = plain(answered.get(part)), plain(recorded.get(part))
        if is_ != was:
            return f"{part}: {json.dumps(is_)[:300]} instead of {json.dumps(was)[:300]}"
    return None


def listed():
    known = {}
    with open(os.path.join(HERE, LIST), encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                probe, reason = line.strip().split(": ", 1)
                known[probe] = reason
    return known


def answers_of(source, directory):
    for file in ("transcript.py", "nson_tap.py"):
        shutil.copy(os.path.join(source, file), directory)
    server = NosqlListener(os.path.join(directory, "store"))
    out = os.path.join(directory, "answers.txt")
    with open(os.path.join(directory, "told"), "w", encoding="utf-8") as told:
        command = [sys.executable, "transcript.py", server.endpoint, out]
        asked = subprocess.run(command, cwd=directory, stdout=told, stderr=told, check=False)
    server.stop()
    if asked.returncode:
        print(f"# the program that asks ended with {asked.returncode}")
        with open(os.path.join(directory, "told"), encoding="utf-8") as told:
            print("".join(f"# {line}" for line in told.readlines()[-5:]), end="")
    return read(out)


def main():
    source = folder()
    if source is None:
        print("# left out: no recording in $ACCEPTANCE_SOURCES/nosql-transcript")
        print("transcript_left_out: pass")
        return
    recorded = read(os.path.join(source, "transcript.txt"))
    # Those of another driver, which has no such protocol, are not asked here.
    recorded = {probe: of for probe, of in recorded.items() if not probe.startswith("direct.")}
    with tempfile.TemporaryDirectory() as directory:
        answered = answers_of(source, directory)
    found = {probe: differs(of, answered.get(probe)) for probe, of in recorded.items()}
    found = {probe: how for probe, how in found.items() if how}
    if "--write" in sys.argv:
        with open(sys.argv[sys.argv.index("--write") + 1], "w", encoding="utf-8") as out:
            for probe, how in found.items():
                out.write(f"{probe}: {recorded[probe]['request']} :: {how}\n")
    known = listed()
    groups = dict.fromkeys(probe.split(".")[0] for probe in recorded)
    for group in groups:
        own = [probe for probe in recorded if probe.split(".")[0] == group]
        wrong = [f"{probe} ({recorded[probe]['request']}): {found[probe]}"
                 for probe in own if probe in found and probe not in known]
        wrong += [f"{probe} is answered as recorded: take it off {LIST}"
                  for probe in own if probe in known and probe not in found]
        same = sum(probe not in found for probe in own)
        print(f"# {group}: {same} of {len(own)} answers are as recorded")
        for one in wrong[1:]:
            print(f"# {one}")
        print(f"{group}: {'pass' if not wrong else 'FAIL ' + wrong[0]}")
    lost = [probe for probe in known if probe not in recorded]
    print(f"list: {'pass' if not lost else 'FAIL not recorded: ' + ', '.join(lost)}")
    print(f"# transcript: {len(recorded) - len(found)} of {len(recorded)} answers are as recorded")


if __name__ == "__main__":
    main()
