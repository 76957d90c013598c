#!/usr/bin/env bash
# An Arrow file of polars cannot be read from front to back, although Arrow files are made for it.
#
# Seen with: polars 2.1.0, pyarrow 26.0.1.
# Behaviour: the Arrow file format is described as eight bytes, then a stream, then a footer, so that
#   a pipe or an HTTP body can be read while it arrives. A file of pyarrow can, once the eight bytes
#   are skipped. polars writes something else than the schema in this place. Readers that go by
#   the footer do not notice; a reader of streams fails at the first message.
# Output seen:
#   pyarrow's file, as a stream: [1, 2]
#   polars' file, by its footer: [1, 2]
#   polars' file, as a stream:   Invalid flatbuffers message.
# What to do: use write_ipc_stream where the receiver reads a stream (HTTP, pipes), write_ipc for
#   files on a disk. A receiver of "ARROW1" should keep the body until it has the footer.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" polars==2.1.0 pyarrow==26.0.1
export PYTHONPATH="$folder/packages"

cd "$folder"
python3 - <<'PYTHON'
import io
import sys

import polars
import pyarrow as pa
import pyarrow.ipc as ipc


def as_stream(content):
    return ipc.open_stream(content[8:]).read_all()["ship"].to_pylist()


table = pa.table({"ship": [1, 2]})
buffer = io.BytesIO()
with ipc.new_file(buffer, table.schema) as out:
    out.write_table(table)
print("pyarrow's file, as a stream:", as_stream(buffer.getvalue()))

buffer = io.BytesIO()
polars.DataFrame({"ship": [1, 2]}).write_ipc(buffer)
content = buffer.getvalue()
print("polars' file, by its footer:", ipc.open_file(content).read_all()["ship"].to_pylist())
try:
    as_stream(content)
except (pa.ArrowException, OSError) as error:
    print("polars' file, as a stream:  ", error)
else:
    sys.exit("the behaviour has changed")
PYTHON
