//! Subqueries in expressions, rewritten so that the library runs them correctly (DataFusion 55):
//!
//! Upstream: apache/datafusion#24513. Gone in: 56
//! Upstream: apache/datafusion#24960. Gone in: open
//! Upstream: apache/datafusion#24960. Gone in: open
//! Upstream: apache/datafusion#25258. Gone in: open
//!
//! 1. A scalar subquery gives NULL when there is no row, even for a column that is never NULL. The
//!    library declares such a value never NULL, and `IS NULL` becomes false.
//! 2. An aggregate over all rows gives one row, even of no rows. Tied to the row outside it becomes
//!    a join that finds none. For EXISTS, IN, ANY and ALL it becomes a scalar subquery, which the
//!    library handles.
//! 3. HAVING over such an aggregate may leave no row. It becomes a condition on its value.
//! 4. ANY and ALL distinguish a value of the outer row from the rows by column name. In a query
//!    over one table both have one name, so the column of the rows gets another.
//! 5. A scalar subquery that is tied and does not aggregate finds one row at most (`only_rows.rs`).
//!
//! `correlation.rs` checks all other subqueries.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue, Spans};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::expr::{InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::{
    BinaryExpr, Case, Expr, LogicalPlan, LogicalPlanBuilder, Operator, Subquery,
};
use datafusion::optimizer::AnalyzerRule;

use super::computed_laterals::compute_above;
use super::correlation::{SubqueryUse, check_correlation, keeps_one};
use super::only_rows::only_row;
use crate::plan::{map_named, volatile_nullable};

/// Runs before types are brought together.
#[derive(Debug)]
pub(crate) struct SubqueryRule;

impl AnalyzerRule for SubqueryRule {
    fn name(&self) -> &str {
        "subqueries_as_written"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = plan.transform_up_with_subqueries(|node| {
            let computed = match &node {
                LogicalPlan::Join(join) => compute_above(join)?,
                _ => None,
            };
            let is_computed = computed.is_some();
            let node = computed.unwrap_or(node);
            if let LogicalPlan::Join(join) = &node
                && let Some(lateral) = lateral_of(&join.right)
            {
                check_correlation(&lateral.subquery, SubqueryUse::Values)?;
            }
            let node = map_named(node, |expr| expr.transform_up(rewrite_subquery))?;
            let node = Transformed { transformed: node.transformed || is_computed, ..node };
            if node.transformed { node.map_data(LogicalPlan::recompute_schema) } else { Ok(node) }
        })?;
        Ok(plan.data)
    }
}

/// The query after LATERAL.
fn lateral_of(plan: &LogicalPlan) -> Option<&Subquery> {
    match plan {
        LogicalPlan::Subquery(subquery) => Some(subquery),
        LogicalPlan::SubqueryAlias(alias) => lateral_of(&alias.input),
        LogicalPlan::Projection(projection) => lateral_of(&projection.input),
        _ => None,
    }
}

fn rewrite_subquery(part: Expr) -> Result<Transformed<Expr>> {
    // Where there is no single row, `check_correlation` is called for its errors alone: it refuses
    // what the library would carry out wrongly.
    match part {
        Expr::ScalarSubquery(subquery) => match correlated_row(&subquery)? {
            Some(row) => row.value().map(Transformed::yes),
            None => nullable_subquery(subquery),
        },
        Expr::Exists(exists) => match correlated_row(&exists.subquery)? {
            Some(row) => {
                Ok(Transformed::yes(row.or_without_row(boolean_literal(true), exists.negated)?))
            }
            None => {
                check_correlation(&exists.subquery.subquery, SubqueryUse::Existence)?;
                Ok(Transformed::no(Expr::Exists(exists)))
            }
        },
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            match correlated_row(&subquery)? {
                Some(row) => {
                    let op = if negated { Operator::NotEq } else { Operator::Eq };
                    let same = compare_with_row(expr, op, row.rows.clone());
                    // Over no row IN is false and NOT IN is true, whatever the value is.
                    Ok(Transformed::yes(row.or_without_row(same, negated)?))
                }
                None => {
                    check_correlation(&subquery.subquery, SubqueryUse::Values)?;
                    Ok(Transformed::no(Expr::InSubquery(InSubquery { expr, subquery, negated })))
                }
            }
        }
        Expr::SetComparison(comparison) => match correlated_row(&comparison.subquery)? {
            Some(row) => {
                let SetComparison { expr, op, quantifier, .. } = comparison;
                let holds = compare_with_row(expr, op, row.rows.clone());
                Ok(Transformed::yes(row.or_without_row(holds, quantifier == SetQuantifier::All)?))
            }
            None => {
                check_correlation(&comparison.subquery.subquery, SubqueryUse::Values)?;
                let subquery = with_renamed_column(comparison.subquery)?;
                let comparison = SetComparison { subquery, ..comparison };
                Ok(Transformed::yes(Expr::SetComparison(comparison)))
            }
        },
        part => Ok(Transformed::no(part)),
    }
}

/// A subquery whose column is none of a table: the library holds a value of the row outside against
/// it, which may be of the same table.
fn with_renamed_column(subquery: Subquery) -> Result<Subquery> {
    let value = Expr::from(subquery.subquery.schema().qualified_field(0)).alias("__compared");
    let rows = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone()).project([value])?;
    Ok(Subquery { subquery: Arc::new(rows.build()?), ..subquery })
}

