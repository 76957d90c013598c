//! Whether every row is in every index of its table.

use tonnage_engine::{Engine, Error, Projection, Ranges, Result, Rows, ScanOptions, Slices, SpaceId};

use super::list::{IndexSet, OpenIndex};
use crate::bulk::get::Relatives;
use crate::catalog::TableEntry;
use crate::store::Inner;

/// What a look at one index found.
#[derive(Debug, Default)]
pub(crate) struct IndexFindings {
    /// The primary keys of rows that the index lacks.
    pub(crate) missing: Slices,
    /// Entries that lead to no row, or to one that changed since.
    pub(crate) stale: u64,
}

/// Compares an index with the rows of its table. Both may be written to meanwhile.
pub(crate) fn check_index(store: &Inner, table: &TableEntry, index: &OpenIndex) -> Result<IndexFindings> {
    let engine = &*store.engine;
    let mut findings = IndexFindings::default();
    let mut rows_found = 0;
    let relatives = Relatives::find(&store.catalog, store.catalog.table(&table.schema.path)?, &[])?;
    let options = ScanOptions { filter: relatives.filter(), fill_cache: false, ..ScanOptions::default() };
    let mut scanner = engine.scan(table.space, Ranges::whole_space(), options)?;
    let (mut rows, mut again) = (Rows::new(), Rows::new());
    while scanner.next_batch(&mut rows)? {
        let lacking = rows_without_entries(engine, &table.indexes.set(), index, &rows)?;
        rows_found += (rows.len() - lacking.len()) as u64;
        // A row may have been written between the two looks: what counts is how it is with the row that is there now.
        let keys: Slices = lacking.iter().map(|row| rows.keys.get(*row)).collect();
        engine.read(table.space, &keys, Projection::KeysAndValues, &mut again)?;
        for row in rows_without_entries(engine, &table.indexes.set(), index, &again)? {
            findings.missing.push(again.keys.get(row));
        }
    }
    findings.stale = count_rows(engine, index.space())?.saturating_sub(rows_found);
    Ok(findings)
}

fn rows_without_entries(engine: &dyn Engine, set: &IndexSet, index: &OpenIndex, rows: &Rows) -> Result<Vec<usize>> {
    let arrays = index.decode_columns(&set.table, rows)?;
    let entries = index.codec.encode(engine, &arrays, &rows.keys).map_err(Error::from)?;
    let mut found = Rows::new();
    engine.read(index.space(), &entries, Projection::KeysOnly, &mut found)?;
    let mut has_entry = vec![false; rows.len()];
    found.origins.iter().for_each(|row| has_entry[*row as usize] = true);
    Ok((0..rows.len()).filter(|row| !has_entry[*row]).collect())
}

fn count_rows(engine: &dyn Engine, space: SpaceId) -> Result<u64> {
    let options = ScanOptions { projection: Projection::KeysOnly, fill_cache: false, ..ScanOptions::default() };
    let mut scanner = engine.scan(space, Ranges::whole_space(), options)?;
    let (mut rows, mut count) = (Rows::new(), 0);
    while scanner.next_batch(&mut rows)? {
        count += rows.len() as u64;
    }
    Ok(count)
}
