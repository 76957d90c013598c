//! The fixture of the behaviours: an open engine with its clock, and short helper functions.

use std::sync::Arc;

use crate::header::NEVER_MS;
use crate::{
    Condition, Direction, Durability, Engine, Entries, ErrorKind, KeyPart, KeyShape, LoadOptions,
    ManualClock, OnExisting, Projection, Ranges, Result, Rows, ScanOptions, Slices, SpaceId,
    WriteBatch, WriteOutcome,
};

use super::{Harness, LoadRecorder};

/// The time when a behaviour begins.
pub(super) const START_MS: u64 = 1_000_000;

/// A fresh engine, its clock, and one space named `fixture`.
pub(super) struct Fixture<'h> {
    harness: &'h mut dyn Harness,
    engine: Option<Box<dyn Engine>>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) space: SpaceId,
}

impl<'h> Fixture<'h> {
    pub(super) fn new(harness: &'h mut dyn Harness) -> Self {
        let clock = Arc::new(ManualClock::new(START_MS));
        let engine = harness.open(Arc::clone(&clock) as _);
        assert_eq!(engine.spaces().unwrap(), [], "the harness must open an empty store");
        let space = engine.create_space("fixture", &shape()).unwrap();
        Self { harness, engine: Some(engine), clock, space }
    }

    pub(super) fn engine(&self) -> &dyn Engine {
        self.engine.as_deref().expect("the engine is open")
    }

    /// Lets go of the engine. What scans and loads hold of the store stays open.
    pub(super) fn drop_engine(&mut self) {
        self.engine = None;
    }

    /// Closes and opens the store. The answer is whether there was anything to open: a store that
    /// is not persistent is left as it is.
    pub(super) fn reopen(&mut self) -> bool {
        if !self.engine().capability().persistent {
            return false;
        }
        let engine = self.engine.take().expect("the engine is open");
        self.engine = self.harness.reopen(engine, Arc::clone(&self.clock) as _);
        assert!(
            self.engine.is_some(),
            "a persistent engine must come with a harness that opens it again"
        );
        true
    }

    pub(super) fn put(&self, key: &[u8], value: &[u8]) -> u64 {
        self.put_until(key, value, NEVER_MS)
    }

    pub(super) fn put_until(&self, key: &[u8], value: &[u8], expires_at_ms: u64) -> u64 {
        let mut batch = WriteBatch::new(self.space);
        batch.put(key, value, expires_at_ms, Condition::Always);
        self.write(&batch).version().expect("an unconditional write is applied")
    }

    pub(super) fn put_if(&self, key: &[u8], value: &[u8], condition: Condition) -> WriteOutcome {
        let mut batch = WriteBatch::new(self.space);
        batch.put(key, value, NEVER_MS, condition);
        self.write(&batch)
    }

    pub(super) fn delete(&self, key: &[u8]) -> u64 {
        let mut batch = WriteBatch::new(self.space);
        batch.delete(key, Condition::Always);
        self.write(&batch).version().expect("an unconditional write is applied")
    }

    /// Waits for background work, where the engine says that it can.
    pub(super) fn settle(&self) {
        let settled = self.engine().settle();
        match self.engine().capability().settle {
            true => settled.unwrap(),
            false => assert_eq!(kind(settled), ErrorKind::Unsupported),
        }
    }

    pub(super) fn write(&self, batch: &WriteBatch) -> WriteOutcome {
        self.engine().write(batch, Durability::Write).unwrap()
    }

    /// Puts `count` rows under each of the groups; their minor keys are `00`, `01` and so on, their
    /// values their keys.
    pub(super) fn fill(&self, groups: &[&str], count: usize) {
        for group in groups {
            let mut batch = WriteBatch::new(self.space);
            for minor in 0..count {
                let key = key(group, &format!("{minor:02}"));
                batch.put(&key, &key, NEVER_MS, Condition::Always);
            }
            self.write(&batch);
        }
    }

    pub(super) fn read(&self, keys: &[&[u8]]) -> Rows {
        let keys: Slices = keys.iter().copied().collect();
        let mut rows = Rows::new();
        self.engine().read(self.space, &keys, Projection::KeysAndValues, &mut rows).unwrap();
        rows
    }

    pub(super) fn value(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.read(&[key]).values.last().map(<[u8]>::to_vec)
    }

    pub(super) fn version(&self, key: &[u8]) -> Option<u64> {
        self.read(&[key]).versions.last().copied()
    }

    /// Reads a scan to its end.
    pub(super) fn scan(&self, ranges: Ranges, options: ScanOptions) -> Rows {
        scan(self.engine(), self.space, ranges, options).unwrap()
    }

    /// The keys that a scan gives, written for people: see [`name`].
    pub(super) fn names(&self, ranges: Ranges, options: ScanOptions) -> Vec<String> {
        self.scan(ranges, options).keys.iter().map(name).collect()
    }

    /// The names of all rows of the space, sorted.
    pub(super) fn all_names(&self) -> Vec<String> {
        let mut names = self.names(Ranges::whole_space(), ScanOptions::default());
        names.sort();
        names
    }

