//! Statistics of a scan for DataFusion.
//!
//! Upstream: apache/datafusion#8099. Gone in: open
//!
//! All of them are declared inexact, for the table may have changed since ANALYZE. In DataFusion
//! 55.2 that is enough for numbers of rows, of NULLs and of distinct values. It is not enough for
//! the least and greatest value of a column, so the scan does not give them. A filter narrows the
//! range of a column (`FilterExec::statistics_helper`), and takes the rest as exact:
//!
//! 1. Where one value is left, such as 9 of a range that ended there, below `a >= 9`, the column
//!    counts as a constant. Rows that came later then pass a sort unsorted.
//! 2. Where no value is left, the filter counts exactly no rows, though rows have come there.

use arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, Statistics};

use crate::access::{AccessPath, ReadSpec};

/// The estimates of a read that gives columns of this schema.
pub(crate) fn statistics_of(spec: &ReadSpec, schema: &SchemaRef) -> Statistics {
    let mut statistics = Statistics::new_unknown(schema);
    let Some(rows) = rows_of(spec) else { return statistics };
    statistics.num_rows = Precision::Inexact(rows as usize);
    // Whether a join holds a side once, or a part of it for each thread, depends on bytes first.
    let bytes = (rows as usize).saturating_mul(16 * schema.fields().len().max(1));
    statistics.total_byte_size = Precision::Inexact(bytes);
    for (index, column) in spec.columns.iter().enumerate() {
        if let Some(found) = column_of(spec, *column, rows) {
            statistics.column_statistics[index] = found;
        }
    }
    statistics
}

/// About how many rows come. The engine weighs the rows of relatives with those of the table; what
/// was analysed says how large a part the table has of that.
fn rows_of(spec: &ReadSpec) -> Option<u64> {
    let rows = spec.rows_estimate();
    if spec.table.statistics.is_none() {
        return rows;
    }
    let all = spec.table.own_rows_estimate()?;
    match spec.path {
        AccessPath::All => Some(spec.limit.map_or(all, |limit| all.min(limit))),
        _ => rows.map(|rows| rows.min(all.max(1))),
    }
}

fn column_of(spec: &ReadSpec, column: usize, rows: u64) -> Option<ColumnStatistics> {
    let statistics = spec.table.statistics.as_ref()?;
    let found = statistics.column(column)?;
    let all = spec.table.own_rows_estimate()?;
    let (_, distinct) = found.scaled_counts(statistics.rows(), all);
    let (nulls, _) = found.scaled_counts(statistics.rows(), rows);
    Some(ColumnStatistics {
        null_count: Precision::Inexact(nulls as usize),
        // A part of the rows may have all the values, or be as many; none at all would make a join
        // of it look empty.
        distinct_count: Precision::Inexact(distinct.min(rows).max(1) as usize),
        ..ColumnStatistics::new_unknown()
    })
}
