#!/usr/bin/env bash
# fastparquet gives one key instead of the map where DuckDB wrote a MAP column without NULL.
#
# Seen with: duckdb 2.0.1 as writer, fastparquet 2026.9.0 as reader.
# Behaviour: DuckDB declares a column required if none of its values is NULL. fastparquet knows a
#   MAP only below an optional group. A required one becomes a column of texts that holds keys and
#   none of the values. One row with NULL in the source, and all maps of the file are read right.
# Output seen:
#   without NULL: ['a', 'b']
#   with a NULL:  [{'a': 1}, {'b': 2}, None]
# What to do: write maps as structs, as JSON, or as a table of key and value for such readers, or
#   read the file by pyarrow. Test a reader with data that have no NULL as well as with such as have.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" fastparquet==2026.9.0 pandas==3.1.1 numpy==2.4.6 pyarrow==26.0.1 duckdb==2.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import sys

import duckdb
from fastparquet import ParquetFile


def read(source):
    duckdb.sql(f"COPY (SELECT * FROM ({source}) t(tags)) TO 'maps.parquet'")
    return [
        {key: int(item) for key, item in value.items()} if isinstance(value, dict) else value
        for value in ParquetFile("maps.parquet").to_pandas()["tags"]
    ]


without_null = read("VALUES (MAP{'a': 1}), (MAP{'b': 2})")
with_null = read("VALUES (MAP{'a': 1}), (MAP{'b': 2}), (NULL)")
print("without NULL:", without_null)
print("with a NULL: ", with_null)
if any(isinstance(value, dict) for value in without_null) or with_null[0] != {"a": 1}:
    sys.exit("the behaviour has changed")
PYTHON
