"""The examples run, and their types are right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tonnage
from conftest import served

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_of_a_fleet_runs_on_every_kind_of_store(tmp_path: Path) -> None:
    with served("memory:") as address:
        for target in ("memory:", str(tmp_path / "fleet"), address):
            told = run(str(EXAMPLES / "fleet.py"), target)
            assert "5000 positions read, 5000 stored, 0 there before" in told
            assert "ship 7 was last seen at 2022-01-03 00:08:10" in told
            assert "500 positions east of 4.5 degrees" in told


def test_the_example_for_asyncio_runs() -> None:
    assert "inserted: 20000" in run(str(EXAMPLES / "asynchronous.py"))


def test_the_types_of_the_examples_and_of_the_package_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mypy")
    package = Path(tonnage.__file__).parent
    monkeypatch.setenv("MYPYPATH", str(package.parent))
    options = ["--strict", "--python-version=3.10", f"--cache-dir={tmp_path}"]
    # pyarrow and pandas come without types.
    options.append("--disable-error-code=import-untyped")
    examples = [str(path) for path in EXAMPLES.glob("*.py")]
    run("-m", "mypy", *options, *examples, os.fspath(package))
