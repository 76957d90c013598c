//! What was acknowledged to writers, kept outside of the store.

mod history;

use std::collections::HashMap;
use std::iter::Sum;
use std::time::{Duration, Instant};

pub(crate) use history::{Access, Event, Histories, is_linearizable};
use tonnage_engine::{
    Condition, Durability, Engine, Entries, ErrorKind, LoadOptions, OnExisting, Projection, Rows,
    Slices, SpaceId, WriteBatch, WriteOutcome,
};

/// No call may take longer, whatever nodes do.
const CALL_TIME: Duration = Duration::from_secs(150);

fn timed<T>(what: &str, call: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let answer = call();
    assert!(start.elapsed() < CALL_TIME, "{what} took {:?}", start.elapsed());
    answer
}

fn key(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0, 1]].concat()
}

/// Reads rows, as long as that takes: version and value of each that is there.
fn read(engine: &dyn Engine, space: SpaceId, keys: &[Vec<u8>]) -> HashMap<Vec<u8>, (u64, u64)> {
    let wanted: Slices = keys.iter().map(Vec::as_slice).collect();
    let (mut rows, start) = (Rows::new(), Instant::now());
    while let Err(error) =
        timed("a read", || engine.read(space, &wanted, Projection::KeysAndValues, &mut rows))
    {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(start.elapsed() < CALL_TIME, "no read succeeds: {error}");
    }
    let number = |row: usize| u64::from_le_bytes(rows.values.get(row).try_into().unwrap());
    let row = |row: usize| (rows.keys.get(row).to_vec(), (rows.versions[row], number(row)));
    (0..rows.len()).map(row).collect()
}

fn put(
    engine: &dyn Engine,
    space: SpaceId,
    key: &[u8],
    value: u64,
    condition: Condition,
) -> Option<WriteOutcome> {
    let mut batch = WriteBatch::new(space);
    batch.put(key, &value.to_le_bytes(), 0, condition);
    write(engine, &batch)
}

fn delete(
    engine: &dyn Engine,
    space: SpaceId,
    key: &[u8],
    condition: Condition,
) -> Option<WriteOutcome> {
    let mut batch = WriteBatch::new(space);
    batch.delete(key, condition);
    write(engine, &batch)
}

/// Nothing if the write may or may not be stored.
fn write(engine: &dyn Engine, batch: &WriteBatch) -> Option<WriteOutcome> {
    match timed("a write", || engine.write(batch, Durability::Write)) {
        Ok(outcome) => Some(outcome),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            None
        }
    }
}

/// Rows of one writer each, which writes ascending values on condition of the version that it knows.
pub(crate) struct Registers {
    rows: HashMap<Vec<u8>, Register>,
    pub(crate) acknowledged: u64,
}

#[derive(Default)]
struct Register {
    /// Version and value that were acknowledged last.
    known: Option<(u64, u64)>,
    /// Later values whose writes got no answer. Any of them may be stored until a write succeeds.
    in_doubt: Vec<u64>,
}

impl Registers {
    pub(crate) fn write(
        engine: &dyn Engine,
        space: SpaceId,
        writer: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> Self {
        let mut all = Self { rows: HashMap::new(), acknowledged: 0 };
        for value in 1.. {
            if !goes_on() {
                break;
            }
            let key = key(&format!("register {writer} {}", value % 40));
            let register = all.rows.entry(key.clone()).or_default();
            let condition = match register.known {
                Some((version, _)) => Condition::IfVersion(version),
                None => Condition::IfAbsent,
            };
            match put(engine, space, &key, value, condition) {
                Some(WriteOutcome::Applied { version }) => {
                    register.known = Some((version, value));
                    register.in_doubt.clear();
                    all.acknowledged += 1;
                }
                Some(WriteOutcome::Refused { current, .. }) => {
                    assert!(!register.in_doubt.is_empty(), "nobody else writes: {current:?}");
                    let stored = read(engine, space, std::slice::from_ref(&key));
                    register.check(stored.get(&key).copied());
                    register.known = stored.get(&key).copied();
                }
                None => register.in_doubt.push(value),
            }
        }
        all
    }

    pub(crate) fn check(&self, engine: &dyn Engine, space: SpaceId) {
        let keys: Vec<Vec<u8>> = self.rows.keys().cloned().collect();
        let rows = read(engine, space, &keys);
        for (key, register) in &self.rows {
            register.check(rows.get(key).copied());
        }
    }
}

impl Register {
    fn check(&self, stored: Option<(u64, u64)>) {
        let is_in_doubt = stored.is_some_and(|(_, value)| self.in_doubt.contains(&value));
        assert!(
            stored == self.known || is_in_doubt,
            "stored {stored:?}, acknowledged {:?}, in doubt {:?}",
            self.known,
            self.in_doubt
        );
    }
}

/// Two rows of one shard key that one writer writes together: neither is ever without the other.
#[derive(Debug, Default)]
pub(crate) struct Twins {
    known: Option<u64>,
    /// Later values whose writes got no answer.
    in_doubt: Vec<u64>,
    pub(crate) acknowledged: u64,
}

impl Twins {
    pub(crate) fn write(engine: &dyn Engine, space: SpaceId, goes_on: &dyn Fn() -> bool) -> Self {
        let mut twins = Self::default();
        for value in 1_u64.. {
            if !goes_on() {
                break;
            }
            let mut batch = WriteBatch::new(space);
            for key in twin_keys() {
                batch.put(&key, &value.to_le_bytes(), 0, Condition::Always);
            }
            match write(engine, &batch) {
                Some(outcome) => {
                    assert!(matches!(outcome, WriteOutcome::Applied { .. }), "{outcome:?}");
                    twins.known = Some(value);
                    twins.in_doubt.clear();
                    twins.acknowledged += 1;
                }
                None => twins.in_doubt.push(value),
            }
            twins.check(engine, space);
        }
        twins
    }

