//! The column of a stored table that a column of a plan comes from.

use datafusion::common::Column;
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan};
use tonnage::ColumnType;

use crate::catalog::StoreTable;
use crate::plan::above_scan::{store_table, unaliased};
use crate::statistics::ColumnStatistics;

/// A column of a table of the store.
pub(in crate::plan) struct ColumnSource {
    pub(in crate::plan) table: StoreTable,
    /// Its position in the table's SQL schema.
    pub(in crate::plan) column: usize,
}

/// Where a column of a plan comes from, if it is handed on as it is.
pub(in crate::plan) fn column_source(plan: &LogicalPlan, column: &Column) -> Option<ColumnSource> {
    column_source_at(plan, plan.schema().index_of_column(column).ok()?)
}

fn column_source_at(plan: &LogicalPlan, place: usize) -> Option<ColumnSource> {
    match plan {
        LogicalPlan::TableScan(scan) => {
            let column = match &scan.projection {
                Some(columns) => *columns.get(place)?,
                None => place,
            };
            Some(ColumnSource { table: store_table(scan)?, column })
        }
        LogicalPlan::SubqueryAlias(alias) => column_source_at(&alias.input, place),
        LogicalPlan::Filter(filter) => column_source_at(&filter.input, place),
        LogicalPlan::Sort(sort) => column_source_at(&sort.input, place),
        LogicalPlan::Limit(limit) => column_source_at(&limit.input, place),
        LogicalPlan::Projection(projection) => {
            expression_source(&projection.input, projection.expr.get(place)?)
        }
        LogicalPlan::Aggregate(aggregate) => {
            // After the groups are the aggregates, which no table has.
            expression_source(&aggregate.input, aggregate.group_expr.get(place)?)
        }
        LogicalPlan::Join(join) => {
            let [left, right] = [&join.left, &join.right].map(|side| side.schema().fields().len());
            match join.join_type {
                // These give the right side alone, so its positions are not after those of the
                // left.
                JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark
                    if place < right =>
                {
                    column_source_at(&join.right, place)
                }
                JoinType::RightMark => None,
                _ if place < left => column_source_at(&join.left, place),
                // The mark after the columns of one side belongs to no table.
                JoinType::LeftMark => None,
                _ => column_source_at(&join.right, place - left),
            }
        }
        // Not followed: some other nodes make new values, or mix several columns, as UNION does.
        _ => None,
    }
}

fn expression_source(input: &LogicalPlan, expr: &Expr) -> Option<ColumnSource> {
    match unaliased(expr) {
        Expr::Column(column) => column_source(input, column),
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::datasource::provider_as_source;
    use datafusion::logical_expr::LogicalPlanBuilder;
    use tonnage::Store;

    use super::*;
    use crate::access::SqlTable;

    /// The tables of the columns of a join of `a (ka, xa)` and `b (kb)`, `none` for one of none.
    fn tables(join_type: JoinType) -> Vec<String> {
        let store = Store::open("memory:").unwrap();
        store.execute("CREATE TABLE a (ka LONG, xa LONG, PRIMARY KEY (ka))").unwrap();
        store.execute("CREATE TABLE b (kb LONG, PRIMARY KEY (kb))").unwrap();
        let scan = |name: &str, columns: Vec<usize>| {
            let table = SqlTable::new(&store, store.table(name).unwrap());
            let table = provider_as_source(Arc::new(StoreTable::new(table, Arc::default())));
            LogicalPlanBuilder::scan(name, table, Some(columns)).unwrap()
        };
        let right = scan("b", vec![0]).build().unwrap();
        let join = scan("a", vec![0, 1]).join(right, join_type, (vec!["ka"], vec!["kb"]), None);
        let plan = join.unwrap().build().unwrap();
        let table = |place| match column_source_at(&plan, place) {
            Some(source) => source.table.table().schema().path.clone(),
            None => "none".to_owned(),
        };
        (0..plan.schema().fields().len()).map(table).collect()
    }

    /// The mark was taken for a column of the other side, and the columns of the right side for
    /// those of the left.
    #[test]
    fn the_mark_of_a_join_is_of_no_table() {
        assert_eq!(tables(JoinType::LeftMark), ["a", "a", "none"]);
        assert_eq!(tables(JoinType::RightMark), ["b", "none"]);
    }

    #[test]
    fn a_column_of_a_join_is_of_its_side() {
        assert_eq!(tables(JoinType::Inner), ["a", "a", "b"]);
        assert_eq!(tables(JoinType::LeftSemi), ["a", "a"]);
        assert_eq!(tables(JoinType::RightAnti), ["b"]);
    }
}
