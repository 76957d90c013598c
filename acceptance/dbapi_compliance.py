"""The compliance suite for PEP 249 (dbapi-compliance 1.15.0, public domain) on `tonnage.adbc`.

It comes from the package index, into a folder that goes away again. Where it is not to be had, this
says what it left out. Its tables have no primary key: theirs is the first column here.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

from python_package import package

SUITE = "dbapi-compliance==1.15.0"


def fetch(directory):
    """The module dbapi20, put into a folder; False when it is not to be had."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    done = subprocess.run([*command, "-d", directory, SUITE], capture_output=True, check=False)
    archives = glob.glob(os.path.join(directory, "dbapi*.zip"))
    if done.returncode != 0 or not archives:
        return False
    with zipfile.ZipFile(archives[0]) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/dbapi20.py")]
        with open(os.path.join(directory, "dbapi20.py"), "wb") as file:
            file.write(archive.read(name))
    return True


class Results(unittest.TestResult):
    def told(self, test, wrong=None):
        name = test.id().rsplit(".", 1)[1]
        message = "" if wrong is None else " ".join(f"{wrong[0].__name__}: {wrong[1]}".split())
        print(f"{name}: {'pass' if wrong is None else 'FAIL ' + message[:200]}", flush=True)

    def addSuccess(self, test):
        self.told(test)

    def addError(self, test, err):
        self.told(test, err)

    def addFailure(self, test, err):
        self.told(test, err)


def run(directory):
    sys.path.insert(0, directory)
    import adbc_driver_manager.dbapi as dbapi
    import dbapi20
    import tonnage
    import tonnage.adbc

    class Driver:
        """The module that is tested: that of the driver manager, with our connections."""

        def __init__(self, store):
            self.store = store

        def __getattr__(self, name):
            return getattr(dbapi, name)

        def connect(self):
            return tonnage.adbc.connect(self.store)

    class Test(dbapi20.DatabaseAPI20Test):
        ddl1 = "create table dbapi20test_booze (name string, primary key (name))"
        ddl2 = "create table dbapi20test_barflys (name string, drink string, primary key (name))"

        def setUp(self):
            self.store = tonnage.connect("memory:")
            self.driver = Driver(self.store)

        def tearDown(self):
            self.store.close()

    unittest.defaultTestLoader.loadTestsFromTestCase(Test).run(Results())


if __name__ == "__main__":
    if sys.argv[1:2] == ["inside"]:
        run(sys.argv[2])
        sys.exit()
    with tempfile.TemporaryDirectory() as directory:
        if not fetch(directory):
            print(f"# left out: {SUITE} is not to be had")
            sys.exit()
        environment = package(directory)
        command = [sys.executable, os.path.abspath(__file__), "inside", directory]
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=False
        )
        print(re.sub(r"(?m)^(?!\w+: ).*\n", "", done.stdout), end="")
        sys.exit(done.returncode)
