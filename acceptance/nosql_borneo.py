"""borneo's own tests against the listener that speaks its protocol, one case for each.

They come from the sources of the SDK (sources.py), and need `rsa`. All run against one server, since
they make and drop the same tables. What a test needs that no store on premises has, it leaves out
itself.
"""

import contextlib
import importlib
import io
import logging
import os
import sys
import tempfile
import time
import unittest

from nosql import NosqlListener
from sources import checked_out

# The commit whose tests are known. Its client is the one that is installed.
SOURCE, COMMIT = "oracle+nosql-python-sdk", "d655fbd"
HELPERS = {"config", "config_onprem", "config_cloudsim", "parameters", "test_base", "testutils"}
CONFIG = """
endpoint = '{endpoint}'
server_type = 'onprem'
version = None
"""


class Outcomes(unittest.TestResult):
    """The outcome of each test, by name."""

    def __init__(self, module):
        super().__init__()
        self.module, self.outcomes = module, {}

    def startTest(self, test):
        super().startTest(test)
        self.outcomes.setdefault(self.name(test), "pass")

    def name(self, test):
        # A class whose tables cannot be made has no tests, and is a case itself.
        return f"{self.module}_{getattr(test, '_testMethodName', 'set_up')}"

    def addError(self, test, error):
        super().addError(test, error)
        self.fail(test, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.fail(test, error)

    def fail(self, test, error):
        told = f"{error[0].__name__}: {error[1]}".splitlines()[0][:200]
        self.outcomes[self.name(test)] = f"FAIL {told}"


def run_module(name):
    outcomes = Outcomes(name)
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        return {f"{name}_import": f"FAIL {error}"}
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        suite.run(outcomes)
    return outcomes.outcomes


def main():
    with tempfile.TemporaryDirectory() as directory:
        tests = checked_out(SOURCE, "test", directory, COMMIT)
        if tests is None:
            print(f"# left out: no sources of {SOURCE}")
            print("borneo_left_out: pass")
            return
        server = NosqlListener(os.path.join(directory, "store"))
        with open(os.path.join(tests, "config.py"), "w", encoding="utf-8") as config:
            config.write(CONFIG.format(endpoint=server.endpoint))
        names = sorted(file[:-3] for file in os.listdir(tests) if file.endswith(".py"))
        logging.disable(logging.CRITICAL)
        os.chdir(tests)
        sys.path.insert(0, tests)
        passed = count = 0
        for name in names:
            if name in HELPERS or name.startswith("_"):
                continue
            started = time.time()
            outcomes = run_module(name)
            for case, outcome in outcomes.items():
                print(f"{case}: {outcome}", flush=True)
            right = sum(outcome == "pass" for outcome in outcomes.values())
            print(f"# {name}: {right} of {len(outcomes)} in {time.time() - started:.0f} s")
            passed, count = passed + right, count + len(outcomes)
        print(f"# borneo: {passed} of {count} tests pass")
        os.chdir("/")
        server.stop()


if __name__ == "__main__":
    main()
