//! The order in which inner joins run.
//!
//! The library joins tables in the order of the statement (DataFusion 55). This module orders the
//! joins of each tree so that few rows pass between them, by what is known of tables, keys and
//! indexes. The two parts whose join is smallest come first, then the next two (greedy operator
//! ordering, Fegaras 1998). A semi-join (`IN (SELECT ...)`) moves down to the table that has its
//! keys where that saves rows. A tree stays as it is where another order would save little.
//!
//! A hash join holds its left side in memory. That is the smaller one, of outer joins as well.

mod build;
mod build_side;
mod column_relations;
mod conditions;
mod cost;
mod greedy;
mod semi;
mod semi_pushdown;
mod shape;
mod tree;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimize_projections::OptimizeProjections;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use build::build_plan;
use cost::{BuildSide, JoinCost};
use semi_pushdown::push_down_semi_joins;
use tree::JoinTree;

/// Another order must cost less than this part of what the present one does.
const WORTH: f64 = 0.8;

/// The same plan with its inner joins in the order that costs least.
pub(crate) fn with_joins_in_order(
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<LogicalPlan> {
    let ordered = reorder_joins(plan)?;
    let plan = match ordered.transformed {
        // Each join hands on only what those above it want.
        true => OptimizeProjections::new().rewrite(ordered.data, config)?.data,
        false => ordered.data,
    };
    let plan = plan.transform_down(|node| node.map_subqueries(|plan| in_subquery(plan, config)))?;
    Ok(plan.data)
}

/// The same of a query within an expression.
fn in_subquery(
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Subquery(subquery) = plan else { return Ok(Transformed::no(plan)) };
    let plan = with_joins_in_order(subquery.subquery.as_ref().clone(), config)?;
    Ok(Transformed::yes(LogicalPlan::Subquery(subquery.with_plan(Arc::new(plan)))))
}

fn reorder_joins(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let Some(mut tree) = JoinTree::of(&plan) else {
        return plan.map_children(reorder_joins)?.transform_data(build_side::build_on_smaller);
    };
    let mut is_changed = false;
    for part in tree.parts_mut() {
        let below = reorder_joins(part.clone())?;
        is_changed |= below.transformed;
        *part = below.data;
    }
    if let Some(better) = cheaper_tree(&tree) {
        tree = better;
    } else if !is_changed {
        return Ok(Transformed::no(plan));
    }
    build_plan(tree, plan.schema()).map(Transformed::yes)
}

/// The same tree in an order that costs less, if that is worth it.
fn cheaper_tree(tree: &JoinTree) -> Option<JoinTree> {
    let cost = JoinCost::of(tree);
    let present = cost.total(&tree.shape, BuildSide::AsWritten);
    let plain = in_greedy_order(tree.clone(), &cost);
    let lowered = push_down_semi_joins(tree).map(|(lowered, tested)| {
        let (whole, lowered) = in_greedy_order(lowered.clone(), &JoinCost::of(&lowered));
        (tested + whole, lowered)
    });
    let ordered = lowered.into_iter().chain([plain]);
    let (least, tree) = ordered.min_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (least < present * WORTH).then_some(tree)
}

/// A tree in the order that joins the smallest first, and what it costs then.
fn in_greedy_order(tree: JoinTree, cost: &JoinCost) -> (f64, JoinTree) {
    let shape = greedy::greedy_shape(&tree, cost);
    (cost.total(&shape, BuildSide::Smaller), JoinTree { shape, ..tree })
}
