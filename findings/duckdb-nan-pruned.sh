#!/usr/bin/env bash
# DuckDB finds NaN in a table but not in the Parquet file that holds the same rows.
#
# Seen with: duckdb 2.0.1, files of pyarrow 26.0.1.
# Behaviour: in DuckDB NaN is the greatest double, so `depth > 100` holds for it. Parquet says that
#   a writer leaves NaN out of the least and greatest value of a column. DuckDB trusts these two
#   values, skips the group of rows, and so the NaN rows are missing, and max() is a number. The
#   same file without statistics gives the NaN, as does the table that was made from the file.
# Output seen:
#   a file with statistics:    0 rows > 100, the greatest is 3.0
#   a file without them:       1 rows > 100, the greatest is nan
#   a table made of the file:  1 rows > 100, the greatest is nan
# What to do: do not let a comparison find NaN in files; ask isnan(depth) where it matters, or store
#   NULL for what is not known. A count beside a filter says whether both agree.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages"   duckdb==2.0.1 pyarrow==26.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import math
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet

table = pa.table({"depth": [1.0, math.nan, 2.0, 3.0]})
parquet.write_table(table, "with.parquet")
parquet.write_table(table, "without.parquet", write_statistics=False)
duckdb.sql("CREATE TABLE soundings AS FROM 'with.parquet'")


def look(source):
    deep = duckdb.sql(f"SELECT count(*) FROM {source} WHERE depth > 100").fetchall()[0][0]
    return deep, duckdb.sql(f"SELECT max(depth) FROM {source}").fetchall()[0][0]


seen = {
    "a file with statistics:": look("'with.parquet'"),
    "a file without them:": look("'without.parquet'"),
    "a table made of the file:": look("soundings"),
}
for source, (deep, greatest) in seen.items():
    print(f"{source:<26} {deep} rows > 100, the greatest is {greatest}")
pruned, unpruned, stored = seen.values()
if pruned != (0, 3.0) or unpruned[0] != 1 or stored[0] != 1 or not math.isnan(stored[1]):
    sys.exit("the behaviour has changed")
PYTHON
