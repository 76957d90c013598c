//! A phone shop: phones by maker and price, their pictures in a child table.

use std::time::Instant;

use rand::rngs::SmallRng;
use rand::{Rng, RngCore, SeedableRng};
use tonnage::{
    BulkGetOptions, BulkPutOptions, Direction, FieldRange, KeySource, Result, Row, Store, Value,
};

use crate::text::{DemoOutput, counted, grouped};

const TABLES: &str =
    "CREATE TABLE phones (maker STRING, price INTEGER, id LONG, name STRING, details JSON,
        PRIMARY KEY (SHARD(maker), price, id));
    CREATE TABLE phones.images (image INTEGER, bytes BINARY, PRIMARY KEY (image))";
const MAKERS: [&str; 12] = [
    "Apple", "Asus", "Google", "HTC", "LG", "Motorola", "Nokia", "OnePlus", "Realme", "Samsung",
    "Sony", "Xiaomi",
];
const WANTED: [&str; 4] = ["Apple", "Samsung", "Nokia", "Motorola"];
const PHONES_PER_MAKER: i64 = 250;
const PICTURE_BYTES: usize = 4_000;

/// Fills the shop, then answers one question of a customer.
pub(crate) fn run(store: &Store, seed: u64, story: &mut DemoOutput<'_>) -> Result<()> {
    store.execute(TABLES)?;
    let (phones, pictures) = phone_rows(seed);
    let (phone_count, picture_count) = (phones.len() as u64, pictures.len() as u64);
    let put = store
        .multi_put([("phones", phones), ("phones.images", pictures)], &BulkPutOptions::default())?;
    story.print_line(format_args!(
        "\nA phone shop: {} phones and {} pictures in its child table, stored by one multi-put in {:.2} s.",
        grouped(phone_count),
        grouped(picture_count),
        put.report.seconds
    ))?;

    let options = BulkGetOptions {
        direction: Direction::Forward,
        range: Some(FieldRange::of("price").from(200).to(500)),
        relatives: vec!["phones.images".to_owned()],
        ..BulkGetOptions::default()
    };
    let started = Instant::now();
    let makers = KeySource::keys(WANTED.map(|maker| vec![Value::from(maker)]));
    let mut shelf: Vec<(Row, usize)> = Vec::new();
    let mut picture_bytes = 0;
    for related in store.table("phones")?.bulk_get(makers, &options)?.into_rows() {
        let related = related?;
        // A phone comes before its pictures, so a picture belongs to the last phone of the shelf.
        if &*related.table == "phones" {
            shelf.push((related.row, 0));
        } else if let (Some((_, pictures)), Some(Value::Binary(bytes))) =
            (shelf.last_mut(), related.row.get("bytes"))
        {
            *pictures += 1;
            picture_bytes += bytes.len();
        }
    }
    story.print_line(format_args!(
        "Phones of {} from 200 to 500, with their pictures: {} phones, {} pictures, {} bytes in {:.1} ms. Some of them:",
        WANTED.join(", "),
        grouped(shelf.len() as u64),
        grouped(shelf.iter().map(|(_, pictures)| *pictures as u64).sum()),
        grouped(picture_bytes as u64),
        started.elapsed().as_secs_f64() * 1e3
    ))?;
    // From all over the shelf: the first five may all be of one maker.
    for (phone, pictures) in shelf.iter().step_by((shelf.len() / 5).max(1)).take(5) {
        let text = |name: &str| phone.get(name).map(Value::to_string).unwrap_or_default();
        story.print_line(format_args!(
            "  {:<9} {:>4}  {:<16} {}",
            text("maker"),
            text("price"),
            text("name"),
            counted(*pictures as u64, "picture")
        ))?;
    }
    Ok(())
}

/// Phones, and one to three pictures of each.
fn phone_rows(seed: u64) -> (Vec<Row>, Vec<Row>) {
    let mut chance = SmallRng::seed_from_u64(seed);
    let (mut phones, mut pictures) = (Vec::new(), Vec::new());
    for maker in MAKERS {
        for id in 0..PHONES_PER_MAKER {
            let key = Row::new()
                .with("maker", maker)
                .with("price", chance.random_range(80..1_500))
                .with("id", id);
            for image in 0..chance.random_range(1..=3) {
                let mut bytes = vec![0; PICTURE_BYTES];
                chance.fill_bytes(&mut bytes);
                pictures.push(key.clone().with("image", image).with("bytes", bytes));
            }
            let memory = 1 << chance.random_range(2..=5);
            let details = serde_json::json!({ "memory_gb": memory, "colour": (["black", "blue", "red"])[id as usize % 3] });
            phones.push(key.with("name", format!("{maker} model {id}")).with("details", details));
        }
    }
    (phones, pictures)
}
