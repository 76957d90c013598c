//! Makes the index entries of rows.

use tonnage_engine::{Engine, Error, Result, Rows, Slices};

use super::list::{IndexSet, OpenIndex};

/// The entries of stored rows.
pub(super) fn entries_of(
    engine: &dyn Engine,
    set: &IndexSet,
    index: &OpenIndex,
    rows: &Rows,
) -> Result<Slices> {
    let arrays = index.decode_columns(&set.table, rows)?;
    index.codec.encode(engine, &arrays, &rows.keys).map_err(Error::from)
}
