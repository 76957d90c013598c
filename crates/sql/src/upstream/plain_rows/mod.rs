//! An operator that hands rows on, and hides a part of what is known of them.
//!
//! DataFusion leaves a sort out where it knows that rows have its order. Where it takes for known
//! what does not hold, `outer_constants.rs` and `join_orders.rs` put this operator.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{JoinType, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, PhysicalExpr};
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode::Recompute;
use datafusion::physical_plan::execution_plan::{CardinalityEffect, ReplaceChildrenOptions};
use datafusion::physical_plan::filter_pushdown::{FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::joins::SortMergeJoinExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};

/// What operators above must not see.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Hidden {
    /// Which expressions are constant, and which are equal to each other.
    Equalities,
    /// All of it, but for the order of the side that a sort-merge join reads row by row.
    Order,
}

/// The rows of its input.
pub(super) struct PlainRowsExec {
    input: Arc<dyn ExecutionPlan>,
    hidden: Hidden,
    properties: Arc<PlanProperties>,
}

impl PlainRowsExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, hidden: Hidden) -> Result<Self> {
        let (schema, known) = (input.schema(), input.equivalence_properties());
        let shown = match hidden {
            Hidden::Equalities => {
                let orderings = known.oeq_class().iter().cloned();
                EquivalenceProperties::new_with_orderings(schema, orderings)
            }
            Hidden::Order => {
                let mut shown = EquivalenceProperties::new(schema);
                shown.add_equivalence_group(known.eq_group().clone())?;
                shown.add_orderings(orderings_of_left(&input));
                shown
            }
        };
        let properties = PlanProperties::new(
            shown,
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Ok(Self { input, hidden, properties: Arc::new(properties) })
    }
}

/// The orders of the left side of a sort-merge join that keeps them. Without these each of several
/// joins would sort the rows of the one before it anew, which takes memory.
fn orderings_of_left(input: &Arc<dyn ExecutionPlan>) -> Vec<LexOrdering> {
    match input.downcast_ref::<SortMergeJoinExec>() {
        // Its columns come first, so they have the same numbers.
        Some(join) if matches!(join.join_type(), JoinType::Inner | JoinType::Left) => {
            join.left().equivalence_properties().oeq_class().iter().cloned().collect()
        }
        _ => Vec::new(),
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

    /// Where the order is hidden no operator may count on it, and no sort goes below.
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.hidden != Hidden::Order]
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
        Ok(Arc::new(Self::new(input.clone(), self.hidden)?))
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

    /// A join passes to its side the keys of the other.
    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        parent_filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        FilterDescription::from_children(parent_filters, &self.children())
    }
}
