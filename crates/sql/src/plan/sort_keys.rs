//! Sort keys that stand twice: `ORDER BY c, k, k`.
//!
//! The second has nothing to decide. DISTINCT ON and aggregates count their keys before and after
//! the library drops repeats, and panic where the counts differ (DataFusion 55).

use std::collections::HashSet;

use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan};

/// Aggregates for which the order of the rows makes no difference.
const IN_ANY_ORDER: [&str; 17] = [
    "approx_distinct",
    "approx_median",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "count",
    "max",
    "median",
    "min",
    "stddev",
    "stddev_pop",
    "sum",
    "var",
    "var_pop",
];

/// An aggregate whose parts are done.
pub(super) fn without_repeated_keys(mut part: Expr) -> Transformed<Expr> {
    let changed = match &mut part {
        // What comes to the same in any order needs none. The library refuses `max(k ORDER BY k)`
        // by group.
        Expr::AggregateFunction(AggregateFunction { func, params })
            if IN_ANY_ORDER.contains(&func.name()) && !params.order_by.is_empty() =>
        {
            params.order_by.clear();
            true
        }
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
