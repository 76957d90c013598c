//! LATERAL queries that compute with the row beside them: `FROM a, LATERAL (SELECT a.k + 1 AS x)`.
//!
//! Upstream: apache/datafusion#21201. Gone in: open
//!
//! DataFusion 55 makes a join of a LATERAL query only where the row beside it is in conditions.
//! So what is computed moves above the join:
//!
//! 1. `a, LATERAL (SELECT b.x + a.k AS s FROM b WHERE b.k = a.k)` is `a, LATERAL (SELECT * FROM b
//!    WHERE b.k = a.k)`, and `b.x + a.k` above it.
//! 2. A query without FROM has one row, so its join is the row beside it. Its conditions are
//!    conditions on that row.
//! 3. What a query further inside computes with the row outside, such as another LATERAL query, is
//!    computed where it is read.

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
    let flat = flattened(projection)?;
    let projection = flat.as_ref().unwrap_or(projection);
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

/// A projection with what queries below it compute with the row outside where it reads
/// that; nothing where they compute nothing.
fn flattened(projection: &Projection) -> Result<Option<Projection>> {
    if projection.expr.iter().any(holds_subquery) {
        return Ok(None);
    }
    let Some(below) = ComputedRows::of(&projection.input)? else { return Ok(None) };
    let schema = projection.input.schema();
    let exprs = projection.expr.iter().map(|expr| below.written_out(expr.clone(), schema));
    let exprs = exprs.collect::<Result<Vec<_>>>()?;
    let rows = Arc::new(below.rows);
    Projection::try_new_with_schema(exprs, rows, projection.schema.clone()).map(Some)
}

/// Whether an expression holds a query, whose columns could not be written out here.
fn holds_subquery(expr: &Expr) -> bool {
    let is_query = |part: &Expr| {
        let is_it = matches!(
            part,
            Expr::ScalarSubquery(_)
                | Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::SetComparison(_)
        );
        Ok(is_it)
    };
    expr.exists(is_query).unwrap_or(true)
}

/// Rows, and what is computed of each for the columns of a query.
struct ComputedRows {
    values: Vec<Expr>,
    rows: LogicalPlan,
}

impl ComputedRows {
    /// Nothing for a query that computes nothing with the row outside.
    fn of(plan: &LogicalPlan) -> Result<Option<Self>> {
        match plan {
            // A value that differs each time would be computed wherever it is read.
            LogicalPlan::Projection(projection)
                if !projection.expr.iter().any(Expr::is_volatile)
                    && !projection.expr.iter().any(holds_subquery) =>
            {
                let input = &projection.input;
                let Some(below) = Self::of(input)? else {
                    let values = projection.expr.iter().map(|expr| expr.clone().unalias());
                    let values: Vec<Expr> = values.collect();
                    let is_tied = values.iter().any(Expr::contains_outer);
                    let rows = input.as_ref().clone();
                    return Ok(is_tied.then_some(Self { values, rows }));
                };
                let values = projection.expr.iter();
                let values = values.map(|expr| below.written_out(expr.clone(), input.schema()));
                let values = values.collect::<Result<Vec<_>>>()?;
                Ok(Some(Self { values, rows: below.rows }))
            }
            // A condition keeps its position above the rows, with the computed values written out.
            LogicalPlan::Filter(filter) if !holds_subquery(&filter.predicate) => {
                let Some(below) = Self::of(&filter.input)? else { return Ok(None) };
                // The condition reads what is computed, and so is written out below it.
                let condition =
                    below.written_out(filter.predicate.clone(), filter.input.schema())?;
                let rows = LogicalPlanBuilder::from(below.rows).filter(condition)?.build()?;
                Ok(Some(Self { values: below.values, rows }))
            }
            LogicalPlan::SubqueryAlias(alias) => Self::of(&alias.input),
            LogicalPlan::Subquery(subquery) => Self::of(&subquery.subquery),
            _ => Ok(None),
        }
    }

    /// An expression over the columns of a schema with what is computed for them.
    fn written_out(&self, expr: Expr, schema: &DFSchema) -> Result<Expr> {
        let written = expr.transform(|part| match &part {
            Expr::Column(column) => match schema.maybe_index_of_column(column) {
                Some(place) => Ok(Transformed::yes(self.values[place].clone())),
                None => Ok(Transformed::no(part)),
            },
            _ => Ok(Transformed::no(part)),
        })?;
        Ok(written.data.unalias())
    }
}

/// The rows that are computed with: the row beside the query joined with those of its FROM.
fn below(join: &Join, projection: &Projection) -> Result<Option<LogicalPlan>> {
    let outside = join.left.schema();
    if has_single_row(&projection.input) {
        return filtered(join.left.as_ref().clone(), &projection.input, outside).map(Some);
    }
    // Tables of one name on both sides could not be distinguished.
    if outside.join(projection.input.schema()).is_err() {
        return Ok(None);
    }
    let rows = projection.input.clone();
    let outer_ref_columns = rows.all_out_ref_exprs();
    let rows = match outer_ref_columns.is_empty() {
        true => rows,
        false => {
            // No later check sees the join that is created here.
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

/// The query after LATERAL, and its name.
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
