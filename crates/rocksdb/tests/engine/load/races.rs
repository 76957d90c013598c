//! Small writes that race with a load of the same keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use rstest::rstest;
use tonnage_engine::{
    Condition, Durability, Engine, Entries, KeyPart, KeyShape, LoadObserver, LoadOptions,
    OnExisting, Projection, Ranges, Result, Rows, Slices, SpaceId, StoredRun, WriteBatch,
    WriteOutcome,
};
use tonnage_rocksdb::RocksEngine;

use crate::common::{open, settings};

const KEYS: u64 = 400;
const WRITERS: u64 = 2;

#[derive(Default)]
struct Counts {
    stored: AtomicU64,
    existed: AtomicU64,
}

impl LoadObserver for Counts {
    fn stored(&self, run: StoredRun) {
        self.stored.fetch_add(run.inserted + run.replaced + run.overtaken, Ordering::Relaxed);
    }

    fn existed(&self, _stream: u32, _position: u64, _space: SpaceId, _key: &[u8]) -> Result<()> {
        self.existed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

fn put(
    engine: &RocksEngine,
    space: SpaceId,
    key: u64,
    value: u64,
    condition: Condition,
) -> WriteOutcome {
    let mut batch = WriteBatch::new(space);
    batch.put(&key.to_be_bytes(), &value.to_le_bytes(), 0, condition);
    engine.write(&batch, Durability::None).unwrap()
}

fn get(engine: &RocksEngine, space: SpaceId, key: u64) -> Option<(Vec<u8>, u64)> {
    let mut rows = Rows::new();
    let keys: Slices = [&key.to_be_bytes()[..]].into_iter().collect();
    engine.read(space, &keys, Projection::default(), &mut rows).unwrap();
    (!rows.is_empty()).then(|| (rows.values.get(0).to_vec(), rows.versions[0]))
}

/// Pads values so that a round does not fit into the memory of the session: it then stores files.
fn round_of_entries(round: u64, padding: usize) -> Entries {
    let mut entries = Entries::new();
    let value = vec![b'L'; padding];
    (0..KEYS).for_each(|key| entries.push(&key.to_be_bytes(), &value, round * KEYS + key, 0));
    entries
}

/// What a writer wrote last under a key, and how many pushes of the load had begun when that was
/// acknowledged.
#[derive(Clone, Copy)]
struct LastWrite {
    value: u64,
    pushes_begun: u64,
}

const ROUNDS: u64 = 12;

/// Each writer owns the keys that are its number modulo [`WRITERS`]. What it wrote last under a key
/// must be there in the end where the load pushed nothing afterwards, and what the load pushed last
/// where that was pushed after it, whatever the load did meanwhile.
#[rstest]
fn no_acknowledged_write_is_lost(
    #[values(OnExisting::Keep, OnExisting::Replace, OnExisting::BlindReplace)]
    on_existing: OnExisting,
    #[values(10, 2_000)] padding: usize,
    #[values(0, 2)] directories: usize,
) {
    let directory = tempfile::tempdir().unwrap();
    let data_directories =
        (0..directories).map(|disk| directory.path().join(format!("disk-{disk}"))).collect();
    let settings = tonnage_rocksdb::Settings { data_directories, ..settings() };
    let engine = RocksEngine::open(directory.path().join("store"), settings).unwrap();
    let space = engine.create_space("raced", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    let counts = Arc::new(Counts::default());
    let observer = Arc::clone(&counts) as Arc<dyn LoadObserver>;
    let options = LoadOptions {
        on_existing,
        memory_bytes_max: 256 << 10,
        parallelism: 2,
        observer,
        ..LoadOptions::default()
    };
    let session = engine.load(options).unwrap();

    let done = AtomicBool::new(false);
    let [begun, ended, writes] = [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)];
    let ledgers = thread::scope(|threads| {
        let (engine, done, begun, ended, writes) = (&engine, &done, &begun, &ended, &writes);
        let writers = [0, 1].map(|writer| {
            threads.spawn(move || {
                let mut ledger: Vec<Option<(LastWrite, u64)>> = vec![None; KEYS as usize];
                let mut value = 0;
                while !done.load(Ordering::SeqCst) {
                    value += 1;
                    // Half of the keys are written for a part of the time only: of those the load
                    // has the last word.
                    let key = value * 31 % KEYS / WRITERS * WRITERS + writer;
                    if key > KEYS / 2 && begun.load(Ordering::SeqCst) > ROUNDS / 2 {
                        continue;
                    }
                    let ended_before = ended.load(Ordering::SeqCst);
                    put(engine, space, key, value, Condition::Always);
                    let last = LastWrite { value, pushes_begun: begun.load(Ordering::SeqCst) };
                    ledger[key as usize] = Some((last, ended_before));
                    writes.fetch_add(1, Ordering::SeqCst);
                    thread::yield_now();
                }
                ledger
            })
        });
        for round in 0..ROUNDS {
            begun.fetch_add(1, Ordering::SeqCst);
            session.push(space, 0, &round_of_entries(round, padding)).unwrap();
            ended.fetch_add(1, Ordering::SeqCst);
            // Between any two pushes another thread writes.
            let enough = writes.load(Ordering::SeqCst) + 100;
            while writes.load(Ordering::SeqCst) < enough {
                thread::yield_now();
            }
            if round % 3 == 2 {
                session.flush().unwrap();
            }
        }
        session.finish().unwrap();
        done.store(true, Ordering::SeqCst);
        writers.map(|writer| writer.join().unwrap())
    });

    let (mut written, mut loaded) = (0, 0);
    for key in 0..KEYS {
        let stored = get(&engine, space, key).unwrap().0;
        let is_loaded = stored == vec![b'L'; padding];
        let Some((last, ended_before)) = ledgers[(key % WRITERS) as usize][key as usize] else {
            assert!(is_loaded, "key {key}");
            continue;
        };
        assert!(
            is_loaded || stored == last.value.to_le_bytes(),
            "key {key} holds what was replaced"
        );
        if on_existing == OnExisting::Keep {
            continue;
        }
        if ended_before == ROUNDS {
            assert!(!is_loaded, "key {key} was written after the last push");
            written += 1;
        } else if last.pushes_begun < ROUNDS {
            assert!(is_loaded, "key {key} was pushed after the last write");
            loaded += 1;
        }
    }
    assert!(
        on_existing == OnExisting::Keep || loaded > 0 && written > 0,
        "{loaded} loaded, {written} written"
    );
    let (stored, existed) =
        (counts.stored.load(Ordering::Relaxed), counts.existed.load(Ordering::Relaxed));
    assert_eq!(stored + existed, ROUNDS * KEYS, "every entry is reported once");
    assert_eq!(existed == 0, on_existing != OnExisting::Keep);
}

/// A counter that is only raised from the version that was read never loses a step to a load that
/// keeps what is there.
#[test]
fn conditional_writes_hold_beside_a_load() {
    const STEPS: u64 = 300;
    let directory = tempfile::tempdir().unwrap();
    let engine = open(&directory.path().join("store")).unwrap();
    let space = engine.create_space("raced", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    put(&engine, space, 1, 0, Condition::Always);
    let done = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let session = engine
                    .load(LoadOptions { memory_bytes_max: 64 << 10, ..LoadOptions::default() })
                    .unwrap();
                session.push(space, 0, &round_of_entries(0, 1_000)).unwrap();
                session.finish().unwrap();
            }
        });
        for step in 0..STEPS {
            let (value, version) = get(&engine, space, 1).unwrap();
            assert_eq!(value, step.to_le_bytes());
            let outcome = put(&engine, space, 1, step + 1, Condition::IfVersion(version));
            assert!(matches!(outcome, WriteOutcome::Applied { .. }), "step {step}");
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(get(&engine, space, 1).unwrap().0, STEPS.to_le_bytes());
}

/// Two sessions that load the same keys at once leave one of the two values under each, and count
/// each key as new once.
#[test]
fn two_loads_of_the_same_keys_insert_each_once() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(&directory.path().join("store")).unwrap();
    let space = engine.create_space("raced", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    let counts = [Arc::new(Counts::default()), Arc::new(Counts::default())];
    thread::scope(|threads| {
        for counts in &counts {
            let observer = Arc::clone(counts) as Arc<dyn LoadObserver>;
            let engine = &engine;
            threads.spawn(move || {
                let session = engine
                    .load(LoadOptions {
                        memory_bytes_max: 64 << 10,
                        observer,
                        ..LoadOptions::default()
                    })
                    .unwrap();
                session.push(space, 0, &round_of_entries(0, 1_000)).unwrap();
                session.finish().unwrap();
            });
        }
    });
    let sum = |of: fn(&Counts) -> &AtomicU64| {
        counts.iter().map(|counts| of(counts).load(Ordering::Relaxed)).sum::<u64>()
    };
    assert_eq!((sum(|counts| &counts.stored), sum(|counts| &counts.existed)), (KEYS, KEYS));
}

/// So little memory that a load stores files.
fn large(on_existing: OnExisting, counts: &Arc<Counts>) -> LoadOptions {
    let observer = Arc::clone(counts) as Arc<dyn LoadObserver>;
    LoadOptions {
        on_existing,
        memory_bytes_max: 64 << 10,
        parallelism: 2,
        observer,
        ..LoadOptions::default()
    }
}

fn small(on_existing: OnExisting, counts: &Arc<Counts>) -> LoadOptions {
    LoadOptions { memory_bytes_max: 16 << 20, ..large(on_existing, counts) }
}

fn entries_of(keys: impl Iterator<Item = u64>, value: &[u8]) -> Entries {
    let mut entries = Entries::new();
    keys.for_each(|key| entries.push(&key.to_be_bytes(), value, key, 0));
    entries
}

/// Loads of a few rows each and loads of files bring the same keys at once, all keeping what is
/// there: each key is inserted by one of them, and existed for all others.
#[test]
fn small_and_large_loads_of_the_same_keys_insert_each_once() {
    const ROUNDS: u64 = 4;
    let directory = tempfile::tempdir().unwrap();
    let engine = open(&directory.path().join("store")).unwrap();
    let space = engine.create_space("raced", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    let counts = Arc::new(Counts::default());
    for round in 0..ROUNDS {
        let keys = round * KEYS..(round + 1) * KEYS;
        thread::scope(|threads| {
            for loader in 0..4 {
                let (engine, counts, keys) = (&engine, &counts, keys.clone());
                threads.spawn(move || {
                    if loader < 2 {
                        let session = engine.load(large(OnExisting::Keep, counts)).unwrap();
                        session.push(space, 0, &entries_of(keys, &[b'L'; 1_000])).unwrap();
                        return session.finish().unwrap();
                    }
                    for start in keys.step_by(7) {
                        let session = engine.load(small(OnExisting::Keep, counts)).unwrap();
                        session
                            .push(
                                space,
                                0,
                                &entries_of(start..(start + 7).min((round + 1) * KEYS), b"small"),
                            )
                            .unwrap();
                        session.finish().unwrap();
                    }
                });
            }
        });
    }
    let (stored, existed) =
        (counts.stored.load(Ordering::Relaxed), counts.existed.load(Ordering::Relaxed));
    assert_eq!((stored, existed), (ROUNDS * KEYS, 3 * ROUNDS * KEYS));
}

/// Beside a large load that was pushed before, small loads and writes without conditions win, loads
/// that keep what is there and writes on conditions do not, whichever is stored first. And every
/// entry is reported once.
#[rstest]
fn a_large_load_gives_way_to_what_came_after_its_push_and_to_nothing_else(
    #[values(OnExisting::Replace, OnExisting::BlindReplace)] on_existing: OnExisting,
) {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(&directory.path().join("store")).unwrap();
    let space = engine.create_space("raced", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    for _ in 0..5 {
        let (of_large, of_small) = (Arc::new(Counts::default()), Arc::new(Counts::default()));
        let session = engine.load(large(on_existing, &of_large)).unwrap();
        session.push(space, 0, &entries_of(0..KEYS, &[b'L'; 2_000])).unwrap();
        thread::scope(|threads| {
            threads.spawn(|| session.flush().unwrap());
            threads.spawn(|| {
                for key in 0..KEYS {
                    let load = |on_existing| {
                        let session = engine.load(small(on_existing, &of_small)).unwrap();
                        session.push(space, 0, &entries_of(key..key + 1, b"small")).unwrap();
                        session.finish().unwrap();
                    };
                    match key % 6 {
                        0 => load(OnExisting::Replace),
                        1 => load(OnExisting::BlindReplace),
                        2 => load(OnExisting::Keep),
                        3 => drop(put(&engine, space, key, key, Condition::Always)),
                        4 => drop(put(&engine, space, key, key, Condition::IfAbsent)),
                        _ => {
                            if let Some((_, version)) = get(&engine, space, key) {
                                put(&engine, space, key, key, Condition::IfVersion(version));
                            }
                        }
                    }
                }
            });
        });
        session.finish().unwrap();
        for key in 0..KEYS {
            let value = get(&engine, space, key).unwrap().0;
            match key % 6 {
                0 | 1 => assert_eq!(value, b"small", "key {key}"),
                3 => assert_eq!(value, key.to_le_bytes(), "key {key}"),
                2 | 4 => assert_eq!(value.len(), 2_000, "key {key}"),
                // What was read may have been the load's own row, which then was changed.
                _ => assert!(value.len() == 2_000 || value == key.to_le_bytes(), "key {key}"),
            }
        }
        assert_eq!(of_large.stored.load(Ordering::Relaxed), KEYS);
        let ranges = Ranges::whole_space();
        engine.delete_range(space, &ranges, Durability::Write).unwrap();
    }
}

/// Of two large loads that are stored at once the one that was pushed later has the last word under
/// every key.
#[rstest]
fn of_two_large_loads_the_later_wins(
    #[values(OnExisting::Replace, OnExisting::BlindReplace)] on_existing: OnExisting,
) {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(&directory.path().join("store")).unwrap();
    let space = engine.create_space("raced", &KeyShape::new([KeyPart::Fixed(8)])).unwrap();
    for round in 0..5_u8 {
        let counts = Arc::new(Counts::default());
        let sessions = [(); 2].map(|()| engine.load(large(on_existing, &counts)).unwrap());
        sessions[0].push(space, 0, &entries_of(0..KEYS, &[2 * round; 1_000])).unwrap();
        sessions[1].push(space, 0, &entries_of(0..KEYS, &[2 * round + 1; 1_000])).unwrap();
        thread::scope(|threads| {
            sessions
                .into_iter()
                .for_each(|session| drop(threads.spawn(|| session.finish().unwrap())))
        });
        for key in 0..KEYS {
            assert_eq!(get(&engine, space, key).unwrap().0, [2 * round + 1; 1_000], "key {key}");
        }
        assert_eq!(counts.stored.load(Ordering::Relaxed), 2 * KEYS);
    }
}
