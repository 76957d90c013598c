//! An expression over the fields of records that are in no table: what a load computes of them, and
//! which of them it leaves out.
//!
//! 1. The expression is planned once, as the one item of a SELECT over a table without rows that
//!    has the fields of the records. So it means what it means in any other statement.
//! 2. A batch of records replaces that table: the leaf of the plan is exchanged, and the
//!    plan is run on the thread of the caller.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_empty_array};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result as DataFusionResult};
use datafusion::datasource::MemTable;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::sql::parser::Statement as PlannedStatement;
use datafusion::sql::sqlparser::ast::{Expr, SelectItem, SetExpr, Statement};
use futures::StreamExt;
use tonnage::{Error, Result};

use crate::access::{declared_schema, folded_field};
use crate::catalog::StoreCatalog;
use crate::engine::Engine;
use crate::errors::from_datafusion;
use crate::plan::{KeySets, canonicalise_doubles};
use crate::planner::is_lasting;
use crate::session::{Guard, Sql, wait};
use crate::text::{single, with_location};

/// The name of the records in the statement.
const RECORDS: &str = "_records";
/// The statement up to the expression.
const BEFORE: &str = "SELECT (";

/// An expression over the fields of records.
///
/// ```
/// use std::sync::Arc;
/// use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
/// use arrow::datatypes::Int64Type;
/// use tonnage::Store;
/// use tonnage_sql::{Sql, SqlOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sql = Sql::new(Store::open("memory:")?, SqlOptions::default())?;
/// let knots: ArrayRef = Arc::new(Int64Array::from(vec![1, 20]));
/// let records = RecordBatch::try_from_iter([("Knots", knots)])?;
/// let twice = sql.row_expression("knots * 2", &records.schema())?;
/// assert_eq!(twice.evaluate(&records)?.as_primitive::<Int64Type>().values(), &[2, 40]);
/// # Ok(())
/// # }
/// ```
pub struct RowExpression {
    plan: Arc<dyn ExecutionPlan>,
    task: Arc<TaskContext>,
    field: FieldRef,
    is_lasting: bool,
    /// Its threads must be there as long as the plan runs.
    engine: Arc<Engine>,
}

impl Sql {
    /// Plans an expression over records with these fields. Fields are found without regard to case.
    ///
    /// # Errors
    /// `Invalid` for text that is not a single expression, for names of fields that there are not,
    /// and for what needs more than one record: aggregates, windows, subqueries, parameters.
    pub fn row_expression(&self, text: &str, schema: &Schema) -> Result<RowExpression> {
        let statement = format!("{BEFORE}{text}\n) AS _value FROM {RECORDS}");
        planned(self, &statement, schema).map_err(|error| in_expression(&error))
    }
}

fn planned(sql: &Sql, statement: &str, schema: &Schema) -> Result<RowExpression> {
    let records = records_of(schema)?;
    let planner = sql.planner();
    let piece = single(statement)?;
    let mut parsed = piece.parse()?;
    if is_list(&parsed) {
        return Err(not_one_expression());
    }
    let mut state = planner.state(&Guard::default());
    // The values come in the order of the records.
    state.config_mut().options_mut().execution.target_partitions = 1;
    let table = MemTable::try_new(records, vec![Vec::new()]).map_err(from_datafusion)?;
    let names = StoreCatalog::new(planner.context.clone());
    let names = names.with_rows(Some((RECORDS.to_owned(), Arc::new(table))));
    state.register_catalog_list(Arc::new(names));
    KeySets::take_from(&mut parsed).register(&mut state).map_err(from_datafusion)?;
    let _threads = planner.engine.handle().enter();
    let parsed = PlannedStatement::Statement(Box::new(parsed));
    let plan = || -> DataFusionResult<(Arc<dyn ExecutionPlan>, bool)> {
        let logical = wait(state.statement_to_plan(parsed))?;
        // Before the optimiser, which may replace the nodes that are allowed,
        // and replace `now()` by the time.
        check(&logical)?;
        let is_lasting = is_lasting(&logical)?;
        let logical = state.optimize(&logical)?;
        let plan = wait(state.query_planner().create_physical_plan(&logical, &state))?;
        Ok((plan, is_lasting))
    };
    let (plan, is_lasting) =
        plan().map_err(|error| with_location(from_datafusion(error), &piece))?;
    let field = match &declared_schema(&plan.schema()).fields()[..] {
        [field] => Arc::new(plain(field)),
        _ => return Err(not_one_expression()),
    };
    let task = state.task_ctx();
    Ok(RowExpression { plan, task, field, is_lasting, engine: planner.engine.clone() })
}

/// Whether the item of the statement is a list: `a, b` in the parentheses around the expression.
fn is_list(statement: &Statement) -> bool {
    let Statement::Query(query) = statement else { return false };
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    let is_list =
        |item: &SelectItem| matches!(item, SelectItem::ExprWithAlias { expr: Expr::Tuple(_), .. });
    select.projection.iter().any(is_list)
}

fn not_one_expression() -> Error {
    Error::invalid("expected one expression, found several")
}

