"""ADBC's driver for Flight SQL through its DB-API: statements, parameters, ingestion, metadata; and
what stands on it, pandas and polars."""

import datetime
import decimal
import time

import adbc_driver_flightsql.dbapi as dbapi
import adbc_driver_manager
import pandas
import polars
import pyarrow as pa

from suite import run_cases

KEY = {"tonnage.primary_key": "id"}


def connect(server, **options):
    return dbapi.connect(server.flight.replace("grpc://", "grpc+tcp://"), autocommit=True, **options)


def ships(first, rows):
    ids = range(first, first + rows)
    table = pa.table({"id": pa.array(ids, pa.int64()), "name": [f"ship {i}" for i in ids]})
    return table.replace_schema_metadata(KEY)


def reader(table):
    return table.to_reader(max_chunksize=1_000)


def count(cursor, table="ships"):
    cursor.execute(f"SELECT count(*) FROM {table}")
    return cursor.fetchone()[0]


def a_query_gives_its_rows(server):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1 AS a, 'x' AS b, NULL AS c, CAST('1.50' AS DECIMAL(10, 2)) AS d")
        assert cursor.fetchall() == [(1, "x", None, decimal.Decimal("1.50"))]
        assert [column[0] for column in cursor.description] == ["a", "b", "c", "d"]


def a_change_through_execute_runs_once_before_execute_returns(server):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO ships VALUES (1, 'a'), (2, 'b')")
        # Another connection sees it, though nobody fetched.
        with connect(server) as other, other.cursor() as reading:
            assert count(reading) == 2
        cursor.execute("DELETE FROM ships WHERE id = 1")
        assert count(cursor) == 1


def a_change_that_fails_raises_at_once(server):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO ships VALUES (1, 'a')")
        try:
            cursor.execute("INSERT INTO ships VALUES (1, 'b')")
        except dbapi.Error as error:
            assert "exist" in str(error), error
            assert error.status_code == adbc_driver_manager.AdbcStatusCode.ALREADY_EXISTS, error
        else:
            raise AssertionError("no error")
        assert count(cursor) == 1


def definitions_are_carried_out(server):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (k LONG, v STRING, PRIMARY KEY (k))")
        cursor.execute("INSERT INTO t VALUES (1, 'x')")
        cursor.execute("SELECT v FROM t WHERE k = 1")
        assert cursor.fetchall() == [("x",)]
        cursor.execute("DROP TABLE t")


def parameters_are_bound_by_question_marks(server):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("ships", ships(0, 100), mode="append")
        cursor.execute("SELECT name FROM ships WHERE id = ?", (7,))
        assert cursor.fetchall() == [("ship 7",)]
        cursor.execute("SELECT count(*) FROM ships WHERE id < ? AND name LIKE ?", (50, "ship 1%"))
        assert cursor.fetchone() == (11,)


def moments_are_bound_in_their_own_unit(server):
    """As microseconds; the JDBC driver's milliseconds are not a concern of this one."""
    with connect(server) as connection, connection.cursor() as cursor:
        columns = ", ".join(f"t{digits} TIMESTAMP({digits})" for digits in (3, 6, 9))
        cursor.execute(f"CREATE TABLE moments (k LONG, {columns}, c TIME, PRIMARY KEY (k))")
        fine = datetime.datetime(2024, 5, 6, 7, 8, 9, 123456)
        coarse = fine.replace(microsecond=123000)
        clock = datetime.time(7, 8, 9, 123456)
        values = (1, coarse, fine, fine, clock)
        cursor.execute("INSERT INTO moments VALUES (?, ?, ?, ?, ?)", values)
        cursor.execute("SELECT t3, t6, CAST(t9 AS TIMESTAMP(6)) FROM moments WHERE c = ?", (clock,))
        assert cursor.fetchall() == [(coarse, fine, fine)]
        cursor.execute("DROP TABLE moments")


def a_summary_is_prepared(server):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO ships VALUES (1, 'a'), (2, 'b')")
        cursor.adbc_prepare("SUMMARIZE ships")
        cursor.execute("SUMMARIZE ships")
        assert [row[0] for row in cursor.fetchall()] == ["id", "name"]


def executemany_inserts_every_row(server):
    rows = [(number, f"ship {number}" if number % 3 else None) for number in range(10_000)]
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.executemany("INSERT INTO ships (id, name) VALUES (?, ?)", rows)
        assert count(cursor) == 10_000
        cursor.execute("SELECT count(*) FROM ships WHERE name IS NULL")
        assert cursor.fetchone() == (3_334,)


