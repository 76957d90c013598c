//! Tracked ranges: snapshots, and which keys were written since rows were copied.
//!
//! [`tonnage_engine::Snapshot`] describes them; the bookkeeping is that of
//! [`tonnage_engine::TicketBook`]. Here is what makes it right over RocksDB:
//!
//! 1. The first snapshot that names a space has it *followed* ([`books`]): each shard gets a book of
//!    it, while the gate is held alone. Every write of rows holds the gate, so each was done before,
//!    or knows of the book. A write into other spaces pays one load of a number.
//! 2. A write gathers its keys as its batch is built ([`notes`]), opens a ticket and notes them
//!    before RocksDB sees the batch, and ends the ticket once RocksDB has answered. The lock of the
//!    books is the innermost of all; no thread waits inside.
//! 3. A snapshot ([`snapshot`]) reads from the books which tickets are settled and what the ranges
//!    are, has RocksDB take its snapshots, and reads up to which ticket keys are noted. In this
//!    order: what is settled shows, and what shows is noted.
//! 4. RocksDB's snapshot is taken while the gate is held shared ([`shard_snapshots`]). RocksDB gives
//!    the rows of an ingestion their sequence number before they can be read: a snapshot from between
//!    would show them later.
//! 5. A deletion of a range of rows drops no files while there are snapshots: files are gone for
//!    these, too. Those of a dropped space are removed, since it cannot be found any more.
//! 6. The file of a load tells its keys up to a bound ([`file_keys`]); beyond it the ranges that it
//!    meets are lost. Expiry, compaction and flushes change no row.
//!
//! Nothing of this is stored: after an opening nothing is followed.

pub(crate) mod books;
pub(crate) mod file_keys;
#[cfg(test)]
mod interleaving_tests;
pub(crate) mod notes;
pub(crate) mod shard_snapshots;
pub(crate) mod snapshot;
mod snapshot_engine;
