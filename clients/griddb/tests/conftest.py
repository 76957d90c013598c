"""Every test runs on a store in memory, on one on disk, and over a server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import griddb_python as griddb
import pytest

COLUMNS = [
    ["name", griddb.Type.STRING],
    ["status", griddb.Type.BOOL],
    ["count", griddb.Type.LONG],
    ["lob", griddb.Type.BLOB],
]


@contextmanager
def served() -> Iterator[str]:
    """The address of a server, for as long as it is wanted."""
    command = [os.environ["TONNAGE_PROGRAM"], "serve", "--store", "memory:", "--create"]
    process = subprocess.Popen(
        [*command, "--http", "off", "--flight", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        lines = "".join(iter(process.stdout.readline, "ready\n"))
        yield re.findall(r"grpc\S+", lines)[0]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


@pytest.fixture(params=["memory", "disk", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "server":
        with served() as address:
            yield address
    else:
        yield "memory:" if request.param == "memory" else str(tmp_path / "store")


@pytest.fixture
def store(place: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[griddb.Store]:
    monkeypatch.delenv("TONNAGE_STORE", raising=False)
    opened = griddb.StoreFactory.get_instance().get_store(host=place)
    yield opened
    opened.close()


@pytest.fixture
def people(store: griddb.Store) -> griddb.Container:
    """A collection with a name as its row key."""
    return store.put_container(griddb.ContainerInfo("people", COLUMNS))


@pytest.fixture
def manual(people: griddb.Container) -> griddb.Container:
    """The same under manual commit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", griddb.TransactionWarning)
        people.set_auto_commit(False)
    return people


@pytest.fixture
def series(store: griddb.Store) -> griddb.Container:
    """A time series with the rows of the worked example in the reference of TQL."""
    info = griddb.ContainerInfo(
        "plant1",
        [
            ["timestamp", griddb.Type.TIMESTAMP],
            ["voltage", griddb.Type.DOUBLE],
            ["level", griddb.Type.INTEGER],
            ["state", griddb.Type.STRING],
        ],
        griddb.ContainerType.TIME_SERIES,
    )
    container = store.put_container(info)
    container.multi_put(
        [
            ["2011-07-01T00:00:40Z", 1.0, 1, "d"],
            ["2011-07-01T00:00:00Z", 4.0, 4, "a"],
            ["2011-07-01T00:00:20Z", 2.0, 2, "c"],
            ["2011-07-01T00:00:10Z", 3.0, 3, "b"],
        ]
    )
    return container


def rows(container: griddb.Container, query: str = "select *") -> list:
    """What a query finds."""
    return list(container.query(query).fetch())


def value(container: griddb.Container, query: str, kind: griddb.Type | None = None) -> object:
    """The one result of an aggregation."""
    [result] = rows(container, query)
    return result.get(kind)
