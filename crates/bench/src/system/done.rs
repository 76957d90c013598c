//! Counting what a bulk get gives.

use tonnage::arrow::array::{Array, RecordBatch};

use super::{BulkDone, BulkOptions};

pub(super) fn count(done: &mut BulkDone, rows: u64, bytes: u64, options: &BulkOptions<'_>) {
    done.rows += rows;
    done.bytes += bytes;
    (options.progress)(rows, bytes);
}

/// The bytes of a batch's values, without spare room in its buffers.
pub(super) fn bytes_of(batch: &RecordBatch) -> u64 {
    let bytes =
        batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0));
    bytes.sum::<usize>() as u64
}
