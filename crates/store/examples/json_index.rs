//! Store JSON documents and find them through an index on a JSON path.
//!
//! Run with `cargo run --release -p tonnage --example json_index`.

use tonnage::{BulkPutOptions, IndexRange, IndexScanOptions, Row, Store};

pub(crate) fn main() -> tonnage::Result<()> {
    let store = Store::open("memory:")?;
    store.execute(
        "CREATE TABLE devices (model STRING, doc JSON, PRIMARY KEY (model));
         CREATE INDEX by_version ON devices (doc.os.version)",
    )?;
    let device = |n| {
        let doc = format!(r#"{{"os": {{"type": "Android", "version": "{}"}}}}"#, n % 10);
        Row::new().with("model", format!("M{n}")).with("doc", doc)
    };
    let rows: Vec<Row> = (0..1_000).map(device).collect();
    store.multi_put([("devices", rows)], &BulkPutOptions::default())?;

    let index = store.table("devices")?.index("by_version")?;
    let mut found = 0;
    for batch in index.scan(&IndexRange::prefix(["7"]), &IndexScanOptions::default())? {
        found += batch?.rows.num_rows();
    }
    println!("{found} devices run version 7");
    assert_eq!(found, 100);
    Ok(())
}
