//! Plans statements with DataFusion and runs them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, SchemaRef};
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, ParamValues, ScalarValue};
use datafusion::datasource::{MemTable, source_as_provider};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::sql::parser::Statement as PlannedStatement;
use datafusion::sql::sqlparser::ast;
use tonnage::{Error, Result};

use crate::access::{declared_schema, scalar_of};
use crate::catalog::{CatalogContext, FileTable, StoreCatalog, StoreTable, path_of_parts};
use crate::engine::Engine;
use crate::errors::{as_typed, from_datafusion, missing_function};
use crate::plan::{
    KeySets, joins_by_hash, with_cheap_conditions_first, with_joins_in_order, with_sort_fallback,
};
use crate::session::{CachedPlan, CachedQuery, Guard, Parameters, Rows, function_names, wait};
use crate::text::{CATALOG, FileName, Looker, SCHEMA, StatementKind, folded, walk};
use crate::upstream::{scopes, with_guarded_joins, with_null_joins};
use crate::views;

/// Of a plan that sorts: the memory of a session for each row of a batch, the smallest batch, and
/// the part of the memory that each sort keeps for its merge.
const SORT_BYTES_PER_ROW: usize = 128 << 10;
const SORT_ROWS_MIN: usize = 256;
const SORT_PARTS: usize = 256;

/// Fields by the names of parameters.
pub(crate) type ParameterTypes = HashMap<String, Field>;

/// The store, and the engine of DataFusion over it.
#[derive(Clone)]
pub(crate) struct Planner {
    pub(crate) context: CatalogContext,
    pub(crate) engine: Arc<Engine>,
}

impl Planner {
    /// Plans and runs a query; its plan is kept where that is right.
    pub(crate) fn query(
        &self,
        statement: &CachedQuery,
        parameters: &Parameters,
        guard: Guard,
    ) -> Result<Rows> {
        let mut state = self.state(&guard);
        let plan = match self.cached_plan(statement) {
            Some(plan) => plan,
            None => self.plan(statement, &mut state)?,
        };
        let stream = self.stream(&state, plan.logical, plan.is_optimised, parameters)?;
        Ok(Rows::of_plan(stream, &self.engine, guard))
    }

    /// The plan kept of a statement. A transaction sees tables as no other does.
    fn cached_plan(&self, statement: &CachedQuery) -> Option<CachedPlan> {
        match self.context.transaction {
            Some(_) => None,
            None => {
                let statistics = self.context.statistics.version();
                statement.plan(&self.context.store).filter(|plan| plan.statistics == statistics)
            }
        }
    }

    /// The columns of a query's answer, and its parameters as far as their types are known. A
    /// parameter without value is taken for NULL.
    pub(crate) fn describe(
        &self,
        statement: &CachedQuery,
        parameters: &Parameters,
    ) -> Result<(SchemaRef, ParameterTypes)> {
        let mut state = self.state(&Guard::default());
        if statement.piece.kind != StatementKind::Query {
            return self.describe_statement(statement.piece.parse()?, parameters);
        }
        let plan = match self.cached_plan(statement) {
            Some(plan) => plan,
            None => self.plan(statement, &mut state)?,
        };
        self.describe_plan(&state, plan.logical, plan.is_optimised, parameters)
    }

    /// The same of a statement whose plan is not kept.
    pub(crate) fn describe_statement(
        &self,
        mut parsed: ast::Statement,
        parameters: &Parameters,
    ) -> Result<(SchemaRef, ParameterTypes)> {
        let mut state = self.state(&Guard::default());
        KeySets::take_from(&mut parsed).register(&mut state).map_err(from_datafusion)?;
        let logical = self.logical(&state, parsed)?;
        self.describe_plan(&state, logical, false, parameters)
    }

    /// The same of a statement that finds tables under other names.
    pub(crate) fn describe_with(
        &self,
        names: StoreCatalog,
        parsed: ast::Statement,
        parameters: &Parameters,
    ) -> Result<(SchemaRef, ParameterTypes)> {
        let mut state = self.state(&Guard::default());
        state.register_catalog_list(Arc::new(names));
        let logical = self.logical(&state, parsed)?;
        self.describe_plan(&state, logical, false, parameters)
    }

