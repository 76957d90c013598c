//! The node of a physical plan that reads the store.

use std::fmt;
use std::sync::Arc;

use arrow::compute::SortOptions;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{ConstExpr, EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions,
};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown,
};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::sort_pushdown::SortOrderPushdownResult;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::{StreamExt, TryStreamExt, stream};
use tokio::sync::mpsc;
use tonnage::{Direction, Error};

use super::dynamic_filters::{is_dynamic, may_narrow, narrow_read};
use super::parts::SharedRead;
use crate::access::{
    ColumnCondition, ColumnOrder, ReadSpec, SourceCounts, column_ranges, direction_for,
    free_columns, is_constant, is_ordered_as_sql,
};
use crate::errors::into_datafusion;
use crate::session::Guard;
use crate::upstream::statistics_of;

/// Batches that may wait between the thread that reads and the plan.
const QUEUED_BATCHES_MAX: usize = 2;

/// Reads the store the way its [`ReadSpec`] says.
#[derive(Debug, Clone)]
pub(crate) struct StoreScan {
    spec: ReadSpec,
    schema: SchemaRef,
    /// What other parts of the plan will know of the rows wanted once they run, such as the keys on
    /// the other side of a join.
    dynamic: Vec<Arc<dyn PhysicalExpr>>,
    /// The order that the plan requires, which holds, though it may continue after the last column
    /// that makes a difference.
    required_order: Vec<PhysicalSortExpr>,
    shared: Arc<SharedRead>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl StoreScan {
    pub(crate) fn new(spec: ReadSpec) -> Self {
        Self::with_order(spec, Vec::new())
    }

    pub(super) fn spec(&self) -> &ReadSpec {
        &self.spec
    }

    /// The same scan, of which only rows that meet conditions are wanted; nothing where it cannot
    /// leave out others.
    pub(super) fn pruned(&self, conditions: &[ColumnCondition]) -> tonnage::Result<Option<Self>> {
        let ranges = column_ranges(conditions)?;
        if ranges.is_empty() || !self.spec.may_be_live() {
            return Ok(None);
        }
        let mut spec = self.spec.clone();
        spec.wanted.extend(ranges);
        let shared = Arc::new(SharedRead::new(spec.readers()));
        Ok(Some(Self { spec, shared, ..self.clone() }))
    }

    fn with_order(spec: ReadSpec, required_order: Vec<PhysicalSortExpr>) -> Self {
        let schema = spec.schema();
        let properties = Arc::new(properties(&spec, &schema, &required_order));
        let shared = Arc::new(SharedRead::new(spec.readers()));
        Self {
            spec,
            schema,
            dynamic: Vec::new(),
            required_order,
            shared,
            properties,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }
}

fn properties(
    spec: &ReadSpec,
    schema: &SchemaRef,
    required_order: &[PhysicalSortExpr],
) -> PlanProperties {
    let required_order = (!required_order.is_empty()).then(|| required_order.to_vec());
    let orderings = ordering(spec, schema).into_iter().chain(required_order);
    let mut equivalences = EquivalenceProperties::new_with_orderings(schema.clone(), orderings);
    // They are columns and nothing else, which cannot contradict each other.
    let _ = equivalences.add_constants(constants(spec, schema));
    let partitioning = Partitioning::UnknownPartitioning(spec.readers());
    PlanProperties::new(equivalences, partitioning, EmissionType::Incremental, Boundedness::Bounded)
}

/// The order that rows come in, as far as its columns are among those read.
fn ordering(spec: &ReadSpec, schema: &SchemaRef) -> Option<Vec<PhysicalSortExpr>> {
    let descending = match spec.direction {
        Direction::Unordered => return None,
        Direction::Forward => false,
        Direction::Reverse => true,
    };
    let free = free_columns(spec)?;
    let ordered = free.iter().take_while(|column| is_ordered_as_sql(spec.table.schema(), **column));
    let places = ordered.map_while(|column| spec.columns.iter().position(|read| read == column));
    let sorted: Vec<_> = places
        .map(|place| PhysicalSortExpr {
            expr: Arc::new(Column::new(schema.field(place).name(), place)),
            options: SortOptions { descending, nulls_first: descending },
        })
        .collect();
    (!sorted.is_empty()).then_some(sorted)
}

/// The columns that have one value in all rows.
fn constants(spec: &ReadSpec, schema: &SchemaRef) -> Vec<ConstExpr> {
    let places = (0..spec.columns.len()).filter(|place| is_constant(spec, spec.columns[*place]));
    let column = |place: usize| {
        ConstExpr::from(
            Arc::new(Column::new(schema.field(place).name(), place)) as Arc<dyn PhysicalExpr>
        )
    };
    places.map(column).collect()
}

impl DisplayAs for StoreScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreScan: {}", self.spec.describe())?;
        for filter in &self.dynamic {
            write!(f, ", keys from {filter}")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for StoreScan {
    fn name(&self) -> &str {
        "StoreScan"
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
        for filter in &self.dynamic {
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

    /// The scan for another run, as each step of a recursive query is one. A reader that had not
    /// begun when the run before was cut short would take what that one left, and the join that
    /// passed keys then passes none any more.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let shared = Arc::new(SharedRead::new(self.spec.readers()));
        Ok(Arc::new(Self { shared, dynamic: Vec::new(), ..self.as_ref().clone() }))
    }

    fn execute(
        &self,
        reader: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (spec, dynamic, shared) =
            (self.spec.clone(), self.dynamic.clone(), self.shared.clone());
        let guard = context
            .session_config()
            .get_extension::<Guard>()
            .map_or_else(Guard::default, |guard| (*guard).clone());
        let metrics = BaselineMetrics::new(&self.metrics, reader);
        let counts = match spec.may_be_live() {
            true => SourceCounts::of_reader(&self.metrics, reader),
            false => SourceCounts::default(),
        };
        // Nothing is opened before the first row is asked for: by then the other side of a join may
        // have passed its keys.
        let rows = stream::once(async move {
            narrow_read(spec, &dynamic).map(|spec| rows(spec, guard, shared, (reader, counts)))
        });
        let rows = rows.try_flatten().inspect_ok(move |batch| {
            metrics.record_output(batch.num_rows());
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(Arc::new(statistics_of(&self.spec, &self.schema)))
    }

    fn supports_limit_pushdown(&self) -> bool {
        false
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let limit = limit.map(|limit| limit as u64);
        let scan =
            Self::with_order(ReadSpec { limit, ..self.spec.clone() }, self.required_order.clone());
        Some(Arc::new(Self { dynamic: self.dynamic.clone(), ..scan }))
    }

    fn fetch(&self) -> Option<usize> {
        self.spec.limit.map(|limit| limit as usize)
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        filters: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let wanted: Vec<_> =
            filters.parent_filters.into_iter().map(|filter| filter.filter).collect();
        // They may spare reading, but rows are not held against them here: the join that gave them
        // does that.
        let answers = FilterPushdownPropagation::with_parent_pushdown_result(vec![
            PushedDown::No;
            wanted.len()
        ]);
        let is_wanted =
            |filter: &Arc<dyn PhysicalExpr>| is_dynamic(filter) && may_narrow(&self.spec, filter);
        let dynamic: Vec<_> = wanted.into_iter().filter(is_wanted).collect();
        let is_cut = self.spec.limit.is_some() || self.spec.latest.is_some();
        if dynamic.is_empty() || is_cut || self.spec.nearest.is_some() {
            return Ok(answers);
        }
        let mut scan = self.clone();
        scan.dynamic.extend(dynamic);
        Ok(answers.with_updated_node(Arc::new(scan)))
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
    ) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        let wish = |sort: &PhysicalSortExpr| {
            let column = sort.expr.downcast_ref::<Column>()?;
            Some(ColumnOrder {
                column: self.spec.columns[column.index()],
                descending: sort.options.descending,
            })
        };
        let Some(wanted) = order.iter().map(wish).collect::<Option<Vec<_>>>() else {
            return Ok(SortOrderPushdownResult::Unsupported);
        };
        let Some(direction) = direction_for(&self.spec, &wanted) else {
            return Ok(SortOrderPushdownResult::Unsupported);
        };
        let scan = Self::with_order(ReadSpec { direction, ..self.spec.clone() }, order.to_vec());
        Ok(SortOrderPushdownResult::Exact {
            inner: Arc::new(Self { dynamic: self.dynamic.clone(), ..scan }),
        })
    }
}

/// The rows of one reader: here and now when there are few, else from a thread of their own.
fn rows(
    spec: ReadSpec,
    guard: Guard,
    shared: Arc<SharedRead>,
    (reader, counts): (usize, SourceCounts),
) -> stream::BoxStream<'static, Result<arrow::array::RecordBatch>> {
    let is_small = spec.is_small();
    let open = move || spec.open_parts(spec.readers(), &guard, &counts);
    let begin = move || shared.begin(reader, open).map_err(into_datafusion);
    if is_small {
        return match begin() {
            Ok(parts) => {
                stream::iter(parts.flatten().map(|batch| batch.map_err(into_datafusion))).boxed()
            }
            Err(error) => stream::once(async move { Err(error) }).boxed(),
        };
    }
    let (sender, receiver) = mpsc::channel(QUEUED_BATCHES_MAX);
    let reading = tokio::task::spawn_blocking(move || {
        let parts = match begin() {
            Ok(parts) => parts,
            Err(error) => return drop(sender.blocking_send(Err(error))),
        };
        for batch in parts.flatten() {
            // The plan has dropped the stream, as a LIMIT above does: the rest is not wanted.
            if sender.blocking_send(batch.map_err(into_datafusion)).is_err() {
                return;
            }
        }
    });
    stream::unfold((receiver, Some(reading)), |(mut receiver, mut reading)| async move {
        if let Some(batch) = receiver.recv().await {
            return Some((batch, (receiver, reading)));
        }
        // A reader that panics closes the queue too: that is not the end of its rows.
        let broken = reading.take()?.await.err()?;
        let error = Error::internal(format!("a reader of a table broke off: {broken}"));
        Some((Err(into_datafusion(error)), (receiver, None)))
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use tonnage::{Row, Store};

    use super::*;
    use crate::access::{AccessPath, SqlTable};

    /// A scan of so many rows by two readers.
    fn scan_of(rows: i64) -> Arc<dyn ExecutionPlan> {
        let store = Store::open("memory:").unwrap();
        store.execute("CREATE TABLE t (id LONG, PRIMARY KEY (id))").unwrap();
        let rows: Vec<Row> = (0..rows).map(|id| Row::new().with("id", id)).collect();
        store.multi_put([("t", rows)], &Default::default()).unwrap();
        let mut table = SqlTable::new(&store, store.table("t").unwrap());
        table.rows_estimate = Some(1 << 20);
        Arc::new(StoreScan::new(ReadSpec {
            table: Arc::new(table),
            path: AccessPath::All,
            columns: vec![0],
            direction: Direction::Unordered,
            limit: None,
            latest: None,
            batch_rows_max: 10,
            consistency: None,
            workers: 2,
            keeps_columns: false,
            wanted: Vec::new(),
            remark: None,
            nearest: None,
        }))
    }

    async fn rows_of(scan: &Arc<dyn ExecutionPlan>, reader: usize) -> usize {
        let mut stream = scan.execute(reader, Arc::default()).unwrap();
        let mut rows = 0;
        while let Some(batch) = stream.next().await {
            rows += batch.unwrap().num_rows();
        }
        rows
    }

    #[test]
    fn a_run_gives_nothing_of_one_that_was_cut_short() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let scan = scan_of(400);
            let mut cut_short = scan.execute(0, Arc::default()).unwrap();
            assert!(cut_short.next().await.is_some());
            drop(cut_short);
            let again = scan.reset_state().unwrap();
            assert_eq!(rows_of(&again, 0).await + rows_of(&again, 1).await, 400);
        });
    }
}
