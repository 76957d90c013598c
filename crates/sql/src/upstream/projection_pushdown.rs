//! Projections pushed down in physical plans, which read fewer columns.
//!
//! Upstream: no issue known: docs/upstream/projections-over-filters.md. Gone in: open
//!
//! Above a filter with a projection of its own that fails with an internal error: the projection
//! above names columns of the filter's output, and is put above the filter's input as it is. Then
//! the plan stays as it was. Every other error is passed on.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::projection_pushdown::ProjectionPushdown;
use datafusion::physical_plan::ExecutionPlan;

/// What the message of the known error says: a column of the filter's output is looked up among
/// those of its input, where another one has its index, or none has.
pub(super) const KNOWN: [&str; 2] =
    ["does not match with the projection expression", "PhysicalExpr Column references column"];

/// Replaces the rule of DataFusion.
#[derive(Debug)]
pub(super) struct FallibleProjectionPushdown<R = ProjectionPushdown> {
    pub(super) inner: R,
}

impl Default for FallibleProjectionPushdown {
    fn default() -> Self {
        Self { inner: ProjectionPushdown::new() }
    }
}

impl<R: PhysicalOptimizerRule> PhysicalOptimizerRule for FallibleProjectionPushdown<R> {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match self.inner.optimize(plan.clone(), config) {
            Err(error) if is_known(&error) => Ok(plan),
            optimised => optimised,
        }
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn schema_check(&self) -> bool {
        self.inner.schema_check()
    }
}

/// Whether this is the error that the repair is for.
fn is_known(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::Internal(message)
        if KNOWN.iter().any(|known| message.contains(known)))
}
