//! The key/value pairs on a server.

use arrow_flight::Ticket;
use serde_json::{Map, Value as Json, json};
use tonnage::internal::ItemPieces;
use tonnage::{
    BulkPutError, BulkPutOptions, BulkPutReport, Condition, Depth, Durability, Error, GetOptions,
    Key, KeyRange, Pair, PairGetOptions, Pairs, Result, WriteOptions, WriteResult, pair_stream,
};

use crate::command::{self, components_of, depth_of, durability_of};
use crate::frame;
use crate::pair_batch::{RemotePairs, batch_of_keys, batch_of_pairs, key_schema};
use crate::single_calls::{self, PairWrite};
use crate::store::RemoteStore;

/// Keys that one message has.
const KEYS_MAX: usize = 4_096;

/// A handle on the pairs of a store on a server, with the calls of [`tonnage::KeyValue`].
#[derive(Clone, Debug)]
pub struct RemoteKeyValue {
    pub(crate) store: RemoteStore,
}

impl RemoteStore {
    /// The key/value pairs.
    pub fn kv(&self) -> RemoteKeyValue {
        RemoteKeyValue { store: self.clone() }
    }
}

impl RemoteKeyValue {
    /// Stores a value, over the one that is there. Gives its version.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached. Whether the pair was
    /// stored is not known then. `Unsupported` for options that do not go over the wire.
    pub fn put(&self, key: &Key, value: &[u8], options: &WriteOptions) -> Result<u64> {
        let written = self.put_if(key, value, Condition::Always, options)?;
        written.version().ok_or_else(|| Error::internal("a put without a condition was refused"))
    }

    /// Stores a value if there is none under the key.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::put`].
    pub fn put_if_absent(
        &self,
        key: &Key,
        value: &[u8],
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.put_if(key, value, Condition::IfAbsent, options)
    }

    /// Stores a value if there is one under the key.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::put`].
    pub fn put_if_present(
        &self,
        key: &Key,
        value: &[u8],
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.put_if(key, value, Condition::IfPresent, options)
    }

    /// Stores a value if the one under the key has this version.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::put`].
    pub fn put_if_version(
        &self,
        key: &Key,
        value: &[u8],
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.put_if(key, value, Condition::IfVersion(version), options)
    }

    /// Stores a value if a condition holds of the pair under the key.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::put`].
    pub fn put_if(
        &self,
        key: &Key,
        value: &[u8],
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.store.write_pair(key, &PairWrite::Put(value), condition, options)
    }

    /// Deletes the value under a key. Returns whether there was one.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::put`].
    pub fn delete(&self, key: &Key, options: &WriteOptions) -> Result<bool> {
        Ok(self.delete_if(key, Condition::IfPresent, options)?.is_stored())
    }

    /// Deletes the value under a key if it has this version.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::put`].
    pub fn delete_if_version(
        &self,
        key: &Key,
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.delete_if(key, Condition::IfVersion(version), options)
    }

    /// Deletes the value under a key if a condition holds of it. Without one, a missing pair is
    /// reported as a failed condition: the server says whether there was one.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::put`].
    pub fn delete_if(
        &self,
        key: &Key,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.store.write_pair(key, &PairWrite::Delete, condition, options)
    }

