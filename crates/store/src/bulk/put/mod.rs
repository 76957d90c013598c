//! Bulk put: many streams of entries in, a report out.
//!
//! 1. `stream_parallelism` threads take the streams one after another and read each to its end, batch by batch.
//! 2. Each batch is aligned with its table's schema and encoded, column by column, into keys and values. Entries that do not
//!    fit are reported as failed, each with its stream, its position and the reason; the others go on.
//! 3. What is encoded is pushed into one load session of the engine, which sorts, removes duplicates and writes; it holds
//!    the pushing threads up when its memory is full, and so the streams.
//! 4. When a stream has ended and a flush of the session that began after its end has returned, all of its entries are
//!    durable: only then is it reported complete. A flush comes when all streams have ended, or when
//!    [`BulkPutOptions::flush_bytes_max`] are pending.
//! 5. Whatever ends the load early (a stream that fails or panics, a callback, too many errors, a time-out, a cancel), what was read before is
//!    flushed, and the error carries the report so far.

mod callbacks;
mod encode;
mod failure;
mod options;
mod outcomes;
mod progress;
mod report;
mod runner;
mod stream;

pub use callbacks::{BulkPutCallbacks, ExistingEntry, FailedEntry, NoCallbacks};
pub use failure::BulkPutError;
pub use options::{BulkPutOptions, Cancel, ErrorsMax};
pub use progress::Progress;
pub use report::{BulkPutReport, Counts, StreamReport};
pub(crate) use runner::run;
pub use stream::{EntryBatch, EntryStream, Payload, UnreadEntry, pair_stream, record_batch_stream, row_stream};
