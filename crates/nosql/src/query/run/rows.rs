//! The rows that a way leads to, one after the other.

use tonnage::{
    BulkGetOptions, BulkGetRows, Direction, IndexRange, IndexRows, IndexScanOptions, KeySource,
    ResumeToken, Row, Table, TableBatch, TableScanOptions,
};

use super::stored_row::FoundRow;
use crate::query::plan::AccessPath;
use crate::wire::{Call, Outcome};

/// Rows in the order of their keys, or of an index.
pub(super) enum FoundRows {
    Single(Option<FoundRow>),
    Keyed(Box<BulkGetRows>),
    Indexed { rows: Box<IndexRows>, batch: Option<TableBatch>, next: usize },
}

impl FoundRows {
    /// Reads by an access path, from after a position on.
    ///
    /// # Errors
    /// What the store says.
    pub(super) fn open(
        call: &Call<'_>,
        table: &Table,
        path: &AccessPath,
        columns: Option<Vec<String>>,
        behind: Option<&[u8]>,
        direction: Direction,
    ) -> Outcome<Self> {
        let behind = behind.map(ResumeToken::from_bytes);
        Ok(match path {
            AccessPath::Nothing => FoundRows::Single(None),
            AccessPath::Key(key) => {
                let found = table.get_with(key, &call.get_options())?;
                FoundRows::Single(found.map(|found| FoundRow {
                    row: found.row,
                    version: found.version,
                    expires_at_ms: found.expires_at_ms,
                }))
            }
            AccessPath::Prefix(key, range) => {
                let options = BulkGetOptions {
                    columns,
                    direction,
                    range: range.clone(),
                    // A read of keys has positions to resume after only with these.
                    origins: true,
                    start_after: behind,
                    timeout: call.timeout,
                    ..BulkGetOptions::default()
                };
                let keys = KeySource::keys([key.clone()]);
                FoundRows::Keyed(Box::new(table.bulk_get(keys, &options)?.into_rows()))
            }
            AccessPath::Scan => {
                let options = TableScanOptions {
                    columns,
                    direction,
                    start_after: behind,
                    timeout: call.timeout,
                    ..TableScanOptions::default()
                };
                FoundRows::Keyed(Box::new(table.scan(&options)?.into_rows()))
            }
            // In the order of the index, which ORDER BY sorts again where it asks for another.
            AccessPath::Index { name, prefix, range } => {
                let wanted = IndexRange { prefix: prefix.clone(), range: range.clone() };
                let options = IndexScanOptions {
                    columns,
                    direction: Direction::Forward,
                    timeout: call.timeout,
                    ..IndexScanOptions::default()
                };
                let rows = Box::new(table.index(name)?.scan(&wanted, &options)?);
                FoundRows::Indexed { rows, batch: None, next: 0 }
            }
        })
    }

    /// The position up to which everything was taken.
    pub(super) fn position(&self) -> Option<Vec<u8>> {
        match self {
            FoundRows::Keyed(rows) => {
                BulkGetRows::position(rows).map(|token| token.as_bytes().to_vec())
            }
            _ => None,
        }
    }

    pub(super) fn next_row(&mut self) -> Outcome<Option<FoundRow>> {
        match self {
            FoundRows::Single(row) => Ok(row.take()),
            FoundRows::Keyed(rows) => Ok(match rows.next().transpose()? {
                None => None,
                Some(found) => Some(FoundRow {
                    row: found.row,
                    version: found.version,
                    expires_at_ms: found.expires_at_ms,
                }),
            }),
            FoundRows::Indexed { rows, batch, next } => loop {
                if let Some(found) = batch.as_ref().filter(|batch| *next < batch.rows.num_rows()) {
                    *next += 1;
                    return Ok(Some(FoundRow {
                        row: Row::from_batch(&found.rows, *next - 1)?,
                        version: found.versions[*next - 1],
                        expires_at_ms: found.expiries_ms[*next - 1],
                    }));
                }
                (*batch, *next) = (rows.next().transpose()?, 0);
                if batch.is_none() {
                    return Ok(None);
                }
            },
        }
    }
}