    /// Loads entries as stream 0 and says what became of them.
    pub(super) fn load(
        &self,
        on_existing: OnExisting,
        entries: &Entries,
    ) -> Result<Arc<LoadRecorder>> {
        let recorder = Arc::new(LoadRecorder::default());
        let session = self.engine().load(load_options(on_existing, &recorder))?;
        session.push(self.space, 0, entries)?;
        session.finish()?;
        Ok(recorder)
    }
}

/// The shape of all spaces of the suite: a fixed byte and an escaped name, then the minor key.
pub(super) fn shape() -> KeyShape {
    KeyShape::new([KeyPart::Fixed(1), KeyPart::Terminated])
}

/// The shard key of a group.
pub(super) fn group(name: &str) -> Vec<u8> {
    let mut key = vec![7];
    key.extend_from_slice(name.as_bytes());
    key.extend_from_slice(&[0, 1]);
    key
}

/// A key in a group.
pub(super) fn key(group_name: &str, minor: &str) -> Vec<u8> {
    let mut key = group(group_name);
    key.extend_from_slice(minor.as_bytes());
    key
}

/// A key as people write it: `group/minor`.
pub(super) fn name(key: &[u8]) -> String {
    let len = shape().shard_key_len(key).expect("a key of the suite's shape");
    format!(
        "{}/{}",
        String::from_utf8_lossy(&key[1..len - 2]),
        String::from_utf8_lossy(&key[len..])
    )
}

/// The range of all rows of a group.
pub(super) fn group_range(name: &str) -> Ranges {
    let mut ranges = Ranges::new();
    ranges.push_prefix(&group(name));
    ranges
}

/// Entries at positions 0, 1, 2 and so on.
pub(super) fn entries(rows: &[(&[u8], &[u8])]) -> Entries {
    let mut entries = Entries::new();
    for (position, (key, value)) in (0..).zip(rows) {
        entries.push(key, value, position, NEVER_MS);
    }
    entries
}

pub(super) fn load_options(on_existing: OnExisting, recorder: &Arc<LoadRecorder>) -> LoadOptions {
    LoadOptions { on_existing, observer: Arc::clone(recorder) as _, ..LoadOptions::default() }
}

pub(super) fn forward() -> ScanOptions {
    ScanOptions { direction: Direction::Forward, ..ScanOptions::default() }
}

pub(super) fn reverse() -> ScanOptions {
    ScanOptions { direction: Direction::Reverse, ..ScanOptions::default() }
}

/// Reads a scan to its end; checks on the way that no batch but the last answer is empty, and that
/// a scan which is closed or released after each batch gives the same rows.
pub(super) fn scan(
    engine: &dyn Engine,
    space: SpaceId,
    ranges: Ranges,
    options: ScanOptions,
) -> Result<Rows> {
    let whole = scan_at_once(engine, space, ranges.clone(), options.clone())?;
    let (mut closed, mut released) = (Rows::new(), Rows::new());
    let mut resting = engine.scan(space, ranges.clone(), options.clone())?;
    let (mut rows, mut resume) = (Rows::new(), options.resume.clone());
    // One scan is closed after each batch and opened anew, the other stays and is released.
    loop {
        let options = ScanOptions { resume, ..options.clone() };
        let mut scanner = engine.scan(space, ranges.clone(), options)?;
        let goes_on = scanner.next_batch(&mut rows)?;
        append(&rows, &mut closed);
        resume = Some(scanner.position()?);
        assert_eq!(resting.next_batch(&mut rows)?, goes_on);
        append(&rows, &mut released);
        resting.release()?;
        assert_eq!(Some(resting.position()?), resume, "a release moves nothing");
        // Only here: at its end, too, a scan has a position and may be released.
        if !goes_on {
            break;
        }
    }
    assert_eq!(closed, whole, "a scan goes on where it was closed");
    assert_eq!(released, whole, "a scan goes on where it was released");
    Ok(whole)
}

fn append(batch: &Rows, all: &mut Rows) {
    for index in 0..batch.len() {
        let (key, value) = (batch.keys.get(index), batch.values.get(index));
        let (version, expiry) = (batch.versions[index], batch.expiries_ms[index]);
        all.push(key, value, version, expiry, batch.origins[index]);
    }
}

/// The same in one go: for rows that are written meanwhile.
pub(super) fn scan_at_once(
    engine: &dyn Engine,
    space: SpaceId,
    ranges: Ranges,
    options: ScanOptions,
) -> Result<Rows> {
    let mut scanner = engine.scan(space, ranges, options)?;
    let (mut batch, mut all) = (Rows::new(), Rows::new());
    while scanner.next_batch(&mut batch)? {
        assert!(!batch.is_empty(), "a scan that is not over gives rows");
        append(&batch, &mut all);
    }
    assert!(batch.is_empty(), "the end of a scan gives no rows");
    Ok(all)
}

/// The kind of the error that a call must end with.
#[track_caller]
pub(super) fn kind<T>(result: Result<T>) -> ErrorKind {
    let error = result.map(drop).expect_err("the call must fail");
    assert!(!error.message().is_empty(), "an error says what happened");
    error.kind()
}
