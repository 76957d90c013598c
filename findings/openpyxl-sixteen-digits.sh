#!/usr/bin/env bash
# openpyxl writes numbers with 16 digits: a workbook does not hold the doubles that it was given.
#
# Seen with: openpyxl 3.1.5; the sheet's text, and python-calamine 0.9.1 as second reader.
# Behaviour: a double needs 17 digits to come back as it was, and a cell of a workbook may have as
#   many. openpyxl rounds to 16 while it writes, so sums change in the last place, and whole numbers
#   beyond 2^53, such as identifiers, change too. No warning.
# Output seen:
#   0.30000000000000004 is stored as 0.3
#   48.390394000000015 is stored as 48.39039400000001
#   12345678901234567 is stored as 1.234567890123457e+16
# What to do: write identifiers and exact decimals as text cells, and keep a CSV or Parquet file as
#   the source to load from. Never compare a value that passed a workbook for equality.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" openpyxl==3.1.5 python-calamine==0.9.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import re
import sys
import zipfile

import openpyxl
from python_calamine import CalamineWorkbook

given = [0.1 + 0.2, 48.390394000000015, 12345678901234567]
book = openpyxl.Workbook()
for value in given:
    book.active.append([value])
book.save("numbers.xlsx")
sheet = zipfile.ZipFile("numbers.xlsx").read("xl/worksheets/sheet1.xml").decode()
stored = re.findall("<v>([^<]*)</v>", sheet)
rows = CalamineWorkbook.from_path("numbers.xlsx").get_sheet_by_index(0).to_python()
read = [row[0] for row in rows]

for value, text in zip(given, stored):
    print(value, "is stored as", text)
if read[0] != 0.3 or any(value == other for value, other in zip(given, read)):
    sys.exit("the behaviour has changed")
PYTHON
