//! Tonnage: a bulk-first store of tables and key/value pairs.
//!
//! Records come in by the million through [`Store::bulk_put`] and go out by the million through
//! [`Table::bulk_get`]; single rows and pairs are there too ([`Table`], [`KeyValue`]). Everything
//! stands on one storage contract ([`tonnage_engine`]), kept by RocksDB for stores on disk and by a
//! memory engine for tests.
//!
//! ```
//! # fn main() -> tonnage::Result<()> {
//! use tonnage::{BulkGetOptions, BulkPutOptions, KeySource, Row, Store, Value};
//!
//! let store = Store::open("memory:")?;
//! store.execute("CREATE TABLE positions (ship LONG, at TIMESTAMP(0), lat DOUBLE, lon DOUBLE, PRIMARY KEY (SHARD(ship), at))")?;
//!
//! let rows: Vec<Row> = (0..1000)
//!     .map(|n| Row::new().with("ship", Value::Long(n % 10)).with("at", format!("2022-01-03T00:{:02}:00", n / 20)).with("lat", 48.5))
//!     .collect();
//! let put = store.multi_put([("positions", rows)], &BulkPutOptions::default())?;
//! assert_eq!(put.report.total.inserted + put.report.total.existed, 1000);
//!
//! // The latest position of three ships.
//! let options = BulkGetOptions { limit_per_key: Some(1), direction: tonnage::Direction::Reverse, ..Default::default() };
//! let ships = KeySource::keys([1, 2, 3].map(|ship| Row::new().with("ship", Value::Long(ship))));
//! for batch in store.table("positions")?.bulk_get(ships, &options)? {
//!     println!("{} rows of {}", batch?.rows.num_rows(), "positions");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Options are structs with public fields: name what you want, and take the rest from
//! `..Default::default()`. New versions may add fields to them and to reports.

#![warn(missing_debug_implementations)]

pub mod backup;
mod budget;
pub mod bulk;
mod call_limits;
mod cancel;
pub mod catalog;
mod check;
pub mod codec;
pub mod ddl;
mod identity;
pub mod index;
mod inner;
pub mod kv;
mod levels;
pub mod lob;
mod members;
mod read;
pub mod row;
pub mod schema;
mod store;
pub mod table;
mod terms;
pub mod value;

pub use arrow;
pub use backup::{
    BackupInfo, BackupOptions, BackupReport, BackupRepository, BackupVerifyReport, PruneReport,
    RestoreOptions, RestoreReport,
};
pub use bulk::get::{
    BulkGet, BulkGetOptions, BulkGetRows, BulkGetStretches, BulkKey, KeyOrigin, KeySender,
    KeySource, MultiGet, MultiGetRequest, RelatedRow, ResumeToken, Stretch, TableBatch,
};
pub use bulk::put::multi::{MultiPutError, MultiPutReport, RowFailure, TableRows};
pub use bulk::put::{
    BulkPutCallbacks, BulkPutError, BulkPutOptions, BulkPutReport, Counts, Entry, EntryBatch,
    EntryStream, ErrorsMax, ExistingEntry, FailedEntry, Load, Payload, Progress, StreamReport,
    TooManyErrors, TryPush, UnreadEntry, pair_stream, record_batch_stream, row_stream,
    row_stream_with_ttls,
};
pub use cancel::Cancel;
pub use catalog::{Catalog, TableEntry};
pub use check::{CheckOptions, CheckReport};
pub use codec::{Aligned, FieldRange, KeyClassifier, KeyOwner, Rejected, RowView, TableCodec};
pub use ddl::{Outcome, Statement};
pub use index::{
    Cleaned, CreateIndexOptions, Index, IndexColumn, IndexDefinition, IndexProgress, IndexRange,
    IndexRows, IndexScanOptions,
};
pub use kv::{
    BulkPairs, Depth, ExchangedPair, Key, KeyRange, KeyValue, Pair, PairBatch, PairGetOptions,
    PairOperation, Pairs,
};
pub use lob::{LobCleanReport, LobInfo, LobOptions, LobReader, LobSource, LobWriter, LobsReport};
pub use read::control::{ReadMetrics, ReadProgress};
pub use row::Row;
pub use schema::{
    Column, ColumnDefinition, ColumnType, DefaultFunction, ElementType, EnumSymbols, Generated,
    Identity, RecordField, RecordFields, TableDefinition, TableSchema,
};
pub use store::{OpenCluster, Store, StoreBuilder};
pub use table::{
    DeleteOptions, Deleted, Exchanged, GetOptions, RowOperation, RowScan, RowSession, StoredRow,
    Table, TableScanOptions, WriteOptions, WriteResult,
};
pub use tonnage_engine::{
    Acks, Capability, Clock, Condition, Consistency, Damage, Deadline, Direction, Durability,
    Error, ErrorKind, ErrorPlace, Levels, ManualClock, OnExisting, Part, Result, ShardStatistics,
    Statistics, SystemClock, cores, memory_bytes,
};
pub use tonnage_rocksdb::Settings as RocksDbSettings;
pub use value::{NestedRef, Value, ValueRef, WideNumber, WideNumberRef};

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
