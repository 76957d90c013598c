//! A client of `tonnage serve`: SQL, bulk put and bulk get over Arrow Flight.
//!
//! Its calls block; tokio works inside. Rows are pulled: what the caller does not take, the server
//! does not read. Errors are the store's own ([`tonnage::Error`]), with the server's message.
//!
//! ```no_run
//! # fn main() -> tonnage::Result<()> {
//! use tonnage_client::{Client, ClientOptions};
//!
//! let client = Client::connect("grpc://127.0.0.1:7411", ClientOptions::default())?;
//! for batch in client.sql("SELECT name FROM ships")?.rows() {
//!     println!("{:?}", batch?);
//! }
//! # Ok(())
//! # }
//! ```

#![warn(missing_debug_implementations)]

mod address;
mod bulk_get;
mod bulk_put;
mod channel;
mod client;
mod definition;
mod failure;
mod fetch_all;
mod frame;
mod get;
mod limits;
mod lob;
mod maintenance;
mod options;
mod pairs;
mod prepared;
mod related;
mod row_batch;
mod rows;
mod scan;
mod sql;
mod tls;
mod write;

pub use bulk_get::BulkGetRequest;
pub use client::Client;
pub use fetch_all::Fetched;
pub use lob::{LobReader, LobWriter};
pub use maintenance::Repaired;
pub use options::{ClientOptions, Credentials};
pub use pairs::{batch_of_keys, key_of_row};
pub use prepared::PreparedStatement;
pub use related::{RelatedBatch, RelatedRows};
pub use row_batch::batch_of;
pub use rows::Rows;
pub use scan::{PairScanRequest, ScanRequest};
pub use sql::{Answer, Changes};
pub use write::PairWrite;
