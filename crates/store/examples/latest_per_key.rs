//! Read the latest row of each key: a reverse read with a limit per key.
//!
//! Run with `cargo run --release -p tonnage --example latest_per_key`.

use tonnage::{BulkGetOptions, BulkPutOptions, Direction, KeySource, Row, Store, Value};

pub(crate) fn main() -> tonnage::Result<()> {
    let store = Store::open("memory:")?;
    // SHARD(ship) decides where a row lives. Within a ship, rows are sorted by time.
    store.execute(
        "CREATE TABLE positions (ship LONG, at LONG, lat DOUBLE, PRIMARY KEY (SHARD(ship), at))",
    )?;
    let position = |n: i64| {
        let lat = 48.0 + n as f64 / 1e4;
        Row::new().with("ship", n % 100).with("at", n / 100).with("lat", lat)
    };
    let rows: Vec<Row> = (0..10_000).map(position).collect();
    store.multi_put([("positions", rows)], &BulkPutOptions::default())?;

    // A partial key (the ship alone) means all of its rows.
    let ships = KeySource::keys((0..100_i64).map(|ship| Row::new().with("ship", ship)));
    let options = BulkGetOptions {
        direction: Direction::Reverse,
        limit_per_key: Some(1),
        ..BulkGetOptions::default()
    };
    let mut latest = 0;
    for related in store.table("positions")?.bulk_get(ships, &options)?.into_rows() {
        assert_eq!(related?.row.get("at"), Some(&Value::Long(99)));
        latest += 1;
    }
    println!("{latest} ships, one position each");
    assert_eq!(latest, 100);
    Ok(())
}
