//! Bulk put, bulk get and SQL through a server: `tonnage serve --store S --create` runs one.

use tonnage::{BulkGetOptions, BulkPutOptions, Direction, KeySource, Result, Row};
use tonnage_client::{ClientOptions, RemoteStore};

fn main() -> Result<()> {
    let address = std::env::args().nth(1).unwrap_or("grpc://127.0.0.1:7411".to_owned());
    println!("{} latest positions", run(&address)?);
    Ok(())
}

pub(crate) fn run(address: &str) -> Result<usize> {
    let store = RemoteStore::connect(address, ClientOptions::default())?;
    store.execute(
        "CREATE TABLE positions (ship LONG, at LONG, knots DOUBLE, PRIMARY KEY (SHARD(ship), at))",
    )?;

    // One bulk put. It returns when every row is durable, and its report counts each of them.
    let row = |n: i64| Row::new().with("ship", n % 10).with("at", n / 10).with("knots", 7.5);
    let rows: Vec<Row> = (0..1000).map(row).collect();
    let put = store.multi_put([("positions", rows)], &BulkPutOptions::default())?;
    println!("{} inserted", put.report.total.inserted);

    // One bulk get: the latest position of each of ten ships. The rows are pulled.
    let ships = KeySource::keys((0..10).map(|ship| Row::new().with("ship", ship)));
    let options = BulkGetOptions {
        direction: Direction::Reverse,
        limit_per_key: Some(1),
        ..BulkGetOptions::default()
    };
    let mut latest = 0;
    for batch in store.table("positions")?.bulk_get(ships, &options)? {
        latest += batch?.rows.num_rows();
    }

    for batch in store.sql("SELECT ship, max(at) FROM positions GROUP BY ship")?.rows() {
        println!("{} ships", batch?.num_rows());
    }
    Ok(latest)
}
