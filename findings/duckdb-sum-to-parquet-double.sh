#!/usr/bin/env bash
# DuckDB stores the sum of whole numbers in Parquet as a DOUBLE: digits beyond 2^53 are lost.
#
# Seen with: duckdb 2.0.1 (Python package), the file read by pyarrow 26.0.1 as well.
# Behaviour: sum() of a BIGINT column is a HUGEINT. Parquet has no such type, and COPY writes a
#   DOUBLE instead of a DECIMAL(38,0) or an error. In DuckDB the sum is exact; in the file, and so
#   for everybody who reads it, it is rounded. Nothing is said.
# Output seen:
#   in DuckDB:       9007199254740993
#   in the file:     9007199254740992.0 (double)
#   with a cast:     9007199254740993 (decimal128(38, 0))
# What to do: cast before COPY, `sum(units)::DECIMAL(38,0)` or `::BIGINT`. A column of whole numbers
#   that arrives as DOUBLE is the sign to look for before a bulk load.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages"   duckdb==2.0.1 pyarrow==26.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import sys

import duckdb
import pyarrow.parquet as parquet

duckdb.sql("CREATE TABLE sales AS SELECT unnest([9007199254740992, 1])::BIGINT AS units")
exact = duckdb.sql("SELECT sum(units) FROM sales").fetchall()[0][0]
duckdb.sql("COPY (SELECT sum(units) AS total FROM sales) TO 'plain.parquet'")
duckdb.sql("COPY (SELECT sum(units)::DECIMAL(38,0) AS total FROM sales) TO 'cast.parquet'")
plain = parquet.read_table("plain.parquet")["total"]
cast = parquet.read_table("cast.parquet")["total"]

print("in DuckDB:      ", exact)
print("in the file:    ", plain[0].as_py(), f"({plain.type})")
print("with a cast:    ", cast[0].as_py(), f"({cast.type})")
if str(plain.type) != "double" or int(plain[0].as_py()) == exact or cast[0].as_py() != exact:
    sys.exit("the behaviour has changed")
PYTHON
