//! What statements cost:
//! `cargo run --release -p tonnage-sql --example query_rate -- [STORE] [ROWS]`.

use std::time::{Duration, Instant};

use arrow::array::{BooleanArray, Int64Array, RecordBatch, StringArray};
use tonnage::{BulkGetOptions, BulkPutOptions, KeySource, Result, Store, record_batch_stream};
use tonnage_sql::{Request, Sql, SqlOptions};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "memory:".to_owned());
    let rows: i64 = arguments.next().and_then(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    let sql = Sql::new(Store::open(url)?, SqlOptions::default())?;
    fill(&sql, rows)?;

    let one = |id: i64| format!("SELECT * FROM rows WHERE id = {id}");
    told("one row by key, text anew", 10_000, |n| {
        count(&sql, one(n as i64 * 7919 % rows).as_str())
    })?;
    told("one row by key, same text", 10_000, |_| count(&sql, "SELECT * FROM rows WHERE id = 77"))?;
    let prepared = sql.prepare("SELECT * FROM rows WHERE id = $1")?;
    told("one row by key, prepared", 10_000, |n| {
        let answer =
            prepared.execute(tonnage_sql::Parameters::numbered([n as i64 * 7919 % rows]))?;
        Ok(answer.into_rows()?.into_batch()?.num_rows())
    })?;
    told("100 one-row queries in one call", 50, |n| {
        let queries = (0..100).map(|query| one((n as i64 * 100 + query) * 7919 % rows));
        sql.fetch_all(queries)
            .into_iter()
            .map(|answer| Ok(answer?.into_rows()?.into_batch()?.num_rows()))
            .sum::<Result<usize>>()
    })?;
    told("a plan kept", 200, |_| count(&sql, "SELECT upper(name) FROM rows WHERE id = 77"))?;
    told("a plan made", 200, |n| {
        count(&sql, format!("SELECT upper(name) FROM rows WHERE id = {n}").as_str())
    })?;

    let keys: Vec<i64> = (0..100_000).map(|n| n * 7919 % rows).collect();
    let list = keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    told("100,000 keys by bulk get", 5, |_| {
        let batch = RecordBatch::try_from_iter([(
            "id",
            std::sync::Arc::new(Int64Array::from(keys.clone())) as _,
        )])
        .unwrap();
        let read = sql
            .store()
            .table("rows")?
            .bulk_get(KeySource::batches([Ok(batch)]), &BulkGetOptions::default())?;
        read.map(|batch| Ok(batch?.rows.num_rows())).sum()
    })?;
    let listed = format!("SELECT * FROM rows WHERE id IN ({list})");
    told("100,000 keys in a list", 5, |_| count(&sql, listed.as_str()))?;
    let planned = format!("SELECT upper(name) FROM rows WHERE id IN ({list})");
    told("100,000 keys in a list, planned", 5, |_| count(&sql, planned.as_str()))?;
    told("a join with 10,000 keys", 5, |_| {
        count(
            &sql,
            "SELECT r.name FROM rows r JOIN (SELECT value * 3 AS k FROM generate_series(1, 10000)) s ON r.id = s.k",
        )
    })?;
    told("count(*)", 3, |_| count(&sql, "SELECT count(*) FROM rows"))?;
    told("sum and avg of a column", 3, |_| count(&sql, "SELECT sum(count), avg(count) FROM rows"))?;
    told("grouped", 3, |_| count(&sql, "SELECT status, sum(count) FROM rows GROUP BY status"))?;
    told("select *", 3, |_| count(&sql, "SELECT * FROM rows"))
}

fn fill(sql: &Sql, rows: i64) -> Result<()> {
    sql.execute(
        "CREATE TABLE rows (id LONG PRIMARY KEY, name STRING, status BOOLEAN, count LONG)",
    )?;
    let batches = (0..rows).step_by(65_536).map(move |first| {
        let ids: Vec<i64> = (first..rows.min(first + 65_536)).collect();
        let names = StringArray::from_iter_values(ids.iter().map(|id| format!("name {id}")));
        let status = BooleanArray::from(ids.iter().map(|id| id % 2 == 0).collect::<Vec<_>>());
        let counts = Int64Array::from(ids.iter().map(|id| id * 3).collect::<Vec<_>>());
        let ids = Int64Array::from(ids);
        Ok(RecordBatch::try_from_iter([
            ("id", std::sync::Arc::new(ids) as arrow::array::ArrayRef),
            ("name", std::sync::Arc::new(names)),
            ("status", std::sync::Arc::new(status)),
            ("count", std::sync::Arc::new(counts)),
        ])
        .expect("columns of one length"))
    });
    sql.store()
        .bulk_put(vec![record_batch_stream("rows", "rows", batches)], &BulkPutOptions::default())?;
    sql.store().settle()
}

fn count(sql: &Sql, request: impl Into<Request>) -> Result<usize> {
    sql.execute(request)?.into_rows()?.map(|batch| Ok(batch?.num_rows())).sum()
}

fn told(what: &str, times: u32, mut run: impl FnMut(u32) -> Result<usize>) -> Result<()> {
    run(0)?;
    let (mut best, mut rows, mut all) = (Duration::MAX, 0, Duration::ZERO);
    for n in 1..=times {
        let started = Instant::now();
        rows = run(n)?;
        best = best.min(started.elapsed());
        all += started.elapsed();
    }
    println!("{what:<36} {rows:>9} rows  mean {:>12.1?}  best {best:>12.1?}", all / times);
    Ok(())
}
