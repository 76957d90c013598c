//! Callbacks of a bulk put that record their arguments.

use std::sync::{Arc, Mutex};

use tonnage::{
    BulkPutCallbacks, BulkPutOptions, ExistingEntry, FailedEntry, Result, Row, StreamReport,
};

/// An existing entry that was called back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Existing {
    pub(crate) stream: usize,
    pub(crate) position: u64,
    pub(crate) table: String,
    pub(crate) key: Row,
    /// The whole row; nothing for a pair.
    pub(crate) row: Option<Row>,
    /// The value of a pair.
    pub(crate) value: Option<Vec<u8>>,
}

/// A failed entry that was called back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) stream: usize,
    pub(crate) position: u64,
    pub(crate) column: Option<String>,
    pub(crate) reason: String,
}

type Hook<T> = Option<Box<dyn Fn(&T) -> Result<()> + Send + Sync>>;

/// Writes down every call, then does what the hooks say.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) existing: Mutex<Vec<Existing>>,
    pub(crate) failed: Mutex<Vec<Failed>>,
    pub(crate) completed: Mutex<Vec<StreamReport>>,
    pub(crate) on_existing: Hook<Existing>,
    pub(crate) on_failed: Hook<Failed>,
    pub(crate) on_completed: Hook<StreamReport>,
}

impl Recorder {
    /// Options whose callbacks are this recorder.
    pub(crate) fn watch(self, options: BulkPutOptions) -> (Arc<Recorder>, BulkPutOptions) {
        let recorder = Arc::new(self);
        (recorder.clone(), BulkPutOptions { callbacks: recorder, ..options })
    }

    pub(crate) fn existing(&self) -> Vec<Existing> {
        self.existing.lock().unwrap().clone()
    }

    /// Stream and position of each existing entry, sorted.
    pub(crate) fn existing_places(&self) -> Vec<(usize, u64)> {
        let mut places: Vec<_> =
            self.existing().iter().map(|entry| (entry.stream, entry.position)).collect();
        places.sort_unstable();
        places
    }

    /// What failed, by stream and position.
    pub(crate) fn failed(&self) -> Vec<Failed> {
        let mut failed = self.failed.lock().unwrap().clone();
        failed.sort_by_key(|entry| (entry.stream, entry.position));
        failed
    }

    pub(crate) fn completed(&self) -> Vec<StreamReport> {
        self.completed.lock().unwrap().clone()
    }
}

fn run<T>(hook: &Hook<T>, told: &T) -> Result<()> {
    hook.as_ref().map_or(Ok(()), |hook| hook(told))
}

impl BulkPutCallbacks for Recorder {
    fn existing(&self, entry: &ExistingEntry<'_>) -> Result<()> {
        let (table, key) = entry.table_and_key()?;
        let value = entry.pair().map(|(_, value)| value.to_vec());
        let (stream, position, row) = (entry.stream, entry.position, entry.row()?);
        let entry = Existing { stream, position, table, key, row, value };
        self.existing.lock().unwrap().push(entry.clone());
        run(&self.on_existing, &entry)
    }

    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        let column = entry.column.map(str::to_string);
        let entry = Failed {
            stream: entry.stream,
            position: entry.position,
            column,
            reason: entry.reason.to_string(),
        };
        self.failed.lock().unwrap().push(entry.clone());
        run(&self.on_failed, &entry)
    }

    fn completed(&self, stream: &StreamReport) {
        self.completed.lock().unwrap().push(stream.clone());
        run(&self.on_completed, stream).unwrap();
    }
}
