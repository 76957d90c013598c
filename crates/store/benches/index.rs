//! What indexes cost and what they gain: loads with none, one and two of them, building one over rows that are there, and a look-up of 1 %
//! of the rows beside the scan that gives the same.
//!
//! `cargo bench -p tonnage --bench index`; numbers as arguments set the rows, and the directory of the store is made in the system's place
//! for temporary files.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, AsArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;
use tonnage::{
    BulkPutOptions, IndexRange, IndexScanOptions, Row, Store, TableBatch, TableScanOptions, WriteOptions, record_batch_stream,
};

const TABLE: &str = "CREATE TABLE cars (plate LONG, colour INTEGER, year INTEGER, note STRING, PRIMARY KEY (plate))";
const BATCH_ROWS: u64 = 65_536;
/// One colour is 1 % of the rows.
const COLOURS: u64 = 100;

/// A bijection that looks random.
fn mix(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

fn colour(row: u64) -> i32 {
    (mix(row ^ 7) % COLOURS) as i32
}

fn batch(rows: std::ops::Range<u64>) -> RecordBatch {
    let plates: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.clone().map(|row| mix(row) as i64)));
    let colours: ArrayRef = Arc::new(Int32Array::from_iter_values(rows.clone().map(colour)));
    let years: ArrayRef = Arc::new(Int32Array::from_iter_values(rows.clone().map(|row| (mix(row ^ 9) % 50) as i32)));
    let notes: ArrayRef = Arc::new(StringArray::from_iter_values(rows.map(|row| format!("the note of car number {row}"))));
    RecordBatch::try_from_iter([("plate", plates), ("colour", colours), ("year", years), ("note", notes)])
        .expect("columns of one length")
}

fn load(store: &Store, rows: u64) -> Duration {
    let half = rows / 2;
    let stream = |rows: std::ops::Range<u64>| {
        let firsts = rows.clone().step_by(BATCH_ROWS as usize);
        let batches = firsts.map(move |first| Ok(batch(first..rows.end.min(first + BATCH_ROWS))));
        record_batch_stream("cars", "cars", batches)
    };
    let started = Instant::now();
    store.bulk_put(vec![stream(0..half), stream(half..rows)], &BulkPutOptions::default()).expect("loads");
    started.elapsed()
}

fn tell(what: &str, rows: u64, took: Duration) {
    println!("{what:<44} {:>9.3} s {:>9.2} M rows/s", took.as_secs_f64(), rows as f64 / took.as_secs_f64() / 1e6);
}

fn count(batches: impl Iterator<Item = tonnage::Result<TableBatch>>, counts: impl Fn(&RecordBatch) -> usize) -> u64 {
    batches.map(|batch| counts(&batch.expect("reads").rows) as u64).sum()
}

fn look_up(store: &Store, rows: u64) {
    let table = store.table("cars").expect("was made");
    let index = table.index("by_colour").expect("was made");
    for round in 0..5 {
        let started = Instant::now();
        let found = count(
            index.scan(&IndexRange::prefix([round % 2]), &IndexScanOptions::default()).expect("scans"),
            RecordBatch::num_rows,
        );
        tell(&format!("look up {found} rows of one colour"), found, started.elapsed());
    }
    let started = Instant::now();
    let is_wanted = |batch: &RecordBatch| {
        let colours = batch.column_by_name("colour").expect("is there").as_primitive::<Int32Type>();
        colours.values().iter().filter(|colour| **colour == 0).count()
    };
    let found = count(table.scan(&TableScanOptions::default()).expect("scans"), is_wanted);
    tell(&format!("scan all for {found} rows of one colour"), rows, started.elapsed());
}

fn single_puts(store: &Store, what: &str) {
    const PUTS: u64 = 50_000;
    let table = store.table("cars").expect("was made");
    let started = Instant::now();
    for row in 0..PUTS {
        let row =
            Row::new().with("plate", mix(row) as i64).with("colour", (row % 7) as i32).with("year", 1).with("note", "short");
        table.put(&row, &WriteOptions::default()).expect("puts");
    }
    tell(what, PUTS, started.elapsed());
}

fn main() {
    let rows = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(10_000_000);
    for indexes in 0..3 {
        let directory = tempfile::tempdir().expect("a place for temporary files");
        let store = Store::open(directory.path().join("store").display().to_string()).expect("opens");
        store.execute(TABLE).expect("makes");
        if indexes > 0 {
            store.execute("CREATE INDEX by_colour ON cars (colour)").expect("makes");
        }
        if indexes > 1 {
            store.execute("CREATE INDEX by_year ON cars (year, colour)").expect("makes");
        }
        tell(&format!("load with {indexes} indexes"), rows, load(&store, rows));
        if indexes == 0 {
            let started = Instant::now();
            store.execute("CREATE INDEX by_colour ON cars (colour)").expect("makes");
            tell("build an index", rows, started.elapsed());
            look_up(&store, rows);
            store.execute("DROP INDEX by_colour ON cars").expect("drops");
        }
        single_puts(&store, &format!("single puts with {indexes} indexes"));
    }
}
