//! What indexes cost and what they gain.
//!
//! `cargo bench -p tonnage --bench index -- --rows 10000000 --rounds 3`
//!
//! | part | what |
//! |---|---|
//! | load | the same rows into a new store with none, one and two indexes, in turn, until durable and until compaction has settled; the medians of the rounds, and what an entry costs |
//! | build | an index over rows that are there, with as many threads as there are cores and with one, and `check` over it |
//! | read | the rows of one value (1 %) through an index, from an index alone, and by a scan over all |
//! | single | puts of single rows into the loaded table |
//!
//! Files go to `TONNAGE_BENCH_DIR`, or to the directory for temporary files, and are removed.
//! `--only PART` runs one part, `--indexes N` loads with up to N of them (3 at most).

mod cars;
mod load;
mod read;

use std::time::{Duration, Instant};

use tonnage::{Row, Store, WriteOptions};

use cars::{Cars, INDEXES, TABLE, mix};

/// What to run.
struct Plan {
    rows: u64,
    rounds: usize,
    indexes: usize,
    only: Option<String>,
}

impl Plan {
    fn from_arguments() -> Result<Self, String> {
        let mut plan = Plan { rows: 1_000_000, rounds: 1, indexes: 2, only: None };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut next = || arguments.next().ok_or(format!("{argument} wants a value"));
            let number = |text: String| {
                text.parse::<usize>().map_err(|error| format!("{argument}: {error}"))
            };
            match argument.as_str() {
                "--rows" => plan.rows = number(next()?)? as u64,
                "--rounds" => plan.rounds = number(next()?)?.max(1),
                "--indexes" => plan.indexes = number(next()?)?.min(INDEXES.len()),
                "--only" => plan.only = Some(next()?),
                // Cargo passes this to every benchmark.
                "--bench" => {}
                _ => {
                    return Err(format!(
                        "unknown argument {argument}: see the first lines of benches/index/main.rs"
                    ));
                }
            }
        }
        Ok(plan)
    }

    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }
}

/// A new store with the table and some indexes, which is deleted with its directory.
struct Fixture {
    store: Store,
    _directory: tempfile::TempDir,
}

impl Fixture {
    fn new(indexes: usize) -> Self {
        let root =
            std::env::var_os("TONNAGE_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
        let directory = tempfile::tempdir_in(root).expect("a place for the store");
        let store =
            Store::open(directory.path().join("store").display().to_string()).expect("opens");
        store.execute(TABLE).expect("makes");
        INDEXES[..indexes].iter().for_each(|index| drop(store.execute(index).expect("makes")));
        Self { store, _directory: directory }
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}

fn tell(what: &str, rows: u64, took: Duration) {
    println!(
        "{what:<44} {:>9.3} s {:>9.2} M rows/s",
        took.as_secs_f64(),
        rows as f64 / took.as_secs_f64() / 1e6
    );
}

fn single_puts(store: &Store, what: &str) {
    const PUTS: u64 = 50_000;
    let table = store.table("cars").expect("was made");
    let (_, took) = timed(|| {
        for row in 0..PUTS {
            let row = Row::new()
                .with("plate", mix(row) as i64)
                .with("colour", (row % 7) as i32)
                .with("year", 1)
                .with("note", "short");
            table.put(&row, &WriteOptions::default()).expect("puts");
        }
    });
    tell(what, PUTS, took);
}

fn main() -> Result<(), String> {
    let plan = Plan::from_arguments()?;
    let cars = Cars::new(plan.rows);
    if plan.wants("load") {
        load::run(&plan, &cars);
    }
    if plan.wants("build") || plan.wants("read") {
        let fixture = Fixture::new(0);
        load::load(&fixture.store, &cars);
        read::build(&plan, &fixture.store, cars.count);
        if plan.wants("read") {
            read::look_up(&fixture.store, cars.count);
        }
    }
    if plan.wants("single") {
        for indexes in 0..=plan.indexes {
            let fixture = Fixture::new(indexes);
            load::load(&fixture.store, &cars);
            single_puts(&fixture.store, &format!("single puts with {indexes} indexes"));
        }
    }
    Ok(())
}
