#!/usr/bin/env bash
# agate, the library of csvkit, drops the noughts in front of codes: 00501 becomes 501.
#
# Seen with: agate 1.14.2.
# Behaviour: agate takes a column for numbers if all of its cells look like such, also with noughts in
#   front. Postcodes, account numbers and codes of places lose them then. Programs on top of it
#   (csvsql, in2csv, csvjson, and seeds of dbt) hand on the numbers.
# Output seen:
#   00501,02134 -> 501, 2134
#   00501,N0C1  -> 00501, N0C1
# What to do: give the column types, or --no-inference with csvkit. One text in the column keeps all of
#   them, so small tests may pass.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" agate==1.14.2
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import io
import sys

import agate


def codes(*cells):
    text = io.StringIO("code\n" + "\n".join(cells) + "\n")
    return [str(value) for value in agate.Table.from_csv(text).columns["code"].values()]


numbers, texts = codes("00501", "02134"), codes("00501", "N0C1")
print("00501,02134 ->", ", ".join(numbers))
print("00501,N0C1  ->", ", ".join(texts))
if (numbers, texts) != (["501", "2134"], ["00501", "N0C1"]):
    sys.exit("the behaviour has changed")
PYTHON
