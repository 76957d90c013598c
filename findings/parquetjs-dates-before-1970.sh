#!/usr/bin/env bash
# parquetjs stores a day before 1970 as the next day, unless the Date is exactly midnight UTC.
#
# Seen with: @dsnp/parquetjs 1.8.8, the newest one that npm installs on Node 20.
# Behaviour: for a DATE column the writer divides the milliseconds by those of a day and drops the
#   fraction. After 1970 that is the day itself. Before 1970 it rounds up, so noon of 1969-12-31
#   becomes 1970-01-01. Dates of birth that were made with local midnight are hit as well.
# Output seen:
#   1950-06-15T00:00:00.000Z is stored as 1950-06-15
#   1950-06-15T12:00:00.000Z is stored as 1950-06-16
#   2022-01-03T12:00:00.000Z is stored as 2022-01-03
# What to do: give the writer midnight UTC, new Date(Date.UTC(year, month, day)), for DATE columns.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >npm.log
npm install --silent --no-audit --no-fund @dsnp/parquetjs@1.8.8

cat >dates.mjs <<'JAVASCRIPT'
import parquet from '@dsnp/parquetjs'

const schema = new parquet.ParquetSchema({ born: { type: 'DATE' } })
const given = ['1950-06-15T00:00:00Z', '1950-06-15T12:00:00Z', '2022-01-03T12:00:00Z']
const writer = await parquet.ParquetWriter.openFile(schema, 'dates.parquet')
for (const text of given) await writer.appendRow({ born: new Date(text) })
await writer.close()

const reader = await parquet.ParquetReader.openFile('dates.parquet')
const cursor = reader.getCursor()
const read = []
for (const text of given) {
  const day = (await cursor.next()).born.toISOString().slice(0, 10)
  console.log(new Date(text).toISOString(), 'is stored as', day)
  read.push(day)
}
await reader.close()
if (read.join() !== '1950-06-15,1950-06-16,2022-01-03') {
  console.log('the behaviour has changed')
  process.exit(1)
}
JAVASCRIPT
node dates.mjs
