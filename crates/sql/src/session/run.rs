//! Carries statements out, each by its kind.

use std::sync::Arc;

use arrow::array::RecordBatch;
use tonnage::{CreateIndexOptions, DdlOutcome, Error, Result, Statement as Definition};

use super::answer::{Answer, Rows};
use super::explain::ExplainStatement;
use super::guard::Guard;
use super::request::{Parameters, Request};
use super::session_statement::{ExecuteStatement, ExecutedValues, SessionStatement};
use super::show::{self, ShowStatement};
use super::sql::Sql;
use super::statement::ParsedStatement;
use super::statement_cache::CachedStatement;
use super::transaction::{Transaction, TransactionStatement};
use super::{function_list, summary};
use crate::errors::located;
use crate::statistics::analyse_tables;
use crate::text::{Cursor, Piece};
use crate::write;

impl Sql {
    /// Carries out a statement.
    ///
    /// # Errors
    /// Those of its kind, as far as they know their positions.
    pub(super) fn answer(
        &self,
        statement: &CachedStatement,
        request: &Request,
        guard: Guard,
    ) -> Result<Answer> {
        let piece = statement.piece();
        let planner = &self.planner();
        let Request { text, parameters, .. } = request;
        let parsed = statement.parsed()?;
        if planner.context.transaction.is_some() {
            refuse_in_transaction(parsed, piece)?;
        }
        let done = |message: String| Answer::Done(DdlOutcome::Message(message));
        let ready = |batch: RecordBatch| Answer::Rows(Rows::ready(batch));
        match parsed {
            ParsedStatement::Query => {
                self.query(&statement.query, parameters, guard).map(Answer::Rows)
            }
            ParsedStatement::Explain(explain) => {
                self.explain(explain, parameters, guard).map(Answer::Rows)
            }
            ParsedStatement::View(view) => {
                write::define_view(planner, view, text, &guard).map(done)
            }
            ParsedStatement::CreateTableAs(create) => {
                write::create_as(planner, create, parameters, &guard)
            }
            ParsedStatement::Definition => self.define(&piece.text(text), &guard).map(Answer::Done),
            ParsedStatement::Show(show) => self.show_rows(show).map(ready),
            ParsedStatement::DescribeQuery(query) => summary::columns(planner, query).map(ready),
            ParsedStatement::Summarize(summarize) => {
                summarize.run(planner, parameters, &guard).map(ready)
            }
            ParsedStatement::Write(write) => {
                let run = || write.run(planner, parameters, &guard);
                match &planner.context.transaction {
                    Some(transaction) => transaction.statement(run),
                    None => run(),
                }
            }
            ParsedStatement::Analyze(analyze) => analyse_tables(planner, analyze, &guard).map(done),
            ParsedStatement::Copy(copy) => {
                Ok(match write::copy(planner, copy, parameters, &guard)? {
                    write::CopyResult::From(changes) => Answer::Changed(changes),
                    write::CopyResult::To(wrote) => done(wrote),
                })
            }
            // Above the three arms below: on a server, callers who share the session would share
            // settings and transactions.
            ParsedStatement::Session(_)
            | ParsedStatement::Transaction(_)
            | ParsedStatement::Execute(_)
                if !self.options().is_local =>
            {
                Err(located(Error::unsupported(instead_of_session(parsed)), piece.start()))
            }
            ParsedStatement::Session(session) => {
                self.change_session(session.as_ref().map_err(Error::restated)?).map(done)
            }
            ParsedStatement::Transaction(statement) => self.transact(*statement, &guard).map(done),
            ParsedStatement::Execute(execute) => {
                let values = self.executed_values(execute, parameters, &guard)?;
                let prepared = self.settings().prepared(&execute.name)?;
                // PREPARE takes no EXECUTE, so this calls itself once at most.
                self.answer(&prepared, &request.clone().parameters(values), guard)
            }
        }
    }

