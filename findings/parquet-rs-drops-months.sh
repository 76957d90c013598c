#!/usr/bin/env bash
# The Parquet reader of Arrow's Rust crates drops the months of an INTERVAL that DuckDB wrote.
#
# Seen with: arro3-io 0.9.1 (which is built on the crate parquet), a file of duckdb 2.0.1.
# Behaviour: Parquet's INTERVAL has three numbers: months, days, milliseconds. The reader makes
#   Arrow's day-time interval of it, which has only the latter two, and does not look at the first.
#   14 months and 3 days become 3 days; a year becomes nothing. No error.
# Output seen:
#   DuckDB reads: ['1 year 2 months 3 days', '1 year']
#   stored as:    [[14, 3, 0], [12, 0, 0]] months, days, milliseconds
#   arro3 reads:  [[3, 0], [0, 0]] days, milliseconds (day_time)
# What to do: write intervals as text, as a number of months beside one of microseconds, or as two
#   moments. Programs that read Parquet by these crates should refuse the type, or decode it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" arro3-core==0.9.1 arro3-io==0.9.1 duckdb==2.0.1 pyarrow==26.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import struct
import sys

import arro3.io
import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet

duckdb.sql("""
    COPY (SELECT unnest([INTERVAL '14 months 3 days', INTERVAL '1 year']) AS term)
    TO 'terms.parquet'
""")
by_duckdb = [row[0] for row in duckdb.sql("SELECT term::VARCHAR FROM 'terms.parquet'").fetchall()]
stored = [
    list(struct.unpack("<3i", value.as_py()))
    for value in parquet.read_table("terms.parquet")["term"]
]
column = arro3.io.read_parquet("terms.parquet").read_all().column("term").combine_chunks()
kind = str(column.type)
buffers = column.buffers()
by_arro3 = [list(pair) for pair in struct.iter_unpack("<2i", bytes(buffers[1])[: 8 * len(column)])]

print("DuckDB reads:", by_duckdb)
print("stored as:   ", stored, "months, days, milliseconds")
print("arro3 reads: ", by_arro3, "days, milliseconds", kind)
if "DayTime" not in kind or stored != [[14, 3, 0], [12, 0, 0]] or by_arro3 != [[3, 0], [0, 0]]:
    sys.exit("the behaviour has changed")
PYTHON
