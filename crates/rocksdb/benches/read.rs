//! How fast keys are looked up: sorted batches of random keys from one and two threads, single
//! gets, single puts, many puts in one call.
//!
//! `cargo bench -p tonnage-rocksdb --bench read -- --rows 20000000 --keys 1000000 --batch 131072`
//!
//! Keys have 16 bytes, values 100, half compressible. The yardstick (`--raw`) is RocksDB with its
//! default options, over the same rows, asked by batched multi-get. Files go to
//! `TONNAGE_BENCH_DIR`, or to the directory for temporary files.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use rocksdb::{DB, IngestExternalFileOptions, Options, SstFileWriter};
use tonnage_engine::{
    Condition, Durability, Engine, Entries, FillCache, KeyPart, KeyShape, LoadOptions, Maintenance,
    Projection, Ranges, Rows, ScanOptions, Slices, SpaceId, WriteBatch,
};
use tonnage_rocksdb::{RocksEngine, Settings};
use tonnage_testkit::mix;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const VALUE_LEN: usize = 100;

struct Plan {
    rows: u64,
    keys: u64,
    batch: usize,
    cache_mib: usize,
    raw: bool,
}

impl Plan {
    fn from_arguments() -> Outcome<Self> {
        let mut plan =
            Self { rows: 1_000_000, keys: 1_000_000, batch: 131_072, cache_mib: 4_096, raw: false };
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
                "--keys" => plan.keys = number()?,
                "--batch" => plan.batch = number()? as usize,
                "--cache-mib" => plan.cache_mib = number()? as usize,
                "--raw" => plan.raw = true,
                // Cargo passes this to every benchmark.
                "--bench" => {}
                other => return Err(format!("unknown argument {other}").into()),
            }
        }
        Ok(plan)
    }

    /// Sorted batches of random keys of stored rows; another `seed`, other keys.
    fn batches(&self, seed: u64) -> Vec<Slices> {
        let rows: Vec<u64> =
            (0..self.keys).map(|index| mix(index ^ seed << 32) % self.rows).collect();
        rows.chunks(self.batch)
            .map(|rows| {
                let mut keys: Vec<[u8; 16]> = rows.iter().map(|row| key(*row)).collect();
                keys.sort_unstable();
                keys.iter().map(|key| &key[..]).collect()
            })
            .collect()
    }
}

fn key(row: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mix(row).to_be_bytes());
    key[8..].copy_from_slice(&row.to_be_bytes());
    key
}

/// Half random, then the same half again.
fn fill_value(row: u64, value: &mut [u8; VALUE_LEN]) {
    for (index, chunk) in value[..VALUE_LEN / 2].chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&mix(row ^ (index as u64) << 40).to_be_bytes()[..chunk.len()]);
    }
    value.copy_within(..VALUE_LEN / 2, VALUE_LEN / 2);
}

fn main() -> Outcome<()> {
    let plan = Plan::from_arguments()?;
    let place = tempfile::tempdir_in(
        env::var_os("TONNAGE_BENCH_DIR").map_or_else(env::temp_dir, PathBuf::from),
    )?;
    let settings = Settings { cache_bytes: plan.cache_mib << 20, ..Settings::default() };
    let engine = RocksEngine::open(place.path().join("store"), settings)?;
    let space = engine.create_space("bench", &KeyShape::new([KeyPart::Fixed(16)]))?;
    load(&plan, &engine, space)?;
    engine.settle()?;
    for (pass, threads) in [("cold", 2), ("warm", 2), ("warm", 2), ("warm", 1)] {
        let batches = plan.batches(threads as u64 + u64::from(pass == "warm"));
        rate(&format!("{pass}, {threads} threads"), plan.keys, || {
            read(&engine, space, &batches, threads)
        })?;
    }
    rate("scan of all rows", plan.rows, || scan(&engine, space))?;
    single_gets(&plan, &engine, space)?;
    for durability in [Durability::None, Durability::Write] {
        single_puts(&plan, &engine, space, durability)?;
    }
    for durability in [Durability::Write, Durability::Fsync] {
        many_puts(&plan, &engine, space, durability)?;
    }
    drop(engine);
    if plan.raw {
        raw(&plan, &place.path().join("raw"))?;
    }
    Ok(())
}