    fn describe_plan(
        &self,
        state: &SessionState,
        logical: LogicalPlan,
        is_optimised: bool,
        parameters: &Parameters,
    ) -> Result<(SchemaRef, ParameterTypes)> {
        let _threads = self.engine.handle().enter();
        let fields = logical.get_parameter_fields().map_err(from_datafusion)?;
        // A parameter without a value is NULL of its type: types of the answer may depend on it.
        let value = |(name, field): (&String, &Option<FieldRef>)| {
            let value = match (parameters.get(name), field) {
                (Ok(value), _) => scalar_of(value)?,
                (Err(_), Some(field)) => {
                    ScalarValue::try_from(field.data_type()).map_err(from_datafusion)?
                }
                (Err(_), None) => ScalarValue::Null,
            };
            // The plan lists a parameter with its `$` or `:`, and takes its value without it.
            Ok((name[1..].to_owned(), value))
        };
        let values = fields.iter().map(value).collect::<Result<Vec<(String, ScalarValue)>>>()?;
        let logical = match values.is_empty() {
            true => logical,
            false => {
                logical.with_param_values(ParamValues::from(values)).map_err(from_datafusion)?
            }
        };
        let physical = self.physical(state, logical, is_optimised).map_err(from_datafusion)?;
        let types =
            fields.into_iter().filter_map(|(name, field)| Some((name, plain(field?.as_ref()))));
        Ok((declared_schema(&physical.schema()), types.collect()))
    }

