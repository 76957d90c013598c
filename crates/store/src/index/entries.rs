//! Makes the index entries of rows.

use tonnage_engine::{Engine, Error, Result, Rows};

use super::list::{IndexSet, OpenIndex};
use super::row_entries::RowEntries;

/// The entries of stored rows.
pub(super) fn entries_of(
    engine: &dyn Engine,
    set: &IndexSet,
    index: &OpenIndex,
    rows: &Rows,
) -> Result<RowEntries> {
    let arrays = index.decode_columns(&set.table, rows)?;
    index.codec.encode(engine, &arrays, &rows.keys).map_err(Error::from)
}
