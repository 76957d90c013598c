//! `x IN (subquery)` with its third value, NULL.
//!
//! Upstream: apache/datafusion#8241, #25347, #25473. Gone in: open
//! Upstream: apache/datafusion#25474. Gone in: open
//!
//! Below OR, NOT, IS or CASE, DataFusion 55 makes a join of such a test that marks rows. The mark
//! knows true and false only: NULL counts as false, and NOT makes it true. In projections it
//! supports neither these tests nor EXISTS. So this rule runs first:
//!
//! 1. A test that may be NULL, where NULL is not the same as false, becomes the following, which
//!    needs no third value below: `CASE WHEN EXISTS (an equal one) THEN true WHEN EXISTS (a NULL)
//!    OR x IS NULL AND EXISTS (any) THEN NULL ELSE false END`.
//! 2. The same for a value that may be NULL though none of its columns may.
//! 3. In a projection EXISTS becomes a count that is compared with zero.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, ExprSchema, Result, ScalarValue, Spans};
use datafusion::functions_aggregate::count::count_all;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Case, Expr, ExprSchemable, Filter, LogicalPlan, LogicalPlanBuilder, Operator,
    Subquery, lit,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use super::value_names::with_own_name;

/// Comes before the rules that make joins of subqueries.
#[derive(Debug)]
pub(crate) struct MembershipRule;

impl OptimizerRule for MembershipRule {
    fn name(&self) -> &str {
        "three_valued_membership"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Filter(filter) if has_test(&filter.predicate) => rewrite_filter(filter),
            LogicalPlan::Projection(_)
                if plan.expressions().iter().any(|expr| has_test(expr) || has_exists(expr)) =>
            {
                rewrite_projection(plan)
            }
            plan => Ok(Transformed::no(plan)),
        }
    }
}

/// The value in the rows of a test, where it is compared.
const VALUE: &str = "__value";

fn has_test(expr: &Expr) -> bool {
    expr.exists(|part| Ok(matches!(part, Expr::InSubquery(_)))).unwrap_or(false)
}

fn has_exists(expr: &Expr) -> bool {
    expr.exists(|part| Ok(matches!(part, Expr::Exists(_)))).unwrap_or(false)
}

fn rewrite_filter(filter: Filter) -> Result<Transformed<LogicalPlan>> {
    let schema = filter.input.schema().clone();
    let mut changed = false;
    let mut conditions = Vec::new();
    for condition in split_conjunction_owned(filter.predicate) {
        let condition = rewrite_condition(condition, &schema, true)?;
        changed |= condition.transformed;
        conditions.push(condition.data);
    }
    let predicate = conjunction(conditions).unwrap_or_else(|| lit(true));
    let filter = LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?);
    Ok(Transformed::new_transformed(filter, changed))
}

/// A condition with its tests settled. `is_plain` says that NULL is the same as false to who asks.
fn rewrite_condition(expr: Expr, schema: &DFSchema, is_plain: bool) -> Result<Transformed<Expr>> {
    match expr {
        // A test by itself becomes a join that knows NULL, as long as nothing of the rows outside
        // is in the subquery.
        Expr::InSubquery(test)
            if is_plain
                && !(test.negated && (is_correlated(&test) || hides_null(&test, schema))) =>
        {
            with_own_name(test)
        }
        // NOT of a tied one would be a join that takes one column alone, and two tie it.
        Expr::InSubquery(test) if may_be_null(&test, schema) || is_correlated(&test) => {
            membership(test, schema, exists).map(Transformed::yes)
        }
        Expr::Not(inner)
            if is_plain
                && matches!(inner.as_ref(), Expr::InSubquery(test)
                    if !is_correlated(test) && !hides_null(test, schema)) =>
        {
            Ok(Transformed::no(Expr::Not(inner)))
        }
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            // A test below OR is marked: NULL must not be taken for true there.
            let is_plain = |side: &Expr| is_plain && !is_negated(side);
            let (plain_left, plain_right) = (is_plain(&left), is_plain(&right));
            let (left, right) = (
                rewrite_condition(*left, schema, plain_left)?,
                rewrite_condition(*right, schema, plain_right)?,
            );
            let changed = left.transformed || right.transformed;
            let both = BinaryExpr { left: Box::new(left.data), op, right: Box::new(right.data) };
            Ok(Transformed::new_transformed(Expr::BinaryExpr(both), changed))
        }
        other => other.map_children(|child| rewrite_condition(child, schema, false)),
    }
}

fn is_negated(expr: &Expr) -> bool {
    match expr {
        Expr::InSubquery(test) => test.negated,
        Expr::Not(_) => true,
        _ => false,
    }
}

fn is_correlated(test: &InSubquery) -> bool {
    !test.subquery.outer_ref_columns.is_empty()
}

