"""Positions of a fleet: put them in bulk, ask for the latest of each ship, follow one ship.

    python fleet.py [TARGET]

TARGET is a path, `memory:`, or the address of `tonnage serve`, grpc://HOST:PORT.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime, timedelta

import tonnage

SHIPS, STEPS = 100, 50
BEGIN = datetime(2022, 1, 3)


def positions() -> Iterator[dict[str, object]]:
    """One position of each ship every ten seconds."""
    for step in range(STEPS):
        for ship in range(SHIPS):
            at = BEGIN + timedelta(seconds=10 * step)
            yield {"ship": ship, "at": at, "lat": ship / 2, "lon": step / 10}


def main(target: str) -> None:
    with tonnage.connect(target) as store:
        store.sql(
            "CREATE TABLE IF NOT EXISTS positions (ship LONG, at TIMESTAMP(0), lat DOUBLE, "
            "lon DOUBLE, PRIMARY KEY (SHARD(ship), at))"
        )
        table = store.table("positions")
        report = table.bulk_put(positions())
        print(
            f"{report.read} positions read, {report.inserted} stored, {report.existed} there before"
        )

        latest = table.bulk_get([7, 8], direction="reverse", limit_per_key=1)
        for row in latest.rows():
            print(f"ship {row['ship']} was last seen at {row['at']}")

        window = tonnage.Range("at", BEGIN, BEGIN + timedelta(seconds=30), high_inclusive=False)
        track = table.bulk_get([7], range=window, direction="forward")
        print("ship 7:", [(row["lat"], row["lon"]) for row in track.rows()])

        east = store.sql("SELECT count(*) AS n FROM positions WHERE lon >= $1", [4.5]).fetchone()
        print(f"{east['n'] if east else 0} positions east of 4.5 degrees")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "memory:")
