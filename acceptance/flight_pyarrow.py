"""pyarrow.flight: bulk puts, bulk gets, and clients that die half-way."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.flight as fl

from suite import run_cases

ROWS = 8192


def batch(first=0, rows=ROWS):
    ids = range(first, first + rows)
    return pa.record_batch({"id": pa.array(ids, pa.int64()), "name": [f"ship {i}" for i in ids]})


def command(**put):
    return fl.FlightDescriptor.for_command(json.dumps({"bulk_put": {"table": "ships", **put}}))


class Put:
    """A bulk put that says how many rows it sent, unless an exception ends it."""

    def __init__(self, client, descriptor, schema):
        self.writer, self.reader = client.do_put(descriptor, schema)
        self.rows = 0

    def __enter__(self):
        return self

    def write(self, rows):
        self.writer.write_batch(rows)
        self.rows += rows.num_rows

    def __exit__(self, kind, *_):
        if kind is None:
            self.writer.write_metadata(json.dumps({"end": {"rows": self.rows}}).encode())
            self.writer.done_writing()

    def messages(self):
        while (said := self.reader.read()) is not None:
            yield json.loads(said.to_pybytes())


def put_completes(server):
    with Put(server.client, command(), batch().schema) as put:
        for number in range(4):
            put.write(batch(number * ROWS))
    said = list(put.messages())
    completed = [message["completed"] for message in said if "completed" in message]
    assert completed[0]["counts"]["inserted"] == 4 * ROWS, said


def bare_path_is_stored_but_not_completed(server):
    path = fl.FlightDescriptor.for_path("ships")
    writer, reader = server.client.do_put(path, batch().schema)
    writer.write_batch(batch())
    writer.done_writing()
    said = []
    while (message := reader.read()) is not None:
        said.append(json.loads(message.to_pybytes()))
    names = [next(iter(message)) for message in said]
    assert "ended_without_marker" in names and "completed" not in names, names


def exchange_gets_rows(server):
    put_completes(server)
    get = json.dumps({"bulk_get": {"table": "ships", "direction": "forward"}})
    descriptor = fl.FlightDescriptor.for_command(get)
    writer, reader = server.client.do_exchange(descriptor)
    with writer:
        keys = pa.record_batch({"id": pa.array([5, 10**9, 3], pa.int64())})
        writer.begin(keys.schema)
        writer.write_batch(keys)
        writer.done_writing()
        rows = reader.read_all()
    assert rows.column("id").to_pylist() == [5, 3], rows


def exchange_that_writes_everything_first(server):
    put_completes(server)
    get = json.dumps({"bulk_get": {"table": "ships", "direction": "forward"}})
    writer, reader = server.client.do_exchange(fl.FlightDescriptor.for_command(get))
    with writer:
        keys = pa.record_batch({"id": pa.array([i % 8192 for i in range(65536)], pa.int64())})
        writer.begin(keys.schema)
        for _ in range(40):
            writer.write_batch(keys)
        writer.done_writing()
        rows = sum(chunk.data.num_rows for chunk in reader)
    assert rows == 40 * 65536, rows


def scan_of_all_parts(server):
    put_completes(server)
    info = server.client.get_flight_info(fl.FlightDescriptor.for_path("ships"))
    tables = [server.client.do_get(endpoint.ticket).read_all() for endpoint in info.endpoints]
    assert all(table.schema.equals(info.schema, check_metadata=True) for table in tables)
    ids = sorted(i for table in tables for i in table.column("id").to_pylist())
    assert ids == list(range(4 * ROWS)), len(ids)


def a_large_batch_is_taken(server):
    with Put(server.client, command(), batch().schema) as put:
        put.write(batch(rows=1_000_000))
    said = list(put.messages())
    assert any("completed" in message for message in said), said


def error_tells_its_kind(server):
    try:
        server.client.get_flight_info(fl.FlightDescriptor.for_path("none"))
    except (fl.FlightError, KeyError) as error:
        assert "none" in str(error), error
    else:
        raise AssertionError("no error")


DEATH = """
import sys, os, time, signal
sys.path.insert(0, {folder!r})
from flight_pyarrow import *
mode, address = sys.argv[1:]
client = fl.connect(address)
options = fl.FlightCallOptions(timeout=1.0) if mode == "deadline" else fl.FlightCallOptions()
writer, reader = client.do_put(command(), batch().schema, options)
for number in range(5):
    writer.write_batch(batch(number * ROWS))
