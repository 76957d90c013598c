//! A budget of memory that calls share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{Array, RecordBatch};
use tonnage::{Error, Result};

/// The bytes of the rows of a batch, which may be a slice of a larger one.
pub(crate) fn bytes_of(batch: &RecordBatch) -> usize {
    let columns = batch.columns().iter();
    columns.map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
}

/// So many bytes, for all calls together.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    taken: AtomicUsize,
    bytes_max: usize,
    what: &'static str,
}

/// A caller's share of them; dropping it gives that back.
#[derive(Debug)]
pub(crate) struct MemoryReservation {
    budget: Arc<MemoryBudget>,
    bytes: usize,
}

impl MemoryBudget {
    pub(crate) fn new(bytes_max: usize, what: &'static str) -> Arc<Self> {
        Arc::new(Self { taken: AtomicUsize::new(0), bytes_max, what })
    }

    pub(crate) fn reservation(self: &Arc<Self>) -> MemoryReservation {
        MemoryReservation { budget: self.clone(), bytes: 0 }
    }
}

impl MemoryReservation {
    /// Takes more bytes.
    ///
    /// # Errors
    /// `Exhausted` when others have too many.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<()> {
        let MemoryBudget { taken, bytes_max, what } = &*self.budget;
        let before = taken.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) <= *bytes_max {
            self.bytes += bytes;
            return Ok(());
        }
        taken.fetch_sub(bytes, Ordering::Relaxed);
        Err(Error::exhausted(format!(
            "{what} have all of the {bytes_max} bytes that they may have in memory: try again later"
        )))
    }

    /// Gives all of it back.
    pub(crate) fn restart(&mut self) {
        self.budget.taken.fetch_sub(std::mem::take(&mut self.bytes), Ordering::Relaxed);
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        self.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_gives_back_another_may_take() {
        let budget = MemoryBudget::new(10, "words");
        let mut first = budget.reservation();
        first.grow(8).unwrap();
        let mut second = budget.reservation();
        second.grow(2).unwrap();
        let refused = second.grow(1).unwrap_err();
        assert!(refused.message().starts_with("words have all of the 10 bytes"), "{refused}");
        drop(first);
        second.grow(8).unwrap();
        drop(second);
        assert_eq!(budget.taken.load(Ordering::Relaxed), 0);
    }
}
