#!/usr/bin/env bash
# fastparquet gives a key instead of the map where the keys of a MAP are stored without dictionary.
#
# Seen with: fastparquet 2026.9.0, files of pyarrow 26.0.1; files of duckdb 2.0.1 behave likewise.
# Behaviour: two files with the same schema and the same rows differ in the encoding of their pages
#   alone. With dictionary pages the maps are read. Without them the column holds texts, the keys,
#   and the values are gone. Writers choose the encoding by themselves: pyarrow leaves dictionaries
#   when they grow large, DuckDB does not begin one where each key is new. So small tests pass.
# Output seen:
#   with a dictionary:    [{'draught': 7}, {'beam': 32}]
#   without a dictionary: ['draught', 'beam']
# What to do: have files with MAP columns read by pyarrow (engine="pyarrow" in pandas), or write the
#   maps as a table of key and value. A column that should hold maps and is text tells it at once.
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

ships = pa.array([[("draught", 7)], [("beam", 32)]], pa.map_(pa.string(), pa.int32()))


def read(use_dictionary):
    parquet.write_table(pa.table({"size": ships}), "maps.parquet", use_dictionary=use_dictionary)
    return [
        {key: int(item) for key, item in value.items()} if isinstance(value, dict) else value
        for value in ParquetFile("maps.parquet").to_pandas()["size"]
    ]


with_dictionary, without = read(True), read(False)
print("with a dictionary:   ", with_dictionary)
print("without a dictionary:", without)
if with_dictionary != [{"draught": 7}, {"beam": 32}] or without != ["draught", "beam"]:
    sys.exit("the behaviour has changed")
PYTHON