    fn explain(
        &self,
        explain: &ExplainStatement,
        parameters: &Parameters,
        guard: Guard,
    ) -> Result<Rows> {
        let planner = self.planner();
        let (parsed, query) = match explain {
            ExplainStatement::Query { parsed, query } => (parsed, query),
            ExplainStatement::Write(options, write) => {
                let (how, rows) = write.explain(&planner, options, parameters, &guard)?;
                return Ok(rows.after_batch(show::row("write", &how)?));
            }
        };
        if let Some(query) = query
            && let Some(direct) = self.direct(query, parameters)?
        {
            return Ok(Rows::ready(show::plan(&direct.describe())?));
        }
        planner.rows_of(planner.state(&guard), parsed.as_ref().clone(), parameters, guard)
    }

    /// Carries out what changes the session. Returns what it did.
    fn change_session(&self, statement: &SessionStatement) -> Result<String> {
        let (settings, store) = (self.settings(), self.store());
        match statement {
            SessionStatement::Prepare { name, statement } => {
                let prepared = CachedStatement::new(statement.clone());
                // What is wrong with the text is said here, and not by the first EXECUTE.
                prepared.check()?;
                settings.prepare(name, prepared)?;
                Ok(format!("prepared {name}"))
            }
            SessionStatement::Deallocate(name) => {
                settings.deallocate(name)?;
                Ok(format!("forgot {name}"))
            }
            SessionStatement::Set { name, value: Some((value, place)) } => {
                settings.set(name, value, store).map_err(|error| located(error, *place))
            }
            SessionStatement::Set { name, value: None } | SessionStatement::Reset(name) => {
                settings.reset(name)
            }
            SessionStatement::Use(name) => Ok(format!("{name} is in use")),
            SessionStatement::Checkpoint => {
                store.sync()?;
                Ok("everything is on disk".to_owned())
            }
            SessionStatement::Vacuum(table) => {
                // A table that is missing is an error, as in other databases.
                table.as_ref().map(|table| table.table(store)).transpose()?;
                Ok("nothing to do: the store cleans up by itself".to_owned())
            }
        }
    }

    /// The values of the parameters of a prepared statement; those written are computed with those
    /// that are bound to the call.
    fn executed_values(
        &self,
        execute: &ExecuteStatement,
        bound: &Parameters,
        guard: &Guard,
    ) -> Result<Parameters> {
        match &execute.values {
            ExecutedValues::Bound => Ok(bound.clone()),
            ExecutedValues::None => Ok(Parameters::default()),
            ExecutedValues::Written(query) => {
                let (planner, query) = (self.planner(), query.as_ref().clone());
                let rows = planner.rows_of(planner.state(guard), query, bound, guard.clone())?;
                Parameters::of_row(&rows.into_batch()?, 0)
            }
        }
    }

    /// Carries out `BEGIN`, `COMMIT` and `ROLLBACK`. Returns what it did.
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
                self.settings().rows(name, self.options(), self.store())
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
}

/// What to do instead of a statement that changes the session, where others have it too.
fn instead_of_session(statement: &ParsedStatement) -> &'static str {
    match statement {
        ParsedStatement::Session(Ok(SessionStatement::Checkpoint)) => {
            "CHECKPOINT is for a store that a program opens itself: at a server, call POST /v1/admin/sync, or the action tonnage.Sync over Flight"
        }
        ParsedStatement::Session(Ok(SessionStatement::Vacuum(_))) => {
            "VACUUM finds nothing to do: leave it out"
        }
        _ => {
            "a server keeps no settings and no transactions between statements: give timeouts and parameters with each call"
        }
    }
}

/// Refuses what takes effect by itself: ROLLBACK could not undo it.
fn refuse_in_transaction(statement: &ParsedStatement, piece: &Piece) -> Result<()> {
    match statement {
        ParsedStatement::View(_)
        | ParsedStatement::CreateTableAs(_)
        | ParsedStatement::Definition
        | ParsedStatement::Copy(_) => {
            let name = Cursor::new(piece).name().unwrap_or_default().to_ascii_uppercase();
            let message = format!("{name} is not part of a transaction: COMMIT or ROLLBACK first");
            Err(located(Error::unsupported(message), piece.start()))
        }
        _ => Ok(()),
    }
}
