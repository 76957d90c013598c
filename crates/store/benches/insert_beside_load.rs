//! How long a write of one row takes while a large load is under way.
//!
//! `cargo bench -p tonnage --bench insert_beside_load -- --rows 20000000 --every-ms 2`
//!
//! One thread loads so many rows of one table, with 16 bytes of key and 100 of value. Beside it two
//! others write one row at a time, at most one every few milliseconds each: `put` with a single
//! write, `insert` with a load of one row, as the SQL statement INSERT does it. Nothing is synced. It
//! prints the median, the 99th percentile and the longest of each, for as long before the load as
//! 1,000 writes take, and while it runs. Files go to `TONNAGE_BENCH_DIR`, or to the directory for
//! temporary files, and are removed.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tonnage::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use tonnage::{
    BulkPutOptions, OnExisting, Result, Row, Store, Table, WriteOptions, record_batch_stream,
};

const BATCH_ROWS: i64 = 8_192;
/// Single rows have keys of their own: beyond those of the load.
const SINGLE: i64 = 1 << 40;
const ALONE: usize = 1_000;

struct Plan {
    rows: i64,
    every: Duration,
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let plan = Plan::from_arguments()?;
    let directory = match std::env::var_os("TONNAGE_BENCH_DIR") {
        Some(place) => tempfile::tempdir_in(place)?,
        None => tempfile::tempdir()?,
    };
    let store = Store::open(directory.path().join("store").display().to_string())?;
    store.execute("CREATE TABLE t (id LONG, at LONG, v STRING, PRIMARY KEY (SHARD(id), at))")?;
    let table = store.table("t")?;
    tell("put, alone", write(&plan, Count::Of(ALONE), |id| put(&table, id))?);
    tell("insert, alone", write(&plan, Count::Of(ALONE), |id| insert(&store, id))?);

    let is_over = AtomicBool::new(false);
    let began = Instant::now();
    let [puts, inserts] = thread::scope(|scope| {
        let count = Count::Until(&is_over);
        let (plan, store, table) = (&plan, &store, &table);
        let puts = scope.spawn(move || write(plan, count, |id| put(table, id + SINGLE)));
        let inserts = scope.spawn(move || write(plan, count, |id| insert(store, id + 2 * SINGLE)));
        let loaded = load(store, plan.rows);
        is_over.store(true, Ordering::SeqCst);
        let times = [puts, inserts].map(|thread| thread.join().expect("no panic"));
        loaded.map(|()| times)
    })?;
    let seconds = began.elapsed().as_secs_f64();
    println!("{} rows loaded in {seconds:.1} s beside these:", plan.rows);
    tell("put", puts?);
    tell("insert", inserts?);
    Ok(())
}

fn load(store: &Store, rows: i64) -> Result<()> {
    let value = "v".repeat(100);
    let batches = (0..rows).step_by(BATCH_ROWS as usize).map(move |first| {
        let ids = first..(first + BATCH_ROWS).min(rows);
        // In no order, so that the load sorts.
        let id = Int64Array::from_iter_values(
            ids.clone().map(|id| id.wrapping_mul(0x9E37_79B9) % SINGLE),
        );
        let at = Int64Array::from_iter_values(ids.clone());
        let v = StringArray::from_iter_values(ids.map(|_| value.as_str()));
        let columns: [(&str, ArrayRef); 3] =
            [("id", Arc::new(id)), ("at", Arc::new(at)), ("v", Arc::new(v))];
        Ok(RecordBatch::try_from_iter(columns).expect("columns of one length"))
    });
    let options = BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() };
    store.bulk_put(vec![record_batch_stream("rows", "t", batches)], &options)?;
    Ok(())
}

fn row(id: i64) -> Row {
    Row::new().with("id", id).with("at", 0_i64).with("v", "a row")
}

fn put(table: &Table, id: i64) -> Result<()> {
    table.put(&row(id), &WriteOptions::default()).map(drop)
}

fn insert(store: &Store, id: i64) -> Result<()> {
    let options = BulkPutOptions {
        stream_parallelism: Some(1),
        per_shard_parallelism: Some(1),
        flush_interval: None,
        ..Default::default()
    };
    store.multi_put([("t", vec![row(id)])], &options)?;
    Ok(())
}

#[derive(Clone, Copy)]
enum Count<'a> {
    Of(usize),
    Until(&'a AtomicBool),
}

/// Writes row after row. Gives the times in ascending order.
fn write(
    plan: &Plan,
    count: Count<'_>,
    write: impl Fn(i64) -> Result<()>,
) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    let goes_on = |written: usize| match count {
        Count::Of(most) => written < most,
        Count::Until(is_over) => written == 0 || !is_over.load(Ordering::SeqCst),
    };
    while goes_on(times.len()) {
        let began = Instant::now();
        write(times.len() as i64)?;
        times.push(began.elapsed());
        thread::sleep(plan.every.saturating_sub(began.elapsed()));
    }
    times.sort_unstable();
    Ok(times)
}

fn tell(what: &str, times: Vec<Duration>) {
    let at = |share: usize| times[(times.len() - 1) * share / 1_000].as_secs_f64() * 1e3;
    println!(
        "{what}: {} rows, median {:.3} ms, 99 % within {:.3} ms, 99.9 % {:.3} ms, longest {:.3} ms",
        times.len(),
        at(500),
        at(990),
        at(999),
        at(1_000)
    );
}

impl Plan {
    fn from_arguments() -> std::result::Result<Self, Box<dyn Error>> {
        let mut plan = Self { rows: 20_000_000, every: Duration::from_millis(2) };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut number = || -> std::result::Result<u64, Box<dyn Error>> {
                Ok(arguments.next().ok_or("a number is missing")?.parse()?)
            };
            match argument.as_str() {
                "--rows" => plan.rows = number()?.max(1) as i64,
                "--every-ms" => plan.every = Duration::from_millis(number()?),
                // Cargo passes this to every benchmark.
                "--bench" => {}
                _ => return Err(format!("unknown argument {argument}").into()),
            }
        }
        Ok(plan)
    }
}
