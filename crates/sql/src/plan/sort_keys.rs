//! Sort keys that stand twice: `ORDER BY c, k, k`.
//!
//! The second has nothing to decide. DISTINCT ON and aggregates count their keys before and after
//! the library drops repeats, and panic where the counts differ (DataFusion 55).

use std::collections::HashSet;

use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan};

/// An aggregate whose parts are done.
pub(super) fn without_repeated_keys(mut part: Expr) -> Transformed<Expr> {
    let changed = match &mut part {
        Expr::AggregateFunction(AggregateFunction { params, .. }) => {
            drop_repeats(&mut params.order_by)
        }
        _ => false,
    };
    if changed { Transformed::yes(part) } else { Transformed::no(part) }
}

/// DISTINCT ON with each key once.
pub(super) fn distinct_on_each_key(node: LogicalPlan) -> LogicalPlan {
    match node {
        LogicalPlan::Distinct(Distinct::On(mut distinct)) => {
            let mut seen = HashSet::new();
            distinct.on_expr.retain(|key| seen.insert(key.clone()));
            if let Some(keys) = &mut distinct.sort_expr {
                drop_repeats(keys);
            }
            LogicalPlan::Distinct(Distinct::On(distinct))
        }
        node => node,
    }
}

/// Keeps the first of keys of one expression, in whatever direction the others are.
fn drop_repeats(keys: &mut Vec<Sort>) -> bool {
    let (mut seen, before) = (HashSet::new(), keys.len());
    keys.retain(|key| seen.insert(key.expr.clone()));
    keys.len() < before
}
