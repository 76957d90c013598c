//! Parsed statements and their plans, kept for the next time that the same text comes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use datafusion::logical_expr::LogicalPlan;
use tonnage::internal::sync::lock;
use tonnage::{Result, Store, TableEntry};

use crate::access::SqlTable;
use crate::direct::SimpleSelect;
use crate::statistics::StatisticsVersion;
use crate::text::{Piece, pieces};

/// Longer texts are rarely the same twice, and hold much memory.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// One statement with whatever was found out about it so far.
pub(crate) struct CachedStatement {
    pub(crate) piece: Piece,
    simple: OnceLock<Option<SimpleSelect>>,
    table: Mutex<Option<Arc<SqlTable>>>,
    plan: Mutex<Option<CachedPlan>>,
}

/// A plan with the tables that it was made for.
#[derive(Clone)]
pub(crate) struct CachedPlan {
    pub(crate) logical: LogicalPlan,
    /// Whether it was optimised, and may be run as it is.
    pub(crate) is_optimised: bool,
    pub(crate) tables: Vec<Arc<TableEntry>>,
    /// The statistics that it was made with.
    pub(crate) statistics: StatisticsVersion,
}

impl CachedStatement {
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

/// The statements of one text.
pub(crate) type CachedStatements = Arc<Vec<Arc<CachedStatement>>>;

/// Texts by what they say; the ones that were not used for longest make room.
pub(crate) struct StatementCache {
    texts_max: usize,
    texts: Mutex<CachedTexts>,
}

#[derive(Default)]
struct CachedTexts {
    by_text: HashMap<String, (u64, CachedStatements)>,
    clock: u64,
}

impl StatementCache {
    pub(crate) fn new(texts_max: usize) -> Self {
        Self { texts_max, texts: Mutex::default() }
    }

    /// The statements of a text.
    pub(crate) fn statements(&self, text: &str) -> Result<CachedStatements> {
        let keeps = self.texts_max > 0 && text.len() <= TEXT_BYTES_MAX;
        if keeps && let Some(found) = lock(&self.texts).find(text) {
            return Ok(found);
        }
        let statements: CachedStatements = Arc::new(
            pieces(text)?.into_iter().map(|piece| Arc::new(CachedStatement::new(piece))).collect(),
        );
        if keeps {
            lock(&self.texts).insert(text, &statements, self.texts_max);
        }
        Ok(statements)
    }
}

impl CachedTexts {
    fn find(&mut self, text: &str) -> Option<CachedStatements> {
        self.clock += 1;
        let (used, statements) = self.by_text.get_mut(text)?;
        *used = self.clock;
        Some(statements.clone())
    }

    fn insert(&mut self, text: &str, statements: &CachedStatements, texts_max: usize) {
        if self.by_text.len() >= texts_max {
            self.evict_older_half();
        }
        self.by_text.insert(text.to_owned(), (self.clock, statements.clone()));
    }

    /// Forgets the older half, so that making room is rare.
    fn evict_older_half(&mut self) {
        let mut used: Vec<u64> = self.by_text.values().map(|(used, _)| *used).collect();
        used.sort_unstable();
        let median = used[used.len() / 2];
        self.by_text.retain(|_, (used, _)| *used > median);
    }
}
