//! Small writes while compaction lags: their rate and the wait of one, beside RocksDB by itself,
//! which delays its writers.
//!
//! `cargo bench -p tonnage-rocksdb --bench pressure -- --seconds 5 --rounds 3`
//!
//! Both databases have as many files at level 0 that writers are slowed down but not stopped, and
//! compaction is held, by what it asks about each row, so that they stay as they are. Rounds take
//! turns; the result is the medians of their rates and of a writer's wait. Files go to
//! `TONNAGE_BENCH_DIR`, or to the directory for temporary files.

use std::cell::Cell;
use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rocksdb::{CompactionDecision, DB, Options};
use tonnage_engine::{
    Clock, Condition, Durability, Engine, KeyPart, KeyShape, Maintenance, SpaceId, SystemClock,
    WriteBatch,
};
use tonnage_rocksdb::{Compression, RocksEngine, Settings};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Files at level 0: writers are slowed down from 20 on and stopped at 36.
const FILES: usize = 24;
/// Writers and bytes of a batch.
const LOADS: [(usize, usize); 4] = [(1, 1 << 20), (1, 500 << 10), (16, 8 << 10), (64, 64 << 10)];

thread_local! {
    /// Set in threads of this program, not in those of RocksDB.
    static OURS: Cell<bool> = const { Cell::new(false) };
}

/// Holds compaction until it may continue.
#[derive(Debug, Default)]
struct Hold {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Hold {
    fn wait(&self) {
        let mut is_over = self.is_over.lock().unwrap();
        while !*is_over {
            is_over = self.changed.wait(is_over).unwrap();
        }
    }

