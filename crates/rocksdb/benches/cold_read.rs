//! How fast sorted keys are looked up while no block of them is in the cache yet.
//!
//! `cargo bench -p tonnage-rocksdb --bench cold_read -- --rows 20000000 --rounds 3`
//!
//! The store is opened anew before each read, so its cache is empty. Keys lie 5 to 500 rows apart,
//! and are dealt out to two threads as a bulk get does it.
//!
//! | pass | what |
//! |---|---|
//! | memory | the data files are in the operating system's cache, as after a load that fits |
//! | disk | they are not, as after a load that does not fit, or a restart of the machine |
//! | second | the same keys as in `memory` again: now the store's own cache keeps their blocks |
//! | warm | the same keys once more |
//!
//! Keys have 16 bytes, values 100, half compressible. Files go to `TONNAGE_BENCH_DIR`, or to the
//! directory for temporary files. `--store DIRECTORY` keeps the store there, and reads the one that
//! is there: so two builds can take turns on the same files.

use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::iter;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use tonnage_engine::{
    Deadline, Engine, Entries, KeyPart, KeyShape, LoadOptions, Maintenance, Projection,
    ReadOptions, Rows, Slices, SpaceId,
};
use tonnage_rocksdb::{RocksEngine, Settings};
use tonnage_testkit::mix;

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const VALUE_LEN: usize = 100;
/// As many as a bulk get makes of what it gathered.
const TASKS: usize = 64;
/// A bulk get's batch.
const BATCH_ROWS: usize = 8_192;
const BATCH_BYTES: usize = 4 << 20;
/// What a bulk get asks for first.
const FIRST_KEYS: usize = 256;

struct Plan {
    rows: u64,
    rounds: u64,
    threads: u64,
    cache_mib: u64,
    strides: Vec<u64>,
    passes: Vec<String>,
    store: Option<PathBuf>,
}

impl Plan {
    fn from_arguments() -> Outcome<Self> {
        let mut plan = Self {
            rows: 1_000_000,
            rounds: 1,
            threads: 2,
            cache_mib: 4_096,
            strides: vec![5, 20, 50, 100, 500],
            passes: ["memory", "disk"].map(str::to_owned).to_vec(),
            store: None,
        };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut next = || arguments.next().ok_or(format!("{argument} wants a value"));
            match argument.as_str() {
                "--rows" => plan.rows = next()?.parse()?,
                "--rounds" => plan.rounds = next()?.parse()?,
                "--threads" => plan.threads = next()?.parse()?,
                "--cache-mib" => plan.cache_mib = next()?.parse()?,
                "--apart" => {
                    plan.strides = next()?.split(',').map(str::parse).collect::<Result<_, _>>()?;
                }
                "--passes" => plan.passes = next()?.split(',').map(str::to_owned).collect(),
                "--store" => plan.store = Some(next()?.into()),
                // Cargo passes this to every benchmark.
                "--bench" => {}
                other => return Err(format!("unknown argument {other}").into()),
            }
        }
        Ok(plan)
    }

    fn open(&self, store: &Path) -> Outcome<RocksEngine> {
        let cache_bytes = (self.cache_mib as usize) << 20;
        Ok(RocksEngine::open(store, Settings { cache_bytes, ..Settings::default() })?)
    }
}

fn main() -> Outcome {
    let plan = Plan::from_arguments()?;
    let place = tempfile::tempdir_in(
        env::var_os("TONNAGE_BENCH_DIR").map_or_else(env::temp_dir, PathBuf::from),
    )?;
    let store = plan.store.clone().unwrap_or_else(|| place.path().join("store"));
    if !store.exists() {
        load(&plan, &store)?;
    }
    println!("apart  pass    M keys/s  processor us/key  kernel us/key  MB from disk");
    for _ in 0..plan.rounds {
        for stride in &plan.strides {
            let keys = keys(plan.rows, *stride);
            for pass in &plan.passes {
                each_file(&store, if pass == "disk" { forget } else { remember })?;
                let engine = plan.open(&store)?;
                let space = engine.spaces()?.first().ok_or("the store has no space")?.id;
                let again = if pass == "memory" { &["second", "warm"][..] } else { &[] };
                for pass in iter::once(pass.as_str()).chain(again.iter().copied()) {
                    measure(*stride, pass, &keys, || read(&plan, &engine, space, &keys))?;
                }
            }
        }
    }
    Ok(())
}

