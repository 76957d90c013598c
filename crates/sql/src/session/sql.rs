//! A session: it takes statements and gives answers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use tonnage::internal::sync::lock;
use tonnage::{Result, Store};

use super::answer::{Answer, Rows};
use super::cached_query::CachedQuery;
use super::column_cache::ColumnCacheStatistics;
use super::guard::Guard;
use super::options::SqlOptions;
use super::request::{Parameters, Request};
use super::settings::Settings;
use super::statement_cache::{CachedStatement, CachedStatements, StatementCache};
use super::transaction::Transaction;
use crate::catalog::CatalogContext;
use crate::direct::{DirectRead, bind};
use crate::engine::Engine;
use crate::planner::Planner;
use crate::statistics::StatisticsCache;
use crate::text::with_location;

/// SQL over a store. Cloning is cheap, and all clones are the same session.
///
/// Every call blocks until its first rows are there; nothing here may be called from inside an
/// async task, but from a thread for blocking work.
#[derive(Clone)]
pub struct Sql {
    pub(crate) inner: Arc<SessionInner>,
}

pub(crate) struct SessionInner {
    pub(super) planner: Planner,
    cache: StatementCache,
    settings: Settings,
    transaction: Mutex<Option<Arc<Transaction>>>,
}

impl Sql {
    /// A session over a store, with threads of its own.
    ///
    /// # Errors
    /// `Invalid` for options out of their range; `Unavailable` when no threads can be had.
    pub fn new(store: Store, options: SqlOptions) -> Result<Self> {
        options.check()?;
        let cache = StatementCache::new(options.plans_max);
        // A session that keeps nothing leaves what others keep.
        if let Some(bytes) = options.column_cache_bytes_max.filter(|bytes| *bytes > 0) {
            store.bound_columns(bytes);
        }
        let statistics = Arc::new(StatisticsCache::new(store.clone()));
        let options = Arc::new(options);
        let context = CatalogContext { store, options, statistics, transaction: None };
        let engine = Arc::new(Engine::new(&context)?);
        let planner = Planner { context, engine };
        let (settings, transaction) = (Settings::default(), Mutex::default());
        let inner = SessionInner { planner, cache, settings, transaction };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The store underneath.
    pub fn store(&self) -> &Store {
        &self.inner.planner.context.store
    }

    /// What the store keeps as columns, for all of its sessions.
    pub fn column_cache(&self) -> ColumnCacheStatistics {
        ColumnCacheStatistics::of(self.store())
    }

    /// Carries out a statement and gives its answer; of several, separated by semicolons, the last
    /// one's.
    ///
    /// # Errors
    /// The first statement that fails, naming line and column where they are known; those before it
    /// stay carried out. `Invalid` when there is no statement.
    pub fn execute(&self, request: impl Into<Request>) -> Result<Answer> {
        let mut last = None;
        for answer in self.script(request)? {
            last = Some(answer?);
        }
        last.ok_or_else(crate::text::missing_statement)
    }

    /// The statements of a text, each carried out when its answer is asked for.
    ///
    /// # Errors
    /// `Invalid` for a text that cannot be cut into statements, naming the position.
    pub fn script(&self, request: impl Into<Request>) -> Result<Script> {
        let request = request.into();
        let statements = self.inner.cache.statements(&request.text)?;
        Ok(Script { sql: self.clone(), statements, request, next: 0 })
    }

    /// Keeps a statement for many executions.
    ///
    /// # Errors
    /// `Invalid` for text that is not one statement.
    pub fn prepare(&self, text: &str) -> Result<Prepared> {
        let statement = Arc::new(CachedStatement::new(crate::text::single(text)?));
        statement.check()?;
        Ok(Prepared { sql: self.clone(), statement, text: text.to_owned() })
    }

    pub(crate) fn guard(&self, request: &Request) -> Guard {
        let (settings, options) = (self.settings(), self.options());
        let timeout = request.timeout.or_else(|| settings.timeout(options));
        Guard::new(request.cancel.clone(), timeout)
            .with_terms(settings.terms(options))
            .with_consistency(settings.consistency(options))
    }

    /// Whether BEGIN has opened a transaction that is neither committed nor rolled back.
    pub fn is_in_transaction(&self) -> bool {
        self.open_transaction().is_some()
    }

    pub(super) fn open_transaction(&self) -> MutexGuard<'_, Option<Arc<Transaction>>> {
        lock(&self.inner.transaction)
    }

