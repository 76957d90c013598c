//! Commands as bytes, and their replies as bytes.

mod bitmaps;
mod bounds;
mod collection_model;
mod collections;
mod common;
mod connection;
mod docs;
mod hash_model;
mod hashes;
mod keys;
mod messages;
mod model;
mod outside;
mod protocol;
mod rights;
mod sorted_sets;
mod strings;
mod together;
mod transactions;
mod waiting;
