//! Streams that do what a test says.

use tonnage::{EntryBatch, EntryStream, Result};

struct Scripted<F> {
    steps: u32,
    next: F,
}

impl<F: FnMut(u32) -> Option<EntryBatch> + Send> EntryStream for Scripted<F> {
    fn name(&self) -> String {
        "scripted".into()
    }

    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        self.steps += 1;
        Ok((self.next)(self.steps - 1))
    }
}

/// A stream whose batches come from a closure, which is given the number of each; nothing ends it.
pub(crate) fn scripted(
    next: impl FnMut(u32) -> Option<EntryBatch> + Send + 'static,
) -> Box<dyn EntryStream> {
    Box::new(Scripted { steps: 0, next })
}
