//! The order of rows after a join.
//!
//! Upstream: apache/datafusion#25052. Gone in: open
//!
//! DataFusion takes the rows of a join for ordered by the side that it reads row by row, and then
//! by the other one. But each row of the first side begins the rows of the other anew: where two of
//! the first are equal, the others come as 1, 2, 1, 2. Sorts by both are then left out, of ORDER
//! BY, of windows and below a LIMIT.
//!
//! A hash join reads its right side row by row: the order of the left one is hidden from it. A
//! sort-merge join needs the order of both, and DataFusion also hands a sort down to the wrong one
//! of them. So of what such a join gives only the order of its left side is declared
//! (`plain_rows`).

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode::Recompute;
use datafusion::physical_plan::execution_plan::ReplaceChildrenOptions;
use datafusion::physical_plan::joins::{HashJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use super::plain_rows::{Hidden, PlainRowsExec};

/// Hides orders that do not hold after a join.
#[derive(Debug)]
pub(super) struct JoinOrdersRule;

impl PhysicalOptimizerRule for JoinOrdersRule {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(hidden).data()
    }

    fn name(&self) -> &str {
        "join_orders"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn hidden(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        let is_appended = matches!(join.join_type(), JoinType::Inner | JoinType::Right);
        if !is_appended || !may_be_ordered(join.left())? {
            return Ok(Transformed::no(plan));
        }
        let left = Arc::new(PlainRowsExec::new(join.left().clone(), Hidden::Order)?);
        let sides = vec![left as Arc<dyn ExecutionPlan>, join.right().clone()];
        let options = ReplaceChildrenOptions::new(Recompute);
        return Ok(Transformed::yes(plan.replace_children(sides, options)?));
    }
    if let Some(join) = plan.downcast_ref::<SortMergeJoinExec>()
        && matches!(join.join_type(), JoinType::Inner | JoinType::Left | JoinType::Right)
    {
        return Ok(Transformed::yes(Arc::new(PlainRowsExec::new(plan, Hidden::Order)?)));
    }
    Ok(Transformed::no(plan))
}

/// Whether rows have an order, or come to have one: sorts that are needed are put in later.
fn may_be_ordered(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    plan.exists(|node| {
        let is_needed = || node.required_input_ordering().iter().any(Option::is_some);
        Ok(node.output_ordering().is_some() || is_needed())
    })
}
