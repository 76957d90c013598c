#!/usr/bin/env bash
# The npm package apache-arrow shows most values of a Decimal256 column wrong: 1.50 becomes "0".
#
# Seen with: apache-arrow 21.2.0 (npm), a stream of pyarrow 26.0.1.
# Behaviour: the eight 32-bit words of the value arrive as they should, but most digits are lost when
#   they are turned into text. Decimal128 is right, but
#   both come without the scale: 1.50 of scale 2 is "150", and the caller has to put the point.
# Output seen:
#   Decimal128 1.50                                  150
#   Decimal256 1.50                                  0
#   Decimal256 12345678901234567890123456789012.25   5
# What to do: ask for decimals of more than 38 digits as text, or read the words yourself
#   (little-endian, two's complement). Never show String(value) of a Decimal256.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" pyarrow==26.0.1
export PYTHONPATH="$folder/packages"
npm init --yes >npm.log
npm install --silent --no-audit --no-fund apache-arrow@21.2.0

python3 - <<'PYTHON'
from decimal import Decimal

import pyarrow as pa

columns = {
    "Decimal128 1.50": (Decimal("1.50"), pa.decimal128(38, 2)),
    "Decimal256 1.50": (Decimal("1.50"), pa.decimal256(60, 2)),
    "Decimal256 12345678901234567890123456789012.25": (
        Decimal("12345678901234567890123456789012.25"),
        pa.decimal256(60, 2),
    ),
}
table = pa.table({name: pa.array([value], kind) for name, (value, kind) in columns.items()})
with pa.ipc.new_stream("decimals.arrows", table.schema) as out:
    out.write_table(table)
PYTHON
cat >read.mjs <<'JAVASCRIPT'
import { readFileSync } from 'node:fs'
import { tableFromIPC } from 'apache-arrow'

const table = tableFromIPC(readFileSync('decimals.arrows'))
const shown = table.schema.fields.map((field, at) => String(table.getChildAt(at).get(0)))
table.schema.fields.forEach((field, at) => console.log(field.name.padEnd(48), shown[at]))
if (shown[0] !== '150' || shown[1] === '150' || shown[2] === '1234567890123456789012345678901225') {
  console.log('the behaviour has changed')
  process.exit(1)
}
JAVASCRIPT
node read.mjs
