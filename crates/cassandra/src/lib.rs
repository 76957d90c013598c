//! The distributed engine of Tonnage: rows in Apache Cassandra or ScyllaDB.
//!
//! Each space is a table, `CREATE TABLE s_0000002a (p blob, c blob, h blob, d blob, PRIMARY KEY
//! (p, c))`:
//!
//! - `p` is the number of a *bucket*, a hash of the shard key (`bucket`);
//! - `c` is the whole key, so the rows of a shard key lie together in order;
//! - `h` is version, expiry and what a writer left of itself (`header`); a row exists if and only
//!   if it has an `h` that has not expired;
//! - `d` is the payload.
//!
//! Three rules make writes right:
//!
//! 1. Small writes are on a condition, always ([`write`]).
//! 2. Loads and deletions of ranges are plain writes under a time stamp later than all before, and
//!    earlier than every small write that begins afterwards (`time`).
//! 3. Within an open store, a partition has one writer of rows at a time (`partition_locks`).

mod address;
mod blocking;
mod bucket;
mod catalog;
mod clock_watch;
mod cluster;
mod delete_range;
mod engine;
mod entry_age;
mod error;
mod estimate;
mod extent;
mod first_node;
mod header;
mod home;
mod index_entries;
mod key_change;
mod key_group;
mod known_headers;
mod limit_counter;
mod limits;
mod load;
mod login;
mod maintenance;
mod open_tries;
mod pages;
mod partition_locks;
mod partition_sizes;
mod quorum_scope;
mod read;
mod replication;
mod scan;
mod split;
mod stale_entries;
mod stamp;
mod store;
mod table;
mod time;
mod tls;
mod write;

pub use address::Address;
pub use engine::{CassandraEngine, open_url};
pub use login::Login;
pub use replication::Replication;
pub use tls::TlsFiles;
