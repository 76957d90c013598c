"""The tests of the Python package with all libraries that it goes together with: polars, pandas,
DuckDB, ADBC, IPython, mypy. `make test` runs them with pyarrow alone."""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from python_package import ROOT, package

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        environment = {**package(directory), "TONNAGE_PROGRAM": os.environ["TONNAGE"]}
        told = os.path.join(directory, "told.xml")
        tests = os.path.join(ROOT, "crates", "python", "tests")
        options = ["-q", "-p", "no:cacheprovider", f"--junitxml={told}"]
        command = [sys.executable, "-m", "pytest", *options, tests]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
        for case in ElementTree.parse(told).iter("testcase"):
            name = re.sub(r"\W+", "_", f"{case.get('classname')}_{case.get('name')}").strip("_")
            wrong = [each for each in case if each.tag in ("failure", "error")]
            skipped = case.find("skipped")
            if wrong:
                print(f"{name}: FAIL {' '.join((wrong[0].get('message') or '').split())[:200]}")
            elif skipped is not None:
                print(f"{name}: FAIL it was skipped: {skipped.get('message')}")
            else:
                print(f"{name}: pass")