fn rate(what: &str, count: u64, work: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
    let (start, processor) = (Instant::now(), processor_seconds());
    work()?;
    let (seconds, processor) = (start.elapsed().as_secs_f64(), processor_seconds() - processor);
    println!(
        "{what}: {seconds:.2} s, {:.2} M/s, {:.2} us of processor each",
        count as f64 / seconds / 1e6,
        processor / count as f64 * 1e6
    );
    Ok(())
}

/// The processor time of this process so far, in user code; 0 where it cannot be found out.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    stat.rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().nth(11)?.parse::<f64>().ok())
        .map_or(0.0, |ticks| ticks / 100.0)
}

fn load(plan: &Plan, engine: &RocksEngine, space: SpaceId) -> Outcome<()> {
    let start = Instant::now();
    let session =
        engine.load(LoadOptions { memory_bytes_max: 2 << 30, ..LoadOptions::default() })?;
    let (mut entries, mut value) = (Entries::new(), [0; VALUE_LEN]);
    for row in 0..plan.rows {
        fill_value(row, &mut value);
        entries.push(&key(row), &value, row, 0);
        if entries.len() == 10_000 || row + 1 == plan.rows {
            session.push(space, 0, &entries)?;
            entries.clear();
        }
    }
    session.finish()?;
    println!("loaded {} rows in {:.1} s", plan.rows, start.elapsed().as_secs_f64());
    Ok(())
}

fn read(engine: &RocksEngine, space: SpaceId, batches: &[Slices], threads: usize) -> Outcome<()> {
    thread::scope(|scope| {
        let readers: Vec<_> = (0..threads)
            .map(|reader| {
                scope.spawn(move || -> Outcome<()> {
                    let mut rows = Rows::new();
                    for batch in batches.iter().skip(reader).step_by(threads) {
                        engine.read(space, batch, Projection::KeysAndValues, &mut rows)?;
                        assert_eq!(rows.len(), batch.len());
                    }
                    Ok(())
                })
            })
            .collect();
        readers.into_iter().try_for_each(|reader| reader.join().expect("a reader panicked"))
    })
}

fn scan(engine: &RocksEngine, space: SpaceId) -> Outcome<()> {
    let options = ScanOptions { fill_cache: FillCache::No, ..ScanOptions::default() };
    let mut scanner = engine.scan(space, Ranges::whole_space(), options)?;
    let mut rows = Rows::new();
    while scanner.next_batch(&mut rows)? {}
    Ok(())
}

fn single_gets(plan: &Plan, engine: &RocksEngine, space: SpaceId) -> Outcome<()> {
    let (mut rows, mut keys) = (Rows::new(), Slices::new());
    let mut nanos = Vec::new();
    for index in 0..100_000 {
        keys.clear();
        keys.push(&key(mix(index) % plan.rows));
        let start = Instant::now();
        engine.read(space, &keys, Projection::KeysAndValues, &mut rows)?;
        nanos.push(start.elapsed().as_nanos());
        assert_eq!(rows.len(), 1);
    }
    report("single get", nanos);
    Ok(())
}

fn single_puts(
    plan: &Plan,
    engine: &RocksEngine,
    space: SpaceId,
    durability: Durability,
) -> Outcome<()> {
    let mut nanos = Vec::new();
    let (mut batch, mut value) = (WriteBatch::new(space), [0; VALUE_LEN]);
    for index in 0..100_000 {
        let row = mix(index ^ 77) % plan.rows;
        fill_value(row, &mut value);
        batch.clear();
        batch.put(&key(row), &value, 0, Condition::Always);
        let start = Instant::now();
        engine.write(&batch, durability)?;
        nanos.push(start.elapsed().as_nanos());
    }
    report(&format!("single put, durability {durability:?}"), nanos);
    Ok(())
}

