#!/usr/bin/env bash
# The Parquet reader of Arrow's Rust crates refuses a file whose decimals were a category.
#
# Seen with: datafusion 55.0.0 (built on the crate parquet), files of pyarrow 26.0.1.
# Behaviour: in the file a dictionary of decimals is a plain DECIMAL column, like any other. pyarrow
#   also stores the Arrow schema, which says "dictionary". The Rust reader follows that hint, has no
#   such reader, and refuses the column with every row of it. The same table written with
#   store_schema=False is read.
# Output seen:
#   with the Arrow schema: unsupported data type for byte array dictionary reader -
#     Dictionary(Int32, Decimal128(3, 2))
#   without it: [Decimal('1.50'), None, Decimal('2.25')]
# What to do: decode dictionaries before writing (column.dictionary_decode()), or write without the
#   Arrow schema. A program on this crate can read again without the hint (skip_arrow_metadata).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" datafusion==55.0.0 pyarrow==26.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import sys
from decimal import Decimal

import datafusion
import pyarrow as pa
import pyarrow.parquet as parquet

prices = pa.array([Decimal("1.50"), None, Decimal("2.25")]).dictionary_encode()
table = pa.table({"price": prices})
parquet.write_table(table, "with.parquet")
parquet.write_table(table, "without.parquet", store_schema=False)
context = datafusion.SessionContext()


def read(name):
    context.register_parquet(name, f"{name}.parquet")
    return context.sql(f'SELECT price FROM "{name}"').to_pydict()["price"]


try:
    read("with")
except Exception as error:
    refused = str(error)
else:
    sys.exit("the behaviour has changed")
without = read("without")
print("with the Arrow schema:", refused.rsplit("error: ", 1)[-1])
print("without it:", without)
if "Dictionary(Int32, Decimal128(3, 2))" not in refused or without != prices.to_pylist():
    sys.exit("the behaviour has changed")
PYTHON
