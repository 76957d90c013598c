//! Read parents with their children in one call: phones and their pictures.
//!
//! Run with `cargo run --release -p tonnage --example child_tables`.

use tonnage::{
    BulkGetOptions, BulkPutOptions, Direction, FieldRange, KeySource, Row, Store, Value,
};

pub(crate) fn main() -> tonnage::Result<()> {
    let store = Store::open("memory:")?;
    // A child table's key begins with its parent's key, so pictures directly follow their phone.
    store.execute(
        "CREATE TABLE phones (maker STRING, price INTEGER, name STRING,
            PRIMARY KEY (SHARD(maker), price));
         CREATE TABLE phones.images (image INTEGER, bytes BINARY, PRIMARY KEY (image))",
    )?;
    let phone = |price: i32| Row::new().with("maker", "Nokia").with("price", price);
    let image = |price| phone(price).with("image", 1).with("bytes", vec![0; 16]);
    let prices = || (100..900).step_by(100);
    let phones = prices().map(|price| phone(price).with("name", format!("N{price}"))).collect();
    let images = prices().map(image).collect();
    let rows: [(_, Vec<Row>); 2] = [("phones", phones), ("phones.images", images)];
    store.multi_put(rows, &BulkPutOptions::default())?;

    let options = BulkGetOptions {
        direction: Direction::Forward,
        range: Some(FieldRange::of("price").from(200).to(500)),
        relatives: vec!["phones.images".into()],
        ..BulkGetOptions::default()
    };
    let makers = KeySource::keys(["Nokia", "Apple"].map(|maker| vec![Value::from(maker)]));
    let mut tables = Vec::new();
    for related in store.table("phones")?.bulk_get(makers, &options)?.into_rows() {
        tables.push(related?.table.to_string());
    }
    println!("{tables:?}");
    assert_eq!(tables, ["phones", "phones.images"].repeat(4));
    Ok(())
}