    /// What plans statements: as the open transaction sees the store, if there is one.
    pub(crate) fn planner(&self) -> Planner {
        let mut planner = self.inner.planner.clone();
        planner.context.transaction = self.open_transaction().clone();
        planner
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    pub(crate) fn options(&self) -> &SqlOptions {
        &self.inner.planner.context.options
    }

    pub(crate) fn statements(&self, text: &str) -> Result<CachedStatements> {
        self.inner.cache.statements(text)
    }

    pub(crate) fn run(&self, statement: &CachedStatement, request: &Request) -> Result<Answer> {
        let guard = self.guard(request);
        guard.check()?;
        self.answer(statement, request, guard)
            .map_err(|error| with_location(error, statement.piece()))
    }

    /// The names of all functions that a statement may call.
    pub fn functions(&self) -> Vec<String> {
        let state = &self.inner.planner.engine.state;
        let names = state.scalar_functions().keys().chain(state.aggregate_functions().keys());
        names
            .chain(state.window_functions().keys())
            .cloned()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    pub(super) fn query(
        &self,
        statement: &CachedQuery,
        parameters: &Parameters,
        guard: Guard,
    ) -> Result<Rows> {
        match self.direct(statement, parameters)? {
            Some(direct) => direct.run(guard),
            None => self.planner().query(statement, parameters, guard),
        }
    }

    /// The statement as a direct read, if it can be that.
    pub(crate) fn direct(
        &self,
        statement: &CachedQuery,
        parameters: &Parameters,
    ) -> Result<Option<DirectRead>> {
        let Planner { context, engine } = &self.inner.planner;
        if !context.options.direct || self.is_in_transaction() {
            return Ok(None);
        }
        let Some(simple) = statement.simple() else { return Ok(None) };
        // The planner reports a missing table, with its position.
        let Ok(table) = statement.table(&context.store, &simple.path) else { return Ok(None) };
        let consistency = self.settings().consistency(&context.options);
        bind(simple, &table, parameters, consistency, context, engine)
    }
}

/// A statement kept for many executions. Parsed once; its plan is created when it first runs and
/// kept as long as its tables stay as they are.
#[derive(Clone)]
pub struct Prepared {
    pub(crate) sql: Sql,
    pub(crate) statement: Arc<CachedStatement>,
    text: String,
}

impl Prepared {
    /// Carries the statement out with these parameters.
    ///
    /// # Errors
    /// As [`Sql::execute`].
    pub fn execute(&self, parameters: Parameters) -> Result<Answer> {
        self.sql.run(&self.statement, &Request::new(self.text.as_str()).parameters(parameters))
    }

    /// The text of the statement.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The answers of several statements, an iterator: each statement is carried out when its answer is
/// asked for. After a failure it is over.
pub struct Script {
    sql: Sql,
    statements: CachedStatements,
    request: Request,
    next: usize,
}

impl Script {
    /// How many statements there are.
    pub fn len(&self) -> usize {
        self.statements.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }
}

impl Iterator for Script {
    type Item = Result<Answer>;

    fn next(&mut self) -> Option<Self::Item> {
        let statement = self.statements.get(self.next)?;
        let answer = self.sql.run(statement, &self.request);
        self.next = if answer.is_ok() { self.next + 1 } else { self.statements.len() };
        Some(answer)
    }
}
