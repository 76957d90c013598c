//! Joins that exceed the memory of a session, run again by sorting.
//!
//! A hash join holds one of its sides in memory and cannot spill it (DataFusion 55). If that fails
//! before the first row is out, the statement starts again with sort-merge joins, which spill.

use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::common::tree_node::TreeNode;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt, stream};

type PlannedStream = std::result::Result<SendableRecordBatchStream, DataFusionError>;

/// Whether a plan has a join that holds a side in memory.
pub(crate) fn joins_by_hash(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.exists(|node| Ok(node.downcast_ref::<HashJoinExec>().is_some())).unwrap_or(false)
}

/// The rows of a plan, or of that which sorts where memory ends before the first of them.
pub(crate) fn with_sort_fallback(
    rows: SendableRecordBatchStream,
    sorting: impl FnOnce() -> PlannedStream + Send + 'static,
) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let begun = async move {
        let mut rows = rows;
        match rows.next().await {
            Some(Err(error)) if is_out_of_memory(&error) => {
                // What it holds is given back first.
                drop(rows);
                // Where sorting has no room either, that is what more memory is needed for.
                let sorted = fetch_first(sorting()).await;
                sorted.map_err(|second| if is_out_of_memory(&second) { second } else { error })
            }
            first => Ok(prepend(first, rows)),
        }
    };
    Box::pin(RecordBatchStreamAdapter::new(schema, stream::once(begun).try_flatten()))
}

/// Rows whose first batch is there.
async fn fetch_first(planned: PlannedStream) -> PlannedStream {
    let mut rows = planned?;
    match rows.next().await {
        Some(Err(error)) => Err(error),
        first => Ok(prepend(first, rows)),
    }
}

fn prepend(
    first: Option<std::result::Result<arrow::array::RecordBatch, DataFusionError>>,
    rest: SendableRecordBatchStream,
) -> SendableRecordBatchStream {
    let schema = rest.schema();
    Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter(first).chain(rest)))
}

fn is_out_of_memory(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => true,
        DataFusionError::Shared(shared) => is_out_of_memory(shared),
        _ => false,
    }
}
