//! The value of the subquery in tests such as `x IN (subquery)`: it has a name of its own.
//!
//! Upstream: no issue known: docs/upstream/value-names.md. Gone in: open
//!
//! 1. Below OR DataFusion makes a join of such a test that marks rows, and looks for the columns that
//!    the join needs among those of the subquery by their names: in `SELECT y + 1 AS y` it takes the
//!    y that the value is computed of for the value itself, and refuses to select one column twice.
//! 2. Of VALUES it finds no value: `x IN (VALUES (1), (2))`.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

const VALUE: &str = "__value";

/// A test whose value is named after nothing that it is computed of.
pub(super) fn with_own_name(mut test: InSubquery) -> Result<Transformed<Expr>> {
    let is_renamed = is_named_after_part(&test.subquery.subquery);
    if is_renamed {
        rename(&mut test.subquery.subquery)?;
    }
    Ok(Transformed::new_transformed(Expr::InSubquery(test), is_renamed))
}

/// Selects the value of VALUES. Whether these are such.
pub(crate) fn select_from_values(rows: &mut Arc<LogicalPlan>) -> Result<bool> {
    let is_values = matches!(rows.as_ref(), LogicalPlan::Values(_)) && has_one_column(rows);
    if is_values {
        rename(rows)?;
    }
    Ok(is_values)
}

fn has_one_column(rows: &LogicalPlan) -> bool {
    rows.schema().fields().len() == 1
}

fn rename(rows: &mut Arc<LogicalPlan>) -> Result<()> {
    let value = Expr::from(rows.schema().qualified_field(0)).alias(VALUE);
    let named = LogicalPlanBuilder::from(rows.as_ref().clone()).project([value])?.build()?;
    *rows = Arc::new(named);
    Ok(())
}

fn is_named_after_part(rows: &LogicalPlan) -> bool {
    let LogicalPlan::Projection(projection) = rows else { return false };
    let name = rows.schema().field(0).name();
    let [value] = projection.expr.as_slice() else { return false };
    value.column_refs().into_iter().any(|part| part.relation.is_none() && part.name == *name)
}
