//! Outer columns of subqueries with their final types.
//!
//! Upstream: no issue known: docs/upstream/outer-types.md. Gone in: open
//!
//! A subquery keeps the type that an outer column had when the subquery was planned.
//! `CASE ... THEN 1 ELSE 1.5 END` is a whole number then, and a decimal after type coercion. So a
//! comparison in the subquery would cut the decimal, or become a join of columns of different types
//! (DataFusion 55).

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ExprSchema, Result};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;
use datafusion::optimizer::analyzer::type_coercion::TypeCoercion;

/// Runs before types are brought together, outer queries before those in them.
#[derive(Debug)]
pub(crate) struct OuterTypesRule;

impl AnalyzerRule for OuterTypesRule {
    fn name(&self) -> &str {
        "outer_types"
    }

    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = plan.transform_down_with_subqueries(|node| {
            if let LogicalPlan::Join(join) = &node
                && refers_to_others(&join.right)
            {
                return rewrite_lateral(node, config);
            }
            if !node.expressions().iter().any(has_subquery) {
                return Ok(Transformed::no(node));
            }
            let mut schema = DFSchema::empty();
            for input in node.inputs() {
                schema.merge(coerced_plan(input, config)?.schema());
            }
            node.map_subqueries(|subquery| with_outer_types(subquery, &schema))
        })?;
        Ok(plan.data)
    }
}

/// A plan whose types are those that it will have.
fn coerced_plan(plan: &LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
    TypeCoercion::new().analyze(plan.clone(), config)
}

fn has_subquery(expr: &Expr) -> bool {
    let is_subquery = |part: &Expr| {
        matches!(
            part,
            Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::ScalarSubquery(_)
                | Expr::SetComparison(_)
        )
    };
    expr.exists(|part| Ok(is_subquery(part))).unwrap_or(true)
}

fn refers_to_others(plan: &LogicalPlan) -> bool {
    plan.exists(|node| Ok(matches!(node, LogicalPlan::Subquery(_)))).unwrap_or(true)
}

/// A join whose right side is LATERAL and refers to the left one.
fn rewrite_lateral(node: LogicalPlan, config: &ConfigOptions) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Join(mut join) = node else { return Ok(Transformed::no(node)) };
    let left = coerced_plan(&join.left, config)?;
    let right = with_outer_types(Arc::unwrap_or_clone(join.right), left.schema())?;
    join.right = Arc::new(right.data);
    let joined = Transformed::new_transformed(LogicalPlan::Join(join), right.transformed);
    joined.map_data(LogicalPlan::recompute_schema)
}

/// A plan whose outer columns have the types of this schema, as far as they are in it.
fn with_outer_types(plan: LogicalPlan, schema: &DFSchema) -> Result<Transformed<LogicalPlan>> {
    let mut is_changed = false;
    plan.transform_up_with_subqueries(|node| {
        let node = node
            .map_expressions(|expr| expr.transform_up(|part| retype_outer_column(part, schema)))?;
        is_changed |= node.transformed;
        match is_changed {
            true => node.map_data(LogicalPlan::recompute_schema),
            false => Ok(node),
        }
    })
}

fn retype_outer_column(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::OuterReferenceColumn(field, column) = &part else { return Ok(Transformed::no(part)) };
    let Ok(found) = schema.field_from_column(column) else { return Ok(Transformed::no(part)) };
    if found.data_type() == field.data_type() {
        return Ok(Transformed::no(part));
    }
    let field = field.as_ref().clone().with_data_type(found.data_type().clone());
    Ok(Transformed::yes(Expr::OuterReferenceColumn(Arc::new(field), column.clone())))
}
