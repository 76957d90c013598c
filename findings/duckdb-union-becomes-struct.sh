#!/usr/bin/env bash
# A UNION column of DuckDB comes back from Parquet as a struct with a number named "element1".
#
# Seen with: duckdb 2.0.1.
# Behaviour: COPY TO Parquet takes UNION columns without a word and writes the inner layout: the
#   place of the member in the union, then every member as a column of its own. The place gets the
#   made-up name element1, which no type names. DuckDB itself reads the file as this struct, so
#   values, comparisons and the type are different after a round trip.
# Output seen:
#   before: UNION(amount INTEGER, note VARCHAR) [(5,), ('unknown',)]
#   after:  STRUCT(element1 UTINYINT, amount INTEGER, note VARCHAR)
#           {'element1': 0, 'amount': 5, 'note': None}
#           {'element1': 1, 'amount': None, 'note': 'unknown'}
# What to do: write the members as columns (`u.amount, u.note`) or the value as text before COPY. On
#   the side of the reader, drop element1 and take the member that is not NULL.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages"   duckdb==2.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import sys

import duckdb

duckdb.sql("CREATE TABLE t (u UNION(amount INTEGER, note VARCHAR))")
duckdb.sql("INSERT INTO t VALUES (union_value(amount := 5)), (union_value(note := 'unknown'))")
duckdb.sql("COPY t TO 'union.parquet'")
before, after = duckdb.sql("FROM t"), duckdb.sql("FROM 'union.parquet'")
rows = [row[0] for row in after.fetchall()]

print("before:", before.types[0], before.fetchall())
print("after: ", after.types[0])
for row in rows:
    print("       ", row)
if str(after.types[0]) != "STRUCT(element1 UTINYINT, amount INTEGER, note VARCHAR)":
    sys.exit("the behaviour has changed")
PYTHON