/// A subquery for one value, which is NULL where there is no row.
fn nullable_subquery(subquery: Subquery) -> Result<Transformed<Expr>> {
    let rows = &subquery.subquery;
    check_correlation(rows, SubqueryUse::Values)?;
    if !subquery.outer_ref_columns.is_empty()
        && let Some(value) = only_row(rows)?
    {
        return Ok(Transformed::yes(value));
    }
    let is_there = SingleRow::of(rows)?.is_some_and(|row| row.conditions.is_empty());
    if is_there || rows.schema().fields().len() != 1 || rows.schema().field(0).is_nullable() {
        return Ok(Transformed::no(Expr::ScalarSubquery(subquery)));
    }
    let (relation, field) = rows.schema().qualified_field(0);
    let value = volatile_nullable().call(vec![Expr::from((relation, field))]);
    // Under the name of the column it could not be beside it, where it ties the rows.
    let value = value.alias("__value");
    let rows = LogicalPlanBuilder::from(rows.as_ref().clone()).project([value])?.build()?;
    Ok(Transformed::yes(Expr::ScalarSubquery(Subquery { subquery: Arc::new(rows), ..subquery })))
}

/// The one row of a subquery that is tied to the row outside.
fn correlated_row(subquery: &Subquery) -> Result<Option<SingleRow>> {
    if subquery.outer_ref_columns.is_empty() {
        return Ok(None);
    }
    let row = SingleRow::of(&subquery.subquery)?;
    if let Some(row) = &row {
        check_correlation(&row.rows, SubqueryUse::Values)?;
    }
    Ok(row)
}

/// An aggregate over all rows, and what must hold for its row to be there.
struct SingleRow {
    /// The aggregate, and what is computed from it: one row.
    rows: LogicalPlan,
    /// Each gives whether a condition holds, as one row.
    conditions: Vec<LogicalPlan>,
}

impl SingleRow {
    fn of(plan: &LogicalPlan) -> Result<Option<Self>> {
        match plan {
            LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => {
                Ok(Some(Self { rows: plan.clone(), conditions: Vec::new() }))
            }
            LogicalPlan::EmptyRelation(relation) if relation.produce_one_row => {
                Ok(Some(Self { rows: plan.clone(), conditions: Vec::new() }))
            }
            LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) => {
                let [input] = plan.inputs()[..] else { return Ok(None) };
                let Some(Self { rows, conditions }) = Self::of(input)? else { return Ok(None) };
                let rows = plan.with_new_exprs(plan.expressions(), vec![rows])?;
                Ok(Some(Self { rows, conditions }))
            }
            // What ties the subquery is not a condition on the row.
            LogicalPlan::Filter(filter) if !filter.predicate.contains_outer() => {
                let Some(mut below) = Self::of(&filter.input)? else { return Ok(None) };
                let holds = filter.predicate.clone().alias("_holds");
                let condition =
                    LogicalPlanBuilder::from(below.rows.clone()).project([holds])?.build()?;
                below.conditions.push(condition);
                Ok(Some(below))
            }
            // One row has no order, and a LIMIT that keeps a row keeps this one: neither is needed.
            LogicalPlan::Sort(sort) => Self::of(&sort.input),
            LogicalPlan::Limit(limit) if keeps_one(limit) => Self::of(&limit.input),
            _ => Ok(None),
        }
    }

    /// The value of the row, NULL if there is none.
    fn value(self) -> Result<Expr> {
        let value = scalar_subquery(self.rows.clone());
        match self.existence() {
            None => Ok(value),
            Some(holds) => Ok(case_when(holds, value, None)),
        }
    }

    /// An expression of the row; without it, whether a test of no rows holds. EXISTS is such an
    /// expression: `true`.
    fn or_without_row(self, expr: Expr, without: bool) -> Result<Expr> {
        let is_exists = matches!(expr, Expr::Literal(..));
        let expr = if is_exists { boolean_literal(!without) } else { expr };
        Ok(match self.existence() {
            None => expr,
            Some(holds) => case_when(holds, expr, Some(boolean_literal(without))),
        })
    }

    /// Whether the row is there; nothing if it always is.
    fn existence(self) -> Option<Expr> {
        let each = self.conditions.into_iter().map(scalar_subquery);
        let each = each.map(|condition| Expr::IsTrue(Box::new(condition)));
        each.reduce(Expr::and)
    }
}

fn compare_with_row(expr: Box<Expr>, op: Operator, row: LogicalPlan) -> Expr {
    Expr::BinaryExpr(BinaryExpr { left: expr, op, right: Box::new(scalar_subquery(row)) })
}

fn case_when(holds: Expr, then: Expr, otherwise: Option<Expr>) -> Expr {
    Expr::Case(Case {
        expr: None,
        when_then_expr: vec![(Box::new(holds), Box::new(then))],
        else_expr: otherwise.map(Box::new),
    })
}

fn boolean_literal(truth: bool) -> Expr {
    Expr::Literal(ScalarValue::Boolean(Some(truth)), None)
}

fn scalar_subquery(rows: LogicalPlan) -> Expr {
    let outer_ref_columns = rows.all_out_ref_exprs();
    Expr::ScalarSubquery(Subquery {
        subquery: Arc::new(rows),
        outer_ref_columns,
        spans: Spans::new(),
    })
}
