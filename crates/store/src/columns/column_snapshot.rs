//! The store at one point in time, for the scans of a query.

use std::sync::Arc;

use tonnage_engine::{Engine, Result, Snapshot};

use super::live_columns::LiveColumns;

/// The store at one point in time, for all scans of a statement.
#[derive(Clone)]
pub struct ColumnSnapshot(Arc<dyn Snapshot>);

impl ColumnSnapshot {
    /// The store now; nothing where its engine cannot do so.
    pub(crate) fn take(live: &LiveColumns, engine: &dyn Engine) -> Result<Option<Self>> {
        Ok(live.snapshot(engine)?.map(Self))
    }

    pub(crate) fn get(&self) -> &Arc<dyn Snapshot> {
        &self.0
    }
}

impl std::fmt::Debug for ColumnSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnSnapshot").finish_non_exhaustive()
    }
}
