//! What was found out about a query, kept for the next time.

use std::sync::{Arc, Mutex, OnceLock};

use datafusion::logical_expr::LogicalPlan;
use tonnage::internal::sync::lock;
use tonnage::{Result, Store, TableEntry};

use crate::access::SqlTable;
use crate::direct::SimpleSelect;
use crate::statistics::StatisticsVersion;
use crate::text::Piece;

/// A query with whatever was found out about it so far; any statement before its kind is looked at.
pub(crate) struct CachedQuery {
    pub(crate) piece: Piece,
    simple: OnceLock<Option<SimpleSelect>>,
    table: Mutex<Option<Arc<SqlTable>>>,
    plan: Mutex<Option<CachedPlan>>,
}

/// A plan with the tables that it reads.
#[derive(Clone)]
pub(crate) struct CachedPlan {
    pub(crate) logical: LogicalPlan,
    /// Whether it was optimised, and may be run as it is.
    pub(crate) is_optimised: bool,
    pub(crate) tables: Vec<Arc<TableEntry>>,
    /// The statistics that it is based on.
    pub(crate) statistics: StatisticsVersion,
}

impl CachedQuery {
    pub(crate) fn new(piece: Piece) -> Self {
        Self { piece, simple: OnceLock::new(), table: Mutex::new(None), plan: Mutex::new(None) }
    }

    /// The statement as a simple one, if it is that.
    pub(crate) fn simple(&self) -> Option<&SimpleSelect> {
        self.simple.get_or_init(|| SimpleSelect::parse(&self.piece)).as_ref()
    }

    /// The table that a simple statement reads, as it is now.
    pub(crate) fn table(&self, store: &Store, path: &str) -> Result<Arc<SqlTable>> {
        let table = store.table(path)?;
        let mut known = lock(&self.table);
        if let Some(known) =
            known.as_ref().filter(|known| Arc::ptr_eq(known.table.entry(), table.entry()))
        {
            return Ok(known.clone());
        }
        let found = Arc::new(SqlTable::new(store, table));
        *known = Some(found.clone());
        Ok(found)
    }

    /// The plan kept, unless one of its tables has changed.
    pub(crate) fn plan(&self, store: &Store) -> Option<CachedPlan> {
        let is_as_it_was = |entry: &Arc<TableEntry>| {
            store
                .catalog()
                .table(&entry.schema.path)
                .is_ok_and(|current| Arc::ptr_eq(&current, entry))
        };
        lock(&self.plan).clone().filter(|plan| plan.tables.iter().all(is_as_it_was))
    }

    pub(crate) fn keep_plan(&self, plan: CachedPlan) {
        *lock(&self.plan) = Some(plan);
    }
}
