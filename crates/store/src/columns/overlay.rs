//! A state of a segment: what was written over it, up to some ticket. It is immutable: scans under
//! way keep theirs.

use std::sync::Arc;

use tonnage_engine::Rows;

use super::row_set::RowSet;

/// A state of a segment.
#[derive(Debug)]
pub(super) struct Overlay {
    /// All changes below this ticket are in it.
    pub(super) settled: u64,
    /// Behind the last ticket that it took in.
    pub(super) taken: u64,
    /// Of each table.
    pub(super) tables: Vec<TableOverlay>,
}

/// What was written over the rows of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct TableOverlay {
    /// Rows of the segment that are not what is stored any more.
    pub(super) dead: Arc<RowSet>,
    /// The rows in their place, and new ones, as they are stored. Their keys ascend.
    pub(super) delta: Arc<Rows>,
}

impl Overlay {
    pub(super) fn fresh(tables: usize, settled: u64) -> Self {
        Self { settled, taken: 0, tables: vec![TableOverlay::default(); tables] }
    }

    pub(super) fn table(&self, place: usize) -> &TableOverlay {
        &self.tables[place]
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let of = |table: &TableOverlay| table.dead.memory_bytes() + table.delta.memory_bytes();
        size_of::<Self>() + self.tables.iter().map(of).sum::<usize>()
    }

    /// How many rows are dead or new.
    pub(super) fn changed(&self) -> usize {
        self.tables.iter().map(|table| table.dead.len().max(table.delta.len())).sum()
    }
}
