"""The validation suite for ADBC drivers, on the driver that the Python package has in it.

The suite comes out of the repository adbc-drivers/validation: a copy of it lies at
`$ACCEPTANCE_SOURCES/adbc-drivers+validation`, else it is cloned into the cache. Nothing of it is
kept here. Where neither is to be had, this says what it left out.

Its tables have no primary key, and Tonnage's have one. So `CREATE TABLE` names its first column as
the key if that is `idx`; a table without `idx` numbers its rows in a column `tonnage_row`, and what
is bound is inserted by the names of the other columns. An ingest names `idx` as the key, or the
first column, whose NULLs are then left out.
"""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from python_package import archive, package, repository

REPOSITORY = "adbc-drivers/validation"
# The newest commit that these expectations are for.
REVISION = "HEAD"

CONFTEST = """
import collections.abc
import re
import typing
from pathlib import Path

import adbc_driver_manager.dbapi
import pytest
import tonnage.adbc

# The suite is written for Python 3.13, where this takes one argument.
typing.Generator = collections.abc.Generator

from adbc_drivers_validation import model
from adbc_drivers_validation.tests.conftest import *  # noqa: F403


def keyed(statement):
    made = re.match(r"(?is)\\s*CREATE TABLE (\\S+)\\s*\\((.*)\\)\\s*$", statement)
    if not made or "PRIMARY KEY" in statement.upper():
        return statement
    name, columns = made[1], made[2].strip().rstrip(",")
    if re.match(r"(?i)idx\\b", columns):
        return f"CREATE TABLE {name} ({columns}, PRIMARY KEY (idx))"
    number = "tonnage_row LONG GENERATED ALWAYS AS IDENTITY"
    return f"CREATE TABLE {name} ({columns}, {number}, PRIMARY KEY (tonnage_row))"


class Quirks(model.DriverQuirks):
    name = "tonnage"
    driver = "tonnage"
    driver_name = "Tonnage ADBC driver"
    vendor_name = "Tonnage"
    vendor_version = re.compile(".*")
    short_version = "0"
    features = model.DriverFeatures(
        connection_get_table_schema=True,
        get_objects=True,
        get_objects_constraints_primary=True,
        statement_bind=True,
        statement_bulk_ingest=True,
        statement_execute_schema=True,
        statement_get_parameter_schema=True,
        statement_prepare=True,
        statement_rows_affected=True,
        current_catalog="tonnage",
        current_schema="public",
        supported_xdbc_fields=["xdbc_nullable", "xdbc_is_nullable", "xdbc_type_name"],
        quirk_foundry=False,
    )
    setup = model.DriverSetup(
        database={"uri": "memory:"}, connection={}, statement={}
    )

    @property
    def queries_paths(self):
        return (Path(model.__file__).parent / "queries",)

    def is_table_not_found(self, table_name, error):
        return getattr(error, "status_code", None) == adbc_driver_manager.AdbcStatusCode.NOT_FOUND

    def query_override(self, context, default):
        return keyed(default)

    @property
    def sample_ddl_constraints(self):
        return [
            "CREATE TABLE constraint_primary (z INTEGER, a INTEGER, b STRING, PRIMARY KEY (a))",
            "CREATE TABLE constraint_primary_multi (z INTEGER, a INTEGER, b STRING, "
            "PRIMARY KEY (b, a))",
            "CREATE TABLE constraint_primary_multi2 (z INTEGER, a STRING, b INTEGER, "
            "PRIMARY KEY (a, b))",
        ]

    def split_statement(self, statement):
        return [keyed(each) for each in re.split(r";\\s*(?:\\n|$)", statement) if each.strip()]


QUIRKS = Quirks()
ingest = adbc_driver_manager.dbapi.Cursor.adbc_ingest


def keyed_ingest(self, table_name, data, *arguments, **options):
    names = data.schema.names
    key = "idx" if "idx" in names else names[0]
    self.adbc_statement.set_options(**{"tonnage.primary_key": key})
    if key != "idx" and hasattr(data, "drop_null"):
        data = data.filter(data[key].is_valid())
    return ingest(self, table_name, data, *arguments, **options)


adbc_driver_manager.dbapi.Cursor.adbc_ingest = keyed_ingest
bound = model.SelectQuery.bind_query


def bind_query(self, driver):
    text = bound(self, driver)
    setup = self.setup_query() or ""
    columns = re.search(r"(?is)CREATE TABLE \\S+\\s*\\((.*)\\)", setup)
    if text is None or columns is None or re.match(r"(?i)\\s*idx\\b", columns[1]):
        return text
    names = ", ".join(re.findall(r"(?m)^\\s*(\\w+) ", columns[1]))
    return re.sub(r"(?i)(INSERT INTO \\S+)\\s+VALUES", rf"\\1 ({names}) VALUES", text)


model.SelectQuery.bind_query = bind_query


@pytest.fixture(scope="session")
def driver(request):
    return QUIRKS


@pytest.fixture(scope="session")
def driver_path(driver):
    return tonnage.adbc.driver()
"""

