//! The column of a table of the store that a column of a plan comes from.

use datafusion::common::Column;
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan};
use tonnage::ColumnType;

use crate::catalog::StoreTable;
use crate::plan::above_scan::{store_table, unaliased};
use crate::statistics::ColumnStatistics;

/// A column of a table of the store.
pub(in crate::plan) struct ColumnSource {
    pub(in crate::plan) table: StoreTable,
    /// Its place in the table's SQL schema.
    pub(in crate::plan) column: usize,
}

/// Where a column of a plan comes from, if it is handed on as it is.
pub(in crate::plan) fn source(plan: &LogicalPlan, column: &Column) -> Option<ColumnSource> {
    of_place(plan, plan.schema().index_of_column(column).ok()?)
}

fn of_place(plan: &LogicalPlan, place: usize) -> Option<ColumnSource> {
    match plan {
        LogicalPlan::TableScan(scan) => {
            let column = match &scan.projection {
                Some(columns) => *columns.get(place)?,
                None => place,
            };
            Some(ColumnSource { table: store_table(scan)?, column })
        }
        LogicalPlan::SubqueryAlias(alias) => of_place(&alias.input, place),
        LogicalPlan::Filter(filter) => of_place(&filter.input, place),
        LogicalPlan::Sort(sort) => of_place(&sort.input, place),
        LogicalPlan::Limit(limit) => of_place(&limit.input, place),
        LogicalPlan::Projection(projection) => {
            of_expression(&projection.input, projection.expr.get(place)?)
        }
        LogicalPlan::Aggregate(aggregate) => {
            of_expression(&aggregate.input, aggregate.group_expr.get(place)?)
        }
        LogicalPlan::Join(join) => {
            let left = join.left.schema().fields().len();
            match join.join_type {
                JoinType::RightSemi | JoinType::RightAnti => of_place(&join.right, place),
                _ if place < left => of_place(&join.left, place),
                _ => of_place(&join.right, place - left),
            }
        }
        // Other nodes make new values, or mix those of several columns, as UNION does.
        _ => None,
    }
}

fn of_expression(input: &LogicalPlan, expr: &Expr) -> Option<ColumnSource> {
    match unaliased(expr) {
        Expr::Column(column) => source(input, column),
        _ => None,
    }
}

impl ColumnSource {
    /// About how many rows the table has.
    pub(in crate::plan) fn rows(&self) -> Option<f64> {
        self.table.table().own_rows_estimate().map(|rows| rows as f64)
    }

    /// What ANALYZE found of the column.
    pub(in crate::plan) fn statistics(&self) -> Option<&ColumnStatistics> {
        self.table.table().statistics.as_ref()?.column(self.column)
    }

    /// The part of the rows that have no value, if that is known.
    pub(in crate::plan) fn nulls(&self) -> Option<f64> {
        let rows = self.table.table().statistics.as_ref()?.rows();
        Some(self.statistics()?.nulls as f64 / rows.max(1) as f64)
    }

    /// How many values were found, among the rows that there are now.
    fn found_values(&self) -> Option<f64> {
        let table = self.table.table();
        let analysed = table.statistics.as_ref()?.rows();
        let (_, values) = self.statistics()?.scaled_counts(analysed, table.own_rows_estimate()?);
        Some(values.max(1) as f64)
    }

    /// About how many values the column has in the whole table, if that is known.
    pub(in crate::plan) fn values(&self) -> Option<f64> {
        let schema = self.table.table().schema();
        if schema.key.as_slice() == [self.column] {
            return self.rows();
        }
        if let Some(values) = self.found_values() {
            return Some(values);
        }
        match &schema.columns.get(self.column)?.column_type {
            ColumnType::Boolean => Some(2.0),
            ColumnType::Enum(symbols) => Some(symbols.symbols().len() as f64),
            _ => None,
        }
    }

    /// Whether the column is the first of several of the key.
    pub(in crate::plan) fn leads_key(&self) -> bool {
        let key = &self.table.table().schema().key;
        key.len() > 1 && key[0] == self.column
    }
}
