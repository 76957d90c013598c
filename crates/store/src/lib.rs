//! Tonnage: a bulk-first store of tables and key/value pairs.
//!
//! Records come in by the million through [`Store::bulk_put`] and go out by the million through
//! [`Table::bulk_get`]. Single rows and pairs are there too: [`Table`], [`KeyValue`]. Everything
//! uses one storage contract, [`tonnage_engine`]. RocksDB keeps it for stores on disk, and a memory
//! engine for tests.
//!
//! ```
//! # fn main() -> tonnage::Result<()> {
//! use tonnage::{BulkGetOptions, BulkPutOptions, Direction, KeySource, Row, Store};
//!
//! let store = Store::open("memory:")?;
//! store.execute(
//!     "CREATE TABLE positions (ship LONG, at LONG, lat DOUBLE, PRIMARY KEY (SHARD(ship), at))",
//! )?;
//!
//! let rows: Vec<Row> = (0..1000)
//!     .map(|n| Row::new().with("ship", n % 10).with("at", n / 10).with("lat", 48.5))
//!     .collect();
//! let put = store.multi_put([("positions", rows)], &BulkPutOptions::default())?;
//! assert_eq!(put.report.total.inserted, 1000);
//!
//! // The latest position of three ships.
//! let latest = BulkGetOptions {
//!     direction: Direction::Reverse,
//!     limit_per_key: Some(1),
//!     ..BulkGetOptions::default()
//! };
//! let ships = KeySource::keys([1, 2, 3].map(|ship| Row::new().with("ship", ship)));
//! for batch in store.table("positions")?.bulk_get(ships, &latest)? {
//!     println!("{} rows", batch?.rows.num_rows());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What to call
//!
//! | you have | put it with | get it with |
//! |---|---|---|
//! | one row | [`Table::put`], [`Table::put_if_absent`] | [`Table::get`] |
//! | a row again and again, on one thread | [`RowSession::put`] | [`RowSession::get`] |
//! | rows that go in together or not at all | [`Store::atomic_write`] | |
//! | some thousand rows, in one table or many | [`Store::multi_put`] | [`Store::multi_get`] |
//! | streams of millions of rows | [`Store::bulk_put`] | [`Table::bulk_get`], [`Table::scan`] |
//! | rows that come from many threads | [`Store::load`] | |
//! | rows that an index finds | | [`Index::scan`], [`Index::bulk_get`] |
//! | rows by their places on the earth | | [`Index::nearest`], [`Index::bulk_get_within`] |
//! | one pair of bytes | [`KeyValue::put`] | [`KeyValue::get`] |
//! | some hundred pairs, again and again, on one thread | [`PairSession::write_many`] | [`PairSession::get_many`] |
//! | pairs by the million | [`KeyValue::bulk_put`] | [`KeyValue::bulk_get`] |
//! | a value of gibibytes | [`KeyValue::put_lob`] | [`KeyValue::get_lob`] |
//!
//! Below a few hundred rows a loop of single calls is as fast as a bulk call. Above that a bulk
//! call is faster: it sorts, writes files beside each other, and makes everything durable once.
//!
//! Tables, indexes and their changes are statements: [`Store::execute`]. Upkeep is
//! [`Store::settle`], [`Store::check`], [`Store::statistics`] and [`BackupRepository`].
//!
//! Options are structs with public fields: name what you want, and take the rest from
//! `..Default::default()`. New versions may add fields to them and to reports.

#![warn(missing_debug_implementations)]

mod already_exists;
mod backup;
mod budget;
mod bulk;
mod call_limits;
mod cancel;
mod catalog;
mod check;
mod codec;
mod columns;
mod ddl;
pub mod geo;
mod identity;
mod identity_used_up;
mod index;
mod inner;
mod kv;
mod levels;
mod lob;
mod members;
mod namespaces;
mod read;
mod row;
mod schema;
mod single_calls;
mod store;
mod table;
mod terms;
mod value;
mod version_clock;

