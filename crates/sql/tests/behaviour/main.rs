//! What a session does beside giving the right rows.

mod changed_tables;
mod column_cache;
mod files;
mod functions;
mod geo;
mod indexes;
mod join_order;
mod levels;
mod limits;
mod multi;
mod nan_rows;
mod nearest;
#[path = "../../../store/tests/behaviour/noting.rs"]
mod noting;
mod requests;
mod result_types;
mod row_lists;
mod statistics;
#[path = "../../../store/tests/behaviour/stepped.rs"]
#[allow(dead_code, reason = "nothing is dropped here")]
mod stepped;
mod text_literals;
mod transactions;
mod upstream;
mod write_timeouts;
mod writes;

use arrow::array::RecordBatch;
use tonnage::{ErrorKind, Row, Store};
use tonnage_sql::{Answer, Request, Sql, SqlOptions};

/// A session over a fresh store in memory.
fn session() -> Sql {
    session_with(SqlOptions::default())
}

fn session_with(options: SqlOptions) -> Sql {
    Sql::new(Store::open("memory:").unwrap(), options).unwrap()
}

/// A session with ten ships and a hundred positions of each.
fn fleet() -> Sql {
    let sql = session();
    sql.execute("CREATE TABLE positions (ship LONG, at LONG, speed DOUBLE, name STRING, PRIMARY KEY (SHARD(ship), at))").unwrap();
    let rows: Vec<Row> = (0..1000_i64)
        .map(|n| {
            Row::new()
                .with("ship", n % 10)
                .with("at", n / 10)
                .with("speed", n as f64 / 2.0)
                .with("name", format!("ship {}", n % 10))
        })
        .collect();
    sql.store().multi_put([("positions", rows)], &Default::default()).unwrap();
    sql
}

/// The rows of a query, as text.
#[track_caller]
fn rows(sql: &Sql, request: impl Into<Request>) -> Vec<Vec<String>> {
    texts(sql.execute(request).unwrap())
}

#[track_caller]
fn texts(answer: Answer) -> Vec<Vec<String>> {
    texts_of(&answer.into_rows().unwrap().into_batch().unwrap())
}

#[track_caller]
fn texts_of(batch: &RecordBatch) -> Vec<Vec<String>> {
    let row = |row| {
        Row::from_batch(batch, row).unwrap().iter().map(|(_, value)| value.to_string()).collect()
    };
    (0..batch.num_rows()).map(row).collect()
}

#[track_caller]
fn assert_fails(result: tonnage::Result<Answer>, kind: ErrorKind, named: &str) {
    let error = match result.and_then(|answer| answer.into_rows()?.into_batch()) {
        Ok(_) => panic!("this should have failed"),
        Err(error) => error,
    };
    assert_eq!(error.kind(), kind, "{error:?}");
    assert!(error.message().contains(named), "'{named}' is not named in: {error}");
}
