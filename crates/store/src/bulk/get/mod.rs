//! Bulk get: many keys in, rows out, as record batches.
//!
//! 1. A dispatcher thread takes keys from their source, checks and encodes them, and cuts them into
//!    tasks. Whole keys become point reads, gathered, sorted and rid of duplicates. Partial keys
//!    become ranges. Tasks are small at first, so that first rows come soon, and grow. A thread of
//!    its own draws from a source that may wait: when nothing comes for a short time, the keys that
//!    are there become a task.
//! 2. [`BulkGetOptions::max_concurrent_requests`] workers each take a task, read it from the engine
//!    batch by batch, decode the columns asked for, and hand the batches on. All queues between the
//!    threads are bounded, so the reader sets the pace. A scan of a whole table is the same with
//!    one range for each part that the engine cuts the table into.
//! 3. Unordered results come as they are ready. Ordered ones (`forward`, `reverse`) come in the
//!    order of the keys: each task has a small queue of its own, and the queues are read one after
//!    another.
//! 4. The error of a failing key source, or of a bad key, comes after the rows of the keys before
//!    it.
//!
//! [`Store::multi_get`](crate::Store::multi_get) does the same for many tables in one call.

mod ancestors;
mod chunk;
mod cut;
mod interleaved;
mod item_source;
mod key_pieces;
mod keys;
mod multi;
mod options;
mod result;
mod result_table;
mod resume;
mod scan;
mod shaper;
mod source;
mod table;
mod table_batch;
mod table_scan;

pub use crate::read::origin::KeyOrigin;
pub(crate) use item_source::{
    BATCHES_MAX, ItemSource, SINGLE_ITEMS_MAX, SourcePoll, WaitLimit, has_items_in_memory,
};
pub use key_pieces::{ItemPieces, KeyPiece, KeyPieces};
pub(crate) use keys::keys_left;
pub use multi::{MultiGet, MultiGetRequest};

pub(crate) use cut::{cut, rows_in_range};
pub use interleaved::{BulkGetInterleaved, InterleavedBatch};
pub(crate) use multi::multi_get;
pub use options::BulkGetOptions;
pub(crate) use options::KEY_MEMORY_BYTES;
pub use result::{BulkGet, BulkGetRows, RelatedRow};
pub(crate) use resume::ResumePoint;
pub use resume::ResumeToken;
pub(crate) use scan::{PARTS_PER_WORKER, SpaceParts, count, count_space};
pub use source::{BulkKey, KeySender, KeySource};
pub(crate) use table::{bulk_get, scan, scan_part, scan_parts};
pub use table_batch::TableBatch;
pub use table_scan::TableScanOptions;
