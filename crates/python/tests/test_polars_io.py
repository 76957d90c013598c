"""Tables as lazy frames of polars."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pytest

import tonnage
from tonnage import polars_io

pl = pytest.importorskip("polars")
AT = datetime(2022, 1, 3)


@pytest.fixture
def frame() -> Any:
    count = 500
    return pl.DataFrame(
        {
            "k": range(count),
            "n": [None if k % 11 == 0 else k % 7 for k in range(count)],
            "s": [None if k % 13 == 0 else f"s{k % 5}" for k in range(count)],
            "d": [float("nan") if k % 17 == 0 else k / 4 for k in range(count)],
            "b": [None if k % 19 == 0 else k % 2 == 0 for k in range(count)],
            "at": [AT + timedelta(minutes=k) for k in range(count)],
            "day": [date(2022, 1, 1) + timedelta(days=k) for k in range(count)],
        }
    )


@pytest.fixture
def table(store: tonnage.Store, frame: Any) -> tonnage.Table:
    made = store.create_table("t", frame, primary_key="k")
    made.bulk_put(frame)
    return made


CONDITIONS = {
    "equal": lambda c: c("k") == 7,
    "not equal": lambda c: c("n") != 3,
    "mirrored": lambda c: 5 < c("n"),
    "text": lambda c: (c("s") >= "s2") & (c("s") < "s4"),
    "moment": lambda c: c("at") >= AT + timedelta(minutes=490),
    "day": lambda c: c("day") < date(2022, 1, 10),
    "or": lambda c: (c("n") == 1) | c("s").is_null(),
    "not": lambda c: ~((c("n") == 1) & (c("k") > 100)),
    "not of what is not known": lambda c: ~((c("n") == 1) & (c("d") > 100.0)),
    "or with what is not known": lambda c: (c("n") == 1) | (c("d") > 100.0),
    "and with what is not known": lambda c: (c("n") == 1) & (c("d") > 100.0),
    "between": lambda c: c("k").is_between(10, 20),
    "boolean": lambda c: c("b"),
    "not boolean": lambda c: ~c("b"),
    "in": lambda c: c("k").is_in([1, 2, 3]),
    "arithmetic": lambda c: c("k") % 10 == 3,
    "two columns": lambda c: c("k") == c("n"),
    "text function": lambda c: c("s").str.ends_with("3"),
    "null": lambda c: c("n").is_null() & c("s").is_not_null(),
    "number out of range": lambda c: c("k") < 2**63,
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_finds_what_polars_finds(table: tonnage.Table, frame: Any, name: str) -> None:
    condition = CONDITIONS[name](pl.col)
    found = polars_io.scan(table).filter(condition).collect().sort("k")
    assert found.equals(frame.filter(condition)), found


def test_only_what_is_wanted_is_read(
    table: tonnage.Table, frame: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Any]] = []
    sql = tonnage.Store.sql

    def heard(store: tonnage.Store, text: str, parameters: Any = None, **options: Any) -> Any:
        asked.append((text, parameters))
        return sql(store, text, parameters, **options)

    lazy = polars_io.scan(table)
    monkeypatch.setattr(tonnage.Store, "sql", heard)
    lazy.filter(pl.col("k") > 495, pl.col("d") >= 0.0).select("s").collect()
    lazy.select("k").head(3).collect()
    [(narrow, values), (first, _)] = asked
    assert narrow.startswith('SELECT "k", "s", "d" FROM "t" WHERE') and '"k" > $1' in narrow
    assert values == [495]
    assert first == 'SELECT "k" FROM "t" LIMIT 3'


def test_head_counts_after_the_condition(table: tonnage.Table) -> None:
    found = polars_io.scan(table).filter(pl.col("k") % 2 == 1).head(5).collect()
    assert found.height == 5 and (found["k"] % 2 == 1).all()


def test_a_lazy_frame_reads_the_table_as_it_is_then(table: tonnage.Table) -> None:
    lazy = polars_io.scan(table).select(pl.len())
    assert lazy.collect().item() == 500
    table.delete(3)
    assert lazy.collect().item() == 499
