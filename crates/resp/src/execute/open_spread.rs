//! What is known of a spread collection while its parts are carried out.

use tonnage::CollectionBatch;

use super::random::Chance;
use crate::values::{SpreadHead, ValueKind};

/// Names that are looked up in one call, at most.
pub(super) const LOADED_MAX: usize = 1_024;

/// What is known of a spread collection beside its members in memory.
#[derive(Debug)]
pub(super) struct OpenSpread {
    pub(super) generation: u64,
    pub(super) count: u64,
    pub(super) page: CollectionBatch,
    /// How many times entries were read: twice may be at two points in time.
    pub(super) reads: u32,
    /// Whether nothing of it is stored yet: all members are in memory.
    pub(super) is_new: bool,
}

impl OpenSpread {
    pub(super) fn new(head: SpreadHead) -> Self {
        let SpreadHead { generation, count, .. } = head;
        Self { generation, count, page: CollectionBatch::default(), reads: 0, is_new: false }
    }

    /// One that a whole value becomes.
    pub(super) fn of_whole(count: usize) -> Self {
        // A number that no collection had before.
        let generation = Chance::new().below(u64::MAX);
        let (page, count) = (CollectionBatch::default(), count as u64);
        Self { generation, count, page, reads: 0, is_new: true }
    }

    pub(super) fn head(&self, kind: ValueKind) -> SpreadHead {
        SpreadHead { kind, generation: self.generation, count: self.count, first: 0 }
    }
}