/// The fields under the names that SQL finds them by.
fn records_of(schema: &Schema) -> Result<SchemaRef> {
    let fields = schema.fields().iter().map(|field| folded_field(field.as_ref().clone()));
    let fields: Vec<_> = fields.map(|field| field.with_nullable(true)).collect();
    for (at, field) in fields.iter().enumerate() {
        if fields[..at].iter().any(|before| before.name() == field.name()) {
            return Err(Error::invalid(format!(
                "two fields are called '{}' without regard to case",
                field.name()
            )));
        }
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// Refuses what looks beyond one record.
fn check(plan: &LogicalPlan) -> DataFusionResult<()> {
    let refused = |what: &str| {
        Err(DataFusionError::Plan(format!("{what}: an expression sees one record at a time")))
    };
    if !plan.get_parameter_names()?.is_empty() {
        return refused("there are no parameters here");
    }
    let mut wrong = None;
    plan.apply_with_subqueries(|node| {
        wrong = wrong.or(match node {
            LogicalPlan::Projection(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::TableScan(_) => None,
            LogicalPlan::Aggregate(_) => Some("there are no aggregates here"),
            LogicalPlan::Window(_) => Some("there are no window functions here"),
            _ => Some("there are no subqueries here"),
        });
        Ok(TreeNodeRecursion::Continue)
    })?;
    wrong.map_or(Ok(()), refused)
}

/// A field as columns of tables hold it: views and dictionaries are the texts or bytes that they
/// mean.
fn plain(field: &Field) -> Field {
    let data_type = match field.data_type() {
        DataType::Utf8View | DataType::LargeUtf8 | DataType::Null => DataType::Utf8,
        DataType::BinaryView | DataType::LargeBinary => DataType::Binary,
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type).with_nullable(true)
}

/// An error whose position counts from the beginning of the expression.
fn in_expression(error: &Error) -> Error {
    let message = error.message();
    let place = message.strip_prefix("line 1, column ").and_then(|rest| rest.split_once(':'));
    let shifted = place.and_then(|(column, rest)| {
        let column = column.parse::<usize>().ok()?.checked_sub(BEFORE.len())?;
        Some(format!("column {column}:{rest}"))
    });
    error.restated().with_message(shifted.unwrap_or_else(|| message.to_owned()))
}

impl RowExpression {
    /// The type of the values; they may be NULL.
    pub fn field(&self) -> &FieldRef {
        &self.field
    }

    /// Whether the expression gives a record the same value whenever it is asked: `uuid()` and
    /// `now()` do not.
    pub fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    /// Whether the expression reads a field.
    pub fn reads(&self, name: &str) -> bool {
        let mut reads = false;
        let seen = self.plan.apply(|node| {
            let fields = node.schema();
            reads |= node.children().is_empty()
                && fields.fields().iter().any(|field| field.name().eq_ignore_ascii_case(name));
            Ok(TreeNodeRecursion::Continue)
        });
        seen.is_ok() && reads
    }

    /// The value of each record. The batch has the fields that the expression reads.
    ///
    /// # Errors
    /// `Invalid` where some record has values for which the expression has none, such as a text
    /// that is not a number for a cast.
    pub fn evaluate(&self, records: &RecordBatch) -> Result<ArrayRef> {
        let value = self.run(records).map_err(from_datafusion)?;
        if value.len() != records.num_rows() {
            return Err(Error::internal(format!(
                "an expression gave {} values for {} records",
                value.len(),
                records.num_rows()
            )));
        }
        match value.data_type() == self.field.data_type() {
            true => Ok(value),
            false => cast(&value, self.field.data_type())
                .map_err(|error| Error::invalid(error.to_string()).with_source(error)),
        }
    }

    fn run(&self, records: &RecordBatch) -> DataFusionResult<ArrayRef> {
        let _threads = self.engine.handle().enter();
        let plan =
            Arc::clone(&self.plan).transform_up(|node| match node.children().is_empty() {
                true => Self::rows_for(&node, records).map(Transformed::yes),
                false => Ok(Transformed::no(node)),
            })?;
        let mut stream = execute_stream(plan.data, self.task.clone())?;
        let mut values = Vec::new();
        while let Some(batch) = wait(stream.next()) {
            values.push(batch?.column(0).clone());
        }
        match values.len() {
            0 => Ok(new_empty_array(self.field.data_type())),
            1 => Ok(values.remove(0)),
            _ => {
                let values: Vec<_> = values.iter().map(AsRef::as_ref).collect();
                Ok(concat(&values)?)
            }
        }
    }

    /// The records that replace a leaf of the plan, with the columns that it reads.
    fn rows_for(
        leaf: &Arc<dyn ExecutionPlan>,
        records: &RecordBatch,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        let schema = leaf.schema();
        let columns = schema.fields().iter().map(|field| column(records, field));
        let options = RecordBatchOptions::new().with_row_count(Some(records.num_rows()));
        let columns = columns.collect::<DataFusionResult<_>>()?;
        let rows = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
        Ok(MemorySourceConfig::try_new_exec(&[vec![rows]], schema, None)?)
    }
}

/// The column of a field, in the type that it was planned for.
fn column(records: &RecordBatch, field: &Field) -> DataFusionResult<ArrayRef> {
    let schema = records.schema_ref();
    let place =
        schema.fields().iter().position(|own| own.name().eq_ignore_ascii_case(field.name()));
    let Some(place) = place else {
        let missing = format!("the records have no field {}", field.name());
        return Err(DataFusionError::Internal(missing));
    };
    let mut array = records.column(place).clone();
    if array.data_type() != field.data_type() {
        array = cast(&array, field.data_type())?;
    }
    canonicalise_doubles(&mut array);
    Ok(array)
}
