#!/usr/bin/env bash
# The Python library "avro" shifts the point of decimals that have fewer digits behind it than the
# schema says: 5 in a column of scale 2 is stored as 0.05.
#
# Seen with: avro 1.12.2, read back by avro itself and by fastavro 1.13.1.
# Behaviour: the writer puts the digits of the Decimal into the file as they stand. It only checks
#   that the value has not more digits behind the point than the scale, so fewer of them pass, and
#   every reader then puts the point at the scale. No error, no warning. With scale 2, 5.50 is right
#   while 5.5, the same number, becomes 0.55. 1.2E+3 becomes 0.12.
# Output seen:
#   given 5.50     avro reads 5.50     fastavro reads 5.50
#   given 5.5      avro reads 0.55     fastavro reads 0.55
#   given 5        avro reads 0.05     fastavro reads 0.05
#   given 1.2E+3   avro reads 0.12     fastavro reads 0.12
# What to do: quantize each Decimal to the scale before the library writes it
#   (value.quantize(Decimal("0.01"))), or write with fastavro, which does so. A store cannot tell
#   such a file from a right one: compare a sum with the source after the load.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages"   avro==1.12.2 fastavro==1.13.1
export PYTHONPATH="$folder/packages"

python3 - "$folder/prices.avro" <<'PYTHON'
import json
import sys
from decimal import Decimal

import avro.schema
import fastavro
from avro.datafile import DataFileReader, DataFileWriter
from avro.io import DatumReader, DatumWriter

path = sys.argv[1]
price = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
schema = {"type": "record", "name": "Sale", "fields": [{"name": "price", "type": price}]}
given = [Decimal(text) for text in ("5.50", "5.5", "5", "1.2E+3")]

with DataFileWriter(open(path, "wb"), DatumWriter(), avro.schema.parse(json.dumps(schema))) as out:
    for value in given:
        out.append({"price": value})
with DataFileReader(open(path, "rb"), DatumReader()) as rows:
    by_avro = [row["price"] for row in rows]
with open(path, "rb") as file:
    by_fastavro = [row["price"] for row in fastavro.reader(file)]

for value, first, second in zip(given, by_avro, by_fastavro):
    print(f"given {value!s:<8} avro reads {first!s:<8} fastavro reads {second}")
expected = [Decimal(text) for text in ("5.50", "0.55", "0.05", "0.12")]
if by_avro != expected or by_fastavro != expected:
    sys.exit("the behaviour has changed")
PYTHON
