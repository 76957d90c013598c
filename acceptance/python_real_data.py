"""Real data through the Python package: ship positions and sensors, held against what pyarrow and
plain Python find in the same files.

The data lies beside the checkout, or where TONNAGE_TEST_DATA says; without it this says so."""

import csv
import gzip
import io
import os
import subprocess
import sys
import tempfile
import traceback

from python_package import HERE, package

DATA = os.environ.get("TONNAGE_TEST_DATA", os.path.join(HERE, "..", "..", "shared", "data"))
AIS = os.path.join(DATA, "ais_us_20220103.parquet")
SENSORS = os.path.join(DATA, "iot_nab.csv.gz")
KEY = ["MMSI", "BaseDateTime"]


def ships(store):
    import pyarrow.parquet as pq

    schema = pq.read_schema(AIS)
    return store.create_table("positions", schema, primary_key=KEY, shard="MMSI")


def rows_of_ais():
    """The first row of each key, as the store keeps it: computed without the store."""
    import pyarrow.parquet as pq

    found = {}
    for row in pq.read_table(AIS).to_pylist():
        found.setdefault((row["MMSI"], row["BaseDateTime"]), row)
    return found


def ship_positions_of_a_lazy_frame(store):
    import polars as pl

    wanted = rows_of_ais()
    table = ships(store)
    report = table.bulk_put(pl.scan_parquet(AIS))
    assert (report.inserted, report.failed) == (len(wanted), 0), report
    stored = {(row["MMSI"], row["BaseDateTime"]): row for row in table.scan().rows()}
    assert stored.keys() == wanted.keys()
    # Of several rows with one key the load keeps one.
    same = [key for key in wanted if stored[key] == wanted[key]]
    assert len(same) >= len(wanted) - 75, len(same)


def the_latest_position_of_each_ship_as_a_polars_frame(store):
    import polars as pl

    wanted = {}
    for mmsi, at in rows_of_ais():
        wanted[mmsi] = max(at, wanted.get(mmsi, at))
    table = ships(store)
    table.bulk_put(AIS)
    keys = pl.scan_parquet(AIS).select("MMSI").unique().collect()
    latest = table.bulk_get(keys, direction="reverse", limit_per_key=1, columns=KEY).pl()
    assert dict(latest.iter_rows()) == wanted and latest.height == 10_631


def a_lazy_frame_over_the_table_agrees_with_polars(store):
    import polars as pl

    from tonnage import polars_io

    table = ships(store)
    table.bulk_put(AIS)

    def asked(frame):
        fast = frame.filter(pl.col("MMSI") > 366_000_000, pl.col("SOG") > 10)
        return fast.group_by("MMSI").agg(pl.len(), pl.col("SOG").max()).sort("MMSI").collect()

    first = pl.scan_parquet(AIS).unique(KEY, keep="first", maintain_order=True)
    assert asked(polars_io.scan(table)).equals(asked(first))


def sensor_rows():
    series = {}
    with gzip.open(SENSORS) as file:
        for row in csv.DictReader(io.TextIOWrapper(file, encoding="utf-8")):
            series.setdefault(row["series"], []).append((row["timestamp"], float(row["value"])))
    return series


def sensors_as_37_tables_by_one_multi_put_of_data_frames(store):
    import pandas as pd

    series = sensor_rows()
    assert len(series) == 37
    names = {f"s{number}": name for number, name in enumerate(series)}
    frames = {}
    for table, name in names.items():
        store.sql(f"CREATE TABLE {table} (at TIMESTAMP(0), value DOUBLE, PRIMARY KEY (at))")
        frame = pd.DataFrame(series[name], columns=["at", "value"])
        frames[table] = frame.assign(at=pd.to_datetime(frame["at"]))
    report = store.multi_put(frames)
    distinct = {table: {at for at, _ in series[name]} for table, name in names.items()}
    assert report.read == 162_575 and report.failed == 0, report
    assert report.inserted == sum(map(len, distinct.values())) == 162_526, report
    texts = [
        f"SELECT count(*) AS n, max(value) AS high, max(at) AS last FROM {table}" for table in names
    ]
    for (table, name), answer in zip(names.items(), store.fetch_all(texts)):
        [row] = answer.fetchall()
        assert row["n"] == len(distinct[table]), (table, row)
        assert row["last"] == frames[table]["at"].max().to_pydatetime(), (table, row)
        # A moment that is told twice has one of its values; the highest may be the other one.
        kept = {}
        for at, value in series[name]:
            kept.setdefault(at, []).append(value)
        single = [values[0] for values in kept.values() if len(values) == 1]
        assert max(single) <= row["high"] <= max(value for _, value in series[name]), (table, row)


CASES = [
    ship_positions_of_a_lazy_frame,
    the_latest_position_of_each_ship_as_a_polars_frame,
    a_lazy_frame_over_the_table_agrees_with_polars,
    sensors_as_37_tables_by_one_multi_put_of_data_frames,
]


def run():
    """Each case in memory, on disk and over a server."""
    import tonnage
    from suite import Server

    for case in CASES:
        for place in ("memory", "disk", "server"):
            with tempfile.TemporaryDirectory() as directory:
                server = Server() if place == "server" else None
                target = {"memory": "memory:", "disk": os.path.join(directory, "store")}
                try:
                    with tonnage.connect(server.flight if server else target[place]) as store:
                        case(store)
                    print(f"{case.__name__}_{place}: pass")
                except Exception as error:
                    traceback.print_exc()
                    print(f"{case.__name__}_{place}: FAIL {' '.join(str(error).split())[:200]}")
                finally:
                    if server:
                        server.stop()


if __name__ == "__main__":
    if not os.path.exists(AIS) or not os.path.exists(SENSORS):
        print(f"# left out: there is no data in {DATA}")
        sys.exit()
    if sys.argv[1:] == ["inside"]:
        run()
        sys.exit()
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, os.path.abspath(__file__), "inside"]
        sys.exit(subprocess.run(command, env=package(directory), check=False).returncode)
