//! Where the rows of scans came from.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many rows scans took from where, since the store was opened, and what is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnStatistics {
    /// The tables that there are segments of.
    pub tables: usize,
    /// The memory that segments take, with what was written over them.
    pub bytes: usize,
    /// Rows that came from segments.
    pub segment_rows: u64,
    /// Rows of segments that were left out by the bounds of their columns.
    pub pruned_rows: u64,
    /// Rows that were written over segments since.
    pub delta_rows: u64,
    /// Rows that were read from the store.
    pub store_rows: u64,
    /// Segments that were built.
    pub built: u64,
    /// Scans that found segments.
    pub scans: u64,
}

/// Counts as scans run.
#[derive(Debug, Default)]
pub(super) struct ColumnCounters {
    pub(super) segment_rows: RowCounter,
    pub(super) pruned_rows: RowCounter,
    pub(super) delta_rows: RowCounter,
    pub(super) store_rows: RowCounter,
    pub(super) built: RowCounter,
    pub(super) scans: RowCounter,
}

/// A number that goes up.
#[derive(Debug, Default)]
pub(super) struct RowCounter(AtomicU64);

impl RowCounter {
    pub(super) fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
