//! What many tables cost.
//!
//! `cargo bench -p tonnage --bench tables -- --tables 10000`
//!
//! It makes so many tables, puts one row into each with one `multi_put`, closes the store and opens
//! it again, and prints how long each step took. Files go to `TONNAGE_BENCH_DIR`, or to the
//! directory for temporary files, and are removed.

use std::time::{Duration, Instant};

use tonnage::{BulkPutOptions, Row, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tables = tables_from_arguments()?;
    let directory = match std::env::var_os("TONNAGE_BENCH_DIR") {
        Some(place) => tempfile::tempdir_in(place)?,
        None => tempfile::tempdir()?,
    };
    let url = directory.path().join("store").display().to_string();
    let store = Store::open(&url)?;
    let path = |number: usize| format!("device_{number:06}");

    let started = Instant::now();
    for number in 0..tables {
        let columns = "(at TIMESTAMP(3), value DOUBLE, PRIMARY KEY (at))";
        store.execute(&format!("CREATE TABLE {} {columns}", path(number)))?;
    }
    tell("made", tables, started.elapsed());

    let row = || Row::new().with("at", "2026-01-01T00:00:00.000").with("value", 1.5);
    let rows: Vec<_> = (0..tables).map(|number| (path(number), vec![row()])).collect();
    let started = Instant::now();
    let put = store.multi_put(rows, &BulkPutOptions::default())?;
    tell("put a row into each", tables, started.elapsed());
    assert_eq!(put.report.total.inserted, tables as u64);

    drop(store);
    let started = Instant::now();
    let store = Store::open(&url)?;
    tell("opened", tables, started.elapsed());
    assert_eq!(store.tables().len(), tables);
    Ok(())
}

fn tell(what: &str, tables: usize, took: Duration) {
    println!("{tables} tables {what}: {:.3} s", took.as_secs_f64());
}

fn tables_from_arguments() -> Result<usize, Box<dyn std::error::Error>> {
    let mut tables = 10_000;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--tables" => tables = arguments.next().ok_or("--tables wants a value")?.parse()?,
            // Cargo passes this to every benchmark.
            "--bench" => {}
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    Ok(tables)
}
