//! One connection for both: a store of this process, or one on a server.
//!
//! [`Connection`] and what it gives have the calls of the library. `delegate!` lists them once.

mod delegate;
mod kv;
mod lob;
mod pipeline;
mod rows;
mod table;

use tonnage::{
    BulkGetOptions, BulkPutError, BulkPutOptions, BulkPutReport, CheckReport, DdlOutcome,
    EntryStream, KeySource, MultiGetRequest, MultiPutError, MultiPutReport, Result, RowOperation,
    Statistics, Store, TableDefinition, TableRows, WriteOptions, WriteResult,
};

use crate::store::RemoteStore;
use delegate::{delegate, either};
pub use kv::AnyKeyValue;
pub use lob::{AnyLobReader, AnyLobWriter};
pub use pipeline::AnyPipeline;
pub use rows::{AnyBulkGet, AnyMultiGet, AnyPairBatch, AnyPairs, AnyRowsWithin};
pub use table::AnyTable;

either! {
    /// A store of this process, or one on a server.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use tonnage::{Row, Store, WriteOptions};
    /// use tonnage_client::{ClientOptions, Connection, RemoteStore};
    ///
    /// let address = "memory:";
    /// let connection: Connection = match RemoteStore::is_address(address) {
    ///     true => RemoteStore::connect(address, ClientOptions::default())?.into(),
    ///     false => Store::open(address)?.into(),
    /// };
    /// connection.execute("CREATE TABLE ships (id LONG, PRIMARY KEY (id))")?;
    /// connection.table("ships")?.put(&Row::new().with("id", 1), &WriteOptions::default())?;
    /// assert_eq!(connection.table("ships")?.count()?, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Clone, Debug)]
    Connection: Store, RemoteStore
}

delegate! {
    Connection:
    /// As [`Store::table`].
    fn table(&self, path: &str) -> Result<AnyTable>;
    /// As [`Store::execute`].
    fn execute(&self, text: &str) -> Result<Vec<DdlOutcome>>;
    /// As [`Store::bulk_put`].
    fn bulk_put(
        &self,
        streams: Vec<Box<dyn EntryStream>>,
        options: &BulkPutOptions,
    ) -> std::result::Result<BulkPutReport, BulkPutError>;
    /// As [`Store::atomic_write`].
    fn atomic_write(
        &self,
        operations: &[RowOperation],
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`Store::sync`].
    fn sync(&self) -> Result<()>;
    /// As [`Store::statistics`].
    fn statistics(&self) -> Result<Statistics>;
    /// As [`Store::check`].
    fn check(&self) -> Result<CheckReport>;
}

impl Connection {
    /// The paths of all tables; of those on a server, of the ones that the caller may see.
    ///
    /// # Errors
    /// What a server says, and `Unavailable` when it cannot be reached.
    pub fn table_paths(&self) -> Result<Vec<String>> {
        match self {
            Self::Embedded(store) => {
                Ok(store.tables().iter().map(|table| table.path().to_owned()).collect())
            }
            Self::Remote(store) => store.table_paths(),
        }
    }

    /// The key/value pairs.
    pub fn kv(&self) -> AnyKeyValue {
        match self {
            Self::Embedded(store) => store.kv().into(),
            Self::Remote(store) => store.kv().into(),
        }
    }

    /// Makes a table, as [`tonnage::Catalog::create_table`] does.
    ///
    /// # Errors
    /// `Conflict` when there is one of its name, unless it `may_exist`.
    pub fn create_table(&self, definition: &TableDefinition, may_exist: bool) -> Result<()> {
        match self {
            Self::Embedded(store) => store.catalog().create_table(definition, may_exist).map(drop),
            Self::Remote(store) => store.create_table(definition, may_exist),
        }
    }

    /// Drops a table, as [`tonnage::Catalog::drop_table`] does.
    ///
    /// # Errors
    /// `NotFound` when there is none of this path, unless it `may_miss`.
    pub fn drop_table(&self, path: &str, may_miss: bool) -> Result<()> {
        match self {
            Self::Embedded(store) => store.catalog().drop_table(path, may_miss).map(drop),
            Self::Remote(store) => store.drop_table(path, may_miss),
        }
    }

    /// As [`Store::multi_put`].
    ///
    /// # Errors
    /// As [`Store::multi_put`] and [`RemoteStore::multi_put`].
    pub fn multi_put<T, R>(
        &self,
        rows: impl IntoIterator<Item = (T, R)>,
        options: &BulkPutOptions,
    ) -> std::result::Result<MultiPutReport, MultiPutError>
    where
        T: AsRef<str>,
        R: Into<TableRows>,
    {
        match self {
            Self::Embedded(store) => store.multi_put(rows, options),
            Self::Remote(store) => store.multi_put(rows, options),
        }
    }

    /// As [`Store::multi_get`].
    ///
    /// # Errors
    /// As [`Store::multi_get`] and [`RemoteStore::multi_get`].
    pub fn multi_get<T, K>(
        &self,
        keys: impl IntoIterator<Item = (T, K)>,
        options: &BulkGetOptions,
    ) -> Result<AnyMultiGet>
    where
        T: AsRef<str>,
        K: Into<KeySource>,
    {
        match self {
            Self::Embedded(store) => store.multi_get(keys, options).map(Into::into),
            Self::Remote(store) => store.multi_get(keys, options).map(Into::into),
        }
    }

    /// As [`Store::multi_get_requests`].
    ///
    /// # Errors
    /// As [`Connection::multi_get`].
    pub fn multi_get_requests(
        &self,
        requests: impl IntoIterator<Item = MultiGetRequest>,
        options: &BulkGetOptions,
    ) -> Result<AnyMultiGet> {
        match self {
            Self::Embedded(store) => store.multi_get_requests(requests, options).map(Into::into),
            Self::Remote(store) => store.multi_get_requests(requests, options).map(Into::into),
        }
    }
}
