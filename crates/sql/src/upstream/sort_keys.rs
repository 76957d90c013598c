//! Sort keys that occur twice: `ORDER BY c, k, k`.
//!
//! Upstream: apache/datafusion#25398. Gone in: open
//!
//! The second has nothing to decide. The library drops repeats itself, but not everywhere where it
//! counts the keys (DataFusion 55).

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
pub(crate) fn without_repeated_keys(mut part: Expr) -> Transformed<Expr> {
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
pub(crate) fn distinct_on_each_key(node: LogicalPlan) -> LogicalPlan {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::functions_aggregate::expr_fn::first_value;
    use datafusion::logical_expr::{DistinctOn, LogicalPlanBuilder, col, lit};

    use super::*;

    #[test]
    fn an_aggregate_sorts_by_each_key_once() {
        let keys = [("a", true), ("b", false), ("a", false), ("b", true)];
        let keys = keys.map(|(name, is_ascending)| col(name).sort(is_ascending, false));
        let sorted = without_repeated_keys(first_value(col("b"), keys.to_vec()));
        assert!(sorted.transformed);
        let Expr::AggregateFunction(AggregateFunction { params, .. }) = sorted.data else {
            panic!("{} is not an aggregate", sorted.data)
        };
        assert_eq!(params.order_by, keys[..2]);
    }

    #[test]
    fn distinct_on_has_each_key_once() {
        let rows = LogicalPlanBuilder::values(vec![vec![lit(1_i64), lit(2_i64)]]);
        let rows = Arc::new(rows.unwrap().build().unwrap());
        let [a, b] = ["column1", "column2"].map(col);
        let keys = [&a, &a, &b, &b].map(|key| key.clone().sort(true, false));
        let on = vec![a.clone(), a];
        let distinct = DistinctOn::try_new(on, vec![b], Some(keys.to_vec()), rows).unwrap();
        let node = distinct_on_each_key(LogicalPlan::Distinct(Distinct::On(distinct)));
        let LogicalPlan::Distinct(Distinct::On(kept)) = node else { panic!("{node}") };
        assert_eq!((kept.on_expr.len(), kept.sort_expr.unwrap().len()), (1, 2));
    }
}
