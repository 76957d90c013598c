#!/usr/bin/env bash
# parquetjs reads its own DECIMAL(9,2) column shifted: every second row is 0, the last are lost.
#
# Seen with: @dsnp/parquetjs 1.8.8, the newest one that npm installs on Node 20.
# Behaviour: its writer keeps every decimal in 8 bytes, which the format allows. Its reader looks at
#   the number of digits, not at the stored type: up to 9 digits it takes 4 bytes and moves on by 4.
#   So it sees the low half of the first value, then the high half, and so on. The number of rows is
#   right and there is no error. pyarrow reads the file right. With 10 digits all is well.
# Output seen:
#   DECIMAL(9,2)  of 1.25, 2.50, 3.75: read as 1.25, 0, 2.5
#   DECIMAL(10,2) of 1.25, 2.50, 3.75: read as 1.25, 2.5, 3.75
# What to do: declare at least 10 digits where this package reads the file, or use another reader. The
#   file itself is sound, so it can be loaded as it is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >npm.log
npm install --silent --no-audit --no-fund @dsnp/parquetjs@1.8.8

cat >read.mjs <<'JAVASCRIPT'
import parquet from '@dsnp/parquetjs'

async function roundTrip(precision) {
  const schema = new parquet.ParquetSchema({ price: { type: 'DECIMAL', precision, scale: 2 } })
  const writer = await parquet.ParquetWriter.openFile(schema, `${precision}.parquet`)
  for (const price of [1.25, 2.5, 3.75]) await writer.appendRow({ price })
  await writer.close()

  const reader = await parquet.ParquetReader.openFile(`${precision}.parquet`)
  const cursor = reader.getCursor()
  const prices = []
  for (let row = await cursor.next(); row; row = await cursor.next()) prices.push(row.price)
  await reader.close()
  const type = `DECIMAL(${precision},2)`.padEnd(13)
  console.log(`${type} of 1.25, 2.50, 3.75: read as ${prices.join(', ')}`)
  return prices.join()
}

if ((await roundTrip(9)) !== '1.25,0,2.5' || (await roundTrip(10)) !== '1.25,2.5,3.75') {
  console.log('the behaviour has changed')
  process.exit(1)
}
JAVASCRIPT
node read.mjs
