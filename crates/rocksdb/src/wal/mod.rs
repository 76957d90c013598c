//! The write-ahead log as RocksDB writes it. It is read before RocksDB recovers from it.

pub(crate) mod audit;
mod crc32c;
pub(crate) mod log_format;
