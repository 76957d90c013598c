"""What the README and the examples show runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).resolve().parent.parent


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "TONNAGE_STORE": "memory:"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_example_of_the_readme_prints_what_it_should():
    text = (CLIENT / "README.md").read_text()
    [program] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = run("-c", program)
    assert done.stdout == "ARGO 310\n", done.stderr


def test_the_example_of_bulk_operations_finds_the_same_either_way():
    done = run(str(CLIENT / "examples" / "bulk_operations.py"), "--rows", "1000")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" ms\n") == 8


def test_every_public_name_has_a_docstring():
    import griddb_python

    lacking = [
        f"{owner}.{name}"
        for owner in griddb_python.__all__
        if isinstance(getattr(griddb_python, owner), type)
        for name, member in vars(getattr(griddb_python, owner)).items()
        if not name.startswith("_") and callable(member) and not member.__doc__
    ]
    assert lacking == []
