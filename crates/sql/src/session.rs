//! The session: statements in, answers out.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::wait::wait;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, ParamValues, ScalarValue};
use datafusion::datasource::source_as_provider;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::execute_stream;
use datafusion::sql::parser::Statement as PlannedStatement;
use datafusion::sql::sqlparser::ast;
use tonnage::ddl::Statement as Definition;
use tonnage::{CreateIndexOptions, Error, Outcome, Result, Store};

use crate::access::scalar_of;
use crate::answer::{Answer, Rows};
use crate::cache::{Cache, Plan, Statement, Statements};
use crate::catalog::{Context, StoreTable};
use crate::direct::{Direct, bind};
use crate::engine::Engine;
use crate::error::from_datafusion;
use crate::guard::Guard;
use crate::options::SqlOptions;
use crate::plan::KeySets;
use crate::request::{Parameters, Request};
use crate::text::{Kind, with_location};
use crate::{show, write};

/// SQL over a store. Cloning is cheap, and all clones are the same session.
///
/// Every call blocks until its first rows are there; nothing here may be called from inside an
/// async task, but from a thread for blocking work.
#[derive(Clone)]
pub struct Sql {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) context: Context,
    pub(crate) engine: Arc<Engine>,
    cache: Cache,
}

impl Sql {
    /// A session over a store, with threads of its own.
    ///
    /// # Errors
    /// `Invalid` for options out of their range; `Unavailable` when no threads can be had.
    pub fn new(store: Store, options: SqlOptions) -> Result<Self> {
        options.check()?;
        let cache = Cache::new(options.plans_max);
        let context = Context { store, options: Arc::new(options) };
        let engine = Arc::new(Engine::new(&context)?);
        Ok(Self { inner: Arc::new(Inner { context, engine, cache }) })
    }

    /// The store underneath.
    pub fn store(&self) -> &Store {
        &self.inner.context.store
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
        last.ok_or_else(|| {
            Error::invalid("there is no statement: write for instance 'SHOW TABLES'")
        })
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
        let statement = Arc::new(Statement::new(crate::text::single(text)?));
        if statement.piece.kind != Kind::Definition && statement.simple().is_none() {
            write::parsed(&statement.piece)?;
        }
        Ok(Prepared { sql: self.clone(), statement, text: text.to_owned() })
    }

    pub(crate) fn guard(&self, request: &Request) -> Guard {
        Guard::new(request.cancel.clone(), request.timeout.or(self.inner.context.options.timeout))
    }

    pub(crate) fn statements(&self, text: &str) -> Result<Statements> {
        self.inner.cache.statements(text)
    }

    pub(crate) fn run(&self, statement: &Statement, request: &Request) -> Result<Answer> {
        let guard = self.guard(request);
        guard.check()?;
        self.answer(statement, request, guard)
            .map_err(|error| with_location(error, &statement.piece))
    }

    fn answer(&self, statement: &Statement, request: &Request, guard: Guard) -> Result<Answer> {
        let piece = &statement.piece;
        match piece.kind {
            Kind::Query => self.query(statement, &request.parameters, guard).map(Answer::Rows),
            Kind::Explain => self.explain(statement, &request.parameters, guard).map(Answer::Rows),
            Kind::Definition => self.define(&piece.text(&request.text), &guard).map(Answer::Done),
            Kind::Show | Kind::Describe => {
                show::run(self.store(), piece).map(|batch| Answer::Rows(Rows::ready(batch)))
            }
            Kind::Insert | Kind::Upsert | Kind::Update | Kind::Delete | Kind::Truncate => {
                write::run(self, piece, &request.parameters, &guard)
            }
            Kind::Unknown => Err(crate::text::unknown(piece)),
        }
    }

    fn define(&self, text: &str, guard: &Guard) -> Result<Outcome> {
        let missing = || Error::internal("a definition had no outcome");
        match tonnage::ddl::parse(text)?.pop().ok_or_else(missing)? {
            // The one definition that may take long.
            Definition::CreateIndex { definition, if_not_exists } => {
                let options = CreateIndexOptions {
                    if_not_exists,
                    cancel: guard.cancel().clone(),
                    ..CreateIndexOptions::default()
                };
                let new = self.store().create_index(&definition, &options)?;
                Ok(Outcome::CreatedIndex { index: definition.name, table: definition.table, new })
            }
            _ => self.store().execute(text)?.pop().ok_or_else(missing),
        }
    }

