//! Reads rows and keys from Python's iterators.
//!
//! A thread of the store attaches to the interpreter, takes up to 4,096 items, turns them into
//! values, and detaches: once for each batch.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyIterator;
use tonnage::internal::sync::lock;
use tonnage::{
    BulkKey, EntryBatch, EntryStream, Error, Key, Pairs, Payload, Result, Row, UnreadEntry,
};

use crate::error::from_python;
use crate::key::to_native_key;
use crate::value::{bytes_of, to_key, to_row};

/// Items that one attach takes.
const ITEMS_MAX: usize = 4_096;
/// How long it takes them: what comes slowly is handed on sooner.
const BATCH_TIME_MAX: Duration = Duration::from_millis(50);

/// The exception that a source raised, for the caller to raise again.
#[derive(Clone, Default)]
pub(crate) struct RaisedError(Arc<Mutex<Option<PyErr>>>);

impl RaisedError {
    pub(crate) fn set(&self, error: PyErr) {
        lock(&self.0).get_or_insert(error);
    }

    pub(crate) fn take(&self) -> Option<PyErr> {
        lock(&self.0).take()
    }
}

/// An iterator of Python's, drawn from in batches.
struct PythonItems {
    iterator: Option<Py<PyIterator>>,
    what: String,
    raised: RaisedError,
}

impl PythonItems {
    /// Gives each of the next items to `take`; false at the end.
    fn draw(&mut self, mut take: impl FnMut(&Bound<'_, PyAny>) -> PyResult<()>) -> Result<bool> {
        let Some(iterator) = &self.iterator else { return Ok(false) };
        let drawn = Python::try_attach(|py| -> PyResult<bool> {
            let mut iterator = iterator.bind(py).clone();
            let begun = Instant::now();
            for _ in 0..ITEMS_MAX {
                match iterator.next() {
                    Some(item) => take(&item?)?,
                    None => return Ok(false),
                }
                // The interpreter's lock is held here: a slow source would starve other threads.
                if begun.elapsed() > BATCH_TIME_MAX {
                    break;
                }
            }
            Ok(true)
        });
        match drawn {
            Some(Ok(goes_on)) => {
                if !goes_on {
                    self.end();
                }
                Ok(goes_on)
            }
            Some(Err(error)) => {
                // The store gets the error as text. The caller raises the exception itself.
                let told = from_python(&self.what, &error);
                self.raised.set(error);
                self.end();
                Err(told)
            }
            None => Err(Error::cancelled("the interpreter is shutting down")),
        }
    }

    /// Lets go of the iterator, with the interpreter's lock held.
    fn end(&mut self) {
        let iterator = self.iterator.take();
        let _ = Python::try_attach(|_| drop(iterator));
    }
}

/// Rows for one table, out of mappings or sequences.
pub(crate) struct RowStream {
    items: PythonItems,
    name: String,
    table: Arc<str>,
    columns: Vec<String>,
    position: u64,
}

impl RowStream {
    pub(crate) fn new(
        rows: Py<PyIterator>,
        name: String,
        table: Arc<str>,
        columns: Vec<String>,
        raised: RaisedError,
    ) -> Self {
        let what = format!("the rows for table '{table}'");
        Self {
            items: PythonItems { iterator: Some(rows), what, raised },
            name,
            table,
            columns,
            position: 0,
        }
    }
}

impl EntryStream for RowStream {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        let mut rows: Vec<Row> = Vec::with_capacity(ITEMS_MAX);
        let (mut positions, mut unread) = (Vec::with_capacity(ITEMS_MAX), Vec::new());
        let Self { items, columns, position, .. } = self;
        let goes_on = items.draw(|item| {
            match to_row(item, columns) {
                Ok(row) => {
                    rows.push(row);
                    positions.push(*position);
                }
                // An item that is not a row fails alone: errors_max decides whether the load
                // continues.
                Err(error) => unread.push(UnreadEntry {
                    position: *position,
                    column: None,
                    reason: error.value(item.py()).to_string(),
                }),
            }
            *position += 1;
            Ok(())
        })?;
        if !goes_on && rows.is_empty() && unread.is_empty() {
            return Ok(None);
        }
        Ok(Some(EntryBatch {
            // Items that failed leave gaps, so rows do not follow each other in the source.
            positions: Some(positions),
            unread,
            ..Payload::Rows { table: self.table.clone(), rows }.into()
        }))
    }
}

