//! How fast a scan of a few columns is beside RocksDB, which only passes over the same bytes:
//! `cargo run --release -p tonnage-bench --example scan_rate -- STORE TABLE COLUMN,COLUMN [THREADS]
//! [CACHE_BYTES]`. The cache is that of RocksDB by itself; 32 MiB, its default, hold no whole table.
//!
//! The store has one data directory and this table alone. Rounds take turns: RocksDB's own iterators
//! over ranges of files, parts of a scan, and a query whose columns are not kept.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rocksdb::{BlockBasedOptions, Cache, ColumnFamilyDescriptor, DB, Options, ReadOptions};
use tonnage::{Result, Store, TableScanOptions};
use tonnage_sql::{Sql, SqlOptions};

const ROUNDS: usize = 7;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = |what: &str| arguments.next().unwrap_or_else(|| panic!("give {what}"));
    let (directory, table) = (argument("a store"), argument("a table"));
    let columns: Vec<String> = argument("columns").split(',').map(str::to_owned).collect();
    let threads = arguments.next().map_or(2, |threads| threads.parse().expect("a number"));
    let cache_bytes = arguments.next().map_or(32 << 20, |bytes| bytes.parse().expect("a number"));

    let store = Store::open(format!("rocksdb:{directory}"))?;
    store.settle()?;
    let raw = open_raw(&Path::new(&directory).join("db"), cache_bytes);
    let ranges = ranges(&raw);
    let options = SqlOptions { column_cache_bytes_max: Some(0), ..SqlOptions::default() };
    let sql = Sql::new(store.clone(), options)?;
    let query = format!("SELECT {} FROM {table}", columns.join(", "));

    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let (rows, bytes) = iterate(&raw, &ranges, threads);
        times[0].push(started.elapsed());
        println!("RocksDB: {rows} rows, {bytes} bytes in {:.0?}", started.elapsed());

        let started = Instant::now();
        let scanned = scan(&store, &table, &columns, threads)?;
        times[1].push(started.elapsed());
        println!("scan: {scanned} rows in {:.0?}", started.elapsed());

        let started = Instant::now();
        let mut answered = 0;
        for batch in sql.execute(query.as_str())?.into_rows()? {
            answered += batch?.num_rows();
        }
        times[2].push(started.elapsed());
        println!("query: {answered} rows in {:.0?}", started.elapsed());
        assert_eq!(scanned, answered);
        assert!(rows < scanned + 1_000, "the store holds this table alone");
    }
    let [raw, scan, query] = times.map(median);
    println!(
        "medians of {ROUNDS}: RocksDB {raw:.0?}, scan {scan:.0?} ({:.2} of its rate), query {query:.0?} ({:.2})",
        raw.as_secs_f64() / scan.as_secs_f64(),
        raw.as_secs_f64() / query.as_secs_f64()
    );
    Ok(())
}

/// RocksDB with a block cache of so many bytes.
fn open_raw(path: &Path, cache_bytes: usize) -> DB {
    let options = Options::default();
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(&Cache::new_lru_cache(cache_bytes));
    let family = |name: String| {
        let mut options = Options::default();
        options.set_block_based_table_factory(&table);
        ColumnFamilyDescriptor::new(name, options)
    };
    let families = DB::list_cf(&options, path).expect("a RocksDB").into_iter().map(family);
    DB::open_cf_descriptors_read_only(&options, path, families, false).expect("a RocksDB")
}

/// The ranges between the first keys of data files.
fn ranges(db: &DB) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    let files = db.live_files().expect("data files");
    let rows = files.into_iter().filter(|file| file.column_family_name == "rows");
    let mut starts: Vec<Vec<u8>> = rows.filter_map(|file| file.start_key).collect();
    starts.sort();
    starts.dedup();
    if let Some(first) = starts.first_mut() {
        first.clear();
    }
    let ends = starts.iter().skip(1).cloned().map(Some).chain(std::iter::once(None));
    starts.iter().cloned().zip(ends).collect()
}

fn iterate(db: &DB, ranges: &[(Vec<u8>, Option<Vec<u8>>)], threads: usize) -> (usize, usize) {
    let family = db.cf_handle("rows").expect("rows");
    let left = Mutex::new(ranges.iter());
    let work = || {
        let (mut rows, mut bytes) = (0, 0);
        while let Some((start, end)) = { left.lock().unwrap().next() } {
            let mut options = ReadOptions::default();
            if let Some(end) = end {
                options.set_iterate_upper_bound(end.clone());
            }
            let mut iterator = db.raw_iterator_cf_opt(family, options);
            iterator.seek(start);
            while let Some((key, value)) = iterator.item() {
                rows += 1;
                bytes += key.len() + value.len();
                iterator.next();
            }
            iterator.status().expect("a whole iteration");
        }
        (rows, bytes)
    };
    together(threads, work).into_iter().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
}

fn scan(store: &Store, table: &str, columns: &[String], threads: usize) -> Result<usize> {
    let options =
        TableScanOptions { columns: Some(columns.to_vec()), ..TableScanOptions::default() };
    let parts = store.table(table)?.scan_parts(&options, 4 * threads)?;
    let left = Mutex::new(parts.into_iter());
    let work = || {
        let mut rows = 0;
        while let Some(part) = { left.lock().unwrap().next() } {
            for batch in part {
                rows += batch?.rows.num_rows();
            }
        }
        Ok(rows)
    };
    together(threads, work).into_iter().sum()
}

fn together<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(&work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread that ends")).collect()
    })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