    fn end(&self) {
        *self.is_over.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

/// Ends it, before the databases are closed.
struct EndOfHold(Arc<Hold>);

impl Drop for EndOfHold {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A clock at which only compaction has to wait.
#[derive(Debug)]
struct HeldClock(Arc<Hold>);

impl Clock for HeldClock {
    fn now_ms(&self) -> u64 {
        if !OURS.get() {
            self.0.wait();
        }
        SystemClock.now_ms()
    }
}

/// Something that takes batches.
trait Target: Sync {
    fn write(&self, key: u64, value: &[u8]) -> Outcome<()>;
    /// How many files lie at level 0.
    fn files(&self) -> Outcome<u64>;
}

struct Tonnage(RocksEngine, SpaceId);

impl Target for Tonnage {
    fn write(&self, key: u64, value: &[u8]) -> Outcome<()> {
        let mut batch = WriteBatch::new(self.1);
        // Rows that expire make compaction ask the clock.
        batch.put(&key.to_be_bytes(), value, u64::MAX, Condition::Always);
        self.0.write(&batch, Durability::Write)?;
        Ok(())
    }

    fn files(&self) -> Outcome<u64> {
        let statistics = self.0.statistics()?;
        let details = statistics.shards.iter().flat_map(|shard| &shard.details);
        Ok(details.filter(|(name, _)| name == "files_at_level_0").map(|(_, files)| files).sum())
    }
}

struct Plain(DB);

impl Target for Plain {
    fn write(&self, key: u64, value: &[u8]) -> Outcome<()> {
        Ok(self.0.put(key.to_be_bytes(), value)?)
    }

    fn files(&self) -> Outcome<u64> {
        Ok(self.0.property_int_value("rocksdb.num-files-at-level0")?.unwrap_or(0))
    }
}

/// So large that no memtable is filled while rates are measured.
const MEMTABLE_BYTES: usize = 1 << 30;

fn tonnage(place: &Path, hold: &Arc<Hold>) -> Outcome<Tonnage> {
    let settings = Settings {
        cache_bytes: 64 << 20,
        compression: Compression::Lz4,
        memtable_bytes: MEMTABLE_BYTES,
        background_threads: 2,
        ..Settings::default()
    };
    let engine =
        RocksEngine::open_with_clock(place, settings, Arc::new(HeldClock(Arc::clone(hold))))?;
    let space = engine.create_space("pressure", &KeyShape::new([KeyPart::Fixed(8)]))?;
    let target = Tonnage(engine, space);
    pile_up(&target, |_| {
        let copy = place.with_extension("flushed");
        // A copy flushes memtables.
        target.0.checkpoint(&copy)?;
        Ok(std::fs::remove_dir_all(&copy)?)
    })?;
    Ok(target)
}

fn plain(place: &Path, hold: &Arc<Hold>) -> Outcome<Plain> {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_write_buffer_size(MEMTABLE_BYTES);
    options.set_max_write_buffer_number(3);
    options.set_max_background_jobs(2);
    let hold = Arc::clone(hold);
    options.set_compaction_filter("held", move |_level, _key, _value| {
        hold.wait();
        CompactionDecision::Keep
    });
    let target = Plain(DB::open(&options, place)?);
    // RocksDB does not flush by itself what would slow writers down.
    target.0.set_options(&[("level0_slowdown_writes_trigger", "30")])?;
    pile_up(&target, |_| Ok(target.0.flush()?))?;
    target.0.set_options(&[("level0_slowdown_writes_trigger", "20")])?;
    Ok(target)
}

fn pile_up<T: Target>(target: &T, flush: impl Fn(&T) -> Outcome<()>) -> Outcome<()> {
    while target.files()? < FILES as u64 {
        (0..4).try_for_each(|key| target.write(key, &[7; 100]))?;
        flush(target)?;
    }
    Ok(())
}

/// Bytes a second, and how long the median writer waited.
struct Reading {
    rate: f64,
    wait: Duration,
}

/// Lets writers write until the time is over; a batch under way then counts for the part that lay
/// within.
fn measure(target: &dyn Target, writers: usize, bytes: usize, time: Duration) -> Outcome<Reading> {
    let (begin, over, value) = (Instant::now(), AtomicBool::new(false), vec![7; bytes]);
    let waits = thread::scope(|scope| {
        let threads: Vec<_> = (0..writers as u64)
            .map(|writer| {
                let (over, value) = (&over, &value);
                scope.spawn(move || -> Outcome<Vec<Duration>> {
                    OURS.set(true);
                    let mut waits = Vec::new();
                    while !over.load(Ordering::Relaxed) {
                        let start = Instant::now();
                        target.write(writer << 32 | waits.len() as u64, value)?;
                        waits.push(start.elapsed());
                    }
                    Ok(waits)
                })
            })
            .collect();
        thread::sleep(time);
        over.store(true, Ordering::Relaxed);
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a writer panicked"))
            .collect::<Outcome<Vec<_>>>()
    })?;
    let mut waits: Vec<Duration> = waits.into_iter().flatten().collect();
    waits.sort_unstable();
    let rate = (waits.len() * bytes) as f64 / begin.elapsed().as_secs_f64();
    Ok(Reading { rate, wait: waits[waits.len() / 2] })
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn main() -> Outcome<()> {
    OURS.set(true);
    let (mut seconds, mut rounds) = (5, 3);
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
            "--seconds" => seconds = number()?,
            "--rounds" => rounds = number()?,
            // Cargo passes this to every benchmark.
            "--bench" => {}
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    let place = tempfile::tempdir_in(
        env::var_os("TONNAGE_BENCH_DIR").map_or_else(env::temp_dir, PathBuf::from),
    )?;
    let hold = Arc::new(Hold::default());
    let (tonnage, plain) = (
        tonnage(&place.path().join("tonnage"), &hold)?,
        plain(&place.path().join("plain"), &hold)?,
    );
    let _end = EndOfHold(Arc::clone(&hold));
    println!("{} and {} files at level 0", tonnage.files()?, plain.files()?);
    for (writers, bytes) in LOADS {
        let mut readings: [Vec<Reading>; 2] = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            readings[0].push(measure(&tonnage, writers, bytes, Duration::from_secs(seconds))?);
            readings[1].push(measure(&plain, writers, bytes, Duration::from_secs(seconds))?);
        }
        let [ours, theirs] = readings.map(|readings| {
            let rate = median(readings.iter().map(|reading| reading.rate / 1e6).collect());
            (
                rate,
                median(readings.iter().map(|reading| reading.wait.as_secs_f64() * 1e3).collect()),
            )
        });
        println!(
            "{writers} writers, {} KiB: {:.1} MB/s, median wait {:.1} ms; plain RocksDB {:.1} MB/s, {:.1} ms; ratio {:.2}",
            bytes >> 10,
            ours.0,
            ours.1,
            theirs.0,
            theirs.1,
            ours.0 / theirs.0
        );
    }
    Ok(())
}
