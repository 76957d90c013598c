"""Compares what suites printed with the list of failures that are known.

Usage: compare.py EXPECTED_FAILURES SUITE=OUTPUT... Prints the counts, and ends with 1 when a case
failed that should pass, or passed that should fail, or a suite told of no case. A suite that lacks
its sources says `# left out: ...`: then its known failures need not be met.
"""

import re
import sys


def main():
    known = {}
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                case, reason = line.strip().split(": ", 1)
                known[case] = reason
    wrong, met, cut = [], set(), set()
    for argument in sys.argv[2:]:
        suite, path = argument.split("=", 1)
        passed = failed = 0
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("# left out"):
                    cut.add(suite)
                    print(f"{suite}: {line[2:].strip()}")
                told = re.match(r"(\w+): (pass|FAIL.*)", line)
                if not told:
                    continue
                case = f"{suite}/{told[1]}"
                met.add(case)
                if told[2] == "pass":
                    passed += 1
                    if case in known:
                        wrong.append(f"{case} passes: take it off the list")
                elif case in known:
                    failed += 1
                else:
                    failed += 1
                    wrong.append(f"{case}: {told[2]}")
        print(f"{suite}: {passed} passed, {failed} failed")
        if passed + failed == 0:
            wrong.append(f"{suite} told of no case")
    run = {argument.split("=", 1)[0] for argument in sys.argv[2:]} - cut
    missed = [case for case in known.keys() - met if case.split("/")[0] in run]
    wrong += [f"{case} was not run: take it off the list" for case in missed]
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
