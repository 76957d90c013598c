//! A subquery for one value that is tied to the row outside, and may find several rows:
//! `(SELECT b.x FROM b WHERE b.k = a.k)`.
//!
//! Upstream: apache/datafusion#16137. Gone in: open
//!
//! DataFusion 55 takes such a subquery only if it aggregates rows. So its values become a list for
//! each row outside, and the list of one value that value. Several are an error, as in PostgreSQL,
//! but only where the row outside is looked at.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, Spans, exec_err};
use datafusion::functions_aggregate::array_agg::array_agg_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, ScalarFunction};
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, LogicalPlanBuilder, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Subquery, Volatility,
};

const NAME: &str = "_only_row";

/// The value of such a subquery; nothing where an aggregate, a LIMIT or the like settles which rows
/// there are.
pub(crate) fn only_row(rows: &LogicalPlan) -> Result<Option<Expr>> {
    if !has_plain_rows(rows) || rows.schema().fields().len() != 1 {
        return Ok(None);
    }
    let field = rows.schema().qualified_field(0).1.clone();
    // A projection would hide the columns that tie the rows: what it makes is gathered below it.
    let (value, input) = match rows {
        LogicalPlan::Projection(projection) => {
            (projection.expr[0].clone().unalias(), projection.input.as_ref())
        }
        rows => (Expr::from(rows.schema().qualified_field(0)), rows),
    };
    // An aggregate takes nothing from outside.
    if value.contains_outer() {
        return Ok(None);
    }
    let all = Expr::AggregateFunction(AggregateFunction::new_udf(
        array_agg_udaf(),
        vec![value],
        false,
        None,
        Vec::new(),
        None,
    ));
    let lists = LogicalPlanBuilder::from(input.clone())
        .aggregate(Vec::<Expr>::new(), vec![all.alias("__values")])?
        .build()?;
    let outer_ref_columns = lists.all_out_ref_exprs();
    let list = Expr::ScalarSubquery(Subquery {
        subquery: Arc::new(lists),
        outer_ref_columns,
        spans: Spans::new(),
    });
    let signature = Signature::any(1, Volatility::Immutable);
    let func = Arc::new(ScalarUDF::new_from_impl(OnlyRow { signature, field }));
    Ok(Some(Expr::ScalarFunction(ScalarFunction { func, args: vec![list] })))
}

/// Whether all rows that a condition leaves are rows of the subquery.
fn has_plain_rows(plan: &LogicalPlan) -> bool {
    let is_plain = matches!(
        plan,
        LogicalPlan::Projection(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::TableScan(_)
            | LogicalPlan::Values(_)
            | LogicalPlan::Join(_)
    );
    is_plain && plan.inputs().into_iter().all(has_plain_rows)
}

/// The one item of each list.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OnlyRow {
    signature: Signature,
    /// The column of the subquery: a list forgets what its items mean.
    field: FieldRef,
}

impl ScalarUDFImpl for OnlyRow {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.field.data_type().clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let item = match arguments.arg_fields.first().map(|lists| lists.data_type()) {
            Some(DataType::List(item)) => item.data_type().clone(),
            _ => self.field.data_type().clone(),
        };
        Ok(self.field.as_ref().clone().with_data_type(item).with_nullable(true).into())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let lists = arguments.args[0].to_array(rows)?;
        only_items(&lists).map(ColumnarValue::Array)
    }
}

fn only_items(lists: &ArrayRef) -> Result<ArrayRef> {
    let Some(lists) = lists.as_list_opt::<i32>() else {
        return exec_err!("{NAME} takes lists, not {}", lists.data_type());
    };
    let mut places = Vec::with_capacity(lists.len());
    for row in 0..lists.len() {
        let items = if lists.is_valid(row) { lists.value_length(row) } else { 0 };
        places.push(match items {
            0 => None,
            1 => Some(lists.value_offsets()[row] as u32),
            items => {
                return exec_err!(
                    "a subquery for one value gives {items} rows for a row outside: aggregate them, as by max(), or tie the subquery to one row"
                );
            }
        });
    }
    Ok(take(lists.values(), &UInt32Array::from(places), None)?)
}