/// Whether an expression makes NULL of columns that have none, such as `nullif(k, 2)`. The join
/// looks at columns alone, and would take NULL for a value that is not among the rows.
fn hides_null(test: &InSubquery, schema: &DFSchema) -> bool {
    let columns = test.expr.column_refs();
    let mut columns = columns.into_iter();
    test.expr.nullable(schema).unwrap_or(true)
        && !test.subquery.subquery.schema().field(0).is_nullable()
        && !columns
            .any(|column| schema.field_from_column(column).is_ok_and(|field| field.is_nullable()))
}

fn may_be_null(test: &InSubquery, schema: &DFSchema) -> bool {
    test.expr.nullable(schema).unwrap_or(true)
        || test.subquery.subquery.schema().field(0).is_nullable()
}

/// In a projection nothing is marked: all is counted.
fn rewrite_projection(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = datafusion::logical_expr::utils::merge_schema(&plan.inputs());
    let names = NamePreserver::new(&plan);
    let counted = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let counted = expr.transform_up(|part| match part {
            Expr::Exists(Exists { subquery, negated }) => {
                // What is selected makes no difference.
                let rows = match subquery.subquery.as_ref() {
                    LogicalPlan::Projection(projection) => projection.input.as_ref(),
                    rows => rows,
                };
                let found = has_rows(rows.clone())?;
                Ok(Transformed::yes(if negated { Expr::Not(Box::new(found)) } else { found }))
            }
            Expr::InSubquery(test) => membership(test, &schema, has_rows).map(Transformed::yes),
            part => Ok(Transformed::no(part)),
        })?;
        Ok(counted.update_data(|expr| name.restore(expr)))
    })?;
    counted.map_data(LogicalPlan::recompute_schema)
}

/// The test in words that have two values each.
fn membership(
    test: InSubquery,
    schema: &DFSchema,
    any: fn(LogicalPlan) -> Result<Expr>,
) -> Result<Expr> {
    let InSubquery { expr, subquery, negated } = test;
    // The row outside may be one of the same table: what it is compared with needs another name.
    let rows = subquery.subquery.as_ref().clone();
    let value = Expr::from(rows.schema().qualified_field(0)).alias(VALUE);
    let rows = LogicalPlanBuilder::from(rows).project([value])?.build()?;
    let value = Expr::Column(Column::new_unqualified(VALUE));
    let kept = |condition: Expr| LogicalPlanBuilder::from(rows.clone()).filter(condition)?.build();
    let found = any(kept(as_outer_reference(expr.as_ref().clone(), schema)?.eq(value.clone()))?)?;
    // One row is enough. A tied subquery that is counted becomes a join only without LIMIT.
    let first = |rows: LogicalPlan| match subquery.outer_ref_columns.is_empty() {
        true => LogicalPlanBuilder::from(rows).limit(0, Some(1))?.build(),
        false => Ok(rows),
    };
    // What is never NULL is not asked for: each question is one more subquery.
    let mut unknown = Vec::new();
    if rows.schema().field(0).is_nullable() {
        unknown.push(any(first(kept(value.is_null())?)?)?);
    }
    if expr.nullable(schema).unwrap_or(true) {
        unknown.push(expr.is_null().and(any(first(rows.clone())?)?));
    }
    let truth = |truth| Box::new(Expr::Literal(ScalarValue::Boolean(truth), None));
    let mut when_then_expr = vec![(Box::new(found), truth(Some(!negated)))];
    if let Some(unknown) = unknown.into_iter().reduce(Expr::or) {
        when_then_expr.push((Box::new(unknown), truth(None)));
    }
    Ok(Expr::Case(Case { expr: None, when_then_expr, else_expr: Some(truth(Some(negated))) }))
}

/// An expression of the rows outside, as a subquery names it.
fn as_outer_reference(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let outward = expr.transform(|part| match part {
        Expr::Column(column) => {
            let field = schema.qualified_field_from_column(&column)?.1.clone();
            Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
        }
        part => Ok(Transformed::no(part)),
    })?;
    Ok(outward.data)
}

fn subquery(rows: LogicalPlan) -> Subquery {
    let outer_ref_columns = rows.all_out_ref_exprs();
    Subquery { subquery: Arc::new(rows), outer_ref_columns, spans: Spans::new() }
}

/// `EXISTS (rows)`
fn exists(rows: LogicalPlan) -> Result<Expr> {
    Ok(Expr::Exists(Exists { subquery: subquery(rows), negated: false }))
}

/// `(SELECT count(*) FROM rows) > 0`
fn has_rows(rows: LogicalPlan) -> Result<Expr> {
    let counted =
        LogicalPlanBuilder::from(rows).aggregate(Vec::<Expr>::new(), vec![count_all()])?.build()?;
    Ok(Expr::ScalarSubquery(subquery(counted)).gt(lit(0_i64)))
}