    /// The value under a key, with its version.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn get(&self, key: &Key) -> Result<Option<Pair>> {
        self.get_with(key, &GetOptions::default())
    }

    /// The same with a consistency and a deadline for the server.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::get`]; `TimedOut`.
    pub fn get_with(&self, key: &Key, options: &GetOptions) -> Result<Option<Pair>> {
        self.store.get_pair(key, options)
    }

    /// The pairs at and below a key, as deep as [`PairGetOptions::depth`] asks for, in the order of
    /// their keys.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::bulk_get`].
    pub fn get_subtree(&self, parent: &Key, options: &PairGetOptions) -> Result<Vec<Pair>> {
        let mut pairs = Vec::new();
        for batch in self.bulk_get(std::iter::once(parent.clone()), options)? {
            let batch = batch?;
            for index in 0..batch.len() {
                pairs.push(batch.pair(index)?);
            }
        }
        Ok(pairs)
    }

    /// Deletes the pairs at and below a key, as deep as asked for. Returns how many went.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::put`].
    pub fn delete_subtree(
        &self,
        parent: &Key,
        depth: Depth,
        range: Option<&KeyRange>,
        durability: Durability,
    ) -> Result<u64> {
        let options = WriteOptions { durability, ..WriteOptions::default() };
        self.delete_subtree_with(parent, depth, range, &options)
    }

    /// The same with a timeout. Pairs go in batches: what went before an error stays deleted.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::put`]; `TimedOut`.
    pub fn delete_subtree_with(
        &self,
        parent: &Key,
        depth: Depth,
        range: Option<&KeyRange>,
        options: &WriteOptions,
    ) -> Result<u64> {
        single_calls::check(options)?;
        let mut header = Map::new();
        header.insert("durability".to_owned(), json!(durability_of(options.durability)));
        header.insert("depth".to_owned(), json!(depth_of(depth)));
        if let Some(timeout) = options.timeout {
            header.insert("timeout_ms".to_owned(), json!(timeout.as_millis() as u64));
        }
        if let Some(range) = range {
            header.insert("components".to_owned(), components_of(range)?);
        }
        let batch = batch_of_pairs([(parent, b"".as_slice())].into_iter())?;
        let body = frame::write(&Json::Object(header), &[batch])?;
        let answers = self.store.act("tonnage.DeletePairs", body)?;
        let told = answers.first().and_then(|told| serde_json::from_slice::<Json>(told).ok());
        let deleted = told.and_then(|told| told.get("deleted")?.as_u64());
        deleted.ok_or_else(|| self.store.unreadable_answer())
    }

    /// Reads the pairs of many keys, or below them, as [`tonnage::KeyValue::bulk_get`] does. A
    /// thread of its own sends keys while pairs come.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn bulk_get<I>(&self, keys: I, options: &PairGetOptions) -> Result<RemotePairs>
    where
        I: IntoIterator<Item = Key>,
        I::IntoIter: Send + 'static,
    {
        self.try_bulk_get(keys.into_iter().map(Ok), options)
    }

    /// The same for a source that may fail: that fails the pairs, whatever came before.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::bulk_get`].
    pub fn try_bulk_get<I>(&self, keys: I, options: &PairGetOptions) -> Result<RemotePairs>
    where
        I: IntoIterator<Item = Result<Key>>,
        I::IntoIter: Send + 'static,
    {
        let pieces = ItemPieces::new(keys.into_iter(), KEYS_MAX);
        let batches = pieces.map(|keys| batch_of_keys(&keys?));
        let limits = self.store.limits_of(&options.cancel, options.timeout);
        let command = command::of_pair_get(options)?;
        self.store.exchange_keys(limits, &command, key_schema(), batches).map(RemotePairs)
    }

    /// Reads the pairs of many keys given in contiguous memory: the values of `keys` are not looked
    /// at.
    ///
    /// # Errors
    /// As [`RemoteKeyValue::bulk_get`].
    pub fn bulk_get_batches<I>(&self, keys: I, options: &PairGetOptions) -> Result<RemotePairs>
    where
        I: IntoIterator<Item = Pairs>,
        I::IntoIter: Send + 'static,
    {
        let batches = keys.into_iter().map(|pairs| {
            let keys = (0..pairs.len()).map(|index| pairs.key(index));
            batch_of_keys(&keys.collect::<Result<Vec<_>>>()?)
        });
        let limits = self.store.limits_of(&options.cancel, options.timeout);
        let command = command::of_pair_get(options)?;
        self.store.exchange_keys(limits, &command, key_schema(), batches).map(RemotePairs)
    }

    /// Puts one stream of pairs into the store; [`RemoteStore::bulk_put`] takes many.
    ///
    /// # Errors
    /// As [`RemoteStore::bulk_put`].
    pub fn bulk_put<I>(
        &self,
        pairs: I,
        options: &BulkPutOptions,
    ) -> std::result::Result<BulkPutReport, BulkPutError>
    where
        I: IntoIterator<Item = Result<Pairs>>,
        I::IntoIter: Send + 'static,
    {
        self.store.bulk_put(vec![pair_stream("pairs", pairs)], options)
    }

    /// Counts all pairs: their keys come, and are counted here.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn count(&self) -> Result<u64> {
        let keys = PairGetOptions { keys_only: true, ..PairGetOptions::default() };
        self.scan(&keys)?.try_fold(0, |count, batch| Ok(count + batch?.len() as u64))
    }

    /// Reads all pairs. A limit holds for all of them together.
    ///
    /// # Errors
    /// `Invalid` for a depth or a range, which go with keys; what the server says, and `Unavailable`
    /// when it cannot be reached.
    pub fn scan(&self, options: &PairGetOptions) -> Result<RemotePairs> {
        let command = json!({ "scan": command::of_pair_scan(options)? });
        let limits = self.store.limits_of(&options.cancel, options.timeout);
        self.store.fetch(limits, Ticket::new(command.to_string())).map(RemotePairs)
    }
}