/// Key/value pairs, out of tuples of a key and bytes.
pub(crate) struct PairStream {
    items: PythonItems,
    position: u64,
}

impl PairStream {
    pub(crate) fn new(pairs: Py<PyIterator>, raised: RaisedError) -> Self {
        let what = "the source of pairs".to_owned();
        Self { items: PythonItems { iterator: Some(pairs), what, raised }, position: 0 }
    }
}

impl EntryStream for PairStream {
    fn name(&self) -> String {
        "pairs".to_owned()
    }

    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        let mut pairs = Pairs::new();
        let (mut positions, mut unread) = (Vec::with_capacity(ITEMS_MAX), Vec::new());
        let Self { items, position } = self;
        let goes_on = items.draw(|item| {
            let pushed = item
                .extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()
                .and_then(|(key, value)| Ok((to_native_key(&key)?, bytes_of(&value)?)))
                .map_err(|error| error.value(item.py()).to_string())
                .and_then(|(key, value)| {
                    pairs.push(&key, &value).map_err(|error| error.message().to_owned())
                });
            // An item that is not a pair fails alone: errors_max decides about the load.
            match pushed {
                Ok(()) => positions.push(*position),
                Err(reason) => {
                    unread.push(UnreadEntry { position: *position, column: None, reason });
                }
            }
            *position += 1;
            Ok(())
        })?;
        if !goes_on && pairs.is_empty() && unread.is_empty() {
            return Ok(None);
        }
        Ok(Some(EntryBatch { positions: Some(positions), unread, ..EntryBatch::pairs(pairs) }))
    }
}

/// What makes a key out of an item.
type MakeKey<K> = Box<dyn Fn(&Bound<'_, PyAny>) -> PyResult<K> + Send>;

/// An iterator of keys, each built by `make`.
pub(crate) struct KeyItems<K> {
    items: PythonItems,
    waiting: std::vec::IntoIter<K>,
    make: MakeKey<K>,
}

impl<K> Iterator for KeyItems<K> {
    type Item = Result<K>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(key) = self.waiting.next() {
            return Some(Ok(key));
        }
        let mut keys = Vec::with_capacity(ITEMS_MAX);
        let Self { items, make, .. } = self;
        let drawn = items.draw(|item| {
            keys.push(make(item)?);
            Ok(())
        });
        self.waiting = keys.into_iter();
        match (self.waiting.next(), drawn) {
            (Some(key), Ok(_)) => Some(Ok(key)),
            // The keys before a failure are lost with it: the read fails anyway.
            (_, Err(error)) => {
                self.waiting = Vec::new().into_iter();
                Some(Err(error))
            }
            (None, Ok(_)) => None,
        }
    }
}

/// Keys of a table.
pub(crate) fn table_keys(
    keys: Py<PyIterator>,
    key_columns: Vec<String>,
    raised: RaisedError,
) -> KeyItems<BulkKey> {
    let what = "the source of keys".to_owned();
    KeyItems {
        items: PythonItems { iterator: Some(keys), what, raised },
        waiting: Vec::new().into_iter(),
        make: Box::new(move |key| to_key(key, &key_columns).map(BulkKey::Row)),
    }
}

/// Keys of pairs.
pub(crate) fn pair_keys(keys: Py<PyIterator>, raised: RaisedError) -> KeyItems<Key> {
    let what = "the source of keys".to_owned();
    KeyItems {
        items: PythonItems { iterator: Some(keys), what, raised },
        waiting: Vec::new().into_iter(),
        make: Box::new(to_native_key),
    }
}
