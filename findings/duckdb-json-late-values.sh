#!/usr/bin/env bash
# DuckDB rounds fractions and turns booleans into numbers in JSON, from record 20,481 on.
#
# Seen with: duckdb 2.0.0.
# Behaviour: read_json decides the types by the first 20,480 records. A later value that does not fit is
#   cast without a word: 7.5 becomes 8 in a column of whole numbers, true becomes 1. A later text is an
#   error that names its line. So a file that is read without an error may have lost values.
# Output seen:
#   the last records of the file: 7.5, true
#   read:                         8, 1
#   with sample_size=-1:          7.5, true
# What to do: give sample_size=-1, which reads the file twice, or name the types with columns=.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" duckdb==2.0.0
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import sys

import duckdb

SAMPLE = 20_480
with open("depths.ndjson", "w") as file:
    file.write('{"depth": 7}\n' * SAMPLE)
    file.write('{"depth": 7.5}\n{"depth": true}\n')


def last(options=""):
    query = f"SELECT CAST(depth AS VARCHAR) FROM read_json('depths.ndjson'{options}) OFFSET {SAMPLE}"
    return [value for (value,) in duckdb.sql(query).fetchall()]


plain, whole = last(), last(", sample_size=-1")
print("the last records of the file: 7.5, true")
print("read:                        ", ", ".join(plain))
print("with sample_size=-1:         ", ", ".join(whole))
if plain != ["8", "1"]:
    sys.exit("the behaviour has changed")
PYTHON
