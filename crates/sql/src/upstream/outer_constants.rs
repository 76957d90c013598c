//! Constants of the side of an outer join that is extended by NULL.
//!
//! Upstream: no issue known: docs/upstream/outer-constants.md. Gone in: open
//!
//! DataFusion takes an expression that is constant, or equal to another, below an outer join for
//! constant, or equal, above it too. There rows without a partner have NULL instead. Sorts by such
//! a column are then left out, and the order of windows as well.
//!
//! A node that says nothing of constants and equal expressions comes above such a side.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{JoinType, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode::Recompute;
use datafusion::physical_plan::execution_plan::{CardinalityEffect, ReplaceChildrenOptions};
use datafusion::physical_plan::filter_pushdown::{FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::joins::{
    HashJoinExec, NestedLoopJoinExec, PiecewiseMergeJoinExec, SortMergeJoinExec,
    SymmetricHashJoinExec,
};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};

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
            *child = Arc::new(PlainRowsExec::new(child.clone()));
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

/// The rows of its input, of which it says no more than their order.
struct PlainRowsExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl PlainRowsExec {
    fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let orderings = input.equivalence_properties().oeq_class().iter().cloned();
        let known = EquivalenceProperties::new_with_orderings(input.schema(), orderings);
        let properties = PlanProperties::new(
            known,
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Self { input, properties: Arc::new(properties) }
    }
}

impl fmt::Debug for PlainRowsExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as(DisplayFormatType::Default, f)
    }
}

impl DisplayAs for PlainRowsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ExecutionPlan for PlainRowsExec {
    fn name(&self) -> &str {
        "PlainRowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = children.as_slice() else {
            return internal_err!("PlainRowsExec has one input");
        };
        Ok(Arc::new(Self::new(input.clone())))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(Recompute))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(
        &self,
        input_statistics: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(input_statistics[0].clone())
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    /// A join tells its side the keys of the other.
    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        parent_filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        FilterDescription::from_children(parent_filters, &self.children())
    }
}
