#!/usr/bin/env bash
# DuckDB reads Parquet decimals of more than 38 digits as DOUBLE and keeps 15 to 17 of their digits.
#
# Seen with: duckdb 2.0.1, a file of pyarrow 26.0.1.
# Behaviour: a DECIMAL(60,2) of a file has no counterpart in DuckDB. It neither refuses the column
#   nor makes text of it, but takes a double near it, not even the nearest. The same column
#   given as an Arrow table is refused, so the way in decides.
# Output seen:
#   in the file:    123456789012345678901234567890.25
#   DuckDB reads:   1.2345678901234566e+29 (DOUBLE; the nearest is 1.2345678901234568e+29)
# What to do: before wide decimals pass through DuckDB, cast them to text where they are written, or
#   to at most 38 digits. DESCRIBE the file: a DOUBLE where a DECIMAL was written tells.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages"   duckdb==2.0.1 pyarrow==26.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import sys
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet

given = Decimal("123456789012345678901234567890.25")
wide = pa.table({"amount": pa.array([given], pa.decimal256(60, 2))})
parquet.write_table(wide, "wide.parquet")
rows = duckdb.sql("FROM 'wide.parquet'")
read = rows.fetchall()[0][0]

print("in the file:   ", parquet.read_table("wide.parquet")["amount"][0].as_py())
print("DuckDB reads:  ", read, f"({rows.types[0]}; the nearest is {float(given)})")
try:
    duckdb.sql("FROM wide").fetchall()
    arrow = "accepted"
except duckdb.Error as error:
    arrow = str(error).splitlines()[0]
print("as Arrow table:", arrow)
if str(rows.types[0]) != "DOUBLE" or Decimal(read) == given or arrow == "accepted":
    sys.exit("the behaviour has changed")
PYTHON
