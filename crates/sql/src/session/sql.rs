//! A session: it takes statements and gives answers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use arrow::array::RecordBatch;
use tonnage::internal::sync::lock;
use tonnage::{CreateIndexOptions, DdlOutcome, Error, Result, Statement as Definition, Store};

use super::answer::{Answer, Rows};
use super::cached_query::CachedQuery;
use super::guard::Guard;
use super::options::SqlOptions;
use super::request::{Parameters, Request};
use super::settings::Settings;
use super::show::{self, ShowStatement};
use super::statement::ParsedStatement;
use super::statement_cache::{CachedStatement, CachedStatements, StatementCache};
use super::transaction::{Transaction, TransactionStatement};
use super::{function_list, session_statement, summary};
use crate::catalog::CatalogContext;
use crate::column_cache::{ColumnCache, ColumnCacheStatistics};
use crate::direct::{DirectRead, bind};
use crate::engine::Engine;
use crate::planner::Planner;
use crate::statistics::{StatisticsCache, analyse_tables};
use crate::text::{Cursor, Piece, StatementKind, with_location};
use crate::write;

/// SQL over a store. Cloning is cheap, and all clones are the same session.
///
/// Every call blocks until its first rows are there; nothing here may be called from inside an
/// async task, but from a thread for blocking work.
#[derive(Clone)]
pub struct Sql {
    pub(crate) inner: Arc<SessionInner>,
}

pub(crate) struct SessionInner {
    planner: Planner,
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
        let columns = Arc::new(ColumnCache::new(store.clone(), options.column_cache_bytes()));
        let statistics = Arc::new(StatisticsCache::new(store.clone()));
        let options = Arc::new(options);
        let context = CatalogContext { store, options, columns, statistics, transaction: None };
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