/// Puts of rows one after another, and as many in one call, in turn.
fn many_puts(
    plan: &Plan,
    engine: &RocksEngine,
    space: SpaceId,
    durability: Durability,
) -> Outcome<()> {
    const PUTS: u64 = 32;
    let (mut singles, mut together) = (Vec::new(), Vec::new());
    let mut value = [0; VALUE_LEN];
    for round in 0..200 {
        let mut batch = |put: u64| {
            let row = mix(round << 32 ^ put) % plan.rows;
            let mut batch = WriteBatch::new(space);
            fill_value(row, &mut value);
            batch.put(&key(row), &value, 0, Condition::Always);
            batch
        };
        let batches: Vec<WriteBatch> = (0..2 * PUTS).map(&mut batch).collect();
        let (first, second) = batches.split_at(PUTS as usize);
        let start = Instant::now();
        first.iter().try_for_each(|batch| engine.write(batch, durability).map(drop))?;
        singles.push(start.elapsed().as_nanos());
        let start = Instant::now();
        engine
            .write_many(second, durability)
            .into_iter()
            .try_for_each(|outcome| outcome.map(drop))?;
        together.push(start.elapsed().as_nanos());
    }
    report(&format!("{PUTS} single puts, durability {durability:?}"), singles);
    report(&format!("{PUTS} puts in one call, durability {durability:?}"), together);
    Ok(())
}

fn report(what: &str, mut nanos: Vec<u128>) {
    nanos.sort_unstable();
    let at = |part: f64| nanos[(nanos.len() as f64 * part) as usize] as f64 / 1e3;
    println!(
        "{what}: median {:.1} us, 99 % {:.1} us, 99.9 % {:.1} us",
        at(0.5),
        at(0.99),
        at(0.999)
    );
}

/// The same rows and lookups in RocksDB as it comes.
fn raw(plan: &Plan, place: &std::path::Path) -> Outcome<()> {
    let mut options = Options::default();
    options.create_if_missing(true);
    let db = DB::open_cf(&options, place, ["default"])?;
    let mut rows: Vec<([u8; 16], u64)> = (0..plan.rows).map(|row| (key(row), row)).collect();
    rows.sort_unstable();
    let mut value = [0; VALUE_LEN];
    let mut files = Vec::new();
    for (index, chunk) in rows.chunks(2_000_000).enumerate() {
        let file = place.with_extension(format!("{index}.sst"));
        let mut writer = SstFileWriter::create(&options);
        writer.open(&file)?;
        for (key, row) in chunk {
            fill_value(*row, &mut value);
            writer.put(key, value)?;
        }
        writer.finish()?;
        files.push(file);
    }
    let mut move_files = IngestExternalFileOptions::default();
    move_files.set_move_files(true);
    db.ingest_external_file_opts(&move_files, files)?;
    for (pass, threads) in [("cold", 2), ("warm", 2), ("warm", 2), ("warm", 1)] {
        let batches = plan.batches(threads as u64 + u64::from(pass == "warm"));
        rate(&format!("raw RocksDB: {pass}, {threads} threads"), plan.keys, || {
            raw_read(&db, &batches, threads)
        })?;
    }
    Ok(())
}

fn raw_read(db: &DB, batches: &[Slices], threads: usize) -> Outcome<()> {
    let family = db.cf_handle("default").ok_or("every database has it")?;
    thread::scope(|scope| {
        let readers: Vec<_> = (0..threads)
            .map(|reader| {
                scope.spawn(move || -> Outcome<()> {
                    let mut rows = Rows::new();
                    for batch in batches.iter().skip(reader).step_by(threads) {
                        rows.clear();
                        let found = db.batched_multi_get_cf(family, batch.iter(), true);
                        for (index, value) in found.into_iter().enumerate() {
                            rows.push(
                                batch.get(index),
                                &value?.ok_or("a row is missing")?,
                                0,
                                0,
                                index as u32,
                            );
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        readers.into_iter().try_for_each(|reader| reader.join().expect("a reader panicked"))
    })
}
