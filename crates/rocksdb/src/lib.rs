//! tonnage-rocksdb
