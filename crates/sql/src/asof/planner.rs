//! Makes physical plans, with operators for our own nodes.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, Result};
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

use super::AsOf;
use super::exec::{AsOfExec, AsOfSide};

/// Makes physical plans, ASOF joins among them.
#[derive(Debug)]
pub(crate) struct AsOfQueryPlanner;

#[async_trait]
impl QueryPlanner for AsOfQueryPlanner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let own: Vec<Arc<dyn ExtensionPlanner + Send + Sync>> = vec![Arc::new(AsOfPlanner)];
        let planner = DefaultPhysicalPlanner::with_extension_planners(own);
        planner.create_physical_plan(plan, session).await
    }
}

/// Makes operators of [`AsOf`].
struct AsOfPlanner;

#[async_trait]
impl ExtensionPlanner for AsOfPlanner {
    async fn plan_extension(
        &self,
        planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        logical: &[&LogicalPlan],
        physical: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let (Some(node), [left, right], [left_plan, right_plan]) =
            (node.as_any().downcast_ref::<AsOf>(), logical, physical)
        else {
            // `None` leaves a node to other planners.
            return Ok(None);
        };
        let made = |expr: &Expr, schema: &DFSchema| -> Result<Arc<dyn PhysicalExpr>> {
            planner.create_physical_expr(expr, schema, session, context)
        };
        // Each side evaluates its keys and timestamps by itself, so they see its columns alone.
        let keys_of = |side: fn(&(Expr, Expr)) -> &Expr, schema: &DFSchema| {
            node.keys.iter().map(|pair| made(side(pair), schema)).collect::<Result<Vec<_>>>()
        };
        let left_side = AsOfSide {
            plan: left_plan.clone(),
            keys: keys_of(|(left, _)| left, left.schema())?,
            moment: made(&node.moments.0, left.schema())?,
        };
        let right_side = AsOfSide {
            plan: right_plan.clone(),
            keys: keys_of(|(_, right)| right, right.schema())?,
            moment: made(&node.moments.1, right.schema())?,
        };
        let schema = Arc::new(
            datafusion::logical_expr::UserDefinedLogicalNodeCore::schema(node).as_arrow().clone(),
        );
        Ok(Some(Arc::new(AsOfExec::new(left_side, right_side, node.op, node.is_outer, schema))))
    }
}
