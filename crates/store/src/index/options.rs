//! Options of a read through an index.

use std::time::Duration;

use tonnage_engine::{Consistency, Direction, Error, Result};

use crate::cancel::Cancel;
use crate::codec::FieldRange;
use crate::value::Value;

/// Which entries of an index are wanted: those that begin with some values, and continue within a
/// range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexRange {
    /// The values of the leading columns; NULL means NULL.
    pub prefix: Vec<Value>,
    /// A range on the column after these. It never holds NULL.
    pub range: Option<FieldRange>,
}

impl IndexRange {
    /// All entries that begin with these values.
    pub fn prefix(values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        Self { prefix: values.into_iter().map(Into::into).collect(), range: None }
    }

    /// Only those whose next column is in a range.
    pub fn within(mut self, range: FieldRange) -> Self {
        self.range = Some(range);
        self
    }
}

/// How to scan an index.
#[derive(Clone, Debug)]
pub struct IndexScanOptions {
    /// The order of rows: `Unordered` is fastest; `Forward` and `Reverse` give them in the order of
    /// the index, NULLs first or last. Where many ranges are asked for they are answered in the
    /// order given.
    pub direction: Direction,
    /// The columns wanted; all without it.
    pub columns: Option<Vec<String>>,
    /// At most this many rows in all.
    pub limit: Option<u64>,
    /// About how many rows one batch holds (1 to 1,048,576).
    pub batch_rows_max: usize,
    /// About how many bytes of keys and values one batch holds (1 KiB to 256 MiB).
    pub batch_bytes_max: usize,
    /// How many requests to the engine are under way at a time (1 to 1,024). Default: the number of
    /// cores.
    pub max_concurrent_requests: Option<usize>,
    /// The longest that the scan may take, from the call on; then it ends with `TimedOut`.
    pub timeout: Option<Duration>,
    /// Ends the scan from another thread.
    pub cancel: Cancel,
    /// How fresh the rows must be; as the store was opened without it. Below
    /// [`Consistency::Absolute`] rows that were written just before may be missed.
    pub consistency: Option<Consistency>,
    /// Reads the table instead of the index, and gives the rows that belong to the ranges. A row
    /// that is in one of them all the time comes exactly once, whatever is written meanwhile; from
    /// the index it may be missed or come twice while it moves. It takes as long as a scan of the
    /// table, and gives rows in no order.
    pub exactly_once: bool,
    /// Reads columns out of the index alone where it can, and looks no row up. For that the index
    /// and the primary key must have all columns asked for, and the index must be known to be clean
    /// ([`Index::answers`](crate::Index::answers)); else rows are looked up as ever. A row that was
    /// not looked up comes with 0 as version and expiry, a zero without its sign.
    pub index_only: bool,
}

impl Default for IndexScanOptions {
    fn default() -> Self {
        Self {
            direction: Direction::Unordered,
            columns: None,
            limit: None,
            batch_rows_max: 8_192,
            batch_bytes_max: 4 << 20,
            max_concurrent_requests: None,
            timeout: None,
            cancel: Cancel::default(),
            consistency: None,
            exactly_once: false,
            index_only: false,
        }
    }
}

impl IndexScanOptions {
    /// The same for the machinery of bulk get, which knows the limits of each setting.
    pub(super) fn check(&self) -> Result<crate::bulk::get::BulkGetOptions> {
        if self.limit == Some(0) {
            return Err(Error::invalid("limit is 0: ask for at least one row"));
        }
        if self.exactly_once && self.direction != Direction::Unordered {
            return Err(Error::invalid(
                "exactly_once reads the table, which is not in the order of the index: take rows unordered, or sort them",
            ));
        }
        let options = crate::bulk::get::BulkGetOptions {
            max_concurrent_requests: self.max_concurrent_requests,
            batch_rows_max: self.batch_rows_max,
            batch_bytes_max: self.batch_bytes_max,
            direction: self.direction,
            timeout: self.timeout,
            cancel: self.cancel.clone(),
            consistency: self.consistency,
            ..crate::bulk::get::BulkGetOptions::default()
        };
        options.check()?;
        Ok(options)
    }
}
