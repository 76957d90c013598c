"""The face for asyncio."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable

import pytest

import tonnage
import tonnage.aio


def run(store: tonnage.Store, work: Callable[[tonnage.aio.Store], Awaitable[None]]) -> None:
    async def within() -> None:
        await asyncio.wait_for(work(tonnage.aio.Store(store)), 60)

    store.sql("CREATE TABLE t (k LONG, v STRING, PRIMARY KEY (k))")
    asyncio.run(within())


def test_rows_are_put_and_read(store: tonnage.Store) -> None:
    async def work(store: tonnage.aio.Store) -> None:
        table = await store.table("t")
        report = await table.bulk_put({"k": k, "v": str(k)} for k in range(3_000))
        assert report.inserted == 3_000
        assert await table.get(7) == {"k": 7, "v": "7"}
        rows = [row["k"] async for row in await table.scan()]
        assert sorted(rows) == list(range(3_000))
        found = await table.bulk_get([1, 2])
        assert len(await found.fetchall()) == 2
        deleted = await store.sql("DELETE FROM t WHERE k >= $1", [10])
        assert deleted.changes == tonnage.Changes(deleted=2_990)
        counted, failed = await store.fetch_all(["SELECT count(*) AS n FROM t", "SELECT x FROM t"])
        assert isinstance(counted, tonnage.aio.Result) and await counted.fetchone() == {"n": 10}
        assert isinstance(failed, tonnage.TonnageError)

    run(store, work)


def test_other_tasks_run_while_a_call_waits(store: tonnage.Store) -> None:
    def slow() -> object:
        for k in range(3):
            time.sleep(0.1)
            yield {"k": k}

    async def work(store: tonnage.aio.Store) -> None:
        table = await store.table("t")
        loading = asyncio.ensure_future(table.bulk_put(slow()))
        turns = 0
        while not loading.done():
            await asyncio.sleep(0.01)
            turns += 1
        assert turns >= 10 and loading.result().inserted == 3

    run(store, work)


def test_a_task_that_is_cancelled_stops_its_load(store: tonnage.Store) -> None:
    drawn = itertools.count()

    async def work(store: tonnage.aio.Store) -> None:
        table = await store.table("t")
        loading = asyncio.ensure_future(table.bulk_put({"k": k} for k in drawn))
        await asyncio.sleep(0.3)
        loading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loading
        stopped = next(drawn)
        await asyncio.sleep(0.2)
        assert stopped > 0 and next(drawn) == stopped + 1

    run(store, work)


def test_a_store_is_opened_and_closed() -> None:
    async def work() -> None:
        async with await tonnage.aio.connect("memory:") as store:
            await store.sql("CREATE TABLE t (k LONG, PRIMARY KEY (k))")
            assert [table.path for table in await store.tables()] == ["t"]
        assert store.is_closed

    asyncio.run(work())
