//! Bulk put: streams of entries to a server.
//!
//! 1. Up to `stream_parallelism` threads read the streams, each one stream at a time. They check
//!    rows against the table as the server will, and report what does not fit while its batch is at
//!    hand.
//! 2. Each stream is one DoPut. Its rows wait in a queue of a few batches. Where the server takes
//!    nothing, nothing is read.
//! 3. A source that ends well sends the end marker. One that fails or is stopped ends without it:
//!    the server then stores what came, and never calls the stream completed.
//! 4. A stream is completed when the server says so, and only then.
//!
//! All streams of a call are one job of the server: they share a load and a limit of errors.

pub(crate) mod command;
mod job;
mod position;
mod reader;
mod server_message;
mod upload;
pub(crate) mod upload_state;

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use tonnage::{BulkPutError, BulkPutOptions, BulkPutReport, EntryStream};

use crate::limits::CallLimits;
use crate::store::RemoteStore;
use job::PutJob;

/// How often limits are looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long a stopped load waits for sources that still read.
const READERS_GRACE: Duration = Duration::from_millis(250);
/// How long a stopped load waits for the server to tell what it stored.
const SERVER_GRACE: Duration = Duration::from_secs(10);

impl RemoteStore {
    /// Puts the entries of all streams, as [`tonnage::Store::bulk_put`] does. Each stream has rows
    /// of one table, or pairs. The server limits the memory of the load; it may be asked to use
    /// less.
    ///
    /// # Errors
    /// Why it stopped, with what was stored until then. When the connection was lost, rows that
    /// were sent and not reported as stored may be stored or not.
    pub fn bulk_put(
        &self,
        streams: Vec<Box<dyn EntryStream>>,
        options: &BulkPutOptions,
    ) -> std::result::Result<BulkPutReport, BulkPutError> {
        let started = Instant::now();
        command::check(options)?;
        let timeout = [options.timeout, self.timeout()].into_iter().flatten().min();
        let limits =
            [CallLimits::begin(&options.cancel, timeout), CallLimits::begin(self.cancel(), None)];
        let names = streams.iter().map(|stream| stream.name()).collect();
        let (sender, ended) = channel();
        let job = Arc::new(PutJob::new(self.clone(), options.clone(), names, sender));
        let count = streams.len();
        reader::read_all(&job, streams);
        let mut left = count;
        let mut stopped_at: Option<Instant> = None;
        while left > 0 {
            match ended.recv_timeout(LOOK) {
                Ok(()) => left -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let limit = limits.iter().find_map(|limits| limits.check().err());
            if let Some(error) = limit.filter(|_| !job.is_stopped()) {
                job.stop(error);
            }
            if !job.is_stopped() {
                continue;
            }
            // A source may block for ever. Its upload then ends without it, and the server says
            // what it stored.
            let waited = stopped_at.get_or_insert_with(Instant::now).elapsed();
            if waited >= READERS_GRACE {
                job.hang_up();
            }
            // Sources that never began have nothing at the server.
            if waited >= SERVER_GRACE || waited >= READERS_GRACE && !job.waits_for_server() {
                break;
            }
        }
        job.result(started.elapsed())
    }
}
