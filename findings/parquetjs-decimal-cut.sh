#!/usr/bin/env bash
# parquetjs stores the price 1.15 as 1.14: it cuts decimals instead of rounding them.
#
# Seen with: @dsnp/parquetjs 1.8.8, the newest one that npm installs on Node 20.
# Behaviour: a DECIMAL column takes JavaScript numbers. The value times 100 (for scale 2) is not
#   always a whole number in binary: 1.15 * 100 is 114.99999999999999. The writer rounds down, so
#   one price in seventeen loses its last cent, always to the same side. No error.
# Output seen:
#   1.15 is stored as 1.14
#   4.35 is stored as 4.34
#   prices of 0.00 to 99.99: 573 of 10000 are a cent too low
# What to do: write cents as INT64 or prices as texts and let the store make decimals of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >npm.log
npm install --silent --no-audit --no-fund @dsnp/parquetjs@1.8.8

cat >cut.mjs <<'JAVASCRIPT'
import parquet from '@dsnp/parquetjs'

const schema = new parquet.ParquetSchema({ price: { type: 'DECIMAL', precision: 10, scale: 2 } })
const given = Array.from({ length: 10000 }, (_, cents) => Number((cents / 100).toFixed(2)))
const writer = await parquet.ParquetWriter.openFile(schema, 'prices.parquet')
for (const price of given) await writer.appendRow({ price })
await writer.close()

const reader = await parquet.ParquetReader.openFile('prices.parquet')
const cursor = reader.getCursor()
const read = []
for (let row = await cursor.next(); row; row = await cursor.next()) read.push(row.price)
await reader.close()

const lower = given.filter((price, place) => read[place] < price)
for (const price of [1.15, 4.35]) console.log(price, 'is stored as', read[given.indexOf(price)])
console.log(`prices of 0.00 to 99.99: ${lower.length} of ${given.length} are a cent too low`)
if (read[given.indexOf(1.15)] !== 1.14) {
  console.log('the behaviour has changed')
  process.exit(1)
}
JAVASCRIPT
node cut.mjs
