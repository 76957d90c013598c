//! The embedded engine of Tonnage: rows in RocksDB.

mod engine;
mod error;
mod hash;
mod load;
mod settings;
mod shard;
mod version;
mod window;

pub use engine::RocksEngine;
pub use settings::{Compression, Settings};
