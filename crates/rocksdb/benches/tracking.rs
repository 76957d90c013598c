//! What a put costs where its space is followed, and where it is not.
//!
//! `cargo bench -p tonnage-rocksdb --bench tracking -- --puts 20000 --rounds 5`
//!
//! One store a case, all in one process, in turns of 1,000 puts: what disturbs the machine disturbs
//! all of them. Each round puts the same random keys of 16 bytes with values of 100, by one thread,
//! unsynced; the result is the processor time of that thread. The first two cases are the same, so
//! that their ratio says how much to believe of the others. Files go to `TONNAGE_BENCH_DIR`, or to
//! the directory for temporary files.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tonnage_engine::{
    Condition, Durability, Engine, KeyPart, KeyShape, SpaceId, TrackedRange, WriteBatch,
};
use tonnage_rocksdb::{RocksEngine, Settings};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const VALUE: [u8; 100] = [7; 100];

/// How many puts a turn is.
const TURN: u64 = 1_000;

/// How many batches a call takes.
const CALL: u64 = 500;

/// What is followed in a store.
#[derive(Clone, Copy)]
enum Followed {
    Nothing,
    /// Another space than the one that is written.
    Another,
    /// The space that is written, in so many tracked ranges.
    Ranges(u64),
}

const CASES: [(&str, Followed); 6] = [
    ("nothing is followed", Followed::Nothing),
    ("the same again", Followed::Nothing),
    ("another space is followed", Followed::Another),
    ("1 range is tracked", Followed::Ranges(1)),
    ("100 ranges are tracked", Followed::Ranges(100)),
    ("8,000 ranges are tracked", Followed::Ranges(8_000)),
];

struct Store {
    engine: RocksEngine,
    written: SpaceId,
    other: SpaceId,
    followed: Followed,
    next_id: u128,
    /// Of puts one by one, and of puts in calls, by round.
    times: [Vec<Duration>; 2],
}

impl Store {
    fn open(path: &Path, followed: Followed) -> Outcome<Self> {
        let engine = RocksEngine::open(path, Settings::default())?;
        let shape = KeyShape::new([KeyPart::Fixed(8)]);
        let (written, other) =
            (engine.create_space("written", &shape)?, engine.create_space("other", &shape)?);
        Ok(Self { engine, written, other, followed, next_id: 0, times: Default::default() })
    }

    /// Has everything copied anew, as a refresher does: lists begin empty in each round.
    fn track(&mut self) -> Outcome<()> {
        let (space, ranges) = match self.followed {
            Followed::Nothing => return Ok(()),
            Followed::Another => (self.other, 1),
            Followed::Ranges(ranges) => (self.written, ranges),
        };
        let taken = self.engine.snapshot(&[space])?.ok_or("no snapshots")?;
        let cut = |number: u64| match number % ranges {
            0 => Vec::new(),
            number => (u64::MAX / ranges * number).to_be_bytes().to_vec(),
        };
        for number in 0..ranges {
            self.next_id += 1;
            let range = TrackedRange {
                shard: tonnage_engine::ShardId(0),
                start: cut(number),
                end: cut(number + 1),
                id: Some(self.next_id),
            };
            if !self.engine.track(space, &range, taken.as_ref())? {
                return Err("a range is not tracked".into());
            }
        }
        Ok(())
    }

    fn begin_round(&mut self) -> Outcome<()> {
        self.times.iter_mut().for_each(|times| times.push(Duration::ZERO));
        self.track()
    }

    fn turn(&mut self, round: u64, first: u64) -> Outcome<()> {
        let batch = |put: u64| {
            let mut batch = WriteBatch::new(self.written);
            batch.put(&key(round, put), &VALUE, 0, Condition::Always);
            batch
        };
        let batches: Vec<_> = (first..first + TURN).map(batch).collect();
        let began = thread_time();
        for batch in &batches {
            self.engine.write(batch, Durability::None)?;
        }
        let between = thread_time();
        for call in batches.chunks(CALL as usize) {
            for outcome in self.engine.write_many(call, Durability::None) {
                outcome?;
            }
        }
        let parts = [between - began, thread_time() - between];
        for (times, part) in self.times.iter_mut().zip(parts) {
            times.last_mut().into_iter().for_each(|time| *time += part);
        }
        Ok(())
    }
}

/// How long a processor has worked for this thread.
fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock is there on every system that this runs on, and writes to the place given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Spread evenly over all keys (the multiplier of splitmix64).
fn key(round: u64, put: u64) -> [u8; 16] {
    let mut key = [0; 16];
    let spread = (put + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key[..8].copy_from_slice(&spread.to_be_bytes());
    key[8..].copy_from_slice(&round.to_be_bytes());
    key
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Outcome<()> {
    let (mut puts, mut rounds) = (20_000, 5);
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number =
            || -> Outcome<u64> { Ok(arguments.next().ok_or("a number is missing")?.parse()?) };
        match argument.as_str() {
            "--puts" => puts = number()?.next_multiple_of(TURN).max(TURN),
            "--rounds" => rounds = number()?.max(1),
            // Cargo passes this to every benchmark.
            "--bench" => {}
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    let place = tempfile::tempdir_in(
        env::var_os("TONNAGE_BENCH_DIR").map_or_else(env::temp_dir, PathBuf::from),
    )?;
    let mut stores = Vec::new();
    for (number, (_, followed)) in CASES.iter().enumerate() {
        stores.push(Store::open(&place.path().join(number.to_string()), *followed)?);
    }
    // The first round warms up.
    for round in 0..=rounds {
        stores.iter_mut().try_for_each(Store::begin_round)?;
        for first in (0..puts).step_by(TURN as usize) {
            stores.iter_mut().try_for_each(|store| store.turn(round, first))?;
        }
    }
    println!(
        "a put, and one of 500 in a call; us, and times the first: medians of {rounds} rounds"
    );
    for (name, store) in CASES.iter().map(|(name, _)| name).zip(&stores) {
        let [one, many] = [0, 1].map(|way| {
            let (times, first) = (&store.times[way], &stores[0].times[way]);
            let pairs = || times.iter().zip(first).skip(1);
            let time = median(pairs().map(|(time, _)| time.as_secs_f64() * 1e6 / puts as f64));
            // By round: what slows one down slows the other down, too.
            let ratio = median(pairs().map(|(time, first)| time.div_duration_f64(*first)));
            format!("{time:.2} ({ratio:.3})")
        });
        println!("{name:26} {one:16} {many:16}");
    }
    Ok(())
}
