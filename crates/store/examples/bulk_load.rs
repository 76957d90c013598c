//! Load rows from several streams in one call, and read the report.
//!
//! Run with `cargo run --release -p tonnage --example bulk_load`.

use std::sync::Arc;

use tonnage::{BulkPutOptions, Durability, Row, Store, row_stream};

pub(crate) fn main() -> tonnage::Result<()> {
    let store = Store::open("memory:")?; // or a path
    store.execute(
        "CREATE TABLE readings (sensor LONG, second LONG, value DOUBLE,
            PRIMARY KEY (SHARD(sensor), second))",
    )?;

    // One stream per gateway. A stream is read in the background, in batches.
    let streams = (0..4).map(|gateway| {
        let rows = (0..10_000).map(move |n| {
            let (sensor, second) = (gateway * 100 + n % 100, n / 100);
            let row = Row::new().with("sensor", sensor).with("second", second);
            Ok((Arc::from("readings"), row.with("value", f64::from(n))))
        });
        row_stream(format!("gateway {gateway}"), rows)
    });

    // A stream is complete when its rows are as durable as asked for, and not before.
    let options = BulkPutOptions { durability: Durability::Fsync, ..BulkPutOptions::default() };
    let report = store.bulk_put(streams.collect(), &options)?;
    for stream in &report.streams {
        let inserted = stream.counts.inserted;
        println!("{}: {inserted} inserted, complete: {}", stream.name, stream.completed);
    }
    assert_eq!((report.total.inserted, report.total.failed), (40_000, 0));
    Ok(())
}