def executemany_updates_every_row(server):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("ships", ships(0, 100), mode="append")
        cursor.executemany("UPDATE ships SET name = ? WHERE id = ?", [("x", 3), ("x", 5), ("x", 999)])
        cursor.execute("SELECT count(*) FROM ships WHERE name = 'x'")
        assert cursor.fetchone() == (2,)


def ingest_creates(server):
    with connect(server) as connection, connection.cursor() as cursor:
        assert cursor.adbc_ingest("boats", reader(ships(0, 10_000)), mode="create") == 10_000
        assert count(cursor, "boats") == 10_000
        try:
            cursor.adbc_ingest("boats", reader(ships(0, 10)), mode="create")
        except dbapi.Error as error:
            assert "exists" in str(error), error
        else:
            raise AssertionError("no error")


def ingest_appends(server):
    with connect(server) as connection, connection.cursor() as cursor:
        assert cursor.adbc_ingest("ships", reader(ships(0, 5_000)), mode="append") == 5_000
        assert cursor.adbc_ingest("ships", reader(ships(5_000, 5_000)), mode="append") == 5_000
        assert count(cursor) == 10_000
        try:
            cursor.adbc_ingest("none", reader(ships(0, 10)), mode="append")
        except dbapi.Error as error:
            assert "no table none" in str(error), error
        else:
            raise AssertionError("no error")


def ingest_creates_or_appends(server):
    with connect(server) as connection, connection.cursor() as cursor:
        for first in (0, 100):
            data = reader(ships(first, 100))
            assert cursor.adbc_ingest("boats", data, mode="create_append") == 100
        assert count(cursor, "boats") == 200


def ingest_replaces(server):
    with connect(server) as connection, connection.cursor() as cursor:
        for first, rows in ((0, 100), (50, 10)):
            assert cursor.adbc_ingest("boats", reader(ships(first, rows)), mode="replace") == rows
        assert count(cursor, "boats") == 10


def ingest_of_a_source_that_fails_raises(server):
    def batches():
        yield from ships(0, 100).to_batches()
        raise KeyError("the source broke")

    broken = pa.RecordBatchReader.from_batches(ships(0, 1).schema, batches())
    with connect(server) as connection, connection.cursor() as cursor:
        try:
            cursor.adbc_ingest("ships", broken, mode="append")
        except Exception:
            pass
        else:
            raise AssertionError("no error")
    assert all(job["state"] != "completed" for job in server.jobs()), server.jobs()


def every_type_comes_back_as_it_went_in(server):
    moment = datetime.datetime(2024, 5, 6, 7, 8, 9, 123000)
    table = pa.table({
        "id": pa.array([1, 2], pa.int64()),
        "i": pa.array([5, None], pa.int32()),
        "f": pa.array([1.5, None], pa.float32()),
        "d": pa.array([2.5, None], pa.float64()),
        "n": pa.array([decimal.Decimal("12.34"), None], pa.decimal128(10, 2)),
        "s": pa.array(["x", None]),
        "b": pa.array([True, None]),
        "y": pa.array([b"\x01\x02", None]),
        "t": pa.array([moment, None], pa.timestamp("ms")),
        "da": pa.array([moment.date(), None], pa.date32()),
        "fb": pa.array([b"abcd", None], pa.binary(4)),
    }).replace_schema_metadata(KEY)
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("kinds", table, mode="create")
        cursor.execute("SELECT * FROM kinds ORDER BY id")
        back = cursor.fetch_arrow_table()
        for name in table.column_names:
            assert back[name].to_pylist() == table[name].to_pylist(), name
            assert back.schema.field(name).type == table.schema.field(name).type, name


def objects_are_told_at_every_depth(server):
    with connect(server) as connection:
        for depth in ("catalogs", "db_schemas", "tables", "all"):
            connection.adbc_get_objects(depth=depth).read_all()
        told = connection.adbc_get_objects(depth="all").read_all().to_pylist()
        schema = told[0]["catalog_db_schemas"][0]
        tables = {table["table_name"]: table for table in schema["db_schema_tables"]}
        columns = [column["column_name"] for column in tables["ships"]["table_columns"]]
        assert told[0]["catalog_name"] == "tonnage" and schema["db_schema_name"] == "public", told
        assert columns == ["id", "name"], columns
        only = connection.adbc_get_objects(table_name_filter="sh%").read_all().to_pylist()
        assert "ships" in str(only), only


