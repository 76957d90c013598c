//! Filters that a plan learns while it runs, handed down only where a name means one column.
//!
//! Upstream: apache/datafusion#21246, #25244, #25262, #25263, #25264, #25296. Gone in: 56
//!
//! Before a plan runs, DataFusion hands down filters that it learns later (`FilterPushdown`), such
//! as the keys of the other side of a join. A node with two columns of one name applies a filter on
//! the second to the first. A join whose sides were swapped has a projection of such columns, and
//! so has a join of tables whose keys have the same name. In plans with such a node nothing is
//! handed down.
//!
//! DataFusion hands down static filters by the same rule, earlier. The logical plan has pushed
//! these down already, so the earlier rule is left out.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;

/// Replaces the rule for filters that are learned while a plan runs.
#[derive(Debug)]
pub(super) struct GuardedFilterPushdown {
    inner: FilterPushdown,
}

impl Default for GuardedFilterPushdown {
    fn default() -> Self {
        Self { inner: FilterPushdown::new_post_optimization() }
    }
}

impl PhysicalOptimizerRule for GuardedFilterPushdown {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if may_mislead(&plan)? { Ok(plan) } else { self.inner.optimize(plan, config) }
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn schema_check(&self) -> bool {
        self.inner.schema_check()
    }
}

fn may_mislead(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let mut misleads = false;
    plan.apply(|node| {
        misleads |= node.is::<ProjectionExec>() && has_duplicate_names(node);
        Ok(if misleads { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(misleads || pushes_to_duplicate_names(plan, false))
}

/// Whether a node with two columns of one name is below one that hands something down.
fn pushes_to_duplicate_names(node: &Arc<dyn ExecutionPlan>, is_below: bool) -> bool {
    if is_below && has_duplicate_names(node) {
        return true;
    }
    let hands_down = node.is::<HashJoinExec>() || node.is::<SortExec>();
    let is_below = is_below || hands_down;
    node.children().into_iter().any(|child| pushes_to_duplicate_names(child, is_below))
}

fn has_duplicate_names(node: &Arc<dyn ExecutionPlan>) -> bool {
    let schema = node.schema();
    let fields = schema.fields();
    (1..fields.len())
        .any(|place| fields[..place].iter().any(|before| before.name() == fields[place].name()))
}
