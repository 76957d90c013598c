"""What the tests share: each that takes `store` runs in memory and in a directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tonnage


@pytest.fixture(params=["memory", "directory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tonnage.Store]:
    target = "memory:" if request.param == "memory" else str(tmp_path / "store")
    with tonnage.connect(target) as opened:
        yield opened


@pytest.fixture
def ships(store: tonnage.Store) -> tonnage.Table:
    store.sql(
        "CREATE TABLE ships (mmsi LONG, at TIMESTAMP(6), lat DOUBLE, name STRING, "
        "PRIMARY KEY (SHARD(mmsi), at))"
    )
    return store.table("ships")
