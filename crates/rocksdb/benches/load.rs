//! How fast a load is: pairs pushed from several threads, until they are stored, and until
//! compaction has settled.
//!
//! `cargo bench -p tonnage-rocksdb --bench load -- --rows 20000000 --memory-mib 4096 --raw-rows 5000000`
//!
//! Keys have 16 bytes, values 100, half compressible like those of RocksDB's `db_bench`. The
//! yardstick is RocksDB itself with write batches of 1,000 rows from as many threads. Files go to
//! `TONNAGE_BENCH_DIR`, or to the directory for temporary files.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use rocksdb::{DB, DBCompressionType, Options, WaitForCompactOptions, WriteBatch};
use tonnage_engine::{
    Durability, Engine, Entries, KeyPart, KeyShape, LoadObserver, LoadOptions, Maintenance,
    OnExisting, SpaceId, StoredRun,
};
use tonnage_rocksdb::{RocksEngine, Settings};
use tonnage_testkit::mix;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const KEY_LEN: usize = 16;
const VALUE_LEN: usize = 100;
const BATCH_ROWS: u64 = 1_000;

/// What to run.
struct Plan {
    rows: u64,
    raw_rows: u64,
    memory_mib: usize,
    threads: u64,
    sequential: bool,
    replace: bool,
    /// Load the same rows again into the store.
    again: bool,
}

impl Plan {
    fn from_arguments() -> Outcome<Self> {
        let mut plan = Self {
            rows: 1_000_000,
            raw_rows: 1_000_000,
            memory_mib: 1024,
            threads: 2,
            sequential: false,
            replace: false,
            again: false,
        };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut number = || {
                arguments
                    .next()
                    .ok_or("a number is missing")?
                    .parse::<u64>()
                    .map_err(Box::<dyn Error + Send + Sync>::from)
            };
            match argument.as_str() {
                "--rows" => plan.rows = number()?,
                "--raw-rows" => plan.raw_rows = number()?,
                "--memory-mib" => plan.memory_mib = number()? as usize,
                "--threads" => plan.threads = number()?,
                "--sequential" => plan.sequential = true,
                "--replace" => plan.replace = true,
                "--again" => plan.again = true,
                // Cargo passes this to every benchmark.
                "--bench" => {}
                other => return Err(format!("unknown argument {other}").into()),
            }
        }
        Ok(plan)
    }

    fn key(&self, row: u64) -> [u8; KEY_LEN] {
        let mut key = [0; KEY_LEN];
        let first = if self.sequential { row } else { mix(row) };
        key[..8].copy_from_slice(&first.to_be_bytes());
        key[8..].copy_from_slice(&mix(row ^ 0x5555_5555).to_be_bytes());
        key
    }

    /// The rows that a thread brings, batch by batch.
    fn batches(&self, thread: u64, rows: u64) -> impl Iterator<Item = std::ops::Range<u64>> {
        let (start, end) = (rows * thread / self.threads, rows * (thread + 1) / self.threads);
        (start..end)
            .step_by(BATCH_ROWS as usize)
            .map(move |batch| batch..end.min(batch + BATCH_ROWS))
    }
}

/// A mebibyte of pieces of which the second half repeats the first.
fn compressible() -> Vec<u8> {
    let mut data = Vec::with_capacity((1 << 20) + VALUE_LEN);
    let mut seed = 1;
    while data.len() < 1 << 20 {
        let half: Vec<u8> = (0..VALUE_LEN / 2)
            .map(|_| {
                seed = mix(seed);
                b' ' + (seed % 95) as u8
            })
            .collect();
        data.extend_from_slice(&half);
        data.extend_from_slice(&half);
    }
    data
}

fn value(data: &[u8], row: u64) -> &[u8] {
    let pieces = data.len() as u64 / VALUE_LEN as u64;
    &data[(row % pieces) as usize * VALUE_LEN..][..VALUE_LEN]
}

#[derive(Default)]
struct Counts {
    inserted: AtomicU64,
    replaced: AtomicU64,
    existed: AtomicU64,
}

impl LoadObserver for Counts {
    fn stored(&self, run: StoredRun) {
        self.inserted.fetch_add(run.inserted, Ordering::Relaxed);
        self.replaced.fetch_add(run.replaced, Ordering::Relaxed);
    }

