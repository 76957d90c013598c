//! A load observer that records the outcome of each entry.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::{Error, LoadObserver, Result, SpaceId, StoredRun};

/// What was stored of each stream, and which entries existed.
#[derive(Default)]
pub(super) struct LoadRecorder {
    stored: Mutex<BTreeMap<u32, StoredRun>>,
    existed: Mutex<Vec<ConflictRecord>>,
    /// How many existing entries to put up with before the load is stopped; no end of them when
    /// absent.
    patience: Option<usize>,
}

/// One entry that existed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConflictRecord {
    pub(super) stream: u32,
    pub(super) key: Vec<u8>,
    pub(super) position: u64,
    pub(super) space: SpaceId,
}

impl LoadRecorder {
    /// An observer that stops the load at the entry after the first `patience` that existed.
    pub(super) fn stopping_after(patience: usize) -> Self {
        Self { patience: Some(patience), ..Self::default() }
    }

    pub(super) fn inserted(&self) -> u64 {
        self.stored.lock().unwrap().values().map(|run| run.inserted).sum()
    }

    pub(super) fn replaced(&self) -> u64 {
        self.stored.lock().unwrap().values().map(|run| run.replaced).sum()
    }

    pub(super) fn overtaken(&self) -> u64 {
        self.stored.lock().unwrap().values().map(|run| run.overtaken).sum()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.stored.lock().unwrap().values().map(|run| run.bytes).sum()
    }

    /// What is stored of one stream: inserted and replaced.
    pub(super) fn of_stream(&self, stream: u32) -> (u64, u64) {
        self.stored.lock().unwrap().get(&stream).map_or((0, 0), |run| (run.inserted, run.replaced))
    }

    /// The entries that existed, in the order of the calls.
    pub(super) fn existed(&self) -> Vec<ConflictRecord> {
        self.existed.lock().unwrap().clone()
    }

    /// Inserted, replaced and existing entries in all.
    pub(super) fn counts(&self) -> (u64, u64, u64) {
        (self.inserted(), self.replaced(), self.existed.lock().unwrap().len() as u64)
    }
}

impl LoadObserver for LoadRecorder {
    fn stored(&self, run: StoredRun) {
        let mut stored = self.stored.lock().unwrap();
        let sum = stored.entry(run.stream).or_insert(StoredRun::none_of(run.stream));
        sum.inserted += run.inserted;
        sum.replaced += run.replaced;
        sum.overtaken += run.overtaken;
        sum.bytes += run.bytes;
    }

    fn existed(&self, stream: u32, position: u64, space: SpaceId, key: &[u8]) -> Result<()> {
        let mut existed = self.existed.lock().unwrap();
        existed.push(ConflictRecord { stream, key: key.to_vec(), position, space });
        match self.patience {
            Some(patience) if existed.len() > patience => {
                Err(Error::unavailable("the observer has seen enough"))
            }
            _ => Ok(()),
        }
    }
}
