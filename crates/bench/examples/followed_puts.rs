//! What a single put costs into a table whose columns are kept, beside one that no query scans:
//! `cargo run --release -p tonnage-bench --example followed_puts -- DIRECTORY [ROWS]`.
//!
//! Two tables of the same rows are in one new store. Rounds take turns: puts over random rows of one
//! table, then of the other. Before each round of the first a query scans it, so that its puts are
//! noted over fresh segments.

use std::time::{Duration, Instant};

use tonnage::{Result, Row, Store, Table, WriteOptions};
use tonnage_sql::{Sql, SqlOptions};

const ROUNDS: usize = 40;
const PUTS: usize = 5_000;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().expect("give a directory");
    let rows: i64 = arguments.next().map_or(1_000_000, |rows| rows.parse().expect("a number"));
    let store = Store::open(format!("rocksdb:{directory}"))?;
    for name in ["followed", "others"] {
        store.execute(&format!(
            "CREATE TABLE {name} (id LONG, n LONG, s STRING, PRIMARY KEY (SHARD(id)))"
        ))?;
        let all = (0..rows).map(row).collect::<Vec<_>>();
        store.multi_put([(name, all)], &Default::default()).expect("a load");
    }
    store.settle()?;
    let sql = Sql::new(store.clone(), SqlOptions::default())?;
    let scan = || -> Result<()> {
        for batch in sql.execute("SELECT sum(n + 1), count(s) FROM followed")?.into_rows()? {
            batch?;
        }
        Ok(())
    };
    (0..3).try_for_each(|_| scan())?;
    let tables = [store.table("followed")?, store.table("others")?];
    let (mut times, mut seed): ([Vec<Duration>; 2], u64) = (Default::default(), 1);
    for round in 0..2 * ROUNDS {
        if round % 2 == 0 {
            scan()?;
        }
        times[round % 2].push(puts(&tables[round % 2], rows, &mut seed)?);
    }
    let [followed, others] = times.map(median);
    println!(
        "a put: {:.2} us into a table that is followed, {:.2} us into another ({:.3} times); {:?}",
        followed.as_secs_f64() * 1e6 / PUTS as f64,
        others.as_secs_f64() * 1e6 / PUTS as f64,
        followed.as_secs_f64() / others.as_secs_f64(),
        store.column_statistics()
    );
    Ok(())
}

fn row(id: i64) -> Row {
    Row::new().with("id", id).with("n", id * 3).with("s", format!("row {id}"))
}

fn puts(table: &Table, rows: i64, seed: &mut u64) -> Result<Duration> {
    let ids: Vec<i64> = std::iter::repeat_with(|| next(seed) as i64 % rows).take(PUTS).collect();
    let started = Instant::now();
    for id in ids {
        table.put(&row(id), &WriteOptions::default())?;
    }
    Ok(started.elapsed())
}

/// A number below 2^31 that follows from the one before.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    *seed >> 33
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
