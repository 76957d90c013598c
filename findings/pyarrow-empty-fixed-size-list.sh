#!/usr/bin/env bash
# pyarrow writes a fixed-size list of 0 elements to Parquet that it cannot read back.
#
# Seen with: pyarrow 26.0.1.
# Behaviour: such a column can come from a schema whose width is computed. In memory it is sound,
#   and IPC files keep it. Parquet files are written without an
#   error, with one NULL element for a NULL list; the reader then misses its 0 elements. Who reads
#   the file without the stored Arrow schema gets a list of one NULL for each row, NULL or not.
# Output seen:
#   IPC: [[], None]
#   Parquet: Expected all lists to be of size=0 but index 1 had size=1
# What to do: leave out columns whose type holds nothing, or make them variable-size lists, before
#   they are written. Read one file back before the source is deleted.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" pyarrow==26.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import sys

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

table = pa.table({"vector": pa.array([[], None], pa.list_(pa.float32(), 0))})
feather.write_feather(table, "empty.arrow")
print("IPC:", feather.read_table("empty.arrow")["vector"].to_pylist())

parquet.write_table(table, "empty.parquet")
try:
    parquet.read_table("empty.parquet")
except pa.ArrowInvalid as error:
    print("Parquet:", error)
else:
    sys.exit("the behaviour has changed")
PYTHON