reader.read()
if mode == "kill": os.kill(os.getpid(), signal.SIGKILL)
if mode == "raise": raise KeyboardInterrupt
if mode == "exit": sys.exit(0)
if mode == "deadline": time.sleep(2)
if mode == "close": writer.close()
if mode == "dropped": del writer, reader
"""


def children_come_with_their_parents(server):
    define = b"CREATE TABLE ships.calls (port LONG, PRIMARY KEY (port))"
    list(server.client.do_action(fl.Action("tonnage.Define", define)))
    with Put(server.client, command(), batch().schema) as put:
        put.write(batch(rows=3))
    list(put.messages())
    calls = pa.record_batch({"id": [1, 1, 2], "port": [10, 11, 12]})
    with Put(server.client, command(table="ships.calls"), calls.schema) as put:
        put.write(calls)
    list(put.messages())
    get = {"table": "ships", "relatives": ["ships.calls"], "direction": "forward"}
    descriptor = fl.FlightDescriptor.for_command(json.dumps({"bulk_get": get}))
    writer, reader = server.client.do_exchange(descriptor)
    writer.begin(pa.schema([("id", pa.int64())]))
    writer.write_batch(pa.record_batch({"id": [0, 1, 2]}))
    writer.done_writing()
    rows = reader.read_all()
    order = [next(name for name, row in each.items() if row) for each in rows.to_pylist()]
    assert order == ["ships", "ships", "ships.calls", "ships.calls", "ships", "ships.calls"], order
    found = pa.Table.from_struct_array(rows["ships.calls"].drop_null())
    assert found.to_pylist() == calls.to_pylist(), found


def a_large_object_is_stored_once_its_end_is_told(server):
    def put(end):
        descriptor = fl.FlightDescriptor.for_command('{"put_lob": {"key": "/films/-/a"}}')
        schema = pa.schema([("bytes", pa.binary())])
        writer, reader = server.client.do_put(descriptor, schema)
        assert json.loads(reader.read().to_pybytes()) == {"ready": {"position": 0}}
        for piece in range(3):
            writer.write_batch(pa.record_batch({"bytes": [bytes([piece]) * (1 << 20)]}))
        if end:
            writer.write_metadata(json.dumps({"end": {"bytes": 3 << 20}}).encode())
        writer.done_writing()
        stored = reader.read()
        writer.close()
        return json.loads(stored.to_pybytes())

    ticket = fl.Ticket('{"get_lob": {"key": "/films/-/a"}}')
    try:
        put(end=False)
        raise AssertionError("a stream without its end is not an object")
    except pa.ArrowInvalid as error:
        assert "end marker" in str(error), error
    try:
        server.client.do_get(ticket).read_all()
        raise AssertionError("there is no object yet")
    except KeyError:
        pass
    assert put(end=True)["stored"]["bytes"] == 3 << 20
    bytes_read = b"".join(server.client.do_get(ticket).read_all()["bytes"].to_pylist())
    assert bytes_read == b"".join(bytes([piece]) * (1 << 20) for piece in range(3))


def every_row_that_exists_is_told(server):
    rows = 300_000
    for _ in range(2):
        # All is written before anything is read.
        with Put(server.client, command(reports="all"), batch().schema) as put:
            for first in range(0, rows, 10_000):
                put.write(batch(first, 10_000))
        said = list(put.messages())
    positions = [p for message in said for p in message.get("existing", {}).get("positions", [])]
    assert sorted(positions) == list(range(rows)), len(positions)
    assert any("completed" in message for message in said)


def a_thousand_gateways_put_a_thousand_rows_each(server):
    def gateway(number):
        with fl.connect(server.flight) as client:
            with Put(client, command(), batch().schema) as put:
                put.write(batch(number * 1000, 1000))
            said = list(put.messages())
        return [message["completed"]["counts"] for message in said if "completed" in message]

    started = time.monotonic()
    with ThreadPoolExecutor(64) as pool:
        completed = list(pool.map(gateway, range(1000)))
    seconds = time.monotonic() - started
    assert all([counts["inserted"] for counts in told] == [1000] for told in completed)
    jobs = len(server.act("tonnage.Jobs"))
    print(f"1000 streams of 1000 rows: {seconds:.1f} s, {jobs} loads", file=sys.stderr)


def died(mode):
    def case(server):
        code = DEATH.format(folder=os.path.dirname(os.path.abspath(__file__)))
        subprocess.run(
            [sys.executable, "-c", code, mode, server.flight],
            stderr=subprocess.DEVNULL, timeout=60, check=False,
        )
        jobs = server.jobs()
        assert jobs[-1]["state"] in ("abandoned", "stopped"), jobs
        assert not any(s["completed"] for job in jobs for s in job["report"]["streams"]), jobs
    case.__name__ = f"client_that_ends_by_{mode}_never_completes"
    return case


CASES = [
    put_completes, bare_path_is_stored_but_not_completed, exchange_gets_rows,
    exchange_that_writes_everything_first, scan_of_all_parts, a_large_batch_is_taken,
    error_tells_its_kind, children_come_with_their_parents,
    a_large_object_is_stored_once_its_end_is_told, every_row_that_exists_is_told,
    a_thousand_gateways_put_a_thousand_rows_each,
    *[died(mode) for mode in ("kill", "raise", "exit", "deadline", "close", "dropped")],
]


if __name__ == "__main__":
    run_cases(CASES, "CREATE TABLE ships (id LONG, name STRING, PRIMARY KEY (id))")
