//! A segment: an immutable copy of some columns of the rows in a range of keys, as of a snapshot.

use std::sync::{Arc, Mutex};

use tonnage_engine::sync::lock;
use tonnage_engine::{Result, SpaceId, TrackedRange};

use super::overlay::Overlay;
use super::table_segment::TableSegment;
use crate::codec::{KeyClassifier, KeyOwner};

/// A segment, and what was written over it since.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) space: SpaceId,
    /// The range with the id of the segment.
    pub(super) range: TrackedRange,
    /// Knows all tables of the segment, whatever is made later.
    pub(super) classifier: Arc<KeyClassifier>,
    pub(super) tables: Vec<TableSegment>,
    /// As of its snapshot: nothing was written over it yet.
    pub(super) fresh: Arc<Overlay>,
    /// The newest state that a scan has made.
    newest: Mutex<Arc<Overlay>>,
}

impl Segment {
    /// The rows of a range with an id, as of a snapshot with this settled ticket.
    pub(super) fn new(
        space: SpaceId,
        range: TrackedRange,
        classifier: Arc<KeyClassifier>,
        tables: Vec<TableSegment>,
        settled: u64,
    ) -> Self {
        let fresh = Arc::new(Overlay::fresh(tables.len(), settled));
        let newest = Mutex::new(fresh.clone());
        Self { space, range, classifier, tables, fresh, newest }
    }

    pub(super) fn id(&self) -> u128 {
        self.range.id.unwrap_or_default()
    }

    /// The position of a table among those of the segment.
    pub(super) fn table(&self, table_id: u32) -> Option<usize> {
        self.tables.iter().position(|table| table.table_id == table_id)
    }

    /// The position of the table that a key belongs to; nothing for a table that it has not.
    pub(super) fn table_of_key(&self, key: &[u8]) -> Result<Option<usize>> {
        Ok(match self.classifier.classify(key)? {
            KeyOwner::Table(table_id) => self.table(table_id),
            KeyOwner::Other => None,
        })
    }

    pub(super) fn rows(&self) -> usize {
        self.tables.iter().map(|table| table.keys.len()).sum()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let tables = self.tables.iter().map(TableSegment::memory_bytes).sum::<usize>();
        size_of::<Self>() + tables + self.newest().memory_bytes()
    }

    pub(super) fn newest(&self) -> Arc<Overlay> {
        lock(&self.newest).clone()
    }

    /// Has later scans begin with a state, unless a newer one is there.
    pub(super) fn publish(&self, overlay: Arc<Overlay>) {
        let mut newest = lock(&self.newest);
        if overlay.settled >= newest.settled {
            *newest = overlay;
        }
    }
}