    fn physical(
        &self,
        state: &SessionState,
        logical: LogicalPlan,
        is_optimised: bool,
    ) -> std::result::Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let logical = if is_optimised { logical } else { optimised(state, &logical)? };
        wait(state.query_planner().create_physical_plan(&logical, state))
    }

    fn logical(&self, state: &SessionState, mut parsed: ast::Statement) -> Result<LogicalPlan> {
        views::expand(&self.context.store, &mut parsed)?;
        let is_one = has_one_table(&parsed);
        let spellings = RefCell::default();
        scopes::resolve(&mut parsed, &|name| self.columns_of(name, state, is_one, &spellings))?;
        let planned = wait(state.statement_to_plan(PlannedStatement::Statement(Box::new(parsed))));
        planned.map_err(|error| {
            self.missing_table(&error)
                .or_else(|| missing_function(&error, || function_names(state)))
                .unwrap_or_else(|| in_own_case(from_datafusion(error), &spellings.take()))
        })
    }

    /// The columns of a table as SQL finds them. `is_one` says that the statement has no other.
    /// `spellings` gets the names that are quoted and have large letters.
    fn columns_of(
        &self,
        name: &ast::ObjectName,
        state: &SessionState,
        is_one: bool,
        spellings: &RefCell<Vec<String>>,
    ) -> Option<Vec<String>> {
        if let Some(table) = self.context.store.known_table(&views::path_of(name)) {
            // The planner folds names, so an error could not say how such a column is typed.
            let names = || table.schema().columns.iter().map(|column| &column.name);
            let is_told = |name: &&String| {
                name.contains(|letter: char| letter.is_ascii_uppercase())
                    && as_typed(name) != **name
            };
            spellings.borrow_mut().extend(names().filter(is_told).cloned());
            return Some(names().map(|name| name.to_ascii_lowercase()).collect());
        }
        let parts = name.0.iter().map(ast::ObjectNamePart::as_ident);
        let parts = parts.map(|part| Some(folded(part?))).collect::<Option<Vec<_>>>()?;
        let (catalog, schema, table) = match parts.as_slice() {
            // Its columns are looked for in the file itself.
            [table] if is_one && FileName::parse(table).is_some() => return None,
            [table] => (CATALOG, SCHEMA, table),
            [schema, table] => (CATALOG, schema.as_str(), table),
            [catalog, schema, table] => (catalog.as_str(), schema.as_str(), table),
            _ => return None,
        };
        let schema = state.catalog_list().catalog(catalog)?.schema(schema)?;
        let table = wait(schema.table(table)).ok()??;
        Some(table.schema().fields().iter().map(|field| field.name().clone()).collect())
    }

    /// For a table that the planner did not find: what the store says of it, at its place.
    fn missing_table(&self, error: &DataFusionError) -> Option<Error> {
        let diagnostic = error.diagnostic()?;
        let name = diagnostic.message.strip_prefix("table '")?.strip_suffix("' not found")?;
        let parts: Vec<String> = name.split('.').map(str::to_owned).collect();
        let missing = self.context.store.table(&path_of_parts(&parts)).err()?;
        Some(match diagnostic.span {
            Some(span) => {
                missing.at(format_args!("line {}, column {}", span.start.line, span.start.column))
            }
            None => missing,
        })
    }

    /// Plans a statement, and keeps the plan where that is right.
    fn plan(&self, statement: &CachedQuery, state: &mut SessionState) -> Result<CachedPlan> {
        // What is analysed meanwhile makes the plan anew the next time.
        let statistics = self.context.statistics.version();
        let (mut parsed, sets) = KeySets::parse(&statement.piece)?;
        // Views may change without a table that does.
        let keeps = !views::expand(&self.context.store, &mut parsed)? && sets.is_empty();
        sets.register(state).map_err(from_datafusion)?;
        let logical = self.logical(state, parsed)?;
        let is_lasting = is_lasting(&logical).map_err(from_datafusion)?;
        // The plan may lose a table while it is optimised, but the answer still has its columns.
        let tables = tables(&logical).map_err(from_datafusion)?;
        let logical =
            if is_lasting { optimised(state, &logical).map_err(from_datafusion)? } else { logical };
        let keeps = keeps && tables.is_some() && self.context.transaction.is_none();
        let tables = tables.unwrap_or_default();
        let plan = CachedPlan { tables, logical, is_optimised: is_lasting, statistics };
        if keeps {
            statement.keep_plan(plan.clone());
        }
        Ok(plan)
    }

    /// What DataFusion must know of one statement.
    pub(crate) fn state(&self, guard: &Guard) -> SessionState {
        let mut state = self.engine.state.clone();
        let options = state.config().options().clone();
        state.execution_props_mut().mark_start_execution(options);
        state.config_mut().set_extension(Arc::new(guard.for_query()));
        if self.context.transaction.is_some() {
            state.register_catalog_list(Arc::new(StoreCatalog::new(self.context.clone())));
        }
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
        Ok(Rows::of_plan(stream, &self.engine, guard))
    }

    /// The rows of a query that may give others the next time; nothing for one that does not.
    pub(crate) fn rows_if_changing(
        &self,
        parsed: ast::Statement,
        parameters: &Parameters,
        guard: &Guard,
    ) -> Result<Option<Rows>> {
        let state = self.state(guard);
        let logical = self.logical(&state, parsed)?;
        if !may_change(&logical).map_err(from_datafusion)? {
            return Ok(None);
        }
        let stream = self.stream(&state, logical, false, parameters)?;
        Ok(Some(Rows::of_plan(stream, &self.engine, guard.clone())))
    }

    fn stream(
        &self,
        state: &SessionState,
        logical: LogicalPlan,
        is_optimised: bool,
        parameters: &Parameters,
    ) -> Result<SendableRecordBatchStream> {
        let _threads = self.engine.handle().enter();
        let logical = bound(logical, parameters)?;
        let planned = logical.clone();
        let physical = self.physical(state, logical, is_optimised).map_err(from_datafusion)?;
        let joins_by_hash = joins_by_hash(&physical);
        let rows = guarded_stream(physical, state).map_err(from_datafusion)?;
        if !joins_by_hash {
            return Ok(rows);
        }
        let (planner, mut state) = (self.clone(), state.clone());
        Ok(with_sort_fallback(rows, move || {
            let memory = planner.context.options.memory_bytes_max;
            let settings = state.config_mut().options_mut();
            settings.optimizer.prefer_hash_join = false;
            // Each of many sorts merges batches of all its runs: small ones all have room.
            let batch_rows = settings.execution.batch_size.get().min(memory / SORT_BYTES_PER_ROW);
            settings.execution.batch_size =
                ConfigNonZeroUsize::try_new(batch_rows.max(SORT_ROWS_MIN))?;
            settings.execution.sort_spill_reservation_bytes = memory / SORT_PARTS;
            // A plan of one part never sorts for a join.
            settings.execution.target_partitions = settings.execution.target_partitions.max(2);
            let physical = planner.physical(&state, planned, is_optimised)?;
            guarded_stream(physical, &state)
        }))
    }
}

