#!/usr/bin/env bash
# A text such as "part_x0041_b" that openpyxl writes is "partAb" to those who read the workbook.
#
# Seen with: openpyxl 3.1.5 as writer, python-calamine 0.9.1 as reader.
# Behaviour: in a workbook `_xHHHH_` in a text stands for one character, and an underscore that
#   begins such a pattern has to be written as `_x005F_`. openpyxl neither escapes on the way out nor
#   decodes on the way in, so it reads its own files as they were and hides what has happened. A
#   reader that follows the format sees another text. Names made by code generators look like this.
# Output seen:
#   given:          part_x0041_b
#   openpyxl reads: part_x0041_b
#   calamine reads: partAb
# What to do: write text.replace("_x", "_x005F_x"), or move such texts by CSV or Parquet; openpyxl's
#   own escape() takes care of control characters alone. Where such names are keys, look for
#   `_x...._` before the load.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" openpyxl==3.1.5 python-calamine==0.9.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import sys

import openpyxl
from python_calamine import CalamineWorkbook

given = "part_x0041_b"
book = openpyxl.Workbook()
book.active["A1"] = given
book.save("names.xlsx")
by_openpyxl = openpyxl.load_workbook("names.xlsx").active["A1"].value
by_calamine = CalamineWorkbook.from_path("names.xlsx").get_sheet_by_index(0).to_python()[0][0]

print("given:         ", given)
print("openpyxl reads:", by_openpyxl)
print("calamine reads:", by_calamine)
if by_openpyxl != given or by_calamine != "partAb":
    sys.exit("the behaviour has changed")
PYTHON
