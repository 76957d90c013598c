//! The physical operator of ASOF JOIN.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::{Distribution, EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::distribution_requirements::InputDistributionRequirements;
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions,
};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use futures::{StreamExt, TryStreamExt, stream};
use tokio::sync::OnceCell;

use super::sorted::{SideSorter, SortedSide};

/// One side of the join.
#[derive(Clone, Debug)]
pub(super) struct AsOfSide {
    pub(super) plan: Arc<dyn ExecutionPlan>,
    pub(super) keys: Vec<Arc<dyn PhysicalExpr>>,
    pub(super) moment: Arc<dyn PhysicalExpr>,
}

impl AsOfSide {
    /// The keys of the rows of a batch, and their timestamps after them.
    fn values(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let all = self.keys.iter().chain([&self.moment]);
        all.map(|value| value.evaluate(batch)?.into_array(batch.num_rows())).collect()
    }
}

/// Joins each row of the left side with the nearest one of the right.
pub(super) struct AsOfExec {
    left: AsOfSide,
    right: AsOfSide,
    op: Operator,
    is_outer: bool,
    sorted: Arc<OnceCell<SortedSide>>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl AsOfExec {
    pub(super) fn new(
        left: AsOfSide,
        right: AsOfSide,
        op: Operator,
        is_outer: bool,
        schema: SchemaRef,
    ) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            left.plan.output_partitioning().clone(),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        // What the columns of a partition are hashed by may have other names here.
        let count = properties.partitioning.partition_count();
        let partitioning = datafusion::physical_plan::Partitioning::UnknownPartitioning(count);
        Self {
            left,
            right,
            op,
            is_outer,
            sorted: Arc::new(OnceCell::new()),
            properties: Arc::new(properties.with_partitioning(partitioning)),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }
}

/// The right side, gathered and sorted.
async fn sort_side(side: &AsOfSide, context: Arc<TaskContext>) -> Result<SortedSide> {
    let schema = side.plan.schema();
    let keys = side.keys.iter().map(|key| key.data_type(&schema)).collect::<Result<Vec<_>>>()?;
    let types = (keys, side.moment.data_type(&schema)?);
    let reservation = MemoryConsumer::new("AsOfJoin").register(context.memory_pool());
    let mut gathering = SideSorter::new(schema, types, reservation)?;
    let mut batches = side.plan.execute(0, context)?;
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        gathering.add(&batch, &side.values(&batch)?)?;
    }
    gathering.finish()
}

impl fmt::Debug for AsOfExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as(DisplayFormatType::Default, f)
    }
}

impl DisplayAs for AsOfExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_outer { "Left" } else { "Inner" };
        write!(f, "AsOfExec: {kind}, {} {} {}", self.left.moment, self.op, self.right.moment)?;
        for (left, right) in self.left.keys.iter().zip(&self.right.keys) {
            write!(f, ", {left} = {right}")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for AsOfExec {
    fn name(&self) -> &str {
        "AsOfExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.left.plan, &self.right.plan]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![
            Distribution::UnspecifiedDistribution,
            Distribution::SinglePartition,
        ])
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for side in [&self.left, &self.right] {
            for value in side.keys.iter().chain([&side.moment]) {
                if f(value)? == TreeNodeRecursion::Stop {
                    return Ok(TreeNodeRecursion::Stop);
                }
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let [left, right] = children.as_slice() else {
            return internal_err!("an ASOF join has two sides");
        };
        let left = AsOfSide { plan: left.clone(), ..self.left.clone() };
        let right = AsOfSide { plan: right.clone(), ..self.right.clone() };
        Ok(Arc::new(Self::new(left, right, self.op, self.is_outer, self.schema())))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode::Recompute;
        self.replace_children(children, ReplaceChildrenOptions::new(Recompute))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (left, right) = (self.left.clone(), self.right.clone());
        let (form, sorted, schema) = ((self.op, self.is_outer), self.sorted.clone(), self.schema());
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let rows = left.plan.execute(partition, context.clone())?;
        let joined = stream::once(async move {
            // The first of the partitions gathers for all.
            sorted.get_or_try_init(|| sort_side(&right, context)).await?;
            let joined = rows.map(move |batch| -> Result<RecordBatch> {
                let batch = batch?;
                let Some(sorted) = sorted.get() else {
                    return internal_err!("an ASOF join has its right side first");
                };
                let joined = sorted.join(&batch, &left.values(&batch)?, form, &schema)?;
                metrics.record_output(joined.num_rows());
                Ok(joined)
            });
            Ok::<_, datafusion::common::DataFusionError>(joined)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), joined.try_flatten())))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
