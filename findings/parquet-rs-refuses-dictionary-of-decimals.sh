#!/usr/bin/env bash
# The Parquet reader of Arrow's Rust crates refuses a file whose decimals were a pandas category.
#
# Seen with: arro3-io 0.9.1 (built on the crate parquet), files of pyarrow 26.0.1.
# Behaviour: in the file a category of decimals is a plain DECIMAL column, like any other. pyarrow
#   also stores the Arrow schema, which says "dictionary". The Rust reader follows that hint, has no
#   such reader, and gives up the whole file with its other columns. The same table written with
#   store_schema=False is read.
# Output seen:
#   with the Arrow schema: Parquet error: unsupported data type for byte array dictionary reader - Dictionary(Int32, Decimal128(3, 2))
#   without it: [Decimal('1.50'), None, Decimal('2.25')]
# What to do: decode dictionaries before writing (column.dictionary_decode()), or write without the
#   Arrow schema. A reader can try again without the hint (skip_arrow_metadata) before it refuses.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" arro3-core==0.9.1 arro3-io==0.9.1 pyarrow==26.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import sys
from decimal import Decimal

import arro3.io
import pyarrow as pa
import pyarrow.parquet as parquet

prices = pa.array([Decimal("1.50"), None, Decimal("2.25")]).dictionary_encode()
table = pa.table({"price": prices})
parquet.write_table(table, "with.parquet")
parquet.write_table(table, "without.parquet", store_schema=False)


def read(path):
    return pa.table(arro3.io.read_parquet(path).read_all())["price"].to_pylist()


try:
    read("with.parquet")
except Exception as error:
    refused = str(error)
else:
    sys.exit("the behaviour has changed")
without = read("without.parquet")
print("with the Arrow schema:", refused)
print("without it:", without)
if "dictionary" not in refused or without != prices.to_pylist():
    sys.exit("the behaviour has changed")
PYTHON
