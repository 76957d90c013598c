//! Windows ordered by types without distances: UUIDs, binary values, times of the day, intervals.
//!
//! Upstream: apache/datafusion#24327, #24514, #24915. Gone in: 56
//!
//! The planner refuses RANGE over them, and with it each window that has an ORDER BY and no frame.
//! A frame whose bounds are rows of equal rank needs no distances: GROUPS gives the same rows.

use arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{Expr, ExprSchemable, WindowFrameBound, WindowFrameUnits};

/// An expression whose parts are done.
pub(crate) fn range_to_groups(mut expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let Expr::WindowFunction(function) = &mut expr else { return Transformed::no(expr) };
    let WindowFunction { params, .. } = function.as_mut();
    // Intervals are numbers by now: `intervals::compare_by_length` comes before this rule.
    let has_distances = |key: &Expr| {
        !matches!(
            key.get_type(schema),
            Ok(DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
                | DataType::Time32(_)
                | DataType::Time64(_)
                | DataType::Duration(_))
        )
    };
    let frame = &mut params.window_frame;
    let is_by_rank = |bound: &WindowFrameBound| bound.is_unbounded() || is_current(bound);
    // GROUPS and RANGE give the same rows only where no bound counts a distance.
    if frame.units != WindowFrameUnits::Range
        || params.order_by.iter().all(|key| has_distances(&key.expr))
        || !is_by_rank(&frame.start_bound)
        || !is_by_rank(&frame.end_bound)
    {
        return Transformed::no(expr);
    }
    frame.units = WindowFrameUnits::Groups;
    Transformed::yes(expr)
}

fn is_current(bound: &WindowFrameBound) -> bool {
    matches!(bound, WindowFrameBound::CurrentRow)
}