    pub(crate) fn check(&self, engine: &dyn Engine, space: SpaceId) {
        let keys = twin_keys();
        let rows = read(engine, space, &keys);
        let [first, second] = [0, 1].map(|twin| rows.get(&keys[twin]).map(|row| row.1));
        assert_eq!(first, second, "one of two rows was written without the other: {self:?}");
        let is_in_doubt = first.is_some_and(|value| self.in_doubt.contains(&value));
        assert!(first == self.known || is_in_doubt, "stored {first:?}: {self:?}");
    }
}

fn twin_keys() -> Vec<Vec<u8>> {
    [b"a", b"b"].map(|twin| [&key("twins")[..], twin].concat()).into()
}

/// A row that several writers count up, each on condition of the version that it read.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    pub(crate) acknowledged: u64,
    in_doubt: u64,
}

impl Counter {
    pub(crate) fn count(engine: &dyn Engine, space: SpaceId, goes_on: &dyn Fn() -> bool) -> Self {
        let (key, mut counter) = (key("counter"), Self::default());
        while goes_on() {
            let stored = read(engine, space, std::slice::from_ref(&key)).get(&key).copied();
            let (condition, value) = match stored {
                Some((version, value)) => (Condition::IfVersion(version), value + 1),
                None => (Condition::IfAbsent, 1),
            };
            match put(engine, space, &key, value, condition) {
                Some(WriteOutcome::Applied { .. }) => counter.acknowledged += 1,
                Some(WriteOutcome::Refused { .. }) => {}
                None => counter.in_doubt += 1,
            }
        }
        counter
    }

    pub(crate) fn check(&self, engine: &dyn Engine, space: SpaceId) {
        let key = key("counter");
        let value =
            read(engine, space, std::slice::from_ref(&key)).get(&key).map_or(0, |row| row.1);
        let possible = self.acknowledged..=self.acknowledged + self.in_doubt;
        assert!(possible.contains(&value), "{value} is not among {possible:?}");
    }
}

impl Sum for Counter {
    fn sum<I: Iterator<Item = Self>>(counters: I) -> Self {
        counters.fold(Self::default(), |sum, counter| Self {
            acknowledged: sum.acknowledged + counter.acknowledged,
            in_doubt: sum.in_doubt + counter.in_doubt,
        })
    }
}

/// Rows that loads brought, each once.
pub(crate) struct Loads {
    flushed: Vec<Vec<u8>>,
}

impl Loads {
    pub(crate) fn load(engine: &dyn Engine, space: SpaceId, goes_on: &dyn Fn() -> bool) -> Self {
        const ROWS: u64 = 500;
        let mut loads = Self { flushed: Vec::new() };
        for round in 0.. {
            if !goes_on() {
                break;
            }
            let mut entries = Entries::new();
            for row in round * ROWS..(round + 1) * ROWS {
                // Fifty rows a shard key: to look for each row by itself takes longer than to load it.
                let key = [key(&format!("load {}", row / 50)), row.to_be_bytes().to_vec()].concat();
                entries.push(&key, &row.to_le_bytes(), row, 0);
            }
            let options =
                LoadOptions { on_existing: OnExisting::BlindReplace, ..LoadOptions::default() };
            let loaded = timed("a load", || {
                let session = engine.load(options)?;
                session.push(space, 0, &entries)?;
                session.finish()
            });
            match loaded {
                Ok(()) => loads.flushed.extend(entries.keys.iter().map(<[u8]>::to_vec)),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
            }
        }
        loads
    }

    pub(crate) fn acknowledged(&self) -> usize {
        self.flushed.len()
    }

    pub(crate) fn check(&self, engine: &dyn Engine, space: SpaceId) {
        for keys in self.flushed.chunks(2_000) {
            let rows = read(engine, space, keys);
            let missing: Vec<_> = keys
                .iter()
                .filter(|key| !rows.contains_key(*key))
                .map(|key| String::from_utf8_lossy(key).into_owned())
                .collect();
            assert!(missing.is_empty(), "{} rows are lost: {missing:?}", missing.len());
        }
    }
}
