//! A source of a bulk put.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tonnage::Result;

use super::Inserter;
use crate::system::{Record, RecordSource};

/// Records of a range of numbers, some thousand at a time.
pub(in crate::workload::ycsb) struct CoreSource {
    inserter: Inserter,
    numbers: Range<u64>,
    is_over: Arc<AtomicBool>,
}

impl CoreSource {
    const BATCH: u64 = 4096;

    /// It ends early once `is_over` is set.
    pub(in crate::workload::ycsb) fn new(
        inserter: Inserter,
        numbers: Range<u64>,
        is_over: Arc<AtomicBool>,
    ) -> Self {
        CoreSource { inserter, numbers, is_over }
    }
}

impl RecordSource for CoreSource {
    fn next_batch(&mut self, sink: &mut dyn FnMut(&str, &Record) -> Result<()>) -> Result<bool> {
        if self.numbers.is_empty() || self.is_over.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let end = self.numbers.end.min(self.numbers.start.saturating_add(Self::BATCH));
        while self.numbers.start < end {
            let (key, record) = self.inserter.make(self.numbers.start);
            sink(key, record)?;
            self.numbers.start += 1;
        }
        Ok(true)
    }
}