    fn existed(
        &self,
        _stream: u32,
        _position: u64,
        _space: SpaceId,
        _key: &[u8],
    ) -> tonnage_engine::Result<()> {
        self.existed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

fn main() -> Outcome<()> {
    let plan = Plan::from_arguments()?;
    let root = env::var_os("TONNAGE_BENCH_DIR")
        .map_or_else(env::temp_dir, PathBuf::from)
        .join(format!("tonnage-load-{}", std::process::id()));
    fs::create_dir_all(&root)?;
    let outcome = run(&plan, &root);
    fs::remove_dir_all(&root)?;
    outcome
}

fn run(plan: &Plan, root: &Path) -> Outcome<()> {
    println!(
        "{} rows of {} bytes, {} order, {} MiB, {} threads",
        plan.rows,
        KEY_LEN + VALUE_LEN,
        if plan.sequential { "sequential" } else { "random" },
        plan.memory_mib,
        plan.threads
    );
    let data = compressible();
    let store = root.join("store");
    let engine =
        RocksEngine::open(&store, Settings { cache_bytes: 64 << 20, ..Settings::default() })?;
    let space = engine.create_space("bench", &KeyShape::new([KeyPart::Fixed(KEY_LEN as u16)]))?;
    load(plan, &engine, space, &data, "load")?;
    if plan.again {
        load(plan, &engine, space, &data, "again")?;
    }
    println!("  on disk          {:8} MB", directory_bytes(&store)? / 1_000_000);
    drop(engine);
    fs::remove_dir_all(&store)?;
    if plan.raw_rows > 0 { raw(plan, &root.join("raw"), &data) } else { Ok(()) }
}

fn load(plan: &Plan, engine: &RocksEngine, space: SpaceId, data: &[u8], name: &str) -> Outcome<()> {
    let counts = Arc::new(Counts::default());
    reset_peak_memory();
    let (memory_before, written_before) = (status_kib("VmRSS:"), written_bytes());
    let start = Instant::now();
    let session = engine.load(LoadOptions {
        on_existing: if plan.replace { OnExisting::Replace } else { OnExisting::Keep },
        durability: Durability::Fsync,
        memory_bytes_max: plan.memory_mib << 20,
        parallelism: plan.threads as usize,
        observer: Arc::clone(&counts) as Arc<dyn LoadObserver>,
        ..LoadOptions::default()
    })?;
    let session_ref = &*session;
    thread::scope(|scope| {
        let pushers: Vec<_> = (0..plan.threads)
            .map(|thread| {
                scope.spawn(move || {
                    let mut entries = Entries::new();
                    for batch in plan.batches(thread, plan.rows) {
                        entries.clear();
                        batch
                            .for_each(|row| entries.push(&plan.key(row), value(data, row), row, 0));
                        session_ref.push(space, thread as u32, &entries)?;
                    }
                    Ok(())
                })
            })
            .collect();
        pushers.into_iter().try_for_each(|pusher| pusher.join().expect("a pusher panicked"))
    })
    .map_err(|error: tonnage_engine::Error| error)?;
    let pushed = start.elapsed().as_secs_f64();
    session.finish()?;
    let finished = start.elapsed().as_secs_f64();
    engine.settle()?;
    let settled = start.elapsed().as_secs_f64();
    let rate = |seconds: f64| plan.rows as f64 / seconds / 1e6;
    println!("{name}:");
    println!("  pushed           {pushed:8.2} s");
    println!("  finished         {finished:8.2} s  {:6.3} M rows/s", rate(finished));
    println!("  settled          {settled:8.2} s  {:6.3} M rows/s", rate(settled));
    println!("  written          {:8} MB", (written_bytes() - written_before) / 1_000_000);
    println!(
        "  peak memory      {:8} MiB, {} MiB before",
        status_kib("VmHWM:") >> 10,
        memory_before >> 10
    );
    let [inserted, replaced, existed] = [&counts.inserted, &counts.replaced, &counts.existed]
        .map(|count| count.load(Ordering::Relaxed));
    println!("  inserted {inserted}, replaced {replaced}, existed {existed}");
    assert_eq!(inserted + replaced + existed, plan.rows, "every entry is reported once");
    Ok(())
}

/// The same by write batches, straight into RocksDB.
fn raw(plan: &Plan, directory: &Path, data: &[u8]) -> Outcome<()> {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_compression_type(DBCompressionType::Lz4);
    options.increase_parallelism(plan.threads as i32);
    let db = DB::open(&options, directory)?;
    let start = Instant::now();
    thread::scope(|scope| {
        let writers: Vec<_> = (0..plan.threads)
            .map(|thread| {
                let db = &db;
                scope.spawn(move || {
                    for batch in plan.batches(thread, plan.raw_rows) {
                        let mut writes = WriteBatch::default();
                        batch.for_each(|row| writes.put(plan.key(row), value(data, row)));
                        db.write(writes)?;
                    }
                    Ok(())
                })
            })
            .collect();
        writers.into_iter().try_for_each(|writer| writer.join().expect("a writer panicked"))
    })
    .map_err(|error: rocksdb::Error| error)?;
    db.flush_wal(true)?;
    let written = start.elapsed().as_secs_f64();
    db.flush()?;
    db.wait_for_compact(&WaitForCompactOptions::default())?;
    let settled = start.elapsed().as_secs_f64();
    let rate = |seconds: f64| plan.raw_rows as f64 / seconds / 1e6;
    println!("RocksDB's own write batches, {} rows:", plan.raw_rows);
    println!("  written          {written:8.2} s  {:6.3} M rows/s", rate(written));
    println!("  settled          {settled:8.2} s  {:6.3} M rows/s", rate(settled));
    drop(db);
    Ok(fs::remove_dir_all(directory)?)
}

fn directory_bytes(directory: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { directory_bytes(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

/// Starts the peak anew, where the kernel lets us.
fn reset_peak_memory() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn status_kib(name: &str) -> u64 {
    field("/proc/self/status", name)
}

fn written_bytes() -> u64 {
    field("/proc/self/io", "wchar:")
}

/// A number from one of the kernel's files; 0 where there is none.
fn field(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}
