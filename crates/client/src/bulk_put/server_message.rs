//! The messages that a server sends about one stream.

use serde::Deserialize;
use tonnage::Counts;

/// One message. Those that there are not here are passed over.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ServerMessage {
    pub(super) progress: Option<CountsMessage>,
    pub(super) failed: Option<Vec<FailedRow>>,
    pub(super) completed: Option<CompletedMessage>,
    pub(super) stopped: Option<StoppedMessage>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FailedRow {
    pub(super) position: u64,
    pub(super) column: Option<String>,
    pub(super) reason: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct CompletedMessage {
    pub(super) counts: CountsMessage,
}

#[derive(Debug, Deserialize)]
pub(super) struct StoppedMessage {
    pub(super) kind: String,
    /// Which error of its kind it is, of those that programs tell apart.
    pub(super) code: Option<String>,
    pub(super) message: String,
    pub(super) flushed: bool,
    pub(super) counts: CountsMessage,
}

/// Counts, as messages tell them.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct CountsMessage {
    read: u64,
    inserted: u64,
    existed: u64,
    overtaken: u64,
    failed: u64,
    bytes: u64,
}

impl From<CountsMessage> for Counts {
    fn from(told: CountsMessage) -> Self {
        let CountsMessage { read, inserted, existed, overtaken, failed, bytes } = told;
        Counts { read, inserted, existed, overtaken, failed, bytes }
    }
}
