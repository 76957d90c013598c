//! The embedded engine of Tonnage: rows in RocksDB.
//!
//! - A store is a directory with a `TONNAGE` file (`directory`) that names its data
//!   directories. Each of them is a shard: one RocksDB with two column families, `default` for what
//!   the engine notes (spaces, versions) and `rows`.
//! - The shard of a row is a hash of its shard key modulo the number of shards, fixed when the
//!   store is created.
//! - The key of a row is its space as four big-endian bytes, then its own key; its value is the
//!   header of [`tonnage_engine::Header`] and the payload.
//! - Small writes go through the write-ahead log in one batch (`write`); bulk loads are merged
//!   into files that are ingested (`load`). A gate (`shard`) and windows (`window`) keep the two
//!   from overwriting each other.
//! - Nothing damaged is ever returned as data: blocks are verified when read, and the write-ahead
//!   log is audited before RocksDB recovers from it (`wal`).

#![warn(missing_debug_implementations)]

mod attempt_outcome;
mod backlog;
mod batch_effects;
mod changes;
mod compaction;
mod copy;
mod database;
mod delete_range;
mod descriptors;
mod directory;
mod engine;
mod error;
mod estimate;
#[cfg(test)]
mod full_disk_tests;
mod group_sync;
#[cfg(test)]
mod hot_key_tests;
mod ingestion;
mod load;
mod maintenance;
mod manifest_watch;
mod open_store;
mod open_window;
mod range_locks;
mod read;
mod rows_family;
mod scan;
mod scanned_bytes;
mod settings;
mod shard;
mod spaces;
mod split;
mod stall;
mod table_index_location;
mod tracking;
mod verify;
mod version;
mod wal;
mod window;
mod write;
mod write_many;
mod write_throttle;

pub use directory::database_id::database_id;
pub use directory::restore::RestoreTarget;
pub use engine::RocksEngine;
pub use settings::{Compression, Settings};
