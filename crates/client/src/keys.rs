//! Keys of a table as record batches for a server.

use std::sync::{Arc, Mutex};

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use tonnage::internal::sync::lock;
use tonnage::internal::{KeyPiece, KeyPieces};
use tonnage::{BulkKey, Error, KeySource, Result, Row, TableEntry, TableSchema, Value};

use crate::row_batch::batch_of;

/// Single keys that one batch has.
const KEYS_MAX: usize = 4_096;

/// Positions of keys that are not sent, in ascending order.
pub(crate) type LeftOutKeys = Arc<Mutex<Vec<u64>>>;

/// The keys of a source as batches of leading key columns.
pub(crate) struct KeyBatches {
    entry: Arc<TableEntry>,
    pieces: KeyPieces,
    /// The position of the next single key.
    position: u64,
    left_out: LeftOutKeys,
}

impl KeyBatches {
    pub(crate) fn new(entry: Arc<TableEntry>, keys: KeySource) -> Self {
        Self::of_pieces(entry, KeyPieces::new(keys, KEYS_MAX))
    }

    pub(crate) fn of_pieces(entry: Arc<TableEntry>, pieces: KeyPieces) -> Self {
        Self { entry, pieces, position: 0, left_out: LeftOutKeys::default() }
    }

    /// The columns of all batches, where they are known before the first of them.
    pub(crate) fn schema(&self) -> Option<SchemaRef> {
        let fields = || self.entry.schema.key_columns().map(|column| column.to_arrow());
        let open = || fields().map(|field| field.with_nullable(true)).collect::<Vec<_>>();
        self.pieces.are_single().then(|| Arc::new(Schema::new(open())))
    }

    /// Whether there are no keys, as far as is known without waiting.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Keys that no row can have, and that are not sent.
    pub(crate) fn left_out(&self) -> LeftOutKeys {
        self.left_out.clone()
    }

    /// The key, where one comes alone.
    ///
    /// # Errors
    /// `Invalid` for what is not a key of the table.
    pub(crate) fn only_key(&mut self) -> Result<Option<Row>> {
        if !self.pieces.is_one() {
            return Ok(None);
        }
        match self.pieces.next().transpose()? {
            Some(KeyPiece::Keys(keys)) => {
                keys.into_iter().next().map(|key| full_key(&self.entry.schema, key)).transpose()
            }
            _ => Ok(None),
        }
    }

    /// A batch of such a key.
    ///
    /// # Errors
    /// As [`KeyBatches::only_key`].
    pub(crate) fn batch_of(&mut self, keys: Vec<Row>) -> Result<RecordBatch> {
        let table = &self.entry.schema;
        let mut sent = Vec::with_capacity(keys.len());
        for key in keys {
            // Rounded, it would find the row of another key.
            match fits_key_columns(table, &key) {
                true => sent.push(key),
                false => lock(&self.left_out).push(self.position),
            }
            self.position += 1;
        }
        match sent.is_empty() {
            true => {
                Ok(RecordBatch::new_empty(self.schema().unwrap_or_else(|| Schema::empty().into())))
            }
            false => batch_of(table, &sent),
        }
    }

    fn batch(&mut self, piece: KeyPiece) -> Result<RecordBatch> {
        let keys = match piece {
            KeyPiece::Batch(batch) => return Ok(batch),
            KeyPiece::Keys(keys) => keys.into_iter().enumerate(),
        };
        let first = self.position;
        let keys = keys.map(|(number, key)| {
            let at = |error: Error| error.at(format_args!("key {}", first + number as u64));
            full_key(&self.entry.schema, key).map_err(at)
        });
        let keys = keys.collect::<Result<Vec<_>>>()?;
        self.batch_of(keys)
    }
}

impl Iterator for KeyBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = self.pieces.next()?;
        Some(piece.and_then(|piece| self.batch(piece)))
    }
}

/// The key with NULL for what it leaves open, so that all keys have the same columns.
fn full_key(table: &TableSchema, key: BulkKey) -> Result<Row> {
    let columns = || table.key_columns().map(|column| column.name.as_str());
    let row = match key {
        BulkKey::OfTable(path, _) if !path.eq_ignore_ascii_case(&table.path) => {
            return Err(Error::invalid(format!(
                "it is a key of table {path}, and {} is read",
                table.path
            )));
        }
        BulkKey::Row(row) | BulkKey::OfTable(_, row) => row,
        BulkKey::Values(values) if values.len() > columns().len() => {
            return Err(Error::invalid(format!(
                "it has {} values, the key of {} has {}",
                values.len(),
                table.path,
                columns().len()
            )));
        }
        BulkKey::Values(values) => columns().zip(values).collect(),
    };
    // A value without a column would get lost silently below.
    let is_key = |name: &str| columns().any(|column| column.eq_ignore_ascii_case(name));
    if let Some((name, _)) = row.iter().find(|(name, _)| !is_key(name)) {
        let columns = columns().collect::<Vec<_>>().join(", ");
        return Err(Error::invalid(format!("'{name}' is not a key column: these are {columns}")));
    }
    // NULL leaves a column open: the server reads the rows below the columns before it.
    let cell = |name: &str| (name.to_owned(), row.get(name).cloned().unwrap_or(Value::Null));
    Ok(columns().map(cell).collect())
}

/// Whether a row can have the key: none has one that a column would round.
fn fits_key_columns(table: &TableSchema, key: &Row) -> bool {
    table.key_columns().all(|column| {
        let Some(value) = key.get(&column.name) else { return true };
        // What is not a value of the column is an error, reported with its batch.
        value.convert_to(column.column_type).map_or(true, |held| value.is_kept_as(&held))
    })
}
