//! LATERAL queries that compute with the row beside them: `FROM a, LATERAL (SELECT a.k + 1 AS x)`.
//!
//! Upstream: apache/datafusion#21201. Gone in: open
//!
//! DataFusion 55 makes a join of a LATERAL query only where the row beside it stands in conditions.
//! So what is computed moves above the join:
//!
//! 1. `a, LATERAL (SELECT b.x + a.k AS s FROM b WHERE b.k = a.k)` is `a, LATERAL (SELECT * FROM b
//!    WHERE b.k = a.k)`, and `b.x + a.k` above it.
//! 2. A query without FROM has one row, so its join is the row beside it. Its conditions are
//!    conditions on that row.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, JoinType, Result, Spans, TableReference};
use datafusion::logical_expr::{
    Expr, Join, LogicalPlan, LogicalPlanBuilder, Projection, Subquery, lit,
};

use super::correlation::{SubqueryUse, check_correlation};

/// The join with what it computes above it; nothing for another join.
pub(crate) fn compute_above(join: &Join) -> Result<Option<LogicalPlan>> {
    let Some((query, alias)) = lateral_of(&join.right) else { return Ok(None) };
    let is_outer = join.join_type == JoinType::Left;
    let is_plain = join.on.is_empty() && (is_outer || join.join_type == JoinType::Inner);
    let (LogicalPlan::Projection(projection), true) = (query, is_plain) else { return Ok(None) };
    let is_single = has_single_row(&projection.input);
    if !is_single && !projection.expr.iter().any(Expr::contains_outer) {
        return Ok(None);
    }
    // Without a row of the query an outer join has NULL for what would be computed here.
    let is_always = join.filter.as_ref().is_none_or(|filter| *filter == lit(true));
    if is_outer && !(is_always && is_single && !holds_filter(&projection.input)) {
        return Ok(None);
    }
    let Some(below) = below(join, projection)? else { return Ok(None) };
    let outside = join.left.schema();
    // Columns in the order of the join, under the names that the query above knows them by.
    let own = outside.iter().map(Expr::from);
    let computed = projection.expr.iter().zip(query.schema().iter()).map(
        |(expr, (table, field))| -> Result<Expr> {
            let table = alias.cloned().or_else(|| table.cloned());
            Ok(as_columns(expr.clone().unalias(), outside)?.alias_qualified(table, field.name()))
        },
    );
    let columns = own.map(Ok).chain(computed).collect::<Result<Vec<_>>>()?;
    let joined = LogicalPlan::Projection(Projection::try_new(columns, Arc::new(below))?);
    match join.filter.as_ref().filter(|_| !is_always) {
        Some(filter) => LogicalPlanBuilder::from(joined).filter(filter.clone())?.build().map(Some),
        None => Ok(Some(joined)),
    }
}

/// The rows that are computed with: the row beside the query joined with those of its FROM.
fn below(join: &Join, projection: &Projection) -> Result<Option<LogicalPlan>> {
    let outside = join.left.schema();
    if has_single_row(&projection.input) {
        return filtered(join.left.as_ref().clone(), &projection.input, outside).map(Some);
    }
    // Tables of one name on both sides could not be told from each other.
    if outside.join(projection.input.schema()).is_err() {
        return Ok(None);
    }
    let rows = projection.input.clone();
    let outer_ref_columns = rows.all_out_ref_exprs();
    let rows = match outer_ref_columns.is_empty() {
        true => rows,
        false => {
            // The join that is made here is seen by nobody who would check it.
            check_correlation(&rows, SubqueryUse::Values)?;
            let subquery = Subquery { subquery: rows, outer_ref_columns, spans: Spans::new() };
            Arc::new(LogicalPlan::Subquery(subquery))
        }
    };
    let joined = LogicalPlanBuilder::from(join.left.as_ref().clone())
        .join_on(rows.as_ref().clone(), JoinType::Inner, Vec::<Expr>::new())?
        .build()?;
    match &joined {
        LogicalPlan::Join(inner) => Ok(Some(compute_above(inner)?.unwrap_or(joined))),
        _ => Ok(Some(joined)),
    }
}

/// The query behind LATERAL, and its name.
fn lateral_of(plan: &LogicalPlan) -> Option<(&LogicalPlan, Option<&TableReference>)> {
    match plan {
        LogicalPlan::Subquery(subquery) => Some((&subquery.subquery, None)),
        LogicalPlan::SubqueryAlias(alias) => match alias.input.as_ref() {
            LogicalPlan::Subquery(subquery) => Some((&subquery.subquery, Some(&alias.alias))),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a query has no FROM.
fn has_single_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::EmptyRelation(relation) => relation.produce_one_row,
        LogicalPlan::Filter(filter) => has_single_row(&filter.input),
        _ => false,
    }
}

fn holds_filter(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Filter(_))
}

/// Rows with the conditions of a query without FROM.
fn filtered(rows: LogicalPlan, query: &LogicalPlan, outside: &DFSchema) -> Result<LogicalPlan> {
    match query {
        LogicalPlan::Filter(filter) => {
            let condition = as_columns(filter.predicate.clone(), outside)?;
            let rows = filtered(rows, &filter.input, outside)?;
            LogicalPlanBuilder::from(rows).filter(condition)?.build()
        }
        _ => Ok(rows),
    }
}

/// An expression with the columns of the row beside it as columns of the same rows.
fn as_columns(expr: Expr, outside: &DFSchema) -> Result<Expr> {
    let columns = expr.transform(|part| match part {
        Expr::OuterReferenceColumn(_, column) if outside.has_column(&column) => {
            Ok(Transformed::yes(Expr::Column(column)))
        }
        part => Ok(Transformed::no(part)),
    })?;
    Ok(columns.data)
}
