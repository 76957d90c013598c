//! Bulk put: many streams of entries in, a report out.
//!
//! 1. `stream_parallelism` threads take the streams one after another and read each to its end,
//!    batch by batch (`readers`).
//! 2. They hand each batch to the queue of the load (`load_queue`), and read the next one when it
//!    was put. Callers that push into a [`Load`] put batches into the same queue.
//! 3. Workers take batches out (`executor`). They align each batch with its table's schema and
//!    encode it, column by column, into keys and values. Entries that do not fit are reported as
//!    failed, each with its stream, its position and the reason; the others continue. Workers look
//!    tables up anew for each slice of a batch: a table that was altered meanwhile is written as it
//!    is now, and rows of one that was dropped fail.
//! 4. Workers push the encoded entries into one load session of the engine, which sorts, removes
//!    duplicates and writes. When its memory is full, the session holds the workers up, and so the
//!    streams.
//! 5. A stream is reported complete only when a flush of the session that began after the stream's
//!    end has returned: then all of its entries are durable. A flush comes:
//!    - when all streams have ended
//!    - when [`BulkPutOptions::flush_bytes_max`] are pending
//!    - every [`BulkPutOptions::flush_interval`]
//!    - when a stream has ended while the others wait
//!    - when another call waits for it to create an index or to drop a table
//! 6. Whatever ends the load early (a stream that fails or panics, a callback, too many errors, a
//!    timeout, a cancel), entries put before are flushed, and the error carries the report so far.
//!    A stream that does not come back is left to its thread.

mod callbacks;
mod encode;
mod executor;
mod failure;
mod load;
mod load_queue;
pub(crate) mod multi;
mod options;
mod outcomes;
mod progress;
mod rate;
mod readers;
mod report;
mod resources;
mod runner;
mod stream;
mod ttls;

pub(crate) use callbacks::NoCallbacks;
pub use callbacks::{BulkPutCallbacks, Entry, ExistingEntry, FailedEntry};
pub use failure::{BulkPutError, TooManyErrors};
pub use load::{Load, TryPush};
pub use options::{BulkPutOptions, ErrorsMax};
pub use progress::Progress;
pub use report::{BulkPutReport, Counts, StreamReport};
pub(crate) use runner::{run, run_in_memory};
pub use stream::{
    EntryBatch, EntryStream, Payload, UnreadEntry, computed_batch_stream, pair_stream,
    record_batch_stream, row_stream, row_stream_with_ttls,
};
