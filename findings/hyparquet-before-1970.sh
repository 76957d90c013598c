#!/usr/bin/env bash
# hyparquet cuts moments before 1970 towards 1970, so one of 1969 is read as a moment of 1970.
#
# Seen with: hyparquet 1.33.0 (npm), a file of pyarrow 26.0.1.
# Behaviour: a JavaScript Date has milliseconds, so microseconds and nanoseconds have to be cut. The
#   package divides whole numbers, and JavaScript's division drops the fraction: later moments move
#   back, moments before 1970 move forward. Two rows a microsecond apart can fall on two days, and
#   programs that round down, as pyarrow does, find another millisecond.
# Output seen:
#   1970-01-01 00:00:00.001500 is read as 1970-01-01T00:00:00.001Z
#   1969-12-31 23:59:59.998500 is read as 1969-12-31T23:59:59.999Z
#   1969-12-31 23:59:59.999999 is read as 1970-01-01T00:00:00.000Z
# What to do: take the column as it is stored (hyparquet's option `parsers` gives the bigint)
#   where moments before 1970 matter, and do not use such a Date as a key.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" pyarrow==26.0.1
export PYTHONPATH="$folder/packages"
npm init --yes >npm.log
npm install --silent --no-audit --no-fund hyparquet@1.33.0

python3 - <<'PYTHON'
import pyarrow as pa
import pyarrow.parquet as parquet

moments = pa.array([1500, -1500, -1], pa.timestamp("us"))
parquet.write_table(pa.table({"at": moments, "text": moments.cast(pa.string())}), "moments.parquet")
PYTHON
cat >read.mjs <<'JAVASCRIPT'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'

const rows = await parquetReadObjects({ file: await asyncBufferFromFile('moments.parquet') })
const read = rows.map((row) => row.at.toISOString())
rows.forEach((row, place) => console.log(row.text, 'is read as', read[place]))
if (read[0] !== '1970-01-01T00:00:00.001Z' || read[2] !== '1970-01-01T00:00:00.000Z') {
  console.log('the behaviour has changed')
  process.exit(1)
}
JAVASCRIPT
node read.mjs
