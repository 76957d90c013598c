//! The engine over RocksDB, as its callers see it.

mod common;
mod compaction_pause;
mod conformance;
mod damage;
mod directories;
mod dropped_space;
mod index_memory;
mod load;
mod maintenance;
mod manifest_cut;
mod read;
mod split;
mod torn_log;
mod tracking;
