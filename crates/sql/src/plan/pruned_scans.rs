//! Tells scans which rows the filter above them lets through.
//!
//! A scan of live columns leaves out what lies outside of the ranges of numbers. The filter stays
//! above it, and nothing else of the plan knows: DataFusion would take bounds for exact.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_expr::utils::split_conjunction;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode::Recompute;
use datafusion::physical_plan::execution_plan::ReplaceChildrenOptions;
use datafusion::physical_plan::filter::FilterExec;

use super::StoreScan;
use super::dynamic_filters::column_condition;
use crate::errors::into_datafusion;

/// Tells scans which rows the filter above them lets through.
#[derive(Debug)]
pub(crate) struct PrunedScanRule;

impl PhysicalOptimizerRule for PrunedScanRule {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(pruned).data()
    }

    fn name(&self) -> &str {
        "pruned_scans"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A filter over a scan that knows of it.
fn pruned(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let Some(filter) = plan.downcast_ref::<FilterExec>() else { return Ok(Transformed::no(plan)) };
    let Some(scan) = filter.input().downcast_ref::<StoreScan>() else {
        return Ok(Transformed::no(plan));
    };
    let parts = split_conjunction(filter.predicate());
    let conditions: Vec<_> =
        parts.into_iter().filter_map(|part| column_condition(scan.spec(), part)).collect();
    let Some(scan) = scan.pruned(&conditions).map_err(into_datafusion)? else {
        return Ok(Transformed::no(plan));
    };
    let options = ReplaceChildrenOptions::new(Recompute);
    Ok(Transformed::yes(plan.replace_children(vec![Arc::new(scan)], options)?))
}
