//! Passes the callbacks of a load to the streams that share it, and turns messages into record
//! batches.

use std::sync::{Arc, RwLock};

use arrow::array::{RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tonnage::internal::sync::{read, write};
use tonnage::{BulkPutCallbacks, Error, ExistingEntry, FailedEntry, Result, StreamReport};

use super::outbox::{Outbox, PutMessage};
use super::report_backlog::FailureReport;

/// Hands what a load calls back to the streams that share it.
pub(crate) struct StreamCallbacks {
    streams: RwLock<Vec<Option<Arc<Outbox>>>>,
    durability: String,
}

impl StreamCallbacks {
    pub(crate) fn new(durability: String) -> Self {
        Self { streams: RwLock::default(), durability }
    }

    /// From now on reports of a stream are sent to this outbox.
    pub(crate) fn register(&self, stream: usize, outbox: &Arc<Outbox>) {
        let mut streams = write(&self.streams);
        if streams.len() <= stream {
            streams.resize(stream + 1, None);
        }
        streams[stream] = Some(outbox.clone());
    }

    /// A stream is over. A load may have thousands of them: nothing is kept of those that ended.
    pub(crate) fn forget(&self, stream: usize) {
        let mut streams = write(&self.streams);
        if let Some(outbox) = streams.get_mut(stream) {
            *outbox = None;
        }
    }

    /// Nothing without a listener.
    fn with_outbox<T>(&self, stream: usize, tell: impl FnOnce(&Outbox) -> T) -> Option<T> {
        let streams = read(&self.streams);
        streams.get(stream)?.as_deref().map(tell)
    }
}

impl BulkPutCallbacks for StreamCallbacks {
    fn existing(&self, entry: &ExistingEntry<'_>) -> Result<()> {
        self.with_outbox(entry.stream, |outbox| outbox.existing(entry.position)).unwrap_or(Ok(()))
    }

    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        let failure = || FailureReport {
            position: entry.position,
            column: entry.column.map(str::to_owned),
            reason: entry.reason.to_owned(),
        };
        self.with_outbox(entry.stream, |outbox| outbox.failed(failure)).unwrap_or(Ok(()))
    }

    fn durable(&self, stream: usize, position: u64) {
        self.with_outbox(stream, |outbox| outbox.durable(position));
    }

    fn completed(&self, report: &StreamReport) {
        self.with_outbox(report.stream, |outbox| {
            outbox.complete(report.stream, report.counts, &self.durability);
        });
    }
}

/// The columns of reports.
pub(crate) fn report_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("position", DataType::UInt64, false),
        Field::new("outcome", DataType::Utf8, false),
        Field::new("column", DataType::Utf8, true),
        Field::new("reason", DataType::Utf8, true),
    ]))
}

/// A message as rows: one for each entry that it reports, and none for most messages.
pub(crate) fn report_batch(message: &PutMessage) -> Result<RecordBatch> {
    type Line<'a> = (u64, &'static str, Option<&'a str>, Option<&'a str>);
    let lines: Vec<Line<'_>> = match message {
        PutMessage::Existing(positions) => {
            positions.iter().map(|position| (*position, "existing", None, None)).collect()
        }
        PutMessage::Failed(failures) => failures
            .iter()
            .map(|failure| {
                let column = failure.column.as_deref();
                (failure.position, "failed", column, Some(failure.reason.as_str()))
            })
            .collect(),
        _ => Vec::new(),
    };
    let positions: UInt64Array = lines.iter().map(|line| Some(line.0)).collect();
    let outcomes: StringArray = lines.iter().map(|line| Some(line.1)).collect();
    let columns: StringArray = lines.iter().map(|line| line.2).collect();
    let reasons: StringArray = lines.iter().map(|line| line.3).collect();
    RecordBatch::try_new(
        report_schema(),
        vec![Arc::new(positions), Arc::new(outcomes), Arc::new(columns), Arc::new(reasons)],
    )
    .map_err(|error| Error::internal(format!("a report cannot be made: {error}")))
}
