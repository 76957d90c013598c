#!/usr/bin/env bash
# The Parquet reader of Arrow's Rust crates drops the months of an INTERVAL that DuckDB wrote.
#
# Seen with: datafusion 55.0.0 (Python package, built on the crate parquet), a file of duckdb 2.0.1.
#   arro3-io 0.9.1 and parquet-wasm 0.8.0, which are built on the same crate, do likewise.
# Behaviour: Parquet's INTERVAL has three numbers: months, days, milliseconds. The reader makes
#   Arrow's day-time interval of it, which has only the latter two, and does not look at the first.
#   14 months and 3 days become 3 days; a year becomes nothing. No error.
# Output seen:
#   DuckDB reads:       ['1 year 2 months 3 days', '1 year']
#   months, days, ms:   [(14, 3, 0), (12, 0, 0)]
#   DataFusion reads:   ['3 days', '0 secs'] Interval(DayTime)
# What to do: write intervals as text, as a number of months beside one of microseconds, or as two
#   moments. Programs that read Parquet by this crate should refuse the type, or decode it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" datafusion==55.0.0 duckdb==2.0.1 pyarrow==26.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import struct
import sys

import datafusion
import duckdb
import pyarrow.parquet as parquet

duckdb.sql("""
    COPY (SELECT unnest([INTERVAL '14 months 3 days', INTERVAL '1 year']) AS term)
    TO 'terms.parquet'
""")
by_duckdb = [row[0] for row in duckdb.sql("SELECT term::VARCHAR FROM 'terms.parquet'").fetchall()]
stored = [
    struct.unpack("<3i", value.as_py())
    for value in parquet.read_table("terms.parquet")["term"]
]
context = datafusion.SessionContext()
context.register_parquet("terms", "terms.parquet")
read = context.sql("SELECT term::VARCHAR AS term, arrow_typeof(term) AS kind FROM terms").to_pydict()

print("DuckDB reads:      ", by_duckdb)
print("months, days, ms:  ", stored)
print("DataFusion reads:  ", read["term"], read["kind"][0])
if stored != [(14, 3, 0), (12, 0, 0)] or read["kind"][0] != "Interval(DayTime)":
    sys.exit("the behaviour has changed")
if any("month" in term or "mon" in term for term in read["term"]):
    sys.exit("the behaviour has changed")
PYTHON
