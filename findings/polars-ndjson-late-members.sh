#!/usr/bin/env bash
# polars leaves out members of JSON lines that come behind the first 100 records.
#
# Seen with: polars 2.1.0.
# Behaviour: read_ndjson and scan_ndjson take the columns from the first 100 lines. A member that a
#   later line has for the first time is left out, without an error or a warning. Files of events, whose
#   members grow with the versions of a program, lose their newest ones so.
# Output seen:
#   columns: ['ship'], of 101 lines of which the last has knots
#   with infer_schema_length=None: ['ship', 'knots']
# What to do: give infer_schema_length=None, or schema_overrides and schema for what is known.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" polars==2.1.0
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import io
import sys

import polars

lines = b'{"ship": 1}\n' * 100 + b'{"ship": 2, "knots": 7.5}\n'
short = polars.read_ndjson(io.BytesIO(lines)).columns
whole = polars.read_ndjson(io.BytesIO(lines), infer_schema_length=None).columns
print("columns:", short, "of 101 lines of which the last has knots")
print("with infer_schema_length=None:", whole)
if (short, whole) != (["ship"], ["ship", "knots"]):
    sys.exit("the behaviour has changed")
PYTHON
