//! The counts and the state of one stream while it runs.

use std::time::Duration;

use tonnage::{BulkPutReport, Counts, StreamReport};

use super::position::SourcePositions;

#[derive(Debug, Default)]
pub(super) struct UploadState {
    /// Entries that never went to the server: unreadable, or unfit for the table.
    pub(super) refused: u64,
    pub(super) positions: SourcePositions,
    /// The last report of the server.
    pub(super) told: Counts,
    /// Whether the server was asked to take the stream.
    pub(super) is_sent: bool,
    /// Whether nothing more is to come of it.
    pub(super) is_ended: bool,
    pub(super) is_completed: bool,
    /// Whether all that was sent is stored.
    pub(super) is_flushed: bool,
}

impl UploadState {
    /// Entries read from the source.
    pub(super) fn read(&self) -> u64 {
        self.refused + self.positions.sent()
    }

    pub(super) fn failed(&self) -> u64 {
        self.refused + self.told.failed
    }

    pub(super) fn report(&self, stream: usize, name: &str) -> StreamReport {
        let counts = Counts { read: self.read(), failed: self.failed(), ..self.told };
        StreamReport { stream, name: name.to_owned(), counts, completed: self.is_completed }
    }
}

/// Adds counts up.
fn add(total: &mut Counts, counts: Counts) {
    total.read += counts.read;
    total.inserted += counts.inserted;
    total.existed += counts.existed;
    total.overtaken += counts.overtaken;
    total.failed += counts.failed;
    total.bytes += counts.bytes;
}

/// What is known of each stream in the end.
pub(crate) fn report_of(streams: Vec<StreamReport>, elapsed: Duration) -> BulkPutReport {
    let mut report = BulkPutReport::default();
    report.seconds = elapsed.as_secs_f64();
    for stream in &streams {
        add(&mut report.total, stream.counts);
    }
    report.streams = streams;
    report
}
