"""Runs a program that was written for GridDB: `python -m tonnage_griddb program.py arguments...`

The program finds a stand-in for JPype, which the newer client needs.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from tonnage_griddb import jpype_stand_in


def main() -> None:
    """Run the program that the arguments name, as Python itself would."""
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(
            "usage: python -m tonnage_griddb PROGRAM [ARGUMENT...]\n\n"
            "Run a program for GridDB's Python client on a store of Tonnage.\n"
            "TONNAGE_STORE names the store: a directory, or memory:"
        )
        sys.exit(0 if len(sys.argv) > 1 else 2)
    program = sys.argv[1]
    if not Path(program).is_file():
        sys.exit(f"there is no program {program}")
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(program).resolve().parent)
    jpype_stand_in.install()
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
