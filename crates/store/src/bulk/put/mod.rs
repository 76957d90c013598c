//! Bulk put: many streams of entries in, a report out.
//!
//! 1. `stream_parallelism` threads take the streams one after another and draw each to its end,
//!    batch by batch (`readers`).
//! 2. They hand each batch to the queue of the load (`load_queue`), and draw the next one when it
//!    was put. Who pushes into a [`Load`] leaves batches in the same queue.
//! 3. Workers take batches out (`executor`). Each batch is aligned with its table's schema and
//!    encoded, column by column, into keys and values. Entries that do not fit are reported as failed, each
//!    with its stream, its position and the reason; the others go on. Tables are looked up anew for
//!    each slice of a batch: one that is altered meanwhile is written as it is now, rows of one
//!    that is dropped fail.
//! 4. What is encoded is pushed into one load session of the engine, which sorts, removes
//!    duplicates and writes; it holds the workers up when its memory is full, and so the streams.
//! 5. When a stream has ended and a flush of the session that began after its end has returned, all
//!    of its entries are durable: only then is it reported complete. A flush comes when all streams
//!    have ended, when [`BulkPutOptions::flush_bytes_max`] are pending, every
//!    [`BulkPutOptions::flush_interval`], when a stream has ended while the others wait, and when
//!    somebody waits for it who makes an index or drops a table.
//! 6. Whatever ends the load early (a stream that fails or panics, a callback, too many errors, a
//!    time-out, a cancel), what was put before is flushed, and the error carries the report so far.
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

pub use callbacks::{BulkPutCallbacks, Entry, ExistingEntry, FailedEntry, NoCallbacks};
pub use failure::{BulkPutError, TooManyErrors};
pub use load::{Load, TryPush};
pub use options::{BulkPutOptions, ErrorsMax};
pub use progress::Progress;
pub use report::{BulkPutReport, Counts, StreamReport};
pub(crate) use runner::{run, run_in_memory};
pub use stream::{
    EntryBatch, EntryStream, Payload, UnreadEntry, pair_stream, record_batch_stream, row_stream,
    row_stream_with_ttls,
};
