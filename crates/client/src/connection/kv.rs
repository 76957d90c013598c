//! The pairs of a store of this process, or of one on a server.

use tonnage::{
    BulkPutError, BulkPutOptions, BulkPutReport, Cancel, Condition, Depth, Durability, GetOptions,
    Key, KeyRange, KeyValue, LobInfo, LobOptions, LobSource, LobsReport, Pair, PairGetOptions,
    Pairs, Result, WriteOptions, WriteResult,
};

use super::delegate::{delegate, either};
use super::lob::{AnyLobReader, AnyLobWriter};
use super::rows::AnyPairs;
use crate::kv::RemoteKeyValue;

either! {
    /// The key/value pairs, here or on a server.
    #[derive(Clone, Debug)]
    AnyKeyValue: KeyValue, RemoteKeyValue
}

delegate! {
    AnyKeyValue:
    /// As [`KeyValue::put`].
    fn put(&self, key: &Key, value: &[u8], options: &WriteOptions) -> Result<u64>;
    /// As [`KeyValue::put_if_absent`].
    fn put_if_absent(
        &self,
        key: &Key,
        value: &[u8],
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`KeyValue::put_if_present`].
    fn put_if_present(
        &self,
        key: &Key,
        value: &[u8],
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`KeyValue::put_if_version`].
    fn put_if_version(
        &self,
        key: &Key,
        value: &[u8],
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`KeyValue::put_if`].
    fn put_if(
        &self,
        key: &Key,
        value: &[u8],
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`KeyValue::delete`].
    fn delete(&self, key: &Key, options: &WriteOptions) -> Result<bool>;
    /// As [`KeyValue::delete_if_version`].
    fn delete_if_version(
        &self,
        key: &Key,
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`KeyValue::delete_if`]. Without a condition, [`RemoteKeyValue::delete_if`] reports a
    /// missing pair.
    fn delete_if(
        &self,
        key: &Key,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult>;
    /// As [`KeyValue::get`].
    fn get(&self, key: &Key) -> Result<Option<Pair>>;
    /// As [`KeyValue::get_with`].
    fn get_with(&self, key: &Key, options: &GetOptions) -> Result<Option<Pair>>;
    /// As [`KeyValue::get_subtree`].
    fn get_subtree(&self, parent: &Key, options: &PairGetOptions) -> Result<Vec<Pair>>;
    /// As [`KeyValue::delete_subtree`].
    fn delete_subtree(
        &self,
        parent: &Key,
        depth: Depth,
        range: Option<&KeyRange>,
        durability: Durability,
    ) -> Result<u64>;
    /// As [`KeyValue::delete_subtree_with`].
    fn delete_subtree_with(
        &self,
        parent: &Key,
        depth: Depth,
        range: Option<&KeyRange>,
        options: &WriteOptions,
    ) -> Result<u64>;
    /// As [`KeyValue::count`].
    fn count(&self) -> Result<u64>;
    /// As [`KeyValue::scan`].
    fn scan(&self, options: &PairGetOptions) -> Result<AnyPairs>;
    /// As [`KeyValue::put_lob`].
    fn put_lob(&self, key: &Key, options: &LobOptions) -> Result<AnyLobWriter>;
    /// As [`KeyValue::append_lob`].
    fn append_lob(&self, key: &Key, options: &LobOptions) -> Result<AnyLobWriter>;
    /// As [`KeyValue::lob_info`].
    fn lob_info(&self, key: &Key) -> Result<Option<LobInfo>>;
    /// As [`KeyValue::delete_lob`].
    fn delete_lob(&self, key: &Key, durability: Durability) -> Result<bool>;
    /// As [`KeyValue::delete_lob_with`].
    fn delete_lob_with(&self, key: &Key, options: &WriteOptions) -> Result<bool>;
}

impl AnyKeyValue {
    /// As [`KeyValue::bulk_get`].
    ///
    /// # Errors
    /// As [`KeyValue::bulk_get`] and [`RemoteKeyValue::bulk_get`].
    pub fn bulk_get<I>(&self, keys: I, options: &PairGetOptions) -> Result<AnyPairs>
    where
        I: IntoIterator<Item = Key>,
        I::IntoIter: Send + 'static,
    {
        match self {
            Self::Embedded(kv) => kv.bulk_get(keys, options).map(Into::into),
            Self::Remote(kv) => kv.bulk_get(keys, options).map(Into::into),
        }
    }

    /// As [`KeyValue::try_bulk_get`].
    ///
    /// # Errors
    /// As [`AnyKeyValue::bulk_get`].
    pub fn try_bulk_get<I>(&self, keys: I, options: &PairGetOptions) -> Result<AnyPairs>
    where
        I: IntoIterator<Item = Result<Key>>,
        I::IntoIter: Send + 'static,
    {
        match self {
            Self::Embedded(kv) => kv.try_bulk_get(keys, options).map(Into::into),
            Self::Remote(kv) => kv.try_bulk_get(keys, options).map(Into::into),
        }
    }

    /// As [`KeyValue::bulk_get_batches`].
    ///
    /// # Errors
    /// As [`AnyKeyValue::bulk_get`].
    pub fn bulk_get_batches<I>(&self, keys: I, options: &PairGetOptions) -> Result<AnyPairs>
    where
        I: IntoIterator<Item = Pairs>,
        I::IntoIter: Send + 'static,
    {
        match self {
            Self::Embedded(kv) => kv.bulk_get_batches(keys, options).map(Into::into),
            Self::Remote(kv) => kv.bulk_get_batches(keys, options).map(Into::into),
        }
    }

    /// As [`KeyValue::bulk_put`].
    ///
    /// # Errors
    /// As [`KeyValue::bulk_put`] and [`RemoteKeyValue::bulk_put`].
    pub fn bulk_put<I>(
        &self,
        pairs: I,
        options: &BulkPutOptions,
    ) -> std::result::Result<BulkPutReport, BulkPutError>
    where
        I: IntoIterator<Item = Result<Pairs>>,
        I::IntoIter: Send + 'static,
    {
        match self {
            Self::Embedded(kv) => kv.bulk_put(pairs, options),
            Self::Remote(kv) => kv.bulk_put(pairs, options),
        }
    }

    /// As [`KeyValue::resume_lob`].
    ///
    /// # Errors
    /// As [`KeyValue::resume_lob`] and [`RemoteKeyValue::resume_lob`].
    pub fn resume_lob(&self, key: &Key, options: &LobOptions) -> Result<Option<AnyLobWriter>> {
        Ok(match self {
            Self::Embedded(kv) => kv.resume_lob(key, options)?.map(Into::into),
            Self::Remote(kv) => kv.resume_lob(key, options)?.map(Into::into),
        })
    }

    /// As [`KeyValue::get_lob`].
    ///
    /// # Errors
    /// As [`KeyValue::get_lob`] and [`RemoteKeyValue::get_lob`].
    pub fn get_lob(&self, key: &Key) -> Result<Option<AnyLobReader>> {
        self.get_lob_with(key, &GetOptions::default())
    }

    /// As [`KeyValue::get_lob_with`].
    ///
    /// # Errors
    /// As [`AnyKeyValue::get_lob`].
    pub fn get_lob_with(&self, key: &Key, options: &GetOptions) -> Result<Option<AnyLobReader>> {
        Ok(match self {
            Self::Embedded(kv) => kv.get_lob_with(key, options)?.map(Into::into),
            Self::Remote(kv) => kv.get_lob_with(key, options)?.map(Into::into),
        })
    }

    /// As [`KeyValue::put_lobs`].
    ///
    /// # Errors
    /// As [`KeyValue::put_lobs`] and [`RemoteKeyValue::put_lobs`].
    pub fn put_lobs<I>(
        &self,
        objects: I,
        options: &LobOptions,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<LobsReport>
    where
        I: IntoIterator<Item = Result<LobSource>>,
        I::IntoIter: Send,
    {
        match self {
            Self::Embedded(kv) => kv.put_lobs(objects, options, threads, cancel),
            Self::Remote(kv) => kv.put_lobs(objects, options, threads, cancel),
        }
    }
}
