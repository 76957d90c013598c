//! Bulk put, bulk get and SQL through a server: `tonnage serve --store S --create` runs one.

use tonnage::{BulkPutOptions, Direction, Result, Row};
use tonnage_client::{BulkGetRequest, Client, ClientOptions, batch_of};

fn main() -> Result<()> {
    let address = std::env::args().nth(1).unwrap_or("grpc://127.0.0.1:7411".to_owned());
    println!("{} latest positions", run(&address)?);
    Ok(())
}

pub(crate) fn run(address: &str) -> Result<usize> {
    let client = Client::connect(address, ClientOptions::default())?;
    client.define(
        "CREATE TABLE positions (ship LONG, at LONG, knots DOUBLE, PRIMARY KEY (SHARD(ship), at))",
    )?;

    // One bulk put. It returns when every row is durable, and its report counts each of them.
    let row = |n: i64| Row::new().with("ship", n % 10).with("at", n / 10).with("knots", 7.5);
    let report = client.put("positions", (0..1000).map(row), &BulkPutOptions::default())?;
    println!("{} inserted", report.total.inserted);

    // One bulk get: the latest position of each of ten ships. The rows are pulled.
    let ships: Vec<Row> = (0..10).map(|ship| Row::new().with("ship", ship)).collect();
    let ships = batch_of(&client.describe("positions")?.schema, &ships);
    let request = BulkGetRequest {
        direction: Direction::Reverse,
        limit_per_key: Some(1),
        ..BulkGetRequest::of("positions")
    };
    let mut latest = 0;
    for batch in client.bulk_get([ships], &request)? {
        latest += batch?.num_rows();
    }

    for batch in client.sql("SELECT ship, max(at) FROM positions GROUP BY ship")?.rows() {
        println!("{} ships", batch?.num_rows());
    }
    Ok(latest)
}
