"""The same store for asyncio: a load and a query side by side."""

from __future__ import annotations

import asyncio

import tonnage.aio


async def main() -> None:
    async with await tonnage.aio.connect("memory:") as store:
        await store.sql(
            "CREATE TABLE readings (sensor LONG, n LONG, value DOUBLE, "
            "PRIMARY KEY (SHARD(sensor), n))"
        )
        readings = await store.table("readings")
        load = asyncio.create_task(
            readings.bulk_put({"sensor": n % 5, "n": n, "value": n / 7} for n in range(20_000))
        )
        while not load.done():
            counted = await store.sql("SELECT count(*) AS n FROM readings")
            print("stored so far:", (await counted.fetchone() or {})["n"])
            await asyncio.sleep(0.05)
        print("inserted:", load.result().inserted)
        highest = "SELECT sensor, max(value) AS high FROM readings GROUP BY sensor ORDER BY sensor"
        async for row in await store.sql(highest):
            print(row)


if __name__ == "__main__":
    asyncio.run(main())
