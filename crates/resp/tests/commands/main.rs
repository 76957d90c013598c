//! Commands as bytes, and their replies as bytes.

mod bit_fields;
mod bitmaps;
mod bounds;
mod collection_model;
mod collections;
mod common;
mod common_subsequence;
mod connection;
mod docs;
mod field_expiry;
mod hash_model;
mod hashes;
mod keys;
mod messages;
mod model;
mod outside;
mod protocol;
mod rights;
mod sort;
mod sorted_algebra;
mod sorted_sets;
mod strings;
mod together;
mod transactions;
mod waiting;
