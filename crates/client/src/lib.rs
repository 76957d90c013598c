//! A client of `tonnage serve`, with the names and types of the library.
//!
//! | here | in the library |
//! |---|---|
//! | [`RemoteStore`] | [`tonnage::Store`] |
//! | [`RemoteTable`] | [`tonnage::Table`] |
//! | [`RemoteKeyValue`] | [`tonnage::KeyValue`] |
//!
//! A program that works with either takes a [`Connection`].
//!
//! Calls block; tokio works inside. Rows are pulled: what the caller does not take, the server does
//! not read. Errors are the store's own ([`tonnage::Error`]), with the server's message.
//!
//! ```no_run
//! # fn main() -> tonnage::Result<()> {
//! use tonnage::{Row, WriteOptions};
//! use tonnage_client::{ClientOptions, RemoteStore};
//!
//! let store = RemoteStore::connect("grpc://127.0.0.1:7411", ClientOptions::default())?;
//! let ship = Row::new().with("id", 1).with("name", "ARGO");
//! store.table("ships")?.put(&ship, &WriteOptions::default())?;
//! for batch in store.sql("SELECT name FROM ships")?.rows() {
//!     println!("{:?}", batch?);
//! }
//! # Ok(())
//! # }
//! ```

#![warn(missing_debug_implementations)]

mod address;
mod bulk_get;
mod bulk_put;
mod call_stream;
mod channel;
mod command;
mod connection;
mod definition;
mod exchange;
mod failure;
mod fetch_all;
mod frame;
mod keys;
mod kv;
mod limits;
mod lob;
mod maintenance;
mod multi_call;
mod multi_get;
mod multi_put;
mod options;
mod pair_batch;
mod pipeline;
mod prepared;
mod row_batch;
mod rows;
mod single_calls;
mod sql;
mod store;
mod table;
mod tls;

pub use bulk_get::RemoteBulkGet;
pub use connection::{
    AnyBulkGet, AnyKeyValue, AnyLobReader, AnyLobWriter, AnyMultiGet, AnyPairBatch, AnyPairs,
    AnyPipeline, AnyRowsWithin, AnyTable, Connection,
};
pub use fetch_all::Fetched;
pub use kv::RemoteKeyValue;
pub use lob::{RemoteLobReader, RemoteLobWriter};
pub use maintenance::Repaired;
pub use multi_get::RemoteMultiGet;
pub use options::{ClientOptions, Credentials};
pub use pair_batch::{RemotePairBatch, RemotePairs};
pub use pipeline::{CallResult, Pipeline};
pub use prepared::PreparedStatement;
pub use rows::Rows;
pub use sql::{Answer, Changes};
pub use store::RemoteStore;
pub use table::RemoteTable;
