//! What writers of one shard key get done, beside as many writers of shard keys of their own, in
//! turn: each waits for its write to be durable. The yardstick is RocksDB by itself.
//!
//! `cargo bench -p tonnage-rocksdb --bench hot_key -- --writers 64 --seconds 3 --rounds 3`
//!
//! Writes are synced; `--unsynced` leaves that out. Values have 100 bytes. Files go to
//! `TONNAGE_BENCH_DIR`, or to the directory for temporary files.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rocksdb::{DB, Options};
use tonnage_engine::{Condition, Durability, Engine, KeyPart, KeyShape, SpaceId, WriteBatch};
use tonnage_rocksdb::{RocksEngine, Settings};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const VALUE: [u8; 100] = [7; 100];

struct Plan {
    writers: u64,
    seconds: u64,
    rounds: u64,
    durability: Durability,
}

impl Plan {
    fn from_arguments() -> Outcome<Self> {
        let mut plan = Self { writers: 64, seconds: 3, rounds: 3, durability: Durability::Fsync };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut number =
                || -> Outcome<u64> { Ok(arguments.next().ok_or("a number is missing")?.parse()?) };
            match argument.as_str() {
                "--writers" => plan.writers = number()?.max(1),
                "--seconds" => plan.seconds = number()?.max(1),
                "--rounds" => plan.rounds = number()?.max(1),
                "--unsynced" => plan.durability = Durability::Write,
                // Cargo passes this to every benchmark.
                "--bench" => {}
                other => return Err(format!("unknown argument {other}").into()),
            }
        }
        Ok(plan)
    }

    /// Writes a second, of so many threads that write one row after another.
    fn rate(&self, writers: u64, write: impl Fn(u64, u64) -> Outcome<()> + Sync) -> Outcome<f64> {
        let (began, time) = (Instant::now(), Duration::from_secs(self.seconds));
        let written = AtomicU64::new(0);
        thread::scope(|scope| {
            let work = |writer| {
                let (write, written) = (&write, &written);
                scope.spawn(move || -> Outcome<()> {
                    for row in 0.. {
                        if began.elapsed() >= time {
                            break;
                        }
                        write(writer, row)?;
                        written.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(())
                })
            };
            let threads: Vec<_> = (0..writers).map(work).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })?;
        Ok(written.into_inner() as f64 / began.elapsed().as_secs_f64())
    }
}

/// A key of a shard key of eight bytes.
fn key(shard_key: u64, writer: u64, row: u64) -> [u8; 24] {
    let mut key = [0; 24];
    for (part, number) in key.chunks_mut(8).zip([shard_key, writer, row]) {
        part.copy_from_slice(&number.to_be_bytes());
    }
    key
}

fn put(engine: &RocksEngine, space: SpaceId, key: &[u8], durability: Durability) -> Outcome<()> {
    let mut batch = WriteBatch::new(space);
    batch.put(key, &VALUE, 0, Condition::Always);
    engine.write(&batch, durability)?;
    Ok(())
}

fn main() -> Outcome<()> {
    let plan = Plan::from_arguments()?;
    let place = tempfile::tempdir_in(
        env::var_os("TONNAGE_BENCH_DIR").map_or_else(env::temp_dir, PathBuf::from),
    )?;
    let engine = RocksEngine::open(place.path().join("store"), Settings::default())?;
    let space = engine.create_space("bench", &KeyShape::new([KeyPart::Fixed(8)]))?;
    let mut options = Options::default();
    options.create_if_missing(true);
    let raw = DB::open(&options, place.path().join("raw"))?;
    let mut raw_options = rocksdb::WriteOptions::default();
    raw_options.set_sync(plan.durability == Durability::Fsync);

    println!("{:?}, writes a second, medians of {} rounds:", plan.durability, plan.rounds);
    let mut rates: [Vec<f64>; 4] = Default::default();
    for round in 0..plan.rounds {
        let hot = |writer, row| put(&engine, space, &key(round, writer, row), plan.durability);
        let spread = |writer, row| {
            put(&engine, space, &key((round + 1) << 32 | writer, writer, row), plan.durability)
        };
        let alone = |writer, row| raw.put_opt(key(round, writer, row), VALUE, &raw_options);
        rates[0].push(plan.rate(1, hot)?);
        rates[1].push(plan.rate(plan.writers, hot)?);
        rates[2].push(plan.rate(plan.writers, spread)?);
        rates[3].push(plan.rate(plan.writers, |writer, row| Ok(alone(writer, row)?))?);
    }
    let [one, hot, spread, raw] = rates.map(|mut rates| {
        rates.sort_unstable_by(f64::total_cmp);
        rates[rates.len() / 2]
    });
    let writers = plan.writers;
    println!("one writer: {one:.0}");
    println!("{writers} writers of one shard key: {hot:.0}, {:.1} times one", hot / one);
    println!("{writers} writers of their own: {spread:.0}, {:.1} times one", spread / one);
    println!("{writers} writers of RocksDB: {raw:.0}, one shard key {:.2} of it", hot / raw);
    Ok(())
}
