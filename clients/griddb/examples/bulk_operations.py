"""Bulk operations by GridDB's names, each next to the one-by-one way, with the time it takes.

    TONNAGE_STORE=memory: python bulk_operations.py --rows 10000

1. Rows put one by one into a container, and by `multi_put`.
2. Rows put into a hundred containers, and by one `Store.multi_put`.
3. A query on each of them, run one by one, and by one `Store.fetch_all`.
4. An aggregation on each of them, likewise.
"""

from __future__ import annotations

import argparse
import random
import time
import uuid
from collections.abc import Callable

import griddb_python as griddb

CONTAINERS = 100
BATCH = 1000
COLUMNS = [
    ["name", griddb.Type.STRING],
    ["status", griddb.Type.BOOL],
    ["count", griddb.Type.LONG],
    ["lob", griddb.Type.BLOB],
]
BLOB = bytearray(range(65, 75))


def row() -> list:
    return [str(uuid.uuid1()), False, random.randint(0, 1 << 20), BLOB]


def timed(what: str, work: Callable[[], object]) -> object:
    started = time.perf_counter()
    result = work()
    print(f"{what}: {(time.perf_counter() - started) * 1000:.1f} ms")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000)
    rows = parser.parse_args().rows
    store = griddb.StoreFactory.get_instance().get_store()

    # 1. One container.
    one = store.put_container(griddb.ContainerInfo("one", COLUMNS))

    def single() -> None:
        for _ in range(rows):
            one.put(row())

    def many() -> None:
        for begin in range(0, rows, BATCH):
            one.multi_put([row() for _ in range(min(BATCH, rows - begin))])

    timed(f"{rows} single puts", single)
    timed(f"{rows} rows by multi_put, {BATCH} in a call", many)
    assert count(one) == 2 * rows

    # 2. A hundred containers.
    containers = [
        store.put_container(griddb.ContainerInfo(f"container{number}", COLUMNS))
        for number in range(CONTAINERS)
    ]
    each = rows // CONTAINERS
    lists = [[row() for _ in range(each)] for _ in containers]
    entries = {f"container{number}": listed for number, listed in enumerate(lists)}

    def one_by_one() -> None:
        for container, listed in zip(containers, lists):
            container.multi_put(listed)

    timed(f"{CONTAINERS} containers, {each} rows each, one by one", one_by_one)
    timed("the same by one multi_put", lambda: store.multi_put(entries))
    assert all(count(container) == each for container in containers)

    # 3. and 4. Queries on each of them.
    for text in ("select * where count > 1000000", "select avg(count)"):
        queries = [container.query(text) for container in containers]
        alone = timed(
            f"{CONTAINERS} times '{text}'",
            lambda asked=queries: [found(query.fetch()) for query in asked],
        )
        timed("the same by one fetch_all", lambda asked=queries: store.fetch_all(asked))
        assert [found(query.get_row_set()) for query in queries] == alone

    store.close()


def count(container: griddb.Container) -> int:
    return container.query("select count(*)").fetch().next().get(griddb.Type.LONG)


def found(row_set: griddb.RowSet) -> list:
    items = list(row_set)
    if row_set.type == griddb.RowSetType.AGGREGATION_RESULT:
        return [item.get(griddb.Type.DOUBLE) for item in items]
    return items


if __name__ == "__main__":
    main()
