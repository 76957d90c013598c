#!/usr/bin/env bash
# fastparquet turns the date 9999-12-31, which many systems mean as "for ever", into 1816-03-29.
#
# Seen with: fastparquet 2026.9.0 with pandas 3.1.1, a file of pyarrow 26.0.1.
# Behaviour: a Parquet DATE counts days in 32 bits. fastparquet multiplies the days to nanoseconds
#   in 64 bits without looking whether they fit, so each date before 1677-09-21 or after 2262-04-11
#   wraps around. There is no error, and the wrapped date even has a time of day. TIMESTAMP columns
#   of milliseconds or microseconds are read right.
# Output seen:
#   0001-01-01 is read as 1754-08-30 22:43:41.128654848
#   2022-01-03 is read as 2022-01-03 00:00:00
#   9999-12-31 is read as 1816-03-29 05:56:08.066277376
# What to do: write such columns as timestamps of microseconds for readers that use fastparquet, or
#   have them read by pyarrow. A date with a time of day is the mark of a wrapped one.
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
from datetime import date

import pyarrow as pa
import pyarrow.parquet as parquet
from fastparquet import ParquetFile

given = [date(1, 1, 1), date(2022, 1, 3), date(9999, 12, 31)]
parquet.write_table(pa.table({"until": given}), "dates.parquet")
read = [str(value) for value in ParquetFile("dates.parquet").to_pandas()["until"]]

for value, other in zip(given, read):
    print(value, "is read as", other)
if [text[:10] for text in read] != ["1754-08-30", "2022-01-03", "1816-03-29"]:
    sys.exit("the behaviour has changed")
PYTHON
