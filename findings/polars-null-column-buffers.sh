#!/usr/bin/env bash
# polars exports a column of the type Null with one buffer where Arrow's C interface allows none.
#
# Seen with: polars 2.1.0, looked at by nanoarrow 0.9.0; pyarrow 26.0.1 for comparison.
# Behaviour: a column with nothing but None, as polars infers it from rows, has the type Null. Its
#   layout has no buffers at all. polars hands out an array with n_buffers = 1. pyarrow and DuckDB
#   do not mind; importers that check the number of buffers refuse the whole batch.
# Output seen:
#   pyarrow: type n, 0 buffers
#   polars:  type n, 1 buffers
# What to do: give such columns a type before they are handed over
#   (frame.cast({"note": polars.String})). An importer should take a Null column as it is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" polars==2.1.0 pyarrow==26.0.1 nanoarrow==0.9.0
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import sys

import nanoarrow
import polars
import pyarrow as pa


def buffers(frame):
    batch = next(iter(nanoarrow.c_array_stream(frame)))
    column = batch.child(0)
    return column.schema.format, column.n_buffers


by_pyarrow = buffers(pa.table({"note": pa.nulls(2)}))
by_polars = buffers(polars.DataFrame({"note": [None, None]}))
print(f"pyarrow: type {by_pyarrow[0]}, {by_pyarrow[1]} buffers")
print(f"polars:  type {by_polars[0]}, {by_polars[1]} buffers")
if by_pyarrow != ("n", 0) or by_polars != ("n", 1):
    sys.exit("the behaviour has changed")
PYTHON
