//! Joins without keys, which compare each row with each other one.
//!
//! Upstream: apache/datafusion#19358. Gone in: open
//!
//! One step of such a join may compare billions of pairs before it gives a row (DataFusion 55).
//! Until then a statement that was cancelled went on, and its threads did nothing else: two such
//! statements and no other one was answered. So its condition looks at the guard each time, and
//! after a while gives its thread to others.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::{FieldRef, Schema};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    CrossJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder,
};
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::errors::into_datafusion;
use crate::session::Guard;

/// A step that takes longer makes room for other statements.
const STEP_MAX: Duration = Duration::from_millis(50);

/// The same plan, whose joins without keys end with their statement.
pub(crate) fn with_guarded_joins(
    plan: Arc<dyn ExecutionPlan>,
    guard: &Guard,
) -> Result<Arc<dyn ExecutionPlan>> {
    let guarded = plan.transform_up(|node| {
        if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
            let join = guarded_join(join, guard)?;
            return Ok(Transformed::yes(Arc::new(CooperativeExec::new(Arc::new(join))) as _));
        }
        // It gives all pairs, so it is what reads them that needs to stop in between.
        if node.downcast_ref::<CrossJoinExec>().is_some() {
            return Ok(Transformed::yes(Arc::new(CooperativeExec::new(node)) as _));
        }
        Ok(Transformed::no(node))
    })?;
    Ok(guarded.data)
}

fn guarded_join(join: &NestedLoopJoinExec, guard: &Guard) -> Result<NestedLoopJoinExec> {
    let filter = join.filter().map(|filter| {
        let expression = Arc::new(GuardedExpr {
            inner: filter.expression().clone(),
            guard: guard.clone(),
            handed_on: AtomicU64::new(clock()),
        });
        JoinFilter::new(expression, filter.column_indices().to_vec(), filter.schema().clone())
    });
    NestedLoopJoinExecBuilder::new(join.left().clone(), join.right().clone(), *join.join_type())
        .with_filter(filter)
        .with_projection_ref(join.projection().clone())
        .build()
}

/// An expression that fails once its statement is over.
#[derive(Debug)]
struct GuardedExpr {
    inner: Arc<dyn PhysicalExpr>,
    guard: Guard,
    /// When it last gave its thread to others, by [`clock`].
    handed_on: AtomicU64,
}

/// Milliseconds since the first look at it.
fn clock() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_millis() as u64
}

impl GuardedExpr {
    /// Whether it is time to give the thread to others.
    fn hands_on(&self) -> bool {
        let now = clock();
        if u128::from(now.saturating_sub(self.handed_on.load(Relaxed))) < STEP_MAX.as_millis() {
            return false;
        }
        self.handed_on.store(now, Relaxed);
        // A runtime of one thread has no thread to give.
        Handle::try_current()
            .is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
    }
}

impl fmt::Display for GuardedExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl PartialEq for GuardedExpr {
    fn eq(&self, other: &Self) -> bool {
        self.inner.as_ref() == other.inner.as_ref()
    }
}

impl Eq for GuardedExpr {}

impl Hash for GuardedExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl PhysicalExpr for GuardedExpr {
    fn return_field(&self, input_schema: &Schema) -> Result<FieldRef> {
        self.inner.return_field(input_schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        self.guard.check().map_err(into_datafusion)?;
        match self.hands_on() {
            true => tokio::task::block_in_place(|| self.inner.evaluate(batch)),
            false => self.inner.evaluate(batch),
        }
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Self {
            inner: children.swap_remove(0),
            guard: self.guard.clone(),
            handed_on: AtomicU64::new(clock()),
        }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_sql(f)
    }
}
