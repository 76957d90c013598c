//! Joins by IS NOT DISTINCT FROM.
//!
//! Upstream: no issue known: docs/upstream/null-joins.md. Gone in: open
//!
//! The library makes a join of such a condition whose keys take NULL as equal to NULL, and
//! continues with its rules. These forget that when they reorder joins, and apply it to keys that
//! they add, which `=` compares. Rows are lost, and rows appear that do not match (DataFusion 55).
//! So such joins are created after all rules have run.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Replaces the rule that finds the keys of joins: it finds those of `=`.
#[derive(Debug, Default)]
pub(crate) struct EqualKeysRule {
    keys: ExtractEquijoinPredicate,
}

impl OptimizerRule for EqualKeysRule {
    fn name(&self) -> &str {
        self.keys.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.keys.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        if !has_condition(&plan) || takes_null(&plan) {
            return Ok(Transformed::no(plan));
        }
        let before = plan.clone();
        let found = self.keys.rewrite(plan, config)?;
        Ok(if takes_null(&found.data) { Transformed::no(before) } else { found })
    }
}

/// An optimised plan with joins whose keys take NULL for equal to NULL, where these have no others.
pub(crate) fn with_null_joins(
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<LogicalPlan> {
    let keys = ExtractEquijoinPredicate::new();
    let made = plan.transform_up_with_subqueries(|node| {
        let is_open = matches!(&node, LogicalPlan::Join(join) if join.on.is_empty());
        match is_open && has_condition(&node) {
            true => keys.rewrite(node, config),
            false => Ok(Transformed::no(node)),
        }
    })?;
    Ok(made.data)
}

fn has_condition(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Join(join) if join.filter.is_some())
}

fn takes_null(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Join(join) if join.null_equality == NullEquality::NullEqualsNull)
}
