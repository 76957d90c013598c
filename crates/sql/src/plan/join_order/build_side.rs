//! The build side of a join, which is held in memory.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, Projection};

use crate::plan::estimate::estimate_rows;

/// A join whose left side, which is held in memory, is the smaller one.
pub(super) fn build_on_smaller(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let is_open =
        |join: &Join| !join.null_aware && estimate_rows(&join.right) < estimate_rows(&join.left);
    let swapped = match &plan {
        LogicalPlan::Join(join) if is_open(join) => swap_sides(join)?,
        _ => None,
    };
    Ok(swapped.map_or_else(|| Transformed::no(plan), Transformed::yes))
}

/// The same join with its sides the other way round; its columns keep their positions.
fn swap_sides(join: &Join) -> Result<Option<LogicalPlan>> {
    let swapped = Join::try_new(
        join.right.clone(),
        join.left.clone(),
        join.on.iter().map(|(left, right)| (right.clone(), left.clone())).collect(),
        join.filter.clone(),
        join.join_type.swap(),
        join.join_constraint,
        join.null_equality,
        false,
    )?;
    let columns = join.schema.columns();
    if swapped.schema.columns() == columns {
        return Ok(Some(LogicalPlan::Join(swapped)));
    }
    if !columns.iter().all(|column| swapped.schema.has_column(column)) {
        return Ok(None);
    }
    let columns = columns.into_iter().map(Expr::Column).collect();
    let swapped = Arc::new(LogicalPlan::Join(swapped));
    let projection = Projection::try_new_with_schema(columns, swapped, join.schema.clone())?;
    Ok(Some(LogicalPlan::Projection(projection)))
}