    /// The names of all functions that a statement may call.
    pub fn functions(&self) -> Vec<String> {
        let state = &self.inner.engine.state;
        let names = state.scalar_functions().keys().chain(state.aggregate_functions().keys());
        names
            .chain(state.window_functions().keys())
            .cloned()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    fn query(&self, statement: &Statement, parameters: &Parameters, guard: Guard) -> Result<Rows> {
        match self.direct(statement, parameters)? {
            Some(direct) => direct.run(guard),
            None => self.planned(statement, parameters, guard),
        }
    }

    /// The statement as a direct read, if it can be that.
    pub(crate) fn direct(
        &self,
        statement: &Statement,
        parameters: &Parameters,
    ) -> Result<Option<Direct>> {
        let Inner { context, engine, .. } = self.inner.as_ref();
        if !context.options.direct {
            return Ok(None);
        }
        let Some(simple) = statement.simple() else { return Ok(None) };
        // A table that is not there is told of by the planner, with its place.
        let Ok(table) = statement.table(&context.store, &simple.path) else { return Ok(None) };
        bind(simple, &table, parameters, &context.options, engine)
    }

    fn planned(
        &self,
        statement: &Statement,
        parameters: &Parameters,
        guard: Guard,
    ) -> Result<Rows> {
        let mut state = self.state(&guard);
        let plan = match statement.plan(self.store()) {
            Some(plan) => plan,
            None => self.plan(statement, &mut state)?,
        };
        let stream = self.stream(&state, plan.logical, plan.is_optimised, parameters)?;
        Ok(Rows::of_plan(stream, &self.inner.engine, guard))
    }

    fn logical(&self, state: &SessionState, parsed: ast::Statement) -> Result<LogicalPlan> {
        let planned = wait(state.statement_to_plan(PlannedStatement::Statement(Box::new(parsed))));
        planned
            .map_err(|error| self.missing_table(&error).unwrap_or_else(|| from_datafusion(error)))
    }

    /// For a table that the planner did not find: what the store says of it, at its place.
    fn missing_table(&self, error: &DataFusionError) -> Option<Error> {
        let diagnostic = error.diagnostic()?;
        let name = diagnostic.message.strip_prefix("table '")?.strip_suffix("' not found")?;
        let missing = self.store().table(name).err()?;
        Some(match diagnostic.span {
            Some(span) => {
                missing.at(format_args!("line {}, column {}", span.start.line, span.start.column))
            }
            None => missing,
        })
    }

    /// Plans a statement, and keeps the plan where that is right.
    fn plan(&self, statement: &Statement, state: &mut SessionState) -> Result<Plan> {
        let (parsed, sets) = KeySets::parse(&statement.piece)?;
        let keeps = sets.is_empty();
        sets.register(state).map_err(from_datafusion)?;
        let logical = self.logical(state, parsed)?;
        let is_lasting = is_lasting(&logical).map_err(from_datafusion)?;
        let logical =
            if is_lasting { state.optimize(&logical).map_err(from_datafusion)? } else { logical };
        let plan = Plan {
            tables: tables(&logical).map_err(from_datafusion)?,
            logical,
            is_optimised: is_lasting,
        };
        if keeps {
            statement.keep(plan.clone());
        }
        Ok(plan)
    }

    /// What DataFusion must know of one statement.
    pub(crate) fn state(&self, guard: &Guard) -> SessionState {
        let mut state = self.inner.engine.state.clone();
        let options = state.config().options().clone();
        state.execution_props_mut().mark_start_execution(options);
        state.config_mut().set_extension(Arc::new(guard.clone()));
        state
    }

    /// Plans and runs a statement that is not kept.
    pub(crate) fn rows_of(
        &self,
        mut state: SessionState,
        mut parsed: ast::Statement,
        parameters: &Parameters,
        guard: Guard,
    ) -> Result<Rows> {
        KeySets::take_from(&mut parsed).register(&mut state).map_err(from_datafusion)?;
        let logical = self.logical(&state, parsed)?;
        let stream = self.stream(&state, logical, false, parameters)?;
        Ok(Rows::of_plan(stream, &self.inner.engine, guard))
    }

    fn stream(
        &self,
        state: &SessionState,
        logical: LogicalPlan,
        is_optimised: bool,
        parameters: &Parameters,
    ) -> Result<SendableRecordBatchStream> {
        let _threads = self.inner.engine.handle().enter();
        let logical = bound(logical, parameters)?;
        let run = || {
            let logical = if is_optimised { logical } else { state.optimize(&logical)? };
            let physical = wait(state.query_planner().create_physical_plan(&logical, state))?;
            execute_stream(physical, state.task_ctx())
        };
        run().map_err(from_datafusion)
    }

    fn explain(
        &self,
        statement: &Statement,
        parameters: &Parameters,
        guard: Guard,
    ) -> Result<Rows> {
        let explained = show::explained(&statement.piece).map(Statement::new);
        if let Some(explained) = &explained
            && let Some(direct) = self.direct(explained, parameters)?
        {
            return Ok(Rows::ready(show::plan(&direct.describe())?));
        }
        self.rows_of(self.state(&guard), statement.piece.parse()?, parameters, guard)
    }
}

/// The plan with values in the places of its parameters.
fn bound(plan: LogicalPlan, parameters: &Parameters) -> Result<LogicalPlan> {
    let names = plan.get_parameter_names().map_err(from_datafusion)?;
    if names.is_empty() {
        return Ok(plan);
    }
    let value = |name: &String| Ok((name[1..].to_owned(), scalar_of(parameters.get(name)?)?));
    let values = names.iter().map(value).collect::<Result<Vec<(String, ScalarValue)>>>()?;
    plan.with_param_values(ParamValues::from(values)).map_err(from_datafusion)
}

/// Whether a plan may be optimised once for many executions: it has no parameters, and nothing in
/// it changes with time.
fn is_lasting(plan: &LogicalPlan) -> datafusion::common::Result<bool> {
    let mut lasting = true;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                lasting &= match part {
                    Expr::Placeholder(_) => false,
                    Expr::ScalarFunction(call) => {
                        call.func.signature().volatility
                            == datafusion::logical_expr::Volatility::Immutable
                    }
                    _ => true,
                };
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(lasting)
}

/// The tables of the store that a plan reads.
fn tables(plan: &LogicalPlan) -> datafusion::common::Result<Vec<Arc<tonnage::TableEntry>>> {
    let mut tables = Vec::new();
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
            && let Some(table) = provider.downcast_ref::<StoreTable>()
        {
            tables.push(table.table().table.entry().clone());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(tables)
}

/// A statement kept for many executions. Parsed once; its plan is made when it first runs and kept
/// as long as its tables stay as they are.
#[derive(Clone)]
pub struct Prepared {
    sql: Sql,
    statement: Arc<Statement>,
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
    statements: Statements,
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
