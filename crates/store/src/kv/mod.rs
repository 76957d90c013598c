//! The key/value interface: byte values under keys with a major and a minor path.
//!
//! All pairs under one major path live together: they can be written atomically and read as a range
//! in the order of their minor paths.

mod bulk;
mod collections;
mod exchange;
mod key;
pub(crate) mod limits;
mod pairs;
mod scope;
mod session;

use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::{
    Condition, Consistency, Deadline, Durability, Engine, Error, NEVER_MS, Result, Rows, Slices,
    WriteBatch,
};

pub use bulk::{BulkPairs, PairGetOptions};
pub use collections::{CollectionBatch, CollectionScan, CollectionSession};
pub use exchange::ExchangedPair;
pub use key::Key;
pub use pairs::{Pair, PairBatch, Pairs};
pub use scope::{Depth, KeyRange};
pub use session::{PairPosition, PairSession, PairWrites};

use crate::bulk::get::{BATCHES_MAX, ItemSource, SINGLE_ITEMS_MAX, has_items_in_memory};
use crate::bulk::put::{BulkPutError, BulkPutOptions, BulkPutReport, pair_stream};
use crate::inner::Inner;
use crate::read::read_by;
use crate::single_calls::{GetOptions, WriteOptions, WriteResult};
use crate::terms::{WriteTerms, check_timeout};
use limits::over_limits;

/// A handle on the key/value pairs of a store.
///
/// ```
/// # fn main() -> tonnage::Result<()> {
/// use tonnage::{Depth, Key, PairGetOptions, Store, WriteOptions};
///
/// let store = Store::open("memory:")?;
/// let pairs = store.kv();
/// let key = |field: &str| Key::new(["users", "ada"], [field]);
/// pairs.put(&key("email"), b"ada@example.com", &WriteOptions::default())?;
/// pairs.put(&key("phone"), b"555", &WriteOptions::default())?;
/// let options = PairGetOptions { depth: Depth::DescendantsOnly, ..Default::default() };
/// let ada = pairs.get_subtree(&Key::new(["users", "ada"], [""; 0]), &options)?;
/// assert_eq!(ada.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct KeyValue {
    pub(crate) store: Arc<Inner>,
}

/// One operation of an atomic batch of pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PairOperation {
    /// Stores a value.
    Put {
        /// The key.
        key: Key,
        /// The value.
        value: Vec<u8>,
        /// What must hold of the stored pair.
        condition: Condition,
    },
    /// Deletes a pair.
    Delete {
        /// The key.
        key: Key,
        /// What must hold of the stored pair.
        condition: Condition,
    },
}

impl KeyValue {
    pub(crate) fn new(store: Arc<Inner>) -> Self {
        Self { store }
    }

    /// Stores a value, over the one that is there. Gives its version.
    ///
    /// # Errors
    /// `Invalid` for a key or a value over the store's limits.
    pub fn put(&self, key: &Key, value: &[u8], options: &WriteOptions) -> Result<u64> {
        let written = self.put_if(key, value, Condition::Always, options)?;
        written.version().ok_or_else(|| Error::internal("a put without a condition was refused"))
    }

    /// Stores a value if there is none under the key.
    ///
    /// # Errors
    /// As [`KeyValue::put`].
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
    /// As [`KeyValue::put`].
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
    /// As [`KeyValue::put`].
    pub fn put_if_version(
        &self,
        key: &Key,
        value: &[u8],
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.put_if(key, value, Condition::IfVersion(version), options)
    }

    /// Stores a value if a condition holds of the pair under the key. [`KeyValue::put`] and the
    /// `put_if_...` are this with a condition each.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{Condition, Key, Store, WriteOptions};
    ///
    /// let pairs = Store::open("memory:")?.kv();
    /// let (key, now) = (Key::of_major(["counter"]), WriteOptions::default());
    /// let put = |value: &[u8], condition| pairs.put_if(&key, value, condition, &now);
    /// let first = put(b"1", Condition::IfAbsent)?.version().expect("there was none");
    /// assert!(put(b"2", Condition::IfVersion(first))?.is_stored());
    /// assert!(!put(b"3", Condition::IfVersion(first))?.is_stored());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`KeyValue::put`].
    pub fn put_if(
        &self,
        key: &Key,
        value: &[u8],
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        if options.keep_ttl {
            return Ok(self.put_returning(key, value, condition, options)?.result);
        }
        options.check(self.store.engine.capability())?;
        let mut batch = WriteBatch::new(self.store.pairs);
        self.add_put(&mut batch, key, value, condition, options)?;
        self.write_batch(&batch, options)
    }

