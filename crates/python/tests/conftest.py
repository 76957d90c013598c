"""What the tests share: those that take `store` run in memory, on disk and over a server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tonnage

PROGRAM = os.environ.get("TONNAGE_PROGRAM", "")

# A shell starts what runs in the background with SIGINT ignored, and children inherit that: tests
# of Ctrl-C would never end.
signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def served(target: str, *arguments: str) -> Iterator[str]:
    """The address of a server over this store, for as long as it is wanted."""
    command = [PROGRAM, "serve", "--store", target, "--create", "--http", "off"]
    process = subprocess.Popen(
        [*command, "--flight", "127.0.0.1:0", *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        lines = list(iter(process.stdout.readline, "ready\n"))
        yield re.findall(r"grpc\S+", "".join(lines))[0]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


@pytest.fixture(params=["memory", "directory", "server"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tonnage.Store]:
    if request.param == "server":
        with served("memory:") as address, tonnage.connect(address) as opened:
            yield opened
        return
    target = "memory:" if request.param == "memory" else str(tmp_path / "store")
    with tonnage.connect(target) as opened:
        yield opened


@pytest.fixture(params=["memory", "directory"])
def local_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tonnage.Store]:
    """A store of this process, for what a server does not offer."""
    target = "memory:" if request.param == "memory" else str(tmp_path / "store")
    with tonnage.connect(target) as opened:
        yield opened


SHIPS = (
    "CREATE TABLE ships (mmsi LONG, at TIMESTAMP(6), lat DOUBLE, name STRING, "
    "PRIMARY KEY (SHARD(mmsi), at))"
)


@pytest.fixture
def ships(store: tonnage.Store) -> tonnage.Table:
    store.sql(SHIPS)
    return store.table("ships")


@pytest.fixture
def local_ships(local_store: tonnage.Store) -> tonnage.Table:
    local_store.sql(SHIPS)
    return local_store.table("ships")
