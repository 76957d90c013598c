//! The statistics of one table, as ANALYZE found it.

use datafusion::common::ScalarValue;

/// A column with more distinct values than one in so many rows gets more of them as its table
/// grows.
const ROWS_PER_VALUE_MAX: u64 = 10;

/// What ANALYZE found of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TableStatistics {
    rows: u64,
    /// What the engine took the table for at that time, with its relatives.
    estimate: u64,
    columns: Vec<Option<ColumnStatistics>>,
}

/// What ANALYZE found of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColumnStatistics {
    pub(crate) nulls: u64,
    /// About how many values differ.
    pub(crate) distinct: u64,
    /// The least value that is neither NULL, NaN nor infinite; of texts only their beginnings.
    pub(crate) least: Option<ScalarValue>,
    pub(crate) greatest: Option<ScalarValue>,
}

impl TableStatistics {
    pub(super) fn new(rows: u64, estimate: u64, columns: Vec<Option<ColumnStatistics>>) -> Self {
        Self { rows, estimate, columns }
    }

    /// The rows that the table had.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// What is known of a column, by its position in the table's SQL schema. A table that had no
    /// rows says nothing about later ones.
    pub(crate) fn column(&self, column: usize) -> Option<&ColumnStatistics> {
        self.column_even_if_empty(column).filter(|_| self.rows > 0)
    }

    /// What was found of a column, be it nothing.
    pub(super) fn column_even_if_empty(&self, column: usize) -> Option<&ColumnStatistics> {
        self.columns.get(column)?.as_ref()
    }

    /// About how many rows the table has now, by what the engine takes it for.
    pub(crate) fn rows_now(&self, estimate: Option<u64>) -> u64 {
        match estimate {
            None => self.rows,
            // What came since may all be its own.
            Some(now) if self.rows == 0 => now.saturating_sub(self.estimate),
            Some(now) if self.estimate == 0 => now,
            Some(now) => in_proportion(self.rows, self.estimate, now),
        }
    }
}

impl ColumnStatistics {
    /// About how many NULLs and distinct values there are among other rows than those analysed.
    pub(crate) fn scaled_counts(&self, analysed: u64, rows: u64) -> (u64, u64) {
        let nulls = in_proportion(self.nulls, analysed, rows).min(rows);
        let grows = self.distinct.saturating_mul(ROWS_PER_VALUE_MAX) > analysed;
        let distinct = match rows > analysed && grows {
            true => in_proportion(self.distinct, analysed, rows),
            false => self.distinct,
        };
        (nulls, distinct.min(rows - nulls))
    }

    /// The same column in a table that has other rows now.
    pub(super) fn scaled(self, analysed: u64, rows: u64) -> Self {
        let (nulls, distinct) = self.scaled_counts(analysed, rows);
        Self { nulls, distinct, ..self }
    }
}

/// As large a part of `of_now` as the count is of `of_then`.
fn in_proportion(count: u64, of_then: u64, of_now: u64) -> u64 {
    let now = u128::from(count) * u128::from(of_now) / u128::from(of_then.max(1));
    u64::try_from(now).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(nulls: u64, distinct: u64) -> ColumnStatistics {
        ColumnStatistics { nulls, distinct, least: None, greatest: None }
    }

    #[test]
    fn rows_follow_the_estimate_of_the_engine() {
        let table = TableStatistics::new(100, 400, Vec::new());
        assert_eq!(table.rows_now(Some(400)), 100);
        assert_eq!(table.rows_now(Some(4_000)), 1_000);
        assert_eq!(table.rows_now(Some(0)), 0);
        assert_eq!(table.rows_now(None), 100);
        assert_eq!(TableStatistics::new(0, 0, Vec::new()).rows_now(Some(7)), 7);
        assert_eq!(TableStatistics::new(0, 90, Vec::new()).rows_now(Some(100)), 10);
    }

    #[test]
    fn a_table_without_rows_tells_nothing_of_its_columns() {
        let columns = || vec![Some(column(0, 0)), None];
        assert_eq!(TableStatistics::new(0, 0, columns()).column(0), None);
        assert!(TableStatistics::new(1, 1, columns()).column(0).is_some());
        assert_eq!(TableStatistics::new(1, 1, columns()).column(1), None);
        assert_eq!(TableStatistics::new(1, 1, columns()).column(2), None);
    }

    #[test]
    fn keys_grow_with_their_table_and_kinds_do_not() {
        assert_eq!(column(0, 100).scaled_counts(100, 1_000), (0, 1_000));
        assert_eq!(column(50, 3).scaled_counts(100, 1_000), (500, 3));
        assert_eq!(column(50, 50).scaled_counts(100, 10), (5, 5));
        assert_eq!(column(50, 50).scaled_counts(100, 0), (0, 0));
        assert_eq!(column(0, 0).scaled_counts(0, 9), (0, 0));
        assert_eq!(column(u64::MAX, u64::MAX).scaled_counts(1, u64::MAX), (u64::MAX, 0));
    }
}