    fn add_put(
        &self,
        batch: &mut WriteBatch,
        key: &Key,
        value: &[u8],
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<()> {
        let mut bytes = Vec::new();
        key.encode(&mut bytes)?;
        let capability = self.store.engine.capability();
        if bytes.len() > capability.key_bytes_max || value.len() > capability.value_bytes_max {
            return Err(over_limits(bytes.len(), value.len(), capability).at(key));
        }
        let by_ttl = || options.ttl.map_or(NEVER_MS, |ttl| self.store.expiry_ms(ttl));
        batch.put(&bytes, value, options.expires_at_ms.unwrap_or_else(by_ttl), condition);
        Ok(())
    }

    /// Deletes the value under a key. Returns whether there was one.
    ///
    /// # Errors
    /// What the engine says.
    pub fn delete(&self, key: &Key, options: &WriteOptions) -> Result<bool> {
        Ok(self.delete_if(key, Condition::IfPresent, options)?.is_stored())
    }

    /// Deletes the value under a key if it has this version.
    ///
    /// # Errors
    /// What the engine says.
    pub fn delete_if_version(
        &self,
        key: &Key,
        version: u64,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.delete_if(key, Condition::IfVersion(version), options)
    }

    /// Deletes the value under a key if a condition holds of it. Without one, deleting a pair that
    /// is not there is carried out, too.
    ///
    /// # Errors
    /// What the engine says.
    pub fn delete_if(
        &self,
        key: &Key,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.write(&[PairOperation::Delete { key: key.clone(), condition }], options)
    }

    /// Carries out operations under one major path, all together or not at all. Of several
    /// operations on one key the last decides what is stored; the conditions of all are judged by
    /// what was stored before.
    ///
    /// # Errors
    /// `Invalid` when the keys are not all of one major path.
    pub fn write(
        &self,
        operations: &[PairOperation],
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        self.write_batch(&self.batch(operations, options)?, options)
    }

    fn write_batch(&self, batch: &WriteBatch, options: &WriteOptions) -> Result<WriteResult> {
        let WriteTerms { durability, acks, deadline } = options.terms();
        Ok(self.store.writer(acks).write_by(batch, durability, deadline)?.into())
    }

    /// Carries out many groups of operations, each atomic by itself as [`KeyValue::write`] does it,
    /// as if one after another: a later group sees what an earlier one left. The outcomes stand in
    /// the order of the groups; one that fails leaves the others alone. All groups share a write to
    /// the log, and with [`Durability::Fsync`] a sync, for each data directory, so that many of
    /// them cost little more than one.
    pub fn write_many(
        &self,
        groups: &[Vec<PairOperation>],
        options: &WriteOptions,
    ) -> Vec<Result<WriteResult>> {
        let mut batches = Vec::with_capacity(groups.len());
        let checked: Vec<Result<()>> = groups
            .iter()
            .map(|group| self.batch(group, options).map(|batch| batches.push(batch)))
            .collect();
        let WriteTerms { durability, acks, deadline } = options.terms();
        let outcomes = self.store.writer(acks).write_many_by(&batches, durability, deadline);
        let mut outcomes = outcomes.into_iter();
        let lost = || Err(Error::internal("a group of operations has no outcome"));
        let mut outcome = |()| outcomes.next().unwrap_or_else(lost).map(WriteResult::from);
        checked.into_iter().map(|checked| checked.and_then(&mut outcome)).collect()
    }

    fn batch(&self, operations: &[PairOperation], options: &WriteOptions) -> Result<WriteBatch> {
        if operations.is_empty() {
            return Err(Error::invalid("an atomic write needs at least one operation"));
        }
        options.check_blind(self.store.engine.capability())?;
        let mut batch = WriteBatch::new(self.store.pairs);
        let mut bytes = Vec::new();
        for operation in operations {
            match operation {
                PairOperation::Put { key, value, condition } => {
                    self.add_put(&mut batch, key, value, *condition, options)?
                }
                PairOperation::Delete { key, condition } => {
                    bytes.clear();
                    key.encode(&mut bytes)?;
                    batch.delete(&bytes, *condition);
                }
            }
        }
        Ok(batch)
    }

    /// The value under a key, with its version.
    ///
    /// # Errors
    /// `Invalid` for a key without a major component.
    pub fn get(&self, key: &Key) -> Result<Option<Pair>> {
        self.get_by(&**self.store.reader(None), key, Deadline::NONE)
    }

    fn get_by(&self, engine: &dyn Engine, key: &Key, deadline: Deadline) -> Result<Option<Pair>> {
        let mut keys = Slices::new();
        keys.push_with(|buffer| key.encode(buffer))?;
        let mut rows = Rows::new();
        read_by(engine, self.store.pairs, &keys, deadline, &mut rows)?;
        let pair = || Pair {
            key: key.clone(),
            value: rows.values.get(0).to_vec(),
            version: rows.versions[0],
            expires_at_ms: rows.expiries_ms[0],
        };
        Ok((!rows.is_empty()).then(pair))
    }

    /// The same with a consistency and a deadline.
    ///
    /// # Errors
    /// As [`KeyValue::get`]; `TimedOut`; `Invalid` for a consistency that no read can keep to.
    pub fn get_with(&self, key: &Key, options: &GetOptions) -> Result<Option<Pair>> {
        let deadline = options.checked_deadline()?;
        self.get_by(&**self.store.reader(options.consistency), key, deadline)
    }

    /// The pairs at and below a key with a whole major path, as deep as [`PairGetOptions::depth`]
    /// asks for, in the order of their keys. By default that is the pair of the key alone.
    ///
    /// # Errors
    /// `Invalid` for a key without a major component, or over the limit; for a range without a
    /// depth.
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
    /// `Invalid` for a key without a major component.
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

    /// The same with a timeout. Pairs go in batches: when the time is over those that went before
    /// stay deleted, and the same call deletes the rest.
    ///
    /// # Errors
    /// As [`KeyValue::delete_subtree`]; `TimedOut`.
    pub fn delete_subtree_with(
        &self,
        parent: &Key,
        depth: Depth,
        range: Option<&KeyRange>,
        options: &WriteOptions,
    ) -> Result<u64> {
        options.check(self.store.engine.capability())?;
        let WriteTerms { durability, acks, deadline } = options.terms();
        let options = PairGetOptions {
            depth,
            range: range.cloned(),
            keys_only: true,
            timeout: options.timeout,
            // A copy that lags would not show the latest pairs, and they would stay.
            consistency: Some(Consistency::Absolute),
            ..PairGetOptions::default()
        };
        let most = self.store.engine.capability().batch_operations_max;
        let (mut deleted, mut batch) = (0, WriteBatch::new(self.store.pairs));
        for found in self.bulk_get(std::iter::once(parent.clone()), &options)? {
            let found = found?;
            let keys: Vec<&[u8]> = found.rows.keys.iter().collect();
            // An engine bounds the operations of one batch, and a batch of keys may hold more.
            for some in keys.chunks(most) {
                batch.clear();
                some.iter().for_each(|key| batch.delete(key, Condition::Always));
                self.store.writer(acks).write_by(&batch, durability, deadline)?;
                deleted += some.len() as u64;
            }
        }
        Ok(deleted)
    }

    /// Reads the pairs of many keys, or below them, as
    /// [`Table::bulk_get`](crate::Table::bulk_get) reads rows.
    ///
    /// # Errors
    /// `Invalid` for options out of their range. What is wrong with a key comes out of the
    /// iterator.
    pub fn bulk_get<I>(&self, keys: I, options: &PairGetOptions) -> Result<BulkPairs>
    where
        I: IntoIterator<Item = Key>,
        I::IntoIter: Send + 'static,
    {
        let keys = ItemSource::new(keys.into_iter().map(Ok), SINGLE_ITEMS_MAX)
            .at_hand(has_items_in_memory::<I::IntoIter>());
        bulk::bulk_get(&self.store, keys, options)
    }

    /// The same for a source that may fail: the pairs of the keys before the failure come first,
    /// then the failure.
    ///
    /// # Errors
    /// As [`KeyValue::bulk_get`].
    pub fn try_bulk_get<I>(&self, keys: I, options: &PairGetOptions) -> Result<BulkPairs>
    where
        I: IntoIterator<Item = Result<Key>>,
        I::IntoIter: Send + 'static,
    {
        let keys = ItemSource::new(keys.into_iter(), SINGLE_ITEMS_MAX)
            .at_hand(has_items_in_memory::<I::IntoIter>());
        bulk::bulk_get(&self.store, keys, options)
    }

    /// Reads the pairs of many keys given in contiguous memory: the values of `keys` are not looked
    /// at.
    ///
    /// # Errors
    /// As [`KeyValue::bulk_get`].
    pub fn bulk_get_batches<I>(&self, keys: I, options: &PairGetOptions) -> Result<BulkPairs>
    where
        I: IntoIterator<Item = Pairs>,
        I::IntoIter: Send + 'static,
    {
        let keys = ItemSource::new(keys.into_iter().map(Ok), BATCHES_MAX)
            .at_hand(has_items_in_memory::<I::IntoIter>());
        bulk::bulk_get_batches(&self.store, keys, options)
    }

    /// Puts one stream of pairs into the store; [`crate::Store::bulk_put`] takes many.
    ///
    /// # Errors
    /// Whatever stopped the load, with the report so far.
    pub fn bulk_put<I>(
        &self,
        pairs: I,
        options: &BulkPutOptions,
    ) -> std::result::Result<BulkPutReport, BulkPutError>
    where
        I: IntoIterator<Item = Result<Pairs>>,
        I::IntoIter: Send + 'static,
    {
        crate::bulk::put::run(&self.store, vec![pair_stream("pairs", pairs)], options)
    }

    /// Counts all pairs, by reading their keys.
    ///
    /// # Errors
    /// What the engine says.
    pub fn count(&self) -> Result<u64> {
        bulk::count(&self.store, None)
    }

    /// The same, for no longer than `timeout`.
    ///
    /// # Errors
    /// As [`KeyValue::count`]; `TimedOut`.
    pub fn count_within(&self, timeout: Duration) -> Result<u64> {
        check_timeout(Some(timeout))?;
        bulk::count(&self.store, Some(timeout))
    }

    /// Reads all pairs whose major path begins with some components, across shard keys; a range
    /// applies to the major component after these. Depths go with keys, in a bulk get.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{Key, PairGetOptions, Store, WriteOptions};
    ///
    /// let pairs = Store::open("memory:")?.kv();
    /// for key in ["/users/ann/-/mail", "/users/bob/-/mail", "/groups/all"] {
    ///     pairs.put(&key.parse::<Key>()?, b"", &WriteOptions::default())?;
    /// }
    /// let users = pairs.scan_major(["users"], &PairGetOptions::default())?;
    /// assert_eq!(users.map(|batch| batch.map_or(0, |batch| batch.len())).sum::<usize>(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for options out of their range; `Unsupported` where the pairs lie in several data
    /// directories, or the engine keeps no order across shard keys.
    pub fn scan_major<C: AsRef<[u8]>>(
        &self,
        leading: impl IntoIterator<Item = C>,
        options: &PairGetOptions,
    ) -> Result<BulkPairs> {
        let leading: Vec<C> = leading.into_iter().collect();
        let leading: Vec<&[u8]> = leading.iter().map(AsRef::as_ref).collect();
        bulk::scan_major(&self.store, &leading, options)
    }

    /// Reads all pairs, in the order of their keys within each shard. A limit holds for all of them
    /// together.
    ///
    /// # Errors
    /// `Invalid` for options out of their range, and for a depth or a range, which go with keys.
    pub fn scan(&self, options: &PairGetOptions) -> Result<BulkPairs> {
        bulk::scan(&self.store, options)
    }
}

impl std::fmt::Debug for KeyValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyValue").finish_non_exhaustive()
    }
}
