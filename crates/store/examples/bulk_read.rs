//! Ask for thousands of keys in one call. Results are Arrow record batches.
//!
//! Run with `cargo run --release -p tonnage --example bulk_read`.

use tonnage::{BulkGetOptions, BulkPutOptions, KeySource, Row, Store};

pub(crate) fn main() -> tonnage::Result<()> {
    let store = Store::open("memory:")?;
    store
        .execute("CREATE TABLE products (id LONG, name STRING, price INTEGER, PRIMARY KEY (id))")?;
    let product = |id| {
        Row::new().with("id", id).with("name", format!("product {id}")).with("price", id % 500)
    };
    let rows: Vec<Row> = (0..100_000).map(product).collect();
    store.multi_put([("products", rows)], &BulkPutOptions::default())?;

    // Keys come from an iterator, so a million of them need not be in memory at once.
    let wanted = (0..100_000).step_by(20).map(|id| Row::new().with("id", id));
    let options = BulkGetOptions {
        columns: Some(vec!["id".into(), "price".into()]),
        ..BulkGetOptions::default()
    };
    let mut found = 0;
    for batch in store.table("products")?.bulk_get(KeySource::keys(wanted), &options)? {
        let batch = batch?;
        found += batch.rows.num_rows(); // an arrow::array::RecordBatch of id and price
    }
    println!("{found} products found");
    assert_eq!(found, 5_000);
    Ok(())
}
