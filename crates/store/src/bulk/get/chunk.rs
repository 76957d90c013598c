//! A chunk: the record batches of one batch of engine rows.

use std::sync::Arc;

use tonnage_engine::Slices;

use super::table_batch::TableBatch;
use crate::read::ahead::ReadPiece;

/// What one batch of engine rows became.
pub(super) struct RowChunk {
    pub(super) parts: Vec<TableBatch>,
    /// For each row in key order the part that holds it; nothing when there is one part.
    pub(super) order: Vec<u32>,
    /// Whether a family continues in the next chunk of the task, which must directly follow this
    /// one.
    pub(super) is_cut: bool,
    /// With what it begins and ends, for each ancestor table.
    pub(super) ancestors: Vec<AncestorEnds>,
    /// The keys of the rows, where a read can be resumed after them.
    pub(super) row_keys: Option<RowKeys>,
}

/// The keys of the rows of a chunk, in the order in which they come, those of ancestors left out.
pub(super) struct RowKeys {
    pub(super) keys: Arc<Slices>,
    /// Which of the keys; all without it.
    pub(super) rows: Option<Vec<u32>>,
}

impl RowKeys {
    /// The key of a row.
    pub(super) fn key(&self, index: usize) -> Option<&[u8]> {
        let index = match &self.rows {
            None => index,
            Some(rows) => *rows.get(index)? as usize,
        };
        (index < self.keys.len()).then(|| self.keys.get(index))
    }

    pub(super) fn len(&self) -> usize {
        self.rows.as_ref().map_or(self.keys.len(), Vec::len)
    }
}

impl ReadPiece for RowChunk {
    fn bytes(&self) -> usize {
        let row_keys = self.row_keys.as_ref().map_or(0, |row_keys| row_keys.keys.memory_bytes());
        let parts: usize = self.parts.iter().map(ReadPiece::bytes).sum();
        parts + row_keys + self.order.capacity() * size_of::<u32>()
    }
}

impl RowChunk {
    pub(super) fn of_one(part: TableBatch) -> Self {
        Self {
            parts: vec![part],
            order: Vec::new(),
            is_cut: false,
            ancestors: Vec::new(),
            row_keys: None,
        }
    }

    /// Keeps so many rows of a chunk that has one part.
    pub(super) fn truncate(&mut self, rows: u64) {
        let [batch] = &mut self.parts[..] else { return };
        let rows = batch.rows.num_rows().min(usize::try_from(rows).unwrap_or(usize::MAX));
        if rows == batch.rows.num_rows() {
            return;
        }
        batch.rows = batch.rows.slice(0, rows);
        batch.versions.truncate(rows);
        batch.expiries_ms.truncate(rows);
        batch.origins.truncate(rows);
        if let Some(row_keys) = &mut self.row_keys {
            row_keys.rows = Some((0..rows as u32).collect());
        }
    }

    /// Takes the first row of a part out.
    pub(super) fn drop_first(&mut self, part: usize) {
        let batch = &mut self.parts[part];
        batch.rows = batch.rows.slice(1, batch.rows.num_rows() - 1);
        batch.versions.remove(0);
        batch.expiries_ms.remove(0);
        if !batch.origins.is_empty() {
            batch.origins.remove(0);
        }
        if let Some(place) = self.order.iter().position(|of_row| *of_row as usize == part) {
            self.order.remove(place);
        }
    }
}

/// With which ancestors of one table a chunk begins and ends.
#[derive(Clone, Debug, Default)]
pub(super) struct AncestorEnds {
    /// The key of the first.
    pub(super) first: Vec<u8>,
    /// Whether there is a row of that key: then it is the first of its part.
    pub(super) has_first: bool,
    /// The key of the last.
    pub(super) last: Vec<u8>,
}
