//! How much memory one query may take for what it has to hold.

use crate::wire::{Failure, FailureCode, Outcome};

/// Bytes of rows, groups and answers that one query holds at a time.
const MEMORY_BYTES_MAX: usize = 256 << 20;

/// The bytes that a query has taken.
#[derive(Debug, Default)]
pub(super) struct MemoryBudget {
    taken: usize,
}

impl MemoryBudget {
    /// # Errors
    /// That it is too much.
    pub(super) fn take(&mut self, bytes: usize) -> Outcome<()> {
        self.taken = self.taken.saturating_add(bytes);
        match self.taken <= MEMORY_BYTES_MAX {
            true => Ok(()),
            false => Err(Failure::new(
                FailureCode::IllegalArgument,
                format!(
                    "the query has to hold more than {} MiB to sort, group or answer: ask for \
                     fewer rows with WHERE, LIMIT or an index",
                    MEMORY_BYTES_MAX >> 20
                ),
            )),
        }
    }

    pub(super) fn give_back(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_sub(bytes);
    }
}
