//! `ORDER BY x LIMIT n` through an index on x, which reads no more than n rows.
//!
//! The rule passes to the scan which rows come first, and leaves the sort where it is. If the scan
//! uses such an index, it declares the order of its rows, and the physical plan drops the sort.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Sort, SubqueryAlias, TableScan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use super::above_scan::{scan_with_table, store_table, table_column, with_input};
use crate::access::ColumnOrder;
use crate::catalog::{FirstRows, condition_of};

/// Passes to reads which rows are wanted first.
#[derive(Debug)]
pub(crate) struct IndexOrderRule;

impl OptimizerRule for IndexOrderRule {
    fn name(&self) -> &str {
        "first_rows_through_index"
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
    let [key] = sort.expr.as_slice() else { return None };
    // NULL comes where SQL has it by itself.
    if key.nulls_first == key.asc {
        return None;
    }
    let column = table_column(&sort.input, &key.expr)?;
    let first =
        FirstRows { order: ColumnOrder { column, descending: !key.asc }, rows: sort.fetch? };
    let input = Arc::new(with_first_rows(&sort.input, first)?);
    Some(LogicalPlan::Sort(Sort { input, ..sort.clone() }))
}

/// The plan whose scan knows which rows come first, where nothing but what an index answers is
/// between.
fn with_first_rows(plan: &LogicalPlan, first: FirstRows) -> Option<LogicalPlan> {
    match plan {
        LogicalPlan::TableScan(scan) => scan_with_first_rows(scan, &[], first),
        LogicalPlan::Filter(filter) => {
            let LogicalPlan::TableScan(scan) = filter.input.as_ref() else { return None };
            let conditions = split_conjunction(&filter.predicate);
            with_input(plan, scan_with_first_rows(scan, &conditions, first)?)
        }
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. })
        | LogicalPlan::Projection(Projection { input, .. }) => {
            with_input(plan, with_first_rows(input, first)?)
        }
        _ => None,
    }
}

fn scan_with_first_rows(
    scan: &TableScan,
    conditions: &[&Expr],
    first: FirstRows,
) -> Option<LogicalPlan> {
    let table = store_table(scan)?;
    let wanted = scan.filters.iter().chain(conditions.iter().copied());
    let conditions = wanted.map(|wanted| condition_of(table.table(), wanted));
    let conditions = conditions.collect::<Option<Vec<_>>>()?.concat();
    if scan.fetch.is_some() || !table.is_in_order(&conditions, first) {
        return None;
    }
    Some(scan_with_table(scan, table.with_order(first)))
}