pub use already_exists::AlreadyExists;
pub use arrow;
pub use backup::{
    BackupInfo, BackupOptions, BackupReport, BackupRepository, BackupVerifyReport, PruneReport,
    RestoreOptions, RestoreReport,
};
pub use bulk::get::{
    BulkGet, BulkGetInterleaved, BulkGetOptions, BulkGetRows, BulkKey, InterleavedBatch, KeyOrigin,
    KeySender, KeySource, MultiGet, MultiGetRequest, RelatedRow, ResumeToken, TableBatch,
    TableScanOptions,
};
pub use bulk::put::multi::{MultiPutError, MultiPutReport, RowFailure, TableRows};
pub use bulk::put::{
    BulkPutCallbacks, BulkPutError, BulkPutOptions, BulkPutReport, Counts, Entry, EntryBatch,
    EntryStream, ErrorsMax, ExistingEntry, FailedEntry, Load, Payload, Progress, StreamReport,
    TooManyErrors, TryPush, UnreadEntry, computed_batch_stream, pair_stream, record_batch_stream,
    row_stream, row_stream_with_ttls,
};
pub use cancel::Cancel;
pub use catalog::{Catalog, TableEntry};
pub use check::{CheckOptions, CheckReport};
pub use codec::{FieldRange, RowView};
pub use ddl::{DdlOutcome, Statement, parse as parse_ddl};
pub use identity_used_up::IdentityUsedUp;
pub use index::{
    CreateIndexOptions, GeoCells, Index, IndexArgument, IndexCleanReport, IndexColumn,
    IndexDefinition, IndexFunction, IndexFunctionName, IndexProgress, IndexRange, IndexRows,
    IndexScanOptions, NearbyRows, PathParts, PathStep, RowsByDistance, RowsWithin,
};
pub use kv::{
    BulkPairs, CollectionBatch, CollectionScan, CollectionSession, Depth, ExchangedPair, Key,
    KeyRange, KeyValue, Pair, PairBatch, PairGetOptions, PairOperation, PairPosition, PairSession,
    PairWrites, Pairs,
};
pub use lob::{LobCleanReport, LobInfo, LobOptions, LobReader, LobSource, LobWriter, LobsReport};
pub use read::control::{ReadMetrics, ReadProgress};
pub use row::Row;
pub use schema::{
    Column, ColumnDefinition, ColumnType, DefaultFunction, ElementType, EnumSymbols, Generated,
    Identity, MakeDefaults, RecordField, RecordFields, TableDefinition, TableSchema,
};
pub use single_calls::{GetOptions, StoredRow, WriteOptions, WriteResult};
pub use store::{OpenCluster, Store, StoreBuilder};
pub use table::{
    DeleteOptions, DeleteReport, ExchangeResult, RowOperation, RowScan, RowSession, Table,
};
pub use tonnage_engine::{
    Acks, Capability, Clock, Condition, Consistency, Damage, Deadline, Direction, Durability,
    Error, ErrorKind, ErrorLocation, Levels, ManualClock, OnExisting, Part, Result,
    ShardStatistics, Statistics, SystemClock, cores, memory_bytes,
};
pub use tonnage_rocksdb::Settings as RocksDbSettings;
pub use value::{NestedRef, Value, ValueRef, WideNumber, WideNumberRef};

/// What other crates of Tonnage take from inside. It may change with any version.
#[doc(hidden)]
pub mod internal {
    pub use crate::bulk::get::{ItemPieces, KeyPiece, KeyPieces};
    pub use crate::codec::{
        Aligned, KeyClassifier, KeyOwner, Limits as CodecLimits, Rejected, TableCodec,
    };
    pub use crate::columns::{
        ColumnPart, ColumnRange, ColumnSnapshot, ColumnStatistics, RowSource,
    };
    pub use crate::lob::{LobBytes, copy_lob, put_each};
    pub use crate::schema::{
        Ancestor, COLUMNS_MAX, Change, Layout, LayoutColumn, NAME_BYTES_MAX, is_json,
        timestamp_unit,
    };
    pub use crate::value::{calendar, json_text};
    pub use tonnage_engine::{catch_panic, placement_hash, sync};
}

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