fn measure(stride: u64, pass: &str, keys: &Slices, work: impl FnOnce() -> Outcome) -> Outcome {
    let (start, used, read) = (Instant::now(), processor_seconds(), bytes_from_disk());
    work()?;
    let (seconds, count) = (start.elapsed().as_secs_f64(), keys.len() as f64);
    let now = processor_seconds();
    let each = |index: usize| (now[index] - used[index]) / count * 1e6;
    println!(
        "{stride:5}  {pass:6}  {:8.3}  {:16.2}  {:13.2}  {:12.0}",
        count / seconds / 1e6,
        each(0),
        each(1),
        (bytes_from_disk() - read) as f64 / 1e6
    );
    Ok(())
}

/// The processor time of this process so far, in user code and in the kernel; 0 where it cannot be
/// found out.
fn processor_seconds() -> [f64; 2] {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    [11, 12].map(|at| fields.get(at).and_then(|ticks| ticks.parse().ok()).unwrap_or(0.0) / 100.0)
}

/// What this process had read from disks so far; 0 where it cannot be found out.
fn bytes_from_disk() -> u64 {
    let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find_map(|line| line.strip_prefix("read_bytes: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

/// Does something to each file below a directory.
fn each_file(directory: &Path, act: fn(&File) -> io::Result<()>) -> Outcome {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() { each_file(&path, act)? } else { act(&File::open(path)?)? }
    }
    Ok(())
}

/// Brings a file into the operating system's cache.
fn remember(mut file: &File) -> io::Result<()> {
    io::copy(&mut file, &mut io::sink()).map(drop)
}

/// Drops a file from the operating system's cache.
fn forget(file: &File) -> io::Result<()> {
    file.sync_all()?;
    // SAFETY: the call takes no memory, and the file is open until it returns.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn key(row: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mix(row).to_be_bytes());
    key[8..].copy_from_slice(&row.to_be_bytes());
    key
}

/// Sorted random keys of stored rows, so many rows apart on average.
fn keys(rows: u64, stride: u64) -> Slices {
    let wanted = (0..rows / stride).map(|number| key(mix(number ^ stride << 40) % rows));
    let mut keys: Vec<[u8; 16]> = wanted.collect();
    keys.sort_unstable();
    keys.dedup();
    keys.iter().map(|key| &key[..]).collect()
}

/// Half random, then the same half again.
fn fill_value(row: u64, value: &mut [u8; VALUE_LEN]) {
    for (index, chunk) in value[..VALUE_LEN / 2].chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&mix(row ^ (index as u64) << 40).to_be_bytes()[..chunk.len()]);
    }
    value.copy_within(..VALUE_LEN / 2, VALUE_LEN / 2);
}

fn load(plan: &Plan, store: &Path) -> Outcome {
    let start = Instant::now();
    let engine = plan.open(store)?;
    let space = engine.create_space("bench", &KeyShape::new([KeyPart::Fixed(16)]))?;
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
    engine.settle()?;
    println!("loaded {} rows in {:.1} s", plan.rows, start.elapsed().as_secs_f64());
    Ok(())
}

/// Reads keys as the workers of a bulk get do.
fn read(plan: &Plan, engine: &RocksEngine, space: SpaceId, keys: &Slices) -> Outcome {
    let next = AtomicUsize::new(0);
    let work = || -> Outcome {
        let mut rows = Rows::new();
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= TASKS {
                return Ok(());
            }
            let end = keys.len() * (task + 1) / TASKS;
            let (mut first, mut count) = (keys.len() * task / TASKS, FIRST_KEYS);
            while first < end {
                let wanted = first..end.min(first + count.min(BATCH_ROWS));
                let options = ReadOptions {
                    projection: Projection::KeysAndValues,
                    keys: wanted.clone(),
                    bytes_max: BATCH_BYTES,
                    deadline: Deadline::default(),
                };
                let taken = engine.read_some(space, keys, &options, &mut rows)?;
                assert_eq!(rows.len(), taken, "every key is that of a row");
                count = (taken * 2).max(FIRST_KEYS);
                first += taken;
            }
        }
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..plan.threads).map(|_| scope.spawn(work)).collect();
        readers.into_iter().try_for_each(|reader| reader.join().expect("a reader panicked"))
    })
}
