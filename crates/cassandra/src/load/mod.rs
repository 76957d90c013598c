//! Load sessions: how rows come in by the million.
//!
//! 1. **Push** ([`session`]): entries are copied into a buffer. Those of one push share a version.
//! 2. A full buffer, or a flush, makes it a **generation** ([`generation`]). It is sorted by
//!    partition and cut into chunks, each of one partition.
//! 3. Chunks are **stored** ([`chunk`]) many at a time. Each waits for the lock of its partition,
//!    looks up what is there, decides what becomes of every entry ([`entry_result`]), and sends the
//!    rows as one batch under one stamp. Cassandra takes rows of one partition at several times the
//!    rate of rows of many.
//! 4. **Report**: the thread that stores the generation calls the observer. It holds the lock of
//!    the session meanwhile, and none of a partition.
//!
//! Which rows are looked up depends on the mode. A load that keeps existing rows, or tells new rows
//! from replaced ones, looks up all of them. A blind load looks only into partitions that this
//! process wrote since the push.

mod chunk;
mod entry_result;
mod generation;
mod session;

pub(crate) use session::ClusterLoad;
