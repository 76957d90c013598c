#!/usr/bin/env bash
# fastparquet reads lists of structs and lists of lists as None in each row, without an error.
#
# Seen with: fastparquet 2026.9.0, a file of pyarrow 26.0.1.
# Behaviour: lists of numbers or texts are read. A list whose elements are structs or lists is laid
#   out with the standard names (list, element) and read by pyarrow, polars and DuckDB. fastparquet
#   gives the column, with None in every row, so it looks as if nobody had ever filled it.
# Output seen:
#   numbers: [[1, 2], [3]]
#   stops: [None, None]
#   grid: [None, None]
# What to do: give such readers one row for each element, or the nested value as JSON text. Whoever
#   loads by way of pandas should pass engine="pyarrow" and count what is not NULL.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" \
  fastparquet==2026.9.0 pandas==3.1.1 numpy==2.4.6 pyarrow==26.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import sys

import pyarrow as pa
import pyarrow.parquet as parquet
from fastparquet import ParquetFile

given = {
    "numbers": [[1, 2], [3]],
    "stops": [[{"port": "Brest"}], [{"port": "Calais"}]],
    "grid": [[[1], [2]], [[3]]],
}
parquet.write_table(pa.table(given), "nested.parquet")
frame = ParquetFile("nested.parquet").to_pandas()
read = {
    name: [None if row is None else [int(item) for item in row] for row in frame[name]]
    for name in given
}

for name, rows in read.items():
    print(f"{name}: {rows}")
if read != {"numbers": [[1, 2], [3]], "stops": [None, None], "grid": [None, None]}:
    sys.exit("the behaviour has changed")
PYTHON
