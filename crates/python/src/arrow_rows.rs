//! Rows of files, Arrow tables and data frames as a stream of entries.
//!
//! All of them are cast by the rules of files, so that a table and the file that it was written to
//! store the same. Rows that do not fit are reported as failed.

use std::sync::Arc;

use arrow::array::RecordBatchReader;
use tonnage::{EntryBatch, EntryStream, Result, TableSchema, UnreadEntry};
use tonnage_files::{BatchCast, ColumnDefaults, ReadBatch, ReadOptions, RecordReader, Source};

use crate::arrow_in::{ArrowReader, failed};

/// Rows that are cast to the columns of their table.
pub(crate) struct ArrowRowStream<R> {
    read: R,
    name: String,
    table: Arc<str>,
}

/// The rows of an Arrow table, a data frame, or another source of record batches.
///
/// # Errors
/// For columns that their names do not distinguish.
pub(crate) fn rows_of_batches(
    table: &TableSchema,
    name: String,
    mut batches: ArrowReader,
) -> Result<Box<dyn EntryStream>> {
    let mut cast = BatchCast::new(&name, &batches.schema(), &options_of(table))?;
    let read = std::iter::from_fn(move || {
        let batch = batches.next()?.map_err(|error| failed(&error));
        Some(batch.and_then(|batch| cast.next(batch)))
    });
    Ok(Box::new(ArrowRowStream { read, name, table: table.path.as_str().into() }))
}

/// The rows of a file.
///
/// # Errors
/// When it cannot be opened, or is of no known format.
pub(crate) fn rows_of_file(
    table: &TableSchema,
    name: String,
    file: &Source,
) -> Result<Box<dyn EntryStream>> {
    let read = RecordReader::open(file, &options_of(table))?;
    Ok(Box::new(ArrowRowStream { read, name, table: table.path.as_str().into() }))
}

/// The table's types lead the reader: those guessed from the source might be others.
fn options_of(table: &TableSchema) -> ReadOptions {
    let defaults = ColumnDefaults::new(table.default_makers());
    ReadOptions { schema: Some(table.arrow_schema()), defaults, ..ReadOptions::default() }
}

impl<R: Iterator<Item = Result<ReadBatch>> + Send> EntryStream for ArrowRowStream<R> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        let Some(read) = self.read.next().transpose()? else { return Ok(None) };
        let rows = read.batch.num_rows();
        // Rows that were rejected leave gaps; without them rows follow each other as they are.
        let positions = match read.rejected.is_empty() {
            true => None,
            false => Some((0..rows).filter_map(|row| read.record(row)).collect()),
        };
        let unread = read.rejected.into_iter().map(|rejected| UnreadEntry {
            position: rejected.record,
            column: rejected.column,
            reason: match rejected.line {
                Some(line) => format!("line {line}: {}", rejected.reason),
                None => rejected.reason,
            },
        });
        let unread = unread.collect();
        Ok(Some(EntryBatch {
            positions,
            unread,
            ..EntryBatch::rows(self.table.clone(), read.batch)
        }))
    }
}
