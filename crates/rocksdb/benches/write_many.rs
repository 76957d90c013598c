//! What many puts of one row each cost in one call, beside as many calls, in turn: without fsync
//! and, with `--fsync`, with it. The yardstick is RocksDB by itself with the same rows.
//!
//! `cargo bench -p tonnage-rocksdb --bench write_many -- --rounds 5000 --puts 32`
//!
//! Keys have 16 bytes and come in no order, values 100. Files go to `TONNAGE_BENCH_DIR`, or to the
//! directory for temporary files.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use rocksdb::{DB, Options};
use tonnage_engine::{Condition, Durability, Engine, KeyPart, KeyShape, WriteBatch};
use tonnage_rocksdb::{RocksEngine, Settings};
use tonnage_testkit::mix;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const VALUE: [u8; 100] = [7; 100];

struct Plan {
    rounds: u64,
    puts: u64,
    durability: Durability,
}

impl Plan {
    fn from_arguments() -> Outcome<Self> {
        let mut plan = Self { rounds: 5_000, puts: 32, durability: Durability::Write };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut number =
                || -> Outcome<u64> { Ok(arguments.next().ok_or("a number is missing")?.parse()?) };
            match argument.as_str() {
                "--rounds" => plan.rounds = number()?.max(1),
                "--puts" => plan.puts = number()?.max(1),
                "--fsync" => plan.durability = Durability::Fsync,
                // Cargo passes this to every benchmark.
                "--bench" => {}
                other => return Err(format!("unknown argument {other}").into()),
            }
        }
        Ok(plan)
    }
}

fn key(number: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mix(number).to_be_bytes());
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}

fn main() -> Outcome<()> {
    let plan = Plan::from_arguments()?;
    let place = tempfile::tempdir_in(
        env::var_os("TONNAGE_BENCH_DIR").map_or_else(env::temp_dir, PathBuf::from),
    )?;
    let engine = RocksEngine::open(place.path().join("store"), Settings::default())?;
    let space = engine.create_space("bench", &KeyShape::new([KeyPart::Fixed(16)]))?;
    let mut options = Options::default();
    options.create_if_missing(true);
    let raw = DB::open(&options, place.path().join("raw"))?;
    let mut write_options = rocksdb::WriteOptions::default();
    write_options.set_sync(plan.durability == Durability::Fsync);

    let mut nanos: [Vec<u128>; 4] = Default::default();
    for round in 0..plan.rounds {
        let keys: Vec<[u8; 16]> = (0..2 * plan.puts).map(|put| key(round << 20 | put)).collect();
        let batches: Vec<WriteBatch> = keys
            .iter()
            .map(|key| {
                let mut batch = WriteBatch::new(space);
                batch.put(key, &VALUE, 0, Condition::Always);
                batch
            })
            .collect();
        let (first, second) = batches.split_at(plan.puts as usize);
        let start = Instant::now();
        for batch in first {
            engine.write(batch, plan.durability)?;
        }
        nanos[0].push(start.elapsed().as_nanos());
        let start = Instant::now();
        for outcome in engine.write_many(second, plan.durability) {
            outcome?;
        }
        nanos[1].push(start.elapsed().as_nanos());
        let (first, second) = keys.split_at(plan.puts as usize);
        let start = Instant::now();
        for key in first {
            raw.put_opt(key, VALUE, &write_options)?;
        }
        nanos[2].push(start.elapsed().as_nanos());
        let start = Instant::now();
        let mut batch = rocksdb::WriteBatch::default();
        second.iter().for_each(|key| batch.put(key, VALUE));
        raw.write_opt(batch, &write_options)?;
        nanos[3].push(start.elapsed().as_nanos());
    }
    let medians = nanos.map(|mut nanos| {
        nanos.sort_unstable();
        nanos[nanos.len() / 2] as f64 / 1e3
    });
    let Plan { puts, durability, .. } = plan;
    println!("{puts} rows, {durability:?}, medians of {} rounds:", plan.rounds);
    for (what, [calls, together]) in
        [("Tonnage", [medians[0], medians[1]]), ("RocksDB", [medians[2], medians[3]])]
    {
        println!(
            "{what}: {puts} calls {calls:.1} us, one call {together:.1} us, {:.2} times the rate",
            calls / together
        );
    }
    Ok(())
}
