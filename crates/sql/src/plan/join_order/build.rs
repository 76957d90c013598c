//! The plan of a tree of joins.

use std::sync::Arc;

use datafusion::common::{DFSchemaRef, NullEquality, Result};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Join, JoinConstraint, JoinType, LogicalPlan, Projection};

use super::conditions::TreeConditions;
use super::shape::JoinShape;
use super::tree::JoinTree;
use crate::plan::estimate::estimate_rows;

/// The plan of a tree, with the columns that the one before it had.
pub(super) fn build_plan(tree: JoinTree, schema: &DFSchemaRef) -> Result<LogicalPlan> {
    let mut plan = build_joins(&tree.relations, &tree.conditions, &tree.shape)?;
    for semi in tree.semis.into_iter().rev() {
        let is_smaller = estimate_rows(&semi.plan) < estimate_rows(&plan);
        plan = semi.join_onto(plan, is_smaller)?;
    }
    let columns = schema.columns().into_iter().map(Expr::Column).collect();
    let projection = Projection::try_new_with_schema(columns, Arc::new(plan), schema.clone())?;
    Ok(LogicalPlan::Projection(projection))
}

fn build_joins(
    relations: &[LogicalPlan],
    conditions: &TreeConditions,
    shape: &JoinShape,
) -> Result<LogicalPlan> {
    let (left, right) = match shape {
        JoinShape::Relation(relation) => return Ok(relations[*relation].clone()),
        JoinShape::Join(left, right) => (left, right),
    };
    let between = conditions.between(left.relations(), right.relations());
    let join = Join::try_new(
        Arc::new(build_joins(relations, conditions, left)?),
        Arc::new(build_joins(relations, conditions, right)?),
        between.on,
        conjunction(between.filters),
        JoinType::Inner,
        JoinConstraint::On,
        NullEquality::NullEqualsNothing,
        false,
    )?;
    Ok(LogicalPlan::Join(join))
}
