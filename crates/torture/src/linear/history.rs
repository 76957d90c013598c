//! What happened to an object: three rows under one shard key. Each write has a number of its own,
//! which is in the row; 0 stands for no row.

use std::collections::HashMap;
use std::fmt;

/// Rows of an object.
pub(super) const KEYS: usize = 3;

/// The write that each row shows.
pub(super) type State = [u64; KEYS];

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
pub(super) enum Answer {
    Stored,
    /// Refused over the row with this version, or over none.
    Refused(Option<u64>),
}

/// What a load does with rows that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Keep,
    Replace,
    Overwrite,
}

#[derive(Clone, Debug)]
pub(super) enum Operation {
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
        answer: Answer,
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
    Snapshot(State),
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
        mode: Mode,
    },
}

/// An operation, and the moments between which it took effect.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) call: u64,
    pub(super) end: u64,
    pub(super) thread: usize,
    pub(super) operation: Operation,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event { call, end, thread, operation } = self;
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
    state: &State,
    operation: &Operation,
    versions: &LearnedVersions,
) -> Option<State> {
    let mut next = *state;
    // Each arm checks the answer as well: one that takes any answer would explain a wrong one.
    match operation {
        Operation::Put { key, write } => next[*key] = *write,
        Operation::Delete { key, was_there } => {
            if (state[*key] != 0) != *was_there {
                return None;
            }
            next[*key] = 0;
        }
        Operation::Conditional { key, when, write, answer } => match answer {
            Answer::Stored if when.holds(state[*key]) => next[*key] = *write,
            Answer::Refused(current)
                if !when.holds(state[*key]) && fits(state, *key, *current, versions) => {}
            _ => return None,
        },
        Operation::Get { key, write } if state[*key] != *write => return None,
        Operation::Get { .. } => {}
        Operation::Group { writes, when, is_stored } => {
            if when.is_some_and(|when| when.holds(state[writes[0].0]) != *is_stored) {
                return None;
            }
            if *is_stored {
                writes.iter().for_each(|(key, write)| next[*key] = *write);
            }
        }
        Operation::Snapshot(seen) if seen != state => return None,
        Operation::Snapshot(_) => {}
        Operation::IndexRead { key, write, is_found } => {
            if (state[*key] == *write) != *is_found {
                return None;
            }
        }
        Operation::Load { key, write, mode } => {
            if *mode != Mode::Keep || state[*key] == 0 {
                next[*key] = *write;
            }
        }
    }
    Some(next)
}

/// Whether a refusal told the version that was there.
fn fits(state: &State, key: usize, current: Option<u64>, versions: &LearnedVersions) -> bool {
    match current {
        None => state[key] == 0,
        Some(version) => {
            let write = versions.get(&(key, version));
            state[key] != 0 && write.is_none_or(|write| *write == state[key])
        }
    }
}
