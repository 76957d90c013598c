//! A table that holds its rows against the filters that a plan hands down to it.

use std::fmt;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions,
};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown,
};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PhysicalExpr, PlanProperties,
};
use futures::stream;

#[derive(Debug)]
pub(super) struct FilteringTable {
    rows: RecordBatch,
}

impl FilteringTable {
    pub(super) fn new(rows: RecordBatch) -> Self {
        Self { rows }
    }
}

#[async_trait]
impl TableProvider for FilteringTable {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        columns: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let rows = match columns {
            Some(columns) => self.rows.project(columns)?,
            None => self.rows.clone(),
        };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(rows.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Arc::new(FilteringScan { rows, filters: Vec::new(), properties: Arc::new(properties) }))
    }
}

#[derive(Clone, Debug)]
struct FilteringScan {
    rows: RecordBatch,
    filters: Vec<Arc<dyn PhysicalExpr>>,
    properties: Arc<PlanProperties>,
}

impl DisplayAs for FilteringScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FilteringScan")
    }
}

impl ExecutionPlan for FilteringScan {
    fn name(&self) -> &str {
        "FilteringScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        // A join looks here for those who want its keys.
        for filter in &self.filters {
            if f(filter)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (rows, filters, schema) = (self.rows.clone(), self.filters.clone(), self.rows.schema());
        // The filters are complete when the first row is asked for.
        let rows = stream::once(async move {
            let mut rows = rows;
            for filter in &filters {
                let holds = filter.evaluate(&rows)?.into_array(rows.num_rows())?;
                rows = filter_record_batch(&rows, holds.as_boolean())?;
            }
            Ok(rows)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    /// A join of few rows hands its keys down.
    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.rows.schema());
        statistics.num_rows = Precision::Exact(self.rows.num_rows());
        statistics.total_byte_size = Precision::Exact(self.rows.get_array_memory_size());
        Ok(Arc::new(statistics))
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        filters: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let wanted = filters.parent_filters.into_iter().map(|filter| filter.filter);
        let mut scan = self.clone();
        scan.filters.extend(wanted);
        let answers = vec![PushedDown::No; scan.filters.len() - self.filters.len()];
        let answers = FilterPushdownPropagation::with_parent_pushdown_result(answers);
        Ok(answers.with_updated_node(Arc::new(scan)))
    }
}
