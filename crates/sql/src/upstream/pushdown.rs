//! Filter and projection pushdown in physical plans.
//!
//! Before a plan runs the library pushes down filters that are learned while it runs
//! (`FilterPushdown`). In DataFusion 55 that goes wrong in two ways:
//!
//! 1. A node with two columns of one name applies a filter on the second to the first. A join whose
//!    sides were swapped has a projection of such columns, and so has a join of tables whose keys
//!    have the same name.
//! 2. A join that takes NULL as equal to NULL (INTERSECT, EXCEPT) pushes its keys down without
//!    NULL.
//!
//! In plans with one of these nothing is pushed down. Static filters were pushed down in the
//! logical plan already.
//!
//! An aggregate is never answered from statistics (`AggregateStatistics`). Of rows with one value
//! of each, `count(DISTINCT a), count(DISTINCT b)` is 1 to that rule, though there may be no such
//! row. All statistics of the store are estimates.
//!
//! Projections are pushed down too (`ProjectionPushdown`), to read fewer columns. Below a filter
//! with a projection of its own that fails with an internal error. Then the plan stays as it is.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{NullEquality, Result};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::aggregate_statistics::AggregateStatistics;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_optimizer::limit_pushdown::LimitPushdown;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_optimizer::projection_pushdown::ProjectionPushdown;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;

type PhysicalRule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// The rules for physical plans.
pub(crate) fn physical_rules() -> Vec<PhysicalRule> {
    let early = FilterPushdown::new();
    let late = FilterPushdown::new_post_optimization();
    let mut rules = PhysicalOptimizer::new().rules;
    let known = AggregateStatistics::new();
    rules.retain(|rule| ![early.name(), known.name()].contains(&rule.name()));
    let narrowing = ProjectionPushdown::new();
    for rule in &mut rules {
        if rule.name() == late.name() {
            *rule =
                Arc::new(GuardedFilterPushdown { inner: FilterPushdown::new_post_optimization() });
        } else if rule.name() == narrowing.name() {
            *rule = Arc::new(FallibleProjectionPushdown { inner: ProjectionPushdown::new() });
        }
    }
    // Once more at the end: a limit that came free when its sort was found to be the order of the
    // key.
    rules.push(Arc::new(LimitPushdown::new()));
    rules
}

#[derive(Debug)]
struct GuardedFilterPushdown {
    inner: FilterPushdown,
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

#[derive(Debug)]
struct FallibleProjectionPushdown {
    inner: ProjectionPushdown,
}

impl PhysicalOptimizerRule for FallibleProjectionPushdown {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self.inner.optimize(plan.clone(), config).unwrap_or(plan))
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
        let is_null_equal = node
            .downcast_ref::<HashJoinExec>()
            .is_some_and(|join| join.null_equality == NullEquality::NullEqualsNull);
        let is_projection_of_twins = node.is::<ProjectionExec>() && has_duplicate_names(node);
        misleads |= is_null_equal || is_projection_of_twins;
        Ok(if misleads { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(misleads || pushes_to_duplicate_names(plan, false))
}

/// Whether a node with two columns of one name lies below one that hands something down.
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
