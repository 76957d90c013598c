"""Rows by place."""

from __future__ import annotations

import pytest

import tonnage

DDL = "CREATE TABLE buoys (id LONG, lon DOUBLE, lat DOUBLE, PRIMARY KEY (id))"


@pytest.fixture
def buoys(store: tonnage.Store) -> tonnage.Table:
    store.sql(DDL)
    store.sql("CREATE INDEX by_place ON buoys (geo_cell(lon, lat))")
    table = store.table("buoys")
    table.bulk_put({"id": n, "lon": float(n), "lat": 52.0} for n in range(-180, 181))
    return table


REGIONS = [
    {"box": [179.5, 50, -179.5, 54]},
    {"circle": [4, 52, 80_000]},
    {"polygon": [[[3.5, 51], [5.5, 51], [5.5, 53], [3.5, 53]]]},
]


def test_regions_give_their_rows(buoys: tonnage.Table) -> None:
    rows = buoys.bulk_get_within(REGIONS, columns=["id"], origins=True).fetchall()
    found = sorted((row["_key"], row["id"]) for row in rows)
    assert found == [(0, -180), (0, 180), (1, 3), (1, 4), (1, 5), (2, 4), (2, 5)]
    plain = buoys.bulk_get_within(iter(REGIONS[1:2]))
    assert plain.columns == ["id", "lon", "lat"]
    assert sorted(row["id"] for row in plain.fetchall()) == [3, 4, 5]
    assert len(buoys.bulk_get_within(REGIONS, limit=3).fetchall()) == 3
    assert buoys.bulk_get_within([]).fetchall() == []


def test_a_region_that_is_none_is_an_error(buoys: tonnage.Table) -> None:
    with pytest.raises(tonnage.InvalidRequest, match="region 1.*longitude first"):
        buoys.bulk_get_within([REGIONS[0], {"square": [1]}])
