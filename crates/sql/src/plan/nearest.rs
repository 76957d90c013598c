//! `ORDER BY` a distance `LIMIT n` through an index on places, which reads few rows around the place.
//!
//! The rule passes to the scan which rows are wanted. Sort and filters stay where they are: the scan
//! leaves out only rows that are not among the first, and so no answer depends on the order that it
//! reads them in.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Sort, SubqueryAlias};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use super::above_scan::{scan_with_table, store_scan, unaliased, with_input};
use super::doubles::NAME as ONE_DOUBLE;
use crate::catalog::{NearestWanted, StoreTable, distance_of};

/// More rows are found by a scan.
const NEAREST_ROWS_MAX: usize = 10_000;

/// Passes to reads which rows are nearest.
#[derive(Debug)]
pub(crate) struct NearestRule;

impl OptimizerRule for NearestRule {
    fn name(&self) -> &str {
        "nearest_rows_through_index"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let rewritten = match &plan {
            LogicalPlan::Sort(sort) => rewrite_sort(sort),
            _ => None,
        };
        Ok(rewritten.map_or_else(|| Transformed::no(plan), Transformed::yes))
    }
}

fn rewrite_sort(sort: &Sort) -> Option<LogicalPlan> {
    let key = sort.expr.first()?;
    let rows = sort.fetch.filter(|rows| (1..=NEAREST_ROWS_MAX).contains(rows))?;
    // What is nowhere comes last.
    if !key.asc || key.nulls_first {
        return None;
    }
    let (scan, table) = store_scan(&sort.input)?;
    let mut conditions = scan.filters.clone();
    add_conditions(&sort.input, &mut conditions)?;
    if scan.fetch.is_some() || !conditions.iter().all(is_of_rows_alone) {
        return None;
    }
    let key = over_scan(&sort.input, &key.expr)?;
    let distance = distance_of(table.table(), as_written(&key))?;
    let wanted = NearestWanted { distance, rows, conditions };
    let table = table.with_nearest(wanted)?;
    let input = Arc::new(with_table(&sort.input, table)?);
    Some(LogicalPlan::Sort(Sort { input, ..sort.clone() }))
}

/// What a sort key was before it was given one zero and one NaN.
fn as_written(key: &Expr) -> &Expr {
    match unaliased(key) {
        Expr::ScalarFunction(call) if call.func.name() == ONE_DOUBLE => {
            call.args.first().map_or(key, as_written)
        }
        plain => plain,
    }
}

/// Whether a condition can be held against the rows of the scan by itself.
fn is_of_rows_alone(condition: &Expr) -> bool {
    let has_query = condition
        .exists(|part| {
            let is_query =
                matches!(part, Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_));
            Ok(is_query || matches!(part, Expr::OuterReferenceColumn(..) | Expr::Placeholder(_)))
        })
        .unwrap_or(true);
    !has_query && !condition.is_volatile()
}

/// The conditions of filters, over the columns of the scan.
fn add_conditions(plan: &LogicalPlan, conditions: &mut Vec<Expr>) -> Option<()> {
    match plan {
        LogicalPlan::TableScan(_) => Some(()),
        LogicalPlan::Filter(filter) => {
            for condition in split_conjunction(&filter.predicate) {
                conditions.push(over_scan(&filter.input, condition)?);
            }
            add_conditions(&filter.input, conditions)
        }
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. })
        | LogicalPlan::Projection(Projection { input, .. }) => add_conditions(input, conditions),
        _ => None,
    }
}

/// An expression over the columns of a plan as one over those of the scan below it.
fn over_scan(plan: &LogicalPlan, expr: &Expr) -> Option<Expr> {
    let below = |place: usize| match plan {
        LogicalPlan::Projection(projection) => {
            projection.expr.get(place).map(|expr| unaliased(expr).clone())
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let (table, field) = alias.input.schema().qualified_field(place);
            Some(Expr::Column(Column::from((table, field))))
        }
        _ => None,
    };
    // A filter has the columns of its input.
    let input = match plan {
        LogicalPlan::TableScan(_) => return Some(expr.clone()),
        LogicalPlan::Filter(filter) => return over_scan(&filter.input, expr),
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. })
        | LogicalPlan::Projection(Projection { input, .. }) => input,
        _ => return None,
    };
    // A column that has no meaning below ends the search.
    let mut is_known = true;
    let replaced = expr.clone().transform_up(|part| {
        let Expr::Column(column) = &part else { return Ok(Transformed::no(part)) };
        match plan.schema().index_of_column(column).ok().and_then(below) {
            Some(below) => Ok(Transformed::yes(below)),
            None => {
                is_known = false;
                Ok(Transformed::no(part))
            }
        }
    });
    let replaced = replaced.ok().filter(|_| is_known)?;
    over_scan(input, &replaced.data)
}

/// The plan over another table.
fn with_table(plan: &LogicalPlan, table: StoreTable) -> Option<LogicalPlan> {
    match plan {
        LogicalPlan::TableScan(scan) => Some(scan_with_table(scan, table)),
        LogicalPlan::Filter(filter) => with_input(plan, with_table(&filter.input, table)?),
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. })
        | LogicalPlan::Projection(Projection { input, .. }) => {
            with_input(plan, with_table(input, table)?)
        }
        _ => None,
    }
}
