//! One row at a time.

use std::time::Instant;

use tonnage::{Durability, Key, Row, Store, Value, WriteOptions};

use crate::data::{POSITIONS_DDL, SHIPS, Values, mix};
use crate::{Outcome, Plan};

pub(crate) fn run(plan: &Plan) -> Outcome {
    println!("single: {} puts without sync and warm gets, one after another", plan.singles);
    let path = plan.root.join("single");
    let store = Store::open(path.to_str().ok_or("the path is not text")?)?;
    let options = WriteOptions { durability: Durability::None, ..WriteOptions::default() };
    let (kv, values) = (store.kv(), Values::new());
    let keys: Vec<Key> =
        (0..plan.singles).map(|number| Key::of_major([format!("{:016x}", mix(number))])).collect();
    each(&keys, "put of a pair", |number, key| kv.put(key, values.of(number), &options).map(drop))?;
    each(&keys, "get of a pair", |_, key| kv.get(key).map(|pair| assert!(pair.is_some())))?;

    store.execute(POSITIONS_DDL)?;
    let table = store.table("positions")?;
    let rows: Vec<Row> = (0..plan.singles).map(row).collect();
    each(&rows, "put of a row of 8 columns", |_, row| table.put(row, &options).map(drop))?;
    each(&rows, "get of a row of 8 columns", |_, row| {
        table.get(row).map(|row| assert!(row.is_some()))
    })?;
    drop((kv, table, store));
    std::fs::remove_dir_all(path)?;
    Ok(())
}

fn row(number: u64) -> Row {
    Row::new()
        .with("ship", Value::Long((number % SHIPS) as i64))
        .with("at", Value::Timestamp { value: (number / SHIPS) as i64, precision: 0 })
        .with("lat", 48.5)
        .with("lon", -123.4)
        .with("speed", 12.5)
        .with("course", 271.0)
        .with("status", 0)
        .with("name", "EAGLE")
}

/// Does something with each item and prints how long one takes.
fn each<T>(
    items: &[T],
    name: &str,
    mut work: impl FnMut(u64, &T) -> tonnage::Result<()>,
) -> Outcome {
    let mut nanoseconds = Vec::with_capacity(items.len());
    for (number, item) in items.iter().enumerate() {
        let started = Instant::now();
        work(number as u64, item)?;
        nanoseconds.push(started.elapsed().as_nanos() as u64);
    }
    nanoseconds.sort_unstable();
    let at =
        |share: f64| nanoseconds[((nanoseconds.len() - 1) as f64 * share) as usize] as f64 / 1e3;
    println!("{name:<58} median {:6.2} us  p99 {:7.2} us", at(0.5), at(0.99));
    Ok(())
}
