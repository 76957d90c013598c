//! Sources as Tonnage wants them, and what a source that fails leaves behind.

use std::sync::{Arc, Mutex, PoisonError};

use tonnage::arrow::array::{ArrayRef, BinaryBuilder, RecordBatch, StringBuilder};
use tonnage::{EntryBatch, EntryStream, Error, Key, Pairs, Result};

use super::{KeySource, PairSource, RecordShape, RecordSource, RowSource};

/// The key of a pair, which benchmarks write as text.
pub(super) fn text_key(key: &[u8]) -> Result<Key> {
    let key = std::str::from_utf8(key)
        .map_err(|error| Error::invalid("the key is not text").with_source(error))?;
    Ok(Key::of_major([key]))
}

/// Pairs as a stream of a bulk put.
pub(super) struct PairFeed(pub(super) Box<dyn PairSource>);

impl EntryStream for PairFeed {
    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        let mut pairs = Pairs::new();
        let more = self.0.next_batch(&mut |key, value| pairs.push_parts(&[key], &[], value))?;
        Ok(more.then(|| EntryBatch::pairs(pairs)))
    }
}

/// YCSB's records as a stream of a bulk put: a batch of the table's columns.
pub(super) struct RecordFeed {
    pub(super) shape: RecordShape,
    pub(super) table: Arc<str>,
    pub(super) source: Box<dyn RecordSource>,
}

impl EntryStream for RecordFeed {
    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        let mut keys = StringBuilder::new();
        let mut fields: Vec<BinaryBuilder> =
            (0..self.shape.fields).map(|_| BinaryBuilder::new()).collect();
        let more = self.source.next_batch(&mut |key, record| {
            check_fields(&self.shape, record.len())?;
            keys.append_value(key);
            fields
                .iter_mut()
                .zip(record.fields())
                .for_each(|(column, field)| column.append_value(field));
            Ok(())
        })?;
        if !more {
            return Ok(None);
        }
        let fields = fields
            .iter_mut()
            .enumerate()
            .map(|(number, column)| (field_name(number), Arc::new(column.finish()) as ArrayRef));
        let columns =
            std::iter::once(("id".to_owned(), Arc::new(keys.finish()) as ArrayRef)).chain(fields);
        let batch = RecordBatch::try_from_iter(columns)
            .map_err(|error| Error::internal(format!("a batch of records: {error}")))?;
        Ok(Some(EntryBatch::rows(self.table.clone(), batch)))
    }
}

/// The name of a field of YCSB's records.
pub(super) fn field_name(number: usize) -> String {
    format!("field{number}")
}

/// Refuses a record that is not of the shape.
pub(super) fn check_fields(shape: &RecordShape, fields: usize) -> Result<()> {
    if fields == shape.fields {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "a record has {fields} fields, those of {} have {}",
        shape.table, shape.fields
    )))
}

/// Rows as a stream of a bulk put.
pub(super) struct RowFeed {
    pub(super) table: Arc<str>,
    pub(super) source: Box<dyn RowSource>,
}

impl EntryStream for RowFeed {
    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        Ok(self.source.next_batch()?.map(|rows| EntryBatch::rows(self.table.clone(), rows)))
    }
}

/// Keys of rows as an iterator that may fail.
pub(super) struct RowKeys(pub(super) Box<dyn RowSource>);

impl Iterator for RowKeys {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_batch().transpose()
    }
}

/// Where a source leaves its error when its reader takes none.
#[derive(Clone, Default)]
pub(super) struct SourceFailure(Arc<Mutex<Option<Error>>>);

impl SourceFailure {
    /// The error, if there was one.
    pub(super) fn check(&self) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// Keys of pairs as an iterator that ends at a failure.
pub(super) struct PairKeys {
    pub(super) source: Box<dyn KeySource>,
    pub(super) failure: SourceFailure,
}

impl Iterator for PairKeys {
    type Item = Pairs;

    fn next(&mut self) -> Option<Self::Item> {
        let mut keys = Pairs::new();
        match self.source.next_batch(&mut |key| keys.push_parts(&[key], &[], &[])) {
            Ok(more) => more.then_some(keys),
            Err(error) => {
                *self.failure.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                None
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.source.batches_left();
        (left.unwrap_or(0), left)
    }
}
