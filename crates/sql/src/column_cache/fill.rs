//! A scan that keeps what it decodes.

use std::sync::{Arc, Mutex, MutexGuard};

use arrow::array::RecordBatch;
use tonnage::internal::sync::{get_mut, lock};
use tonnage::{Result, Table};

use super::{CachedColumns, ColumnCache};

/// The columns of a table on their way into the cache. Its parts may be read by several threads.
pub(crate) struct ColumnFill {
    cache: Arc<ColumnCache>,
    table: Table,
    /// What is read: positions in the table, ascending.
    pub(crate) columns: Vec<usize>,
    /// How often the table had been changed when the scan began.
    count: u64,
    /// Which fill it is.
    number: u64,
    state: Mutex<FillState>,
}

#[derive(Default)]
struct FillState {
    parts: Vec<Option<Vec<RecordBatch>>>,
    bytes: usize,
    /// That it cannot succeed.
    is_in_vain: bool,
}

impl ColumnFill {
    pub(super) fn new(
        cache: Arc<ColumnCache>,
        table: Table,
        columns: Vec<usize>,
        (count, number): (u64, u64),
    ) -> Self {
        Self { cache, table, columns, count, number, state: Mutex::default() }
    }

    /// One for each part of the scan.
    pub(crate) fn into_parts(self: Arc<Self>, parts: usize) -> Vec<PartFill> {
        self.state().parts.resize_with(parts, || None);
        (0..parts).map(|part| PartFill { fill: self.clone(), part, batches: Vec::new() }).collect()
    }

    fn state(&self) -> MutexGuard<'_, FillState> {
        lock(&self.state)
    }

    /// Whether the batch may be kept.
    fn takes(&self, batch: &RecordBatch, expires: bool) -> bool {
        let bytes = batch.get_array_memory_size();
        let mut state = self.state();
        if state.is_in_vain {
            return false;
        }
        if expires || !self.cache.reserve(self.table.path(), bytes) {
            state.is_in_vain = true;
            state.parts.iter_mut().for_each(|part| *part = None);
            return false;
        }
        state.bytes += bytes;
        true
    }

    /// The last part that ends publishes all of them, if they are what the table still holds.
    fn end_part(&self, part: usize, batches: Vec<RecordBatch>) {
        let mut state = self.state();
        if state.is_in_vain {
            return;
        }
        state.parts[part] = Some(batches);
        if state.parts.iter().any(Option::is_none)
            || !matches!(self.table.change_count(), Ok(Some(count)) if count == self.count)
        {
            return;
        }
        let kept = CachedColumns {
            columns: self.columns.clone(),
            parts: std::mem::take(&mut state.parts).into_iter().flatten().collect(),
            bytes: std::mem::take(&mut state.bytes),
        };
        drop(state);
        self.cache.publish(self.table.path(), self.number, kept);
    }
}

/// A scan that ended early or failed keeps nothing.
impl Drop for ColumnFill {
    fn drop(&mut self) {
        let state = get_mut(&mut self.state);
        let (bytes, is_in_vain) = (state.bytes, state.is_in_vain);
        self.cache.abandon(self.table.path(), self.number, bytes, is_in_vain);
    }
}

/// What one part of a scan keeps.
pub(crate) struct PartFill {
    fill: Arc<ColumnFill>,
    part: usize,
    batches: Vec<RecordBatch>,
}

impl PartFill {
    /// Keeps a batch.
    pub(crate) fn keep(&mut self, batch: &RecordBatch, expires: bool) {
        if self.fill.takes(batch, expires) {
            self.batches.push(batch.clone());
        } else {
            self.batches = Vec::new();
        }
    }

    /// The part has come to its end.
    pub(crate) fn end(self) {
        self.fill.end_part(self.part, self.batches);
    }
}

/// A part of a scan that is kept as it is read: each batch with whether some row of it expires.
pub(crate) struct FillingRows<I> {
    rows: I,
    /// Until the part comes to its end, or fails.
    part: Option<PartFill>,
}

impl<I> FillingRows<I> {
    pub(crate) fn new(rows: I, part: PartFill) -> Self {
        Self { rows, part: Some(part) }
    }
}

impl<I: Iterator<Item = Result<(RecordBatch, bool)>>> Iterator for FillingRows<I> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.rows.next() {
            Some(Ok((batch, expires))) => {
                if let Some(part) = &mut self.part {
                    part.keep(&batch, expires);
                }
                Some(Ok(batch))
            }
            Some(Err(error)) => {
                self.part = None;
                Some(Err(error))
            }
            None => {
                if let Some(part) = self.part.take() {
                    part.end();
                }
                None
            }
        }
    }
}
