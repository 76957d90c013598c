//! What many tables cost: making them, and one row for each of them in one multi-put, for one
//! number of tables after another. Both should take the same for each table, however many there
//! are.
//!
//! ```text
//! cargo run --release -p tonnage --example many_tables -- [URL] [TABLES...]
//! ```

use std::time::Instant;

use tonnage::{BulkPutOptions, Result, Row, Store};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let url = arguments.first().map_or("memory:", String::as_str);
    let counts: Vec<usize> =
        arguments.iter().skip(1).filter_map(|count| count.parse().ok()).collect();
    let counts = if counts.is_empty() { vec![1_000, 4_000, 16_000] } else { counts };
    let store = Store::open(url)?;
    println!("{:>8}  {:>14}  {:>14}  {:>14}", "tables", "CREATE TABLE", "multi-put", "look-up");
    let mut made = 0;
    for count in counts {
        let started = Instant::now();
        for number in made..count {
            store.execute(&format!(
                "CREATE TABLE device{number} (at LONG, level DOUBLE, PRIMARY KEY (at))"
            ))?;
        }
        let created = started.elapsed().as_secs_f64() / (count - made).max(1) as f64;
        made = made.max(count);

        let rows = || vec![Row::new().with("at", count as i64).with("level", 20.5)];
        let requests: Vec<_> =
            (0..count).map(|number| (format!("device{number}"), rows())).collect();
        let started = Instant::now();
        let put = store.multi_put(requests, &BulkPutOptions::default())?;
        let put_seconds = started.elapsed().as_secs_f64() / count as f64;
        assert_eq!(put.report.total.inserted, count as u64);

        let started = Instant::now();
        (0..count).try_for_each(|number| store.table(&format!("device{number}")).map(drop))?;
        let looked_up = started.elapsed().as_secs_f64() / count as f64;
        let micros = |seconds: f64| format!("{:.1} µs each", seconds * 1e6);
        println!(
            "{count:>8}  {:>14}  {:>14}  {:>14}",
            micros(created),
            micros(put_seconds),
            micros(looked_up)
        );
    }
    Ok(())
}
