//! The history of an object: three rows under one shard key. Each write has a number of its own,
//! which is in the row; 0 means no row.

use std::collections::HashMap;
use std::fmt;

/// Rows of an object.
pub(super) const KEYS: usize = 3;

/// The write that each row shows.
pub(super) type ObjectState = [u64; KEYS];

/// Which write got which version, by row: as far as anybody learned it.
pub(super) type LearnedVersions = HashMap<(usize, u64), u64>;

/// What a conditional write wants of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteCondition {
    Shows(u64),
    Absent,
    Present,
}

/// What came of a conditional write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteAnswer {
    Stored,
    /// Refused over the row with this version, or over none.
    Refused(Option<u64>),
}

/// What a load does with rows that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadMode {
    Keep,
    Replace,
    Overwrite,
}

#[derive(Clone, Debug)]
pub(super) enum HistoryOperation {
    Put {
        key: usize,
        write: u64,
    },
    /// A delete that says whether there was a row.
    Delete {
        key: usize,
        was_there: bool,
    },
    /// A write of 0 deletes.
    Conditional {
        key: usize,
        when: WriteCondition,
        write: u64,
        answer: WriteAnswer,
    },
    Get {
        key: usize,
        write: u64,
    },
    /// Writes of one batch, the first perhaps on condition.
    Group {
        writes: [(usize, u64); 2],
        when: Option<WriteCondition>,
        is_stored: bool,
    },
    /// All rows, read at once.
    Snapshot(ObjectState),
    /// Whether the index leads from a write to the row.
    IndexRead {
        key: usize,
        write: u64,
        is_found: bool,
    },
    /// One entry of a bulk put.
    Load {
        key: usize,
        write: u64,
        mode: LoadMode,
    },
}

/// An operation, and the times between which it took effect.
#[derive(Clone, Debug)]
pub(super) struct HistoryEvent {
    pub(super) call: u64,
    pub(super) end: u64,
    pub(super) thread: usize,
    pub(super) operation: HistoryOperation,
}

impl fmt::Display for HistoryEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HistoryEvent { call, end, thread, operation } = self;
        write!(f, "{call}-{end} thread {thread}: {operation:?}")
    }
}

impl WriteCondition {
    fn holds(self, write: u64) -> bool {
        match self {
            WriteCondition::Shows(wanted) => write == wanted,
            WriteCondition::Absent => write == 0,
            WriteCondition::Present => write != 0,
        }
    }
}

/// The state after an operation; nothing if its answer does not fit the state before.
pub(super) fn step(
    state: &ObjectState,
    operation: &HistoryOperation,
    versions: &LearnedVersions,
) -> Option<ObjectState> {
    let mut next = *state;
    // An answer is checked against the state: an arm that took any would explain a wrong one.
    match operation {
        HistoryOperation::Put { key, write } => next[*key] = *write,
        HistoryOperation::Delete { key, was_there } => {
            if (state[*key] != 0) != *was_there {
                return None;
            }
            next[*key] = 0;
        }
        HistoryOperation::Conditional { key, when, write, answer } => match answer {
            WriteAnswer::Stored if when.holds(state[*key]) => next[*key] = *write,
            WriteAnswer::Refused(current)
                if !when.holds(state[*key]) && fits(state, *key, *current, versions) => {}
            _ => return None,
        },
        HistoryOperation::Get { key, write } if state[*key] != *write => return None,
        HistoryOperation::Get { .. } => {}
        HistoryOperation::Group { writes, when, is_stored } => {
            if when.is_some_and(|when| when.holds(state[writes[0].0]) != *is_stored) {
                return None;
            }
            if *is_stored {
                writes.iter().for_each(|(key, write)| next[*key] = *write);
            }
        }
        HistoryOperation::Snapshot(seen) if seen != state => return None,
        HistoryOperation::Snapshot(_) => {}
        HistoryOperation::IndexRead { key, write, is_found } => {
            if (state[*key] == *write) != *is_found {
                return None;
            }
        }
        HistoryOperation::Load { key, write, mode } => {
            // A bulk put does not answer entry by entry, so there is nothing to check.
            if *mode != LoadMode::Keep || state[*key] == 0 {
                next[*key] = *write;
            }
        }
    }
    Some(next)
}

/// Whether a refusal returned the existing version.
fn fits(state: &ObjectState, key: usize, current: Option<u64>, versions: &LearnedVersions) -> bool {
    match current {
        None => state[key] == 0,
        Some(version) => {
            let write = versions.get(&(key, version));
            state[key] != 0 && write.is_none_or(|write| *write == state[key])
        }
    }
}
