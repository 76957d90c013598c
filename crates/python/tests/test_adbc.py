"""The driver for ADBC, through its driver manager."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tonnage
import tonnage.adbc

pyarrow = pytest.importorskip("pyarrow")
dbapi = pytest.importorskip("adbc_driver_manager.dbapi")


@pytest.fixture
def connection() -> Iterator[Any]:
    with tonnage.adbc.connect("memory:") as connection:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE ships (id LONG, name STRING, PRIMARY KEY (id))")
        yield connection


def fleet(count: int) -> Any:
    return pyarrow.table(
        {
            "id": pyarrow.array(range(count), pyarrow.int64()),
            "name": [f"ship {n}" for n in range(count)],
        }
    )


def test_statements_read_and_change(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO ships VALUES (1, 'ARGO'), (2, NULL)")
        cursor.execute("SELECT * FROM ships ORDER BY id")
        assert [column[0] for column in cursor.description] == ["id", "name"]
        assert cursor.fetchall() == [(1, "ARGO"), (2, None)]


def test_parameters_are_bound_by_question_marks(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO ships VALUES (?, ?)", [(n, f"ship {n}") for n in range(1_200)]
        )
        cursor.execute("SELECT name FROM ships WHERE id = ?", (7,))
        assert cursor.fetchall() == [("ship 7",)]
        cursor.execute("SELECT count(*) FROM ships WHERE id < ? AND name LIKE ?", (50, "ship 1%"))
        assert cursor.fetchone() == (11,)


def test_a_table_is_ingested(connection: Any) -> None:
    with connection.cursor() as cursor:
        assert cursor.adbc_ingest("ships", fleet(10_000), mode="append") == 10_000
        keyed = fleet(100).replace_schema_metadata({"tonnage.primary_key": "id"})
        assert cursor.adbc_ingest("boats", keyed, mode="create") == 100
        with pytest.raises(dbapi.Error, match="exists"):
            cursor.adbc_ingest("boats", keyed, mode="create")
        assert cursor.adbc_ingest("boats", fleet(7), mode="replace") == 7
        cursor.execute("SELECT count(*) FROM boats")
        assert cursor.fetchone() == (7,)


def test_a_new_table_without_a_key_is_refused_with_the_remedy(connection: Any) -> None:
    with connection.cursor() as cursor:
        with pytest.raises(dbapi.Error, match="tonnage.primary_key"):
            cursor.adbc_ingest("boats", fleet(1), mode="create")
        cursor.adbc_statement.set_options(**{"tonnage.primary_key": "id"})
        assert cursor.adbc_ingest("boats", fleet(1), mode="create") == 1


def test_an_ingest_of_a_key_twice_fails_and_names_it(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.adbc_ingest("ships", fleet(10), mode="append")
        with pytest.raises(dbapi.Error, match="exist"):
            cursor.adbc_ingest("ships", fleet(1), mode="append")
        cursor.adbc_statement.set_options(**{"tonnage.on_existing": "replace"})
        assert cursor.adbc_ingest("ships", fleet(1), mode="append") == 1


def test_an_ingest_stores_values_exactly_or_fails(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE heights (id LONG, h NUMBER(8,3), PRIMARY KEY (id))")
        rows = pyarrow.table({"id": pyarrow.array([1, 2], pyarrow.int64()), "h": [0.125, 0.1255]})
        with pytest.raises(dbapi.Error, match="row 1, column h"):
            cursor.adbc_ingest("heights", rows, mode="append")
        # Rows before one that fails stay.
        cursor.execute("SELECT id, CAST(h AS STRING) FROM heights")
        assert cursor.fetchall() == [(1, "0.125")]


def test_columns_without_values_are_ingested_and_bound(connection: Any) -> None:
    polars = pytest.importorskip("polars")
    nothing = polars.DataFrame({"id": [1, 2], "name": [None, None]})
    with connection.cursor() as cursor:
        assert cursor.adbc_ingest("ships", nothing, mode="append") == 2
        cursor.adbc_statement.set_sql_query("INSERT INTO ships VALUES (? + 10, ?)")
        cursor.adbc_statement.prepare()
        cursor.adbc_statement.bind_stream(nothing)
        cursor.adbc_statement.execute_update()
        cursor.execute("SELECT id FROM ships WHERE name IS NULL ORDER BY id")
        assert cursor.fetchall() == [(1,), (2,), (11,), (12,)]


def test_a_replacement_that_fails_leaves_the_table_as_it_was(connection: Any) -> None:
    def batches() -> Iterator[Any]:
        yield from fleet(100).to_batches()
        raise KeyError("the source broke")

    broken = pyarrow.RecordBatchReader.from_batches(fleet(1).schema, batches())
    with connection.cursor() as cursor:
        cursor.adbc_ingest("ships", fleet(10), mode="append")
        with pytest.raises(dbapi.Error, match="the source broke"):
            cursor.adbc_ingest("ships", broken, mode="replace")
        cursor.execute("SELECT count(*) FROM ships")
        assert cursor.fetchone() == (10,)
    objects = connection.adbc_get_objects(depth="tables").read_all().to_pylist()
    assert [table["table_name"] for table in tables_of(objects)] == ["ships"]


def tables_of(objects: Any) -> Any:
    return objects[0]["catalog_db_schemas"][0]["db_schema_tables"]


def test_objects_are_told_at_every_depth(connection: Any) -> None:
    for depth in ("catalogs", "db_schemas", "tables"):
        [catalog] = connection.adbc_get_objects(depth=depth).read_all().to_pylist()
        assert catalog["catalog_name"] == "tonnage"
    [table] = tables_of(connection.adbc_get_objects(depth="all").read_all().to_pylist())
    assert [column["column_name"] for column in table["table_columns"]] == ["id", "name"]
    assert table["table_constraints"][0]["constraint_column_names"] == ["id"]
    none = connection.adbc_get_objects(depth="tables", table_name_filter="b%").read_all()
    assert tables_of(none.to_pylist()) == []


def test_the_driver_tells_what_it_is(connection: Any) -> None:
    told = connection.adbc_get_info()
    assert (told["vendor_name"], told["driver_version"]) == ("Tonnage", tonnage.__version__)
    assert connection.adbc_get_table_types() == ["TABLE"]
    assert connection.adbc_get_table_schema("ships").names == ["id", "name"]


def test_a_statement_is_described_without_running(connection: Any) -> None:
    with connection.cursor() as cursor:
        assert cursor.adbc_execute_schema("SELECT id, name AS n FROM ships").names == ["id", "n"]
        parameters = cursor.adbc_prepare("INSERT INTO ships VALUES (?, ?)")
        assert [str(field.type) for field in parameters] == ["int64", "string"]
        cursor.execute("SELECT count(*) FROM ships")
        assert cursor.fetchone() == (0,)


def test_errors_have_their_status(connection: Any) -> None:
    with connection.cursor() as cursor:
        with pytest.raises(dbapi.ProgrammingError, match="line 1") as missing:
            cursor.execute("SELECT * FROM boats")
        assert missing.value.status_code.name == "NOT_FOUND"
        cursor.execute("INSERT INTO ships VALUES (1, 'a')")
        with pytest.raises(dbapi.IntegrityError, match="exist"):
            cursor.execute("INSERT INTO ships VALUES (1, 'b')")


def test_a_statement_is_cancelled(connection: Any) -> None:
    series = "generate_series(1, 1000000)"
    endless = f"SELECT count(*) FROM {series} a (x), {series} b (y) WHERE x * y % 7 = 3"
    with connection.cursor() as cursor:
        threading.Timer(0.5, cursor.adbc_cancel).start()
        began = time.monotonic()
        with pytest.raises(Exception, match="cancelled"):
            cursor.execute(endless)
            cursor.fetchall()
        assert time.monotonic() - began < 20


def test_there_are_no_transactions(connection: Any) -> None:
    with pytest.raises(dbapi.NotSupportedError, match="autocommit"):
        connection.adbc_connection.set_autocommit(False)


def test_an_open_store_is_shared(tmp_path: Path) -> None:
    with tonnage.connect(tmp_path / "s") as store:
        store.sql("CREATE TABLE t (k LONG, PRIMARY KEY (k))")
        with tonnage.adbc.connect(store) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO t VALUES (1)")
        assert store.table("t").count() == 1


def test_a_store_is_closed_with_its_connection(tmp_path: Path) -> None:
    with tonnage.adbc.connect(tmp_path / "s") as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k))")
    with tonnage.connect(tmp_path / "s") as store:
        assert [table.path for table in store.tables()] == ["t"]
    with pytest.raises(dbapi.Error):
        tonnage.adbc.connect(tmp_path / "none", create=False)


def test_pandas_and_polars_read_through_it(connection: Any) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    with connection.cursor() as cursor:
        cursor.adbc_ingest("ships", fleet(100), mode="append")
    frame = pandas.read_sql("SELECT id, name FROM ships ORDER BY id", connection)
    assert frame["name"].tolist()[:2] == ["ship 0", "ship 1"] and len(frame) == 100
    read = polars.read_database("SELECT id, name FROM ships ORDER BY id", connection)
    assert read.equals(polars.DataFrame(fleet(100)))
