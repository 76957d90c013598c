//! The storage contract of Tonnage: batches of bytes in, batches of bytes out.
//!
//! Everything above this crate (tables, key/value pairs, bulk put, bulk get) speaks to storage
//! through one trait, [`Engine`]. Everything below it (memory, RocksDB, a cluster) implements that
//! trait and knows nothing of types or schemas.
//!
//! Three ideas carry the contract:
//!
//! - **Bulk is the primitive.** No method takes a single item: one is a batch of one. A batch is
//!   contiguous memory ([`Slices`], [`Entries`], [`Rows`]), never a vector of small vectors.
//! - **Items are grouped by shard key and ordered inside it.** A key is a run of bytes. The
//!   [`KeyShape`] of its space says where the shard key ends. An engine promises no more about
//!   placement and order. Its [`Capability`] lists further promises, and what it cannot do.
//! - **Nothing is silent.** Writes return what they did, and loads report every entry. An engine
//!   returns [`ErrorKind::Unsupported`] for what it cannot do.
//!
//! The memory engine ([`MemoryEngine`]) is the strict model that all others are compared with. The
//! conformance suite (`conformance`, under the feature of that name) runs against every engine.

#![warn(missing_debug_implementations)]

mod capability;
mod catch_panic;
mod checkpoint;
mod clock;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod cuts;
mod deadline;
mod engine;
mod entries;
mod error;
mod header;
mod level;
mod load;
mod machine;
mod maintenance;
mod memory;
mod part;
mod placement;
mod position;
mod range;
mod read;
mod rows;
mod scan;
mod shape;
mod shard;
mod slices;
mod space;
mod statistics;
pub mod sync;
mod tracking;
mod write;

pub use capability::Capability;
pub use catch_panic::catch_panic;
pub use checkpoint::{CheckpointFile, StagedCheckpoint};
pub use clock::{Clock, ManualClock, SystemClock};
pub use cuts::Cuts;
pub use deadline::Deadline;
pub use engine::Engine;
pub use entries::Entries;
pub use error::{Error, ErrorKind, ErrorLocation, Result};
pub use header::{Header, NEVER_MS};
pub use level::{Acks, Consistency, Levels};
pub use load::{LoadObserver, LoadOptions, LoadSession, OnExisting, StoredRun};
pub use machine::{cores, memory_bytes};
pub use maintenance::Maintenance;
pub use memory::MemoryEngine;
pub use part::Part;
pub use placement::placement_hash;
pub use position::{KeyPosition, ScanPosition, not_of_this_scan};
pub use range::{Ranges, append_successor};
pub use read::ReadOptions;
pub use rows::Rows;
pub use scan::{Direction, FillCache, FilterDecision, KeyFilter, Projection, ScanOptions, Scanner};
pub use shape::{KeyPart, KeyShape, SHARD_LEN, prefixed_shard};
pub use shard::ShardId;
pub use slices::Slices;
pub use space::{SpaceId, SpaceInfo};
pub use statistics::{Damage, ShardStatistics, Statistics, VerifyReport};
pub use tracking::{RangeChange, RangeChanges, Snapshot, TicketBook, TrackedRange};
pub use write::{Condition, Durability, Operation, WriteBatch, WriteOutcome};
