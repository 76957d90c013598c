//! What scans and secondary indexes cost:
//! `cargo run --release -p tonnage-sql --example index_rate -- [STORE] [ROWS]`.
//!
//! Ten million rows of a key and two columns without arguments, in memory; name a directory for
//! RocksDB. `a` takes a hundred values, `c` one for each thousandth of the rows, both spread over
//! the whole table.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use tonnage::{
    BulkPutOptions, FieldRange, IndexRange, IndexScanOptions, Result, Store, record_batch_stream,
};
use tonnage_sql::{Sql, SqlOptions};

const REPEATS: usize = 5;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "memory:".to_owned());
    let rows: i64 = arguments.next().and_then(|rows| rows.parse().ok()).unwrap_or(10_000_000);
    let sql = Sql::new(Store::open(url)?, SqlOptions::default())?;
    if sql.store().table("rows").is_err() {
        fill(&sql, rows)?;
    }
    let planned =
        Sql::new(sql.store().clone(), SqlOptions { direct: false, ..SqlOptions::default() })?;

    println!("-- scans");
    told("sum(a), avg(b)", || count(&sql, "SELECT sum(a), avg(b) FROM rows"))?;
    told("sum(a), avg(b), planned", || count(&planned, "SELECT sum(a), avg(b) FROM rows"))?;
    told("sum(b) of each a", || count(&sql, "SELECT a, sum(b) FROM rows GROUP BY a"))?;
    told("sum(b) of each c", || count(&sql, "SELECT c, sum(b) FROM rows GROUP BY c"))?;
    told("count(*)", || count(&sql, "SELECT count(*) FROM rows"))?;
    told("count(*), planned", || count(&planned, "SELECT count(*) FROM rows"))?;

    println!("-- one row of a hundred");
    told("by index", || count(&sql, "SELECT id, b FROM rows WHERE a = 7"))?;
    told("by index, planned", || count(&planned, "SELECT id, b FROM rows WHERE a = 7"))?;
    told("by scan", || count(&sql, "SELECT id, b FROM rows WHERE a + 0 = 7"))?;

    println!("-- shares of the table: the index, whether or not it pays");
    let index = sql.store().table("rows")?.index("by_c")?;
    for share in [1, 2, 5, 10, 20, 50, 125, 200] {
        let range = IndexRange::default().within(FieldRange::of("c").before(share));
        let estimate = index.estimate_entries(std::slice::from_ref(&range))?;
        let options = IndexScanOptions {
            columns: Some(vec!["id".to_owned(), "b".to_owned()]),
            ..IndexScanOptions::default()
        };
        told(&format!("{share:>3} of 1000, estimated {estimate}"), || {
            index.scan(&range, &options)?.map(|batch| Ok(batch?.rows.num_rows())).sum()
        })?;
    }
    Ok(())
}

fn fill(sql: &Sql, rows: i64) -> Result<()> {
    sql.execute("CREATE TABLE rows (id LONG PRIMARY KEY, a LONG, b DOUBLE, c LONG)")?;
    let batches = (0..rows).step_by(65_536).map(move |first| {
        let ids: Vec<i64> = (first..rows.min(first + 65_536)).collect();
        let spread = |id: &i64| {
            id.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64).rotate_left(17).unsigned_abs() as i64
        };
        let a = Int64Array::from_iter_values(ids.iter().map(|id| spread(id) % 100));
        let b = Float64Array::from_iter_values(ids.iter().map(|id| *id as f64 / 3.0));
        let c = Int64Array::from_iter_values(ids.iter().map(|id| spread(id) / 100 % 1_000));
        let columns: [(&str, ArrayRef); 4] = [
            ("id", Arc::new(Int64Array::from(ids))),
            ("a", Arc::new(a)),
            ("b", Arc::new(b)),
            ("c", Arc::new(c)),
        ];
        Ok(RecordBatch::try_from_iter(columns).expect("columns of one length"))
    });
    let started = Instant::now();
    sql.store()
        .bulk_put(vec![record_batch_stream("rows", "rows", batches)], &BulkPutOptions::default())?;
    println!("{rows} rows in {:.1?}", started.elapsed());
    for name in ["a", "c"] {
        let started = Instant::now();
        sql.execute(format!("CREATE INDEX by_{name} ON rows ({name})").as_str())?;
        println!("index on {name} in {:.1?}", started.elapsed());
    }
    sql.store().settle()
}

fn count(sql: &Sql, text: &str) -> Result<usize> {
    sql.execute(text)?.into_rows()?.map(|batch| Ok(batch?.num_rows())).sum()
}

fn told(what: &str, mut run: impl FnMut() -> Result<usize>) -> Result<()> {
    let mut rows = run()?;
    let mut times = [Duration::ZERO; REPEATS];
    for time in &mut times {
        let started = Instant::now();
        rows = run()?;
        *time = started.elapsed();
    }
    times.sort();
    println!(
        "{what:<36} {rows:>9} rows  median {:>9.1?}  best {:>9.1?}",
        times[REPEATS / 2],
        times[0]
    );
    Ok(())
}
