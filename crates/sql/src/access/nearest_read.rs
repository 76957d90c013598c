//! Which rows are wanted by their distance from a place.

use std::fmt;
use std::sync::Arc;

use datafusion::physical_expr::PhysicalExpr;
use tonnage::geo::Coordinates;
use tonnage::{Index, Result};

use super::SqlTable;

/// Which rows of a table are wanted by their distance.
#[derive(Clone)]
pub(crate) struct NearestRead {
    pub(crate) index: Index,
    pub(crate) place: Coordinates,
    /// How many rows.
    pub(crate) rows: usize,
    /// How much larger a distance may be than that of the sphere is for another row, as a factor.
    pub(crate) slack: f64,
    /// The columns that are read: those of the plan, and those that the condition is on.
    pub(crate) columns: Vec<usize>,
    /// What rows must meet, over these columns.
    pub(crate) condition: Option<Arc<dyn PhysicalExpr>>,
}

impl NearestRead {
    /// As EXPLAIN shows it.
    pub(super) fn describe(&self) -> String {
        let [lon, lat] = self.place;
        format!("the {} nearest to {lon} {lat} by index {}", self.rows, self.index.name())
    }

    /// The index as it is now. `None` when it was dropped since.
    pub(super) fn current_index(&self, table: &SqlTable) -> Result<Option<Index>> {
        let indexes = table.table.indexes()?.into_iter();
        Ok(indexes.filter(Index::is_ready).find(|index| {
            index.name() == self.index.name() && index.columns() == self.index.columns()
        }))
    }
}

impl fmt::Debug for NearestRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}
