#!/usr/bin/env bash
# fastavro writes a datetime as a mere date where a union names the date first: the hours are gone.
#
# Seen with: fastavro 1.13.1.
# Behaviour: a Python datetime is a kind of date, so for a union of null, date and timestamp-micros
#   the writer takes the first branch that accepts the value, and that is the date. The time of day
#   is dropped without an error. With the two branches in the other order it is kept. avro 1.12.2
#   keeps it.
# Output seen:
#   date first: 2022-01-03
#   timestamp first: 2022-01-03 06:30:00+00:00
# What to do: put the timestamp before the date in the union. Better, give each column one type. After a load, look whether all hours of a column are 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages"   fastavro==1.13.1
export PYTHONPATH="$folder/packages"

python3 - <<'PYTHON'
import io
import sys
from datetime import date, datetime, timezone

import fastavro

DATE = {"type": "int", "logicalType": "date"}
TIMESTAMP = {"type": "long", "logicalType": "timestamp-micros"}
given = datetime(2022, 1, 3, 6, 30, tzinfo=timezone.utc)


def stored(*branches):
    schema = {
        "type": "record",
        "name": "Report",
        "fields": [{"name": "at", "type": ["null", *branches]}],
    }
    file = io.BytesIO()
    fastavro.writer(file, fastavro.parse_schema(schema), [{"at": given}])
    file.seek(0)
    return next(fastavro.reader(file))["at"]


date_first = stored(DATE, TIMESTAMP)
timestamp_first = stored(TIMESTAMP, DATE)
print("date first:", date_first)
print("timestamp first:", timestamp_first)
if type(date_first) is not date or timestamp_first != given:
    sys.exit("the behaviour has changed")
PYTHON