MODULE = """
from adbc_drivers_validation.tests import {name} as suite
from adbc_drivers_validation.tests.{name} import *  # noqa: F403
from conftest import QUIRKS


def pytest_generate_tests(metafunc):
    return suite.generate_tests([QUIRKS], metafunc)
"""


def run(directory, git):
    archive(git, REVISION, os.path.join(directory, "suite"), "adbc_drivers_validation")
    compare = os.path.join(directory, "suite", "adbc_drivers_validation", "compare.py")
    if sys.version_info < (3, 12):
        # It is written for Python 3.13; before 3.12 there is no backslash in a formatted value.
        with open(compare, encoding="utf-8") as file:
            text = file.read()
        with open(compare, "w", encoding="utf-8") as file:
            file.write(re.sub(r"\{'\\n'\.join", "{chr(10).join", text))
    environment = package(directory, os.path.join(directory, "suite"))
    cases = os.path.join(directory, "cases")
    os.makedirs(cases)
    files = {"conftest.py": CONFTEST}
    files |= {
        f"test_{name}.py": MODULE.format(name=name)
        for name in ("query", "connection", "statement", "ingest")
    }
    for name, text in files.items():
        with open(os.path.join(cases, name), "w", encoding="utf-8") as file:
            file.write(text)
    told = os.path.join(directory, "told.xml")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--junitxml={told}",
        cases,
    ]
    with open(os.path.join(directory, "log"), "w", encoding="utf-8") as log:
        subprocess.run(command, cwd=cases, env=environment, stdout=log, stderr=log, check=False)
    if not os.path.exists(told):
        sys.exit(open(os.path.join(directory, "log"), encoding="utf-8").read())
    report(told)


def report(told):
    """One line for each case. A case that the driver's features leave out is counted apart."""
    left_out = {}
    for case in ElementTree.parse(told).iter("testcase"):
        name = re.sub(r"\W+", "_", f"{case.get('classname')}_{case.get('name')}").strip("_")
        name = name.replace("tonnage_0_", "").replace("tonnage_0", "")
        wrong = [each for each in case if each.tag in ("failure", "error")]
        skipped = case.find("skipped")
        if wrong:
            message = " ".join((wrong[0].get("message") or "").split())[:200]
            print(f"{name}: FAIL {message}")
        elif skipped is not None:
            reason = skipped.get("message") or ""
            left_out[reason] = left_out.get(reason, 0) + 1
        else:
            print(f"{name}: pass")
    for reason, count in sorted(left_out.items()):
        print(f"# {count} not run: {reason}")


if __name__ == "__main__":
    git = repository(REPOSITORY)
    if git is None:
        print(f"# left out: {REPOSITORY} is neither in $ACCEPTANCE_SOURCES nor can it be cloned")
        sys.exit()
    with tempfile.TemporaryDirectory() as directory:
        run(directory, git)