def the_schema_of_a_table_is_told(server):
    with connect(server) as connection:
        schema = connection.adbc_get_table_schema("ships")
        assert schema.names == ["id", "name"], schema
        assert connection.adbc_get_table_types() == ["TABLE"]
        assert connection.adbc_get_info()["vendor_name"] == "Tonnage"


def a_query_is_described_without_running(server):
    with connect(server) as connection, connection.cursor() as cursor:
        schema = cursor.adbc_execute_schema("SELECT id, name AS n FROM ships")
        assert schema.names == ["id", "n"], schema
        cursor.adbc_prepare("INSERT INTO ships VALUES (?, ?)")
        assert count(cursor) == 0


def a_statement_is_cancelled(server):
    import threading

    long = "SELECT count(*) FROM generate_series(1, 1000000) a (x), generate_series(1, 1000000) b (y)"
    with connect(server) as connection, connection.cursor() as cursor:
        threading.Timer(0.5, cursor.adbc_cancel).start()
        started = time.time()
        try:
            cursor.execute(long + " WHERE x * y % 7 = 3")
            cursor.fetchall()
        except dbapi.Error:
            pass
        else:
            raise AssertionError("no error")
        assert time.time() - started < 20


def a_large_answer_streams(server):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT x, x * 2 AS y FROM generate_series(1, 2000000) AS t (x)")
        rows = sum(batch.num_rows for batch in cursor.fetch_record_batch())
        assert rows == 2_000_000, rows


def an_error_has_its_kind(server):
    with connect(server) as connection, connection.cursor() as cursor:
        try:
            cursor.execute("SELECT * FROM boats")
        except adbc_driver_manager.Error as error:
            assert error.status_code == adbc_driver_manager.AdbcStatusCode.NOT_FOUND, error
            assert "line 1, column 15" in str(error), error
        else:
            raise AssertionError("no error")


def a_user_and_a_password_are_taken(server):
    with connect(server, db_kwargs={"username": "ann", "password": "a:b"}) as connection:
        with connection.cursor() as cursor:
            assert count(cursor) == 0


def pandas_reads_a_query(server):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("ships", ships(0, 100), mode="append")
        frame = pandas.read_sql("SELECT id, name FROM ships ORDER BY id", connection)
        assert frame["name"].tolist()[:2] == ["ship 0", "ship 1"] and len(frame) == 100


def pandas_appends_a_frame(server):
    with connect(server) as connection:
        frame = pandas.DataFrame({"id": [1, 2, 3], "name": ["a", "b", "c"]})
        frame.to_sql("ships", connection, if_exists="append", index=False)
        with connection.cursor() as cursor:
            assert count(cursor) == 3


def polars_reads_and_writes(server):
    with connect(server) as connection:
        frame = polars.DataFrame({"id": [1, 2, 3], "name": ["a", None, "c"]})
        frame.write_database("ships", connection, if_table_exists="append")
        back = polars.read_database("SELECT * FROM ships ORDER BY id", connection)
        assert back.equals(frame), back


CASES = [
    a_query_gives_its_rows,
    a_change_through_execute_runs_once_before_execute_returns,
    a_change_that_fails_raises_at_once,
    definitions_are_carried_out,
    parameters_are_bound_by_question_marks,
    moments_are_bound_in_their_own_unit,
    a_summary_is_prepared,
    executemany_inserts_every_row,
    executemany_updates_every_row,
    ingest_creates,
    ingest_appends,
    ingest_creates_or_appends,
    ingest_replaces,
    ingest_of_a_source_that_fails_raises,
    every_type_comes_back_as_it_went_in,
    objects_are_told_at_every_depth,
    the_schema_of_a_table_is_told,
    a_query_is_described_without_running,
    a_statement_is_cancelled,
    a_large_answer_streams,
    an_error_has_its_kind,
    a_user_and_a_password_are_taken,
    pandas_reads_a_query,
    pandas_appends_a_frame,
    polars_reads_and_writes,
]

if __name__ == "__main__":
    run_cases(CASES, "CREATE TABLE ships (id LONG, name STRING, PRIMARY KEY (id))")
