//! The nodes between a plan and the scan below it: names, filters, and columns that are passed on.

use std::sync::Arc;

use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, Projection, SubqueryAlias, TableScan};

use crate::catalog::StoreTable;

/// The table of the store that is scanned.
pub(super) fn store_table(scan: &TableScan) -> Option<StoreTable> {
    let provider = source_as_provider(&scan.source).ok()?;
    Some(provider.downcast_ref::<StoreTable>()?.clone())
}

/// The same scan of a table that knows more.
pub(super) fn scan_with_table(scan: &TableScan, table: StoreTable) -> LogicalPlan {
    let source = provider_as_source(Arc::new(table));
    LogicalPlan::TableScan(TableScan { source, ..scan.clone() })
}

/// The same node over another input with the same columns.
pub(super) fn with_input(node: &LogicalPlan, input: LogicalPlan) -> Option<LogicalPlan> {
    node.with_new_exprs(node.expressions(), vec![input]).ok()
}

/// The scan that a plan reads, when nothing but names and filters are above it.
pub(super) fn store_scan(plan: &LogicalPlan) -> Option<(&TableScan, StoreTable)> {
    match plan {
        LogicalPlan::TableScan(scan) => Some((scan, store_table(scan)?)),
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. })
        | LogicalPlan::Projection(Projection { input, .. })
        | LogicalPlan::Filter(Filter { input, .. }) => store_scan(input),
        _ => None,
    }
}

/// The position in the table of the column that an expression is.
pub(super) fn table_column(plan: &LogicalPlan, expr: &Expr) -> Option<usize> {
    let Expr::Column(column) = unaliased(expr) else { return None };
    let place = plan.schema().index_of_column(column).ok()?;
    table_column_at(plan, place)
}

fn table_column_at(plan: &LogicalPlan, index: usize) -> Option<usize> {
    match plan {
        LogicalPlan::TableScan(scan) => match &scan.projection {
            Some(columns) => columns.get(index).copied(),
            None => Some(index),
        },
        LogicalPlan::SubqueryAlias(alias) => table_column_at(&alias.input, index),
        LogicalPlan::Filter(filter) => table_column_at(&filter.input, index),
        LogicalPlan::Projection(projection) => {
            table_column(&projection.input, projection.expr.get(index)?)
        }
        _ => None,
    }
}

pub(super) fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        expr => expr,
    }
}
