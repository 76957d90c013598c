//! The records that a load could not store, kept for those who ask once it has ended.

use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use tonnage::internal::sync::lock;
use tonnage::{BulkPutCallbacks, ExistingEntry, FailedEntry, Result, StreamReport};

/// Records of one load that are kept: the first ones.
const REJECTS_MAX: usize = 1_000;
/// Bytes of a reason, and of a row, that are kept.
const TEXT_BYTES_MAX: usize = 512;

/// A record that was not stored.
#[derive(Clone, Debug)]
pub(crate) struct Reject {
    stream: usize,
    stream_name: String,
    /// Its position in the stream, from 0.
    pub(crate) record: u64,
    pub(crate) column: Option<String>,
    pub(crate) reason: String,
    /// The row as JSON, as far as it could be read; cut where it is long.
    row: Option<String>,
}

impl Reject {
    fn of(failed: &FailedEntry<'_>) -> Self {
        let row = failed.entry.as_ref().and_then(|entry| entry.row().ok().flatten());
        let row = row.map(|row| {
            let cells = row.iter().map(|(name, value)| (name.to_string(), value.to_json()));
            cut(Json::Object(cells.collect()).to_string())
        });
        Self {
            stream: failed.stream,
            stream_name: failed.stream_name.to_owned(),
            record: failed.position,
            column: failed.column.map(str::to_owned),
            reason: cut(failed.reason.to_owned()),
            row,
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        json!({
            "stream": self.stream,
            "name": self.stream_name,
            "record": self.record,
            "column": self.column,
            "reason": self.reason,
            "row": self.row,
        })
    }

    /// The cells of a line of CSV, as [`Reject::COLUMNS`] names them.
    pub(crate) fn cells(&self) -> [String; 6] {
        [
            self.stream.to_string(),
            self.stream_name.clone(),
            self.record.to_string(),
            self.column.clone().unwrap_or_default(),
            self.reason.clone(),
            self.row.clone().unwrap_or_default(),
        ]
    }

    pub(crate) const COLUMNS: [&str; 6] = ["stream", "name", "record", "column", "reason", "row"];
}

/// The beginning of a text, where it is long.
fn cut(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        text.push('…');
    }
    text
}

/// The first records that a load could not store.
#[derive(Debug, Default)]
pub(crate) struct RejectList(Mutex<Vec<Reject>>);

impl RejectList {
    pub(crate) fn count(&self) -> usize {
        lock(&self.0).len()
    }

    pub(crate) fn all(&self) -> Vec<Reject> {
        lock(&self.0).clone()
    }

    fn note(&self, failed: &FailedEntry<'_>) {
        let mut rejects = lock(&self.0);
        if rejects.len() < REJECTS_MAX {
            rejects.push(Reject::of(failed));
        }
    }
}

/// The callbacks of a load, with its rejects noted on the way.
pub(crate) struct NotingCallbacks<C> {
    pub(crate) inner: Arc<C>,
    pub(crate) rejects: Arc<RejectList>,
}

impl<C: BulkPutCallbacks> BulkPutCallbacks for NotingCallbacks<C> {
    fn existing(&self, entry: &ExistingEntry<'_>) -> Result<()> {
        self.inner.existing(entry)
    }

    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        self.rejects.note(entry);
        self.inner.failed(entry)
    }

    fn durable(&self, stream: usize, position: u64) {
        self.inner.durable(stream, position);
    }

    fn completed(&self, stream: &StreamReport) {
        self.inner.completed(stream);
    }
}