/// The rows of a plan, whose joins end with the statement.
fn guarded_stream(
    plan: Arc<dyn ExecutionPlan>,
    state: &SessionState,
) -> std::result::Result<SendableRecordBatchStream, DataFusionError> {
    let guard = state.config().get_extension::<Guard>();
    let plan = match guard {
        Some(guard) => with_guarded_joins(plan, &guard)?,
        None => plan,
    };
    execute_stream(plan, state.task_ctx())
}

/// The error with names in quotes as the tables have them: a plan has them in small letters.
fn in_own_case(error: Error, spellings: &[String]) -> Error {
    let message = spellings.iter().fold(error.message().to_owned(), |message, name| {
        message.replace(&as_typed(&name.to_ascii_lowercase()), &as_typed(name))
    });
    error.with_message(message)
}

/// Whether a statement reads one table, and that once.
fn has_one_table(statement: &ast::Statement) -> bool {
    struct TableCounter(usize);
    impl Looker for TableCounter {
        fn pre_visit_table_factor(&mut self, _: &ast::TableFactor) -> ControlFlow<Error> {
            self.0 += 1;
            ControlFlow::Continue(())
        }
    }
    let mut tables = TableCounter(0);
    let _ = walk(statement, &mut tables);
    tables.0 < 2
}

/// A plan after all rules.
fn optimised(
    state: &SessionState,
    logical: &LogicalPlan,
) -> std::result::Result<LogicalPlan, DataFusionError> {
    let plan = with_null_joins(state.optimize(logical)?, state)?;
    with_cheap_conditions_first(with_joins_in_order(plan, state)?)
}

/// A field that clients can bind: views and dictionaries are the texts or bytes that they mean.
fn plain(field: &Field) -> Field {
    let data_type = match field.data_type() {
        DataType::Utf8View | DataType::LargeUtf8 => DataType::Utf8,
        DataType::BinaryView | DataType::LargeBinary => DataType::Binary,
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        DataType::Null => DataType::Utf8,
        other => other.clone(),
    };
    Field::new(field.name(), data_type, true)
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
pub(crate) fn is_lasting(plan: &LogicalPlan) -> datafusion::common::Result<bool> {
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

/// Whether a plan may give other rows the next time over the same tables: it draws values, or takes
/// some of its rows in an order that nothing settles.
fn may_change(plan: &LogicalPlan) -> datafusion::common::Result<bool> {
    const IN_ORDER: [&str; 6] =
        ["any_value", "array_agg", "first_value", "last_value", "nth_value", "string_agg"];
    let mut changes = false;
    plan.apply_with_subqueries(|node| {
        changes |= matches!(
            node,
            LogicalPlan::Limit(_)
                | LogicalPlan::Window(_)
                | LogicalPlan::Distinct(Distinct::On(_))
                | LogicalPlan::Extension(_)
        );
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                changes |= match part {
                    Expr::AggregateFunction(call) => IN_ORDER.contains(&call.func.name()),
                    part => part.is_volatile_node(),
                };
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(changes)
}

/// The tables of the store that a plan reads; nothing for one that holds rows of its own, which
/// tell how the store is now.
fn tables(plan: &LogicalPlan) -> datafusion::common::Result<Option<Vec<Arc<tonnage::TableEntry>>>> {
    let (mut tables, mut holds_rows) = (Vec::new(), false);
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
        {
            match provider.downcast_ref::<StoreTable>() {
                Some(table) => tables.push(table.table().table.entry().clone()),
                // Files may be others the next time.
                None => {
                    holds_rows |= provider.downcast_ref::<MemTable>().is_some()
                        || provider.downcast_ref::<FileTable>().is_some();
                }
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok((!holds_rows).then_some(tables))
}