    /// What the session keeps of tables that rest.
    pub fn column_cache(&self) -> ColumnCacheStatistics {
        self.inner.planner.context.columns.statistics()
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
    /// `Invalid` for a text that cannot be cut into statements, naming the place.
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

    fn open_transaction(&self) -> MutexGuard<'_, Option<Arc<Transaction>>> {
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

    fn answer(
        &self,
        statement: &CachedStatement,
        request: &Request,
        guard: Guard,
    ) -> Result<Answer> {
        let piece = statement.piece();
        let planner = &self.planner();
        let Request { text, parameters, .. } = request;
        // A definition or a COPY takes effect by itself, so ROLLBACK could not undo it.
        if planner.context.transaction.is_some() {
            refuse_in_transaction(piece)?;
        }
        let told = |told: String| Answer::Done(DdlOutcome::Message(told));
        match statement.parsed()? {
            ParsedStatement::Query => {
                self.query(&statement.query, parameters, guard).map(Answer::Rows)
            }
            ParsedStatement::Explain => self.explain(piece, parameters, guard).map(Answer::Rows),
            ParsedStatement::ExplainWrite(explain, write) => {
                let (told, rows) = write.explain(planner, explain, parameters, &guard)?;
                Ok(Answer::Rows(rows.after_batch(show::row("write", &told)?)))
            }
            ParsedStatement::View(view) => {
                write::define_view(planner, view, text, &guard).map(told)
            }
            ParsedStatement::CreateTableAs(create) => {
                write::create_as(planner, create, parameters, &guard)
            }
            ParsedStatement::Definition => self.define(&piece.text(text), &guard).map(Answer::Done),
            ParsedStatement::Show(show) => {
                self.show_rows(show).map(|batch| Answer::Rows(Rows::ready(batch)))
            }
            ParsedStatement::DescribeQuery(query) => {
                summary::columns(planner, query).map(|batch| Answer::Rows(Rows::ready(batch)))
            }
            ParsedStatement::Summarize(query) => {
                let batch = summary::summarized(planner, query, parameters, &guard)?;
                Ok(Answer::Rows(Rows::ready(batch)))
            }
            ParsedStatement::Write(write) => {
                let run = || write.run(planner, parameters, &guard);
                match &planner.context.transaction {
                    Some(transaction) => transaction.statement(run),
                    None => run(),
                }
            }
            ParsedStatement::Analyze(analyze) => analyse_tables(planner, analyze, &guard).map(told),
            ParsedStatement::Copy(copy) => {
                Ok(match write::copy(planner, copy, parameters, &guard)? {
                    write::CopyResult::From(changes) => Answer::Changed(changes),
                    write::CopyResult::To(wrote) => told(wrote),
                })
            }
            // Stands before the three arms below: on a server, callers who share the session would
            // share settings and transactions.
            ParsedStatement::Session
            | ParsedStatement::Transaction(_)
            | ParsedStatement::Execute
                if !self.options().is_local =>
            {
                Err(no_session(piece))
            }
            ParsedStatement::Session => {
                session_statement::run(self.settings(), self.store(), piece).map(told)
            }
            ParsedStatement::Transaction(statement) => self.transact(*statement, &guard).map(told),
            ParsedStatement::Execute => {
                let (name, values) =
                    session_statement::read_execute(planner, piece, parameters, &guard)?;
                let prepared = self.settings().prepared(&name)?;
                // PREPARE takes no EXECUTE, so this calls itself once at most.
                self.answer(&prepared, &request.clone().parameters(values), guard)
            }
        }
    }

    /// Carries out `BEGIN`, `COMMIT` and `ROLLBACK`. Tells what it did.
    fn transact(&self, statement: TransactionStatement, guard: &Guard) -> Result<String> {
        if !self.options().transactions {
            return Err(Error::unsupported(
                "this session is shared by all who use the store, and keeps no transactions: write rows of one shard key in one call of atomic_write",
            ));
        }
        // The lock is held for the exchange alone: COMMIT may take long. Of two at once, one finds
        // nothing.
        let open = {
            let mut open = self.open_transaction();
            if statement == TransactionStatement::Begin {
                if open.is_some() {
                    return Err(Error::conflict(
                        "a transaction is open already: COMMIT or ROLLBACK it first",
                    ));
                }
                // Changes wait in memory until COMMIT, beside running statements: they get a
                // quarter as much.
                *open = Some(Arc::new(Transaction::new(self.options().memory_bytes_max / 4)));
                return Ok("began a transaction".to_owned());
            }
            open.take()
        };
        let Some(open) = open else {
            return Ok("no transaction is open: each statement takes effect by itself".to_owned());
        };
        if statement == TransactionStatement::Rollback {
            open.roll_back();
            return Ok("rolled back".to_owned());
        }
        let rows = open.commit(self.store(), &guard.write_options())?;
        Ok(format!("committed {rows} changed {}", if rows == 1 { "row" } else { "rows" }))
    }

    /// What SHOW, and DESCRIBE of a table, give.
    pub(crate) fn show_rows(&self, show: &ShowStatement) -> Result<RecordBatch> {
        match show {
            ShowStatement::Setting(name) => {
                let (settings, options) = (self.settings(), self.options());
                session_statement::show_settings(settings, options, self.store(), name)
            }
            ShowStatement::Functions(pattern) => {
                let state = &self.inner.planner.engine.state;
                function_list::list_functions(state, pattern.as_deref())
            }
            ShowStatement::Catalog(list) => list.rows(self.store()),
        }
    }

    fn define(&self, text: &str, guard: &Guard) -> Result<DdlOutcome> {
        let missing = || Error::internal("a definition had no outcome");
        match tonnage::parse_ddl(text)?.pop().ok_or_else(missing)? {
            // The one definition that may take long.
            Definition::CreateIndex { definition, if_not_exists } => {
                let options = CreateIndexOptions {
                    if_not_exists,
                    cancel: guard.cancel().clone(),
                    timeout: guard.time_left(),
                    ..CreateIndexOptions::default()
                };
                let new = self.store().create_index(&definition, &options)?;
                Ok(DdlOutcome::CreatedIndex {
                    index: definition.name,
                    table: definition.table,
                    new,
                })
            }
            _ => match guard.time_left() {
                None => self.store().execute(text)?,
                Some(timeout) => self.store().execute_within(text, timeout)?,
            }
            .pop()
            .ok_or_else(missing),
        }
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

    fn query(
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
        // A table that is not there is told of by the planner, with its place.
        let Ok(table) = statement.table(&context.store, &simple.path) else { return Ok(None) };
        let consistency = self.settings().consistency(&context.options);
        bind(simple, &table, parameters, consistency, context, engine)
    }

    fn explain(&self, piece: &Piece, parameters: &Parameters, guard: Guard) -> Result<Rows> {
        let explained = show::explained_query(piece).map(CachedQuery::new);
        if let Some(explained) = &explained
            && let Some(direct) = self.direct(explained, parameters)?
        {
            return Ok(Rows::ready(show::plan(&direct.describe())?));
        }
        let planner = self.planner();
        planner.rows_of(planner.state(&guard), piece.parse()?, parameters, guard)
    }
}

/// What is said of settings where others would have them too.
fn no_session(piece: &Piece) -> Error {
    let (place, cursor) = (piece.start(), Cursor::new(piece));
    let remedy = match (cursor.is_word("CHECKPOINT"), cursor.is_word("VACUUM")) {
        (true, _) => {
            "CHECKPOINT is for a store that a program opens itself: at a server, call POST /v1/admin/sync, or the action tonnage.Sync over Flight"
        }
        (_, true) => "VACUUM finds nothing to do: leave it out",
        _ => {
            "a server keeps no settings and no transactions between statements: give timeouts and parameters with each call"
        }
    };
    Error::unsupported(format!("line {}, column {}: {remedy}", place.line, place.column))
}

/// Refuses what takes effect by itself.
fn refuse_in_transaction(piece: &Piece) -> Result<()> {
    let is_definition = matches!(piece.kind, StatementKind::Definition | StatementKind::Copy);
    let Some(name) = Cursor::new(piece).name().filter(|_| is_definition) else { return Ok(()) };
    let place = piece.start();
    Err(Error::unsupported(format!(
        "line {}, column {}: {} is no part of a transaction: COMMIT or ROLLBACK first",
        place.line,
        place.column,
        name.to_ascii_uppercase()
    )))
}

/// A statement kept for many executions. Parsed once; its plan is made when it first runs and kept
/// as long as its tables stay as they are.
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
