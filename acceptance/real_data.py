"""Ship positions of the real data through each listener: all agree with what the program loads by itself.

The data lies beside the checkout, or where TONNAGE_TEST_DATA says; without it the cases say so."""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

import adbc_driver_flightsql.dbapi as dbapi
import pyarrow as pa
import pyarrow.flight as fl
import pyarrow.parquet as pq

from suite import Server

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("TONNAGE_TEST_DATA", os.path.join(HERE, "..", "..", "shared", "data"))
PARQUET = os.path.join(DATA, "ais_us_20220103.parquet")
KEY = ["MMSI", "BaseDateTime"]

ANSWERS = """SELECT count(*) AS rows, count(DISTINCT MMSI) AS ships, round(sum(LAT), 3) AS lat,
round(sum(SOG), 3) AS sog, max(BaseDateTime) AS last, count(VesselName) AS named FROM day"""


def program(*arguments):
    run = subprocess.run([os.environ["TONNAGE"], *arguments], capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr
    return run.stdout


def embedded(directory):
    """What the program answers over a store that it loaded by itself, with the table's definition."""
    store = os.path.join(directory, "embedded")
    started = time.time()
    program("load", "--store", store, "--create", "--primary-key", "SHARD(MMSI), BaseDateTime", "day", PARQUET)
    print(f"# embedded load: {time.time() - started:.2f} s")
    answers = json.loads(program("sql", "--store", store, "--format", "json", ANSWERS))
    latest = json.loads(program(
        "sql", "--store", store, "--format", "json",
        "SELECT MMSI, max(BaseDateTime) AS last FROM day GROUP BY MMSI ORDER BY MMSI"))
    server = Server("", store)
    try:
        with urllib.request.urlopen(server.http + "/v1/tables/day") as answer:
            definition = json.loads(answer.read())["definition"]
    finally:
        server.stop()
    return answers[0], definition, latest


def asked(server):
    body = json.dumps({"sql": ANSWERS}).encode()
    request = urllib.request.Request(server.http + "/v1/sql", body, {"Accept": "application/x-ndjson"})
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


def by_http_parquet(server):
    with open(PARQUET, "rb") as file:
        body = file.read()
    kind = {"Content-Type": "application/vnd.apache.parquet"}
    with urllib.request.urlopen(
        urllib.request.Request(server.http + "/v1/tables/day/rows", body, kind)
    ) as answer:
        told = json.loads(answer.read())
    assert told["counts"]["failed"] == 0 and told["rejected"] == 0, told


def by_adbc_ingest(server):
    url = server.flight.replace("grpc://", "grpc+tcp://")
    with dbapi.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        data = pq.read_table(PARQUET)
        cursor.execute("SELECT * FROM day")
        wanted = cursor.fetch_arrow_table().schema
        data = pa.table({field.name: data[field.name].cast(field.type) for field in wanted})
        # A ship tells its place twice in a second now and then: the first stays.
        keys = data.select(KEY).to_pandas().duplicated()
        data = data.filter(pa.array(~keys))
        assert cursor.adbc_ingest("day", data, mode="append") == data.num_rows


def by_bulk_put(server):
    data = pq.read_table(PARQUET)
    command = json.dumps({"bulk_put": {"table": "day"}})
    writer, reader = server.client.do_put(fl.FlightDescriptor.for_command(command), data.schema)
    writer.write_table(data, max_chunksize=65536)
    writer.write_metadata(json.dumps({"end": {"rows": data.num_rows}}).encode())
    writer.done_writing()
    said = []
    while (message := reader.read()) is not None:
        said.append(json.loads(message.to_pybytes()))
    assert any("completed" in message for message in said), said


def latest_of_each(server, wanted):
    """The latest position of each ship by one bulk get: keys in, rows out."""
    get = {"table": "day", "direction": "reverse", "limit_per_key": 1, "columns": KEY}
    descriptor = fl.FlightDescriptor.for_command(json.dumps({"bulk_get": get}))
    writer, reader = server.client.do_exchange(descriptor)
    with writer:
        ships = pa.record_batch({"MMSI": pa.array([row["MMSI"] for row in wanted], pa.int64())})
        writer.begin(ships.schema)
        writer.write_batch(ships)
        writer.done_writing()
        rows = reader.read_all().to_pylist()
    found = {row["MMSI"]: row["BaseDateTime"].isoformat() for row in rows}
    for row in wanted:
        assert found[row["MMSI"]] == row["last"], (row, found[row["MMSI"]])
    assert len(found) == len(wanted), (len(found), len(wanted))


def main():
    if not os.path.exists(PARQUET):
        print(f"the_real_data_is_there: FAIL {PARQUET} is missing")
        sys.exit(0)
    with tempfile.TemporaryDirectory() as directory:
        wanted, definition, latest = embedded(directory)
        for way in (by_http_parquet, by_adbc_ingest, by_bulk_put):
            server = Server(definition, os.path.join(directory, way.__name__))
            try:
                started = time.time()
                way(server)
                took = time.time() - started
                told = asked(server)
                assert told == wanted, (told, wanted)
                latest_of_each(server, latest)
                outcome = "pass"
                print(f"# {way.__name__}: {took:.2f} s")
            except Exception as error:
                outcome = f"FAIL {type(error).__name__}: {error}".splitlines()[0]
            finally:
                server.stop()
            print(f"{way.__name__}: {outcome}", flush=True)


if __name__ == "__main__":
    main()
