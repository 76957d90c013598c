//! How soon one key is answered.
//!
//! `cargo bench -p tonnage --bench answer -- --keys 20000`
//!
//! One bulk get runs all the time. A key is pushed into it, its row is waited for, then the next key
//! is pushed: once with whole keys, once with partial ones. It prints the median, the 99th percentile
//! and the longest of the times from push to row. Files go to `TONNAGE_BENCH_DIR`, or to the
//! directory for temporary files, and are removed.

use std::time::{Duration, Instant};

use tonnage::{BulkGetOptions, BulkPutOptions, KeySource, Result, Row, Store, Table, Value};

const ROWS: i64 = 100_000;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let keys = keys_from_arguments()?;
    let directory = match std::env::var_os("TONNAGE_BENCH_DIR") {
        Some(place) => tempfile::tempdir_in(place)?,
        None => tempfile::tempdir()?,
    };
    let store = Store::open(directory.path().join("store").display().to_string())?;
    store.execute("CREATE TABLE t (id LONG, at LONG, name STRING, PRIMARY KEY (SHARD(id), at))")?;
    let row = |id: i64| Row::new().with("id", id).with("at", 0_i64).with("name", "a name");
    let rows: Vec<Row> = (0..ROWS).map(row).collect();
    store.multi_put([("t", rows)], &BulkPutOptions::default())?;
    let table = store.table("t")?;
    tell("whole keys", ask(&table, keys, |id| vec![Value::Long(id), Value::Long(0)])?);
    tell("partial keys", ask(&table, keys, |id| vec![Value::Long(id)])?);
    Ok(())
}

/// Asks keys one by one. Gives the times in ascending order.
fn ask(table: &Table, keys: usize, key: impl Fn(i64) -> Vec<Value>) -> Result<Vec<Duration>> {
    let (sender, source) = KeySource::channel();
    let mut rows = table.bulk_get(source, &BulkGetOptions::default())?.into_rows();
    let mut times = Vec::with_capacity(keys);
    for number in 0..keys {
        let id = (number as i64 * 7_919) % ROWS;
        let pushed = Instant::now();
        sender.push(key(id))?;
        let row = rows.next().expect("the row of the key")?;
        times.push(pushed.elapsed());
        assert_eq!(row.row.get("id"), Some(&Value::Long(id)));
    }
    times.sort_unstable();
    Ok(times)
}

fn tell(what: &str, times: Vec<Duration>) {
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!(
        "{what}: {} pushed one by one, median {:.3} ms, 99 % within {:.3} ms, longest {:.3} ms",
        times.len(),
        at(50),
        at(99),
        at(100)
    );
}

fn keys_from_arguments() -> std::result::Result<usize, Box<dyn std::error::Error>> {
    let mut keys: usize = 20_000;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--keys" => keys = arguments.next().ok_or("--keys wants a value")?.parse()?,
            // Cargo passes this to every benchmark.
            "--bench" => {}
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    Ok(keys.max(1))
}
