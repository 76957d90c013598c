//! What open scans cost whose readers rest: threads, memory and descriptors of the process.
//!
//! `cargo bench -p tonnage --bench open_scans -- [SCANS] [TAKEN] [BATCH_ROWS]` makes a store of 400,000
//! rows, opens 1,000 scans of it or as many as are given, takes 1 batch of each, rests for five
//! seconds, and reads one of them to its end.

use std::time::Duration;

use tonnage::{BulkPutOptions, Result, Row, Store, TableScanOptions, row_stream};

fn main() -> Result<()> {
    // Cargo gives `--bench` first.
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    let directory = tempfile::tempdir().expect("a directory for the store");
    let count = arguments.next().map_or(1_000, |count| count.parse().expect("a number of scans"));
    let taken: usize =
        arguments.next().map_or(1, |taken| taken.parse().expect("a number of batches"));
    let mut options = TableScanOptions::default();
    if let Some(rows) = arguments.next() {
        options.batch_rows_max = rows.parse().expect("a number of rows");
    }
    let store = Store::open(directory.path().display().to_string())?;
    store.execute("CREATE TABLE t (id LONG, v STRING, PRIMARY KEY (id))")?;
    let value = "v".repeat(200);
    let rows = (0..400_000_i64)
        .map(move |id| Ok(("t".into(), Row::new().with("id", id).with("v", value.as_str()))));
    store.bulk_put(vec![row_stream("rows", rows)], &BulkPutOptions::default())?;
    let table = store.table("t")?;
    println!("before: {}", process());
    let mut scans = Vec::new();
    for _ in 0..count {
        let mut scan = table.scan(&options)?;
        for _ in 0..taken {
            scan.next().expect("rows")?;
        }
        scans.push(scan);
    }
    println!("{count} scans: {}", process());
    std::thread::sleep(Duration::from_secs(5));
    println!("at rest: {}", process());
    let last = scans.pop().expect("a scan");
    let rows: usize =
        last.map(|batch| batch.map(|batch| batch.rows.num_rows())).sum::<Result<_>>()?;
    println!("{rows} more rows of the last: {}", process());
    Ok(())
}

/// Threads, resident memory and open files, as Linux tells them.
fn process() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let wanted =
        status.lines().filter(|line| line.starts_with("Threads") || line.starts_with("VmRSS"));
    let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    format!("{}, {files} files", wanted.collect::<Vec<_>>().join(", ").replace('\t', " "))
}
