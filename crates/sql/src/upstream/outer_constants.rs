//! Constants of the side of an outer join that is extended by NULL.
//!
//! Upstream: no issue known: docs/upstream/outer-constants.md. Gone in: open
//!
//! DataFusion takes an expression that is constant, or equal to another, below an outer join for
//! constant, or equal, above it too. There rows without a partner have NULL instead. Sorts by such
//! a column are then left out, and the order of windows as well.
//!
//! A node that says nothing of constants and equal expressions comes above such a side
//! (`plain_rows`).

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode::Recompute;
use datafusion::physical_plan::execution_plan::ReplaceChildrenOptions;
use datafusion::physical_plan::joins::{
    HashJoinExec, NestedLoopJoinExec, PiecewiseMergeJoinExec, SortMergeJoinExec,
    SymmetricHashJoinExec,
};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use super::plain_rows::{Hidden, PlainRowsExec};

/// Hides what holds only below an outer join.
#[derive(Debug)]
pub(super) struct OuterConstantsRule;

impl PhysicalOptimizerRule for OuterConstantsRule {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(hidden).data()
    }

    fn name(&self) -> &str {
        "outer_constants"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A join with nodes above its extended sides that know constants.
fn hidden(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let is_extended = match join_type(plan.as_ref()) {
        Some(JoinType::Left) => [false, true],
        Some(JoinType::Right) => [true, false],
        Some(JoinType::Full) => [true, true],
        _ => return Ok(Transformed::no(plan)),
    };
    let mut children: Vec<_> = plan.children().into_iter().cloned().collect();
    let mut is_changed = false;
    for (child, is_extended) in children.iter_mut().zip(is_extended) {
        // Most sides know of none, and need no node.
        if is_extended && child.equivalence_properties().eq_group().iter().next().is_some() {
            *child = Arc::new(PlainRowsExec::new(child.clone(), Hidden::Equalities)?);
            is_changed = true;
        }
    }
    match is_changed {
        true => {
            let options = ReplaceChildrenOptions::new(Recompute);
            Ok(Transformed::yes(plan.replace_children(children, options)?))
        }
        false => Ok(Transformed::no(plan)),
    }
}

fn join_type(plan: &dyn ExecutionPlan) -> Option<JoinType> {
    let hash = plan.downcast_ref::<HashJoinExec>().map(|join| *join.join_type());
    hash.or_else(|| plan.downcast_ref::<NestedLoopJoinExec>().map(|join| *join.join_type()))
        .or_else(|| plan.downcast_ref::<SortMergeJoinExec>().map(SortMergeJoinExec::join_type))
        .or_else(|| plan.downcast_ref::<SymmetricHashJoinExec>().map(|join| *join.join_type()))
        .or_else(|| {
            plan.downcast_ref::<PiecewiseMergeJoinExec>().map(PiecewiseMergeJoinExec::join_type)
        })
}
