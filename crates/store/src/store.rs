//! The store: what is opened, and what everything else hangs on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::header::NEVER_MS;
use tonnage_engine::{
    Clock, Engine, Error, ErrorKind, KeyPart, KeyShape, MemoryEngine, Result, SpaceId, Statistics,
    SystemClock,
};
use tonnage_rocksdb::{RocksEngine, Settings};

use crate::bulk::get::{BulkGetOptions, KeySource, MultiGet, multi_get};
use crate::bulk::put::{BulkPutError, BulkPutOptions, BulkPutReport, EntryStream, Load};
use crate::catalog::{Catalog, TableEntry};
use crate::check::{CheckReport, check};
use crate::codec::KeyOwner;
use crate::ddl::{Outcome, execute};
use crate::index::{CreateIndexOptions, IndexDefinition, WriteGate, create_index, drop_index};
use crate::kv::{Key, KeyValue};
use crate::multi_put::{MultiPutError, MultiPutReport, TableRows, multi_put};
use crate::row::Row;
use crate::table::{RowOperation, Table, WriteOptions, Written, atomic_write};
use crate::url::StoreUrl;

/// The name of the space that holds the key/value pairs.
const PAIRS_SPACE: &str = "pairs";

/// A store: tables and key/value pairs over one engine.
///
/// Cloning is cheap, and all clones are the same store. It closes when the last of them, and of the
/// tables and results made from it, is gone.
///
/// ```
/// # fn main() -> tonnage::Result<()> {
/// use tonnage::{Row, Store, WriteOptions};
///
/// let store = Store::open("memory:")?;
/// store.execute("CREATE TABLE phones (maker STRING, price INTEGER, id LONG, PRIMARY KEY (SHARD(maker), price, id))")?;
/// let phones = store.table("phones")?;
/// phones.put(&Row::new().with("maker", "Nokia").with("price", 300).with("id", 1), &WriteOptions::default())?;
/// assert_eq!(phones.count()?, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

/// What a store is made of.
pub(crate) struct Inner {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) catalog: Catalog,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) pairs: SpaceId,
    pub(crate) gate: Arc<WriteGate>,
}

/// How to open a store.
#[derive(Clone)]
pub struct StoreBuilder {
    url: String,
    settings: Settings,
    clock: Arc<dyn Clock>,
}

impl StoreBuilder {
    /// Spreads the shards of a new store over these directories, one on each disk. An existing
    /// store knows its own.
    pub fn data_directories(
        mut self,
        directories: impl IntoIterator<Item = impl Into<PathBuf>>,
    ) -> Self {
        self.settings.data_directories = directories.into_iter().map(Into::into).collect();
        self
    }

    /// Whether a store that does not exist is made (it is, by default) or is an error.
    pub fn create_if_missing(mut self, create: bool) -> Self {
        self.settings.create_if_missing = create;
        self
    }

    /// How much memory caches blocks of data files.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.settings.cache_bytes = bytes;
        self
    }

    /// Whether a store whose write-ahead log is damaged is opened with what lies before the damage
    /// (it is not, by default). What lies behind is lost for good; [`Store::statistics`] names the
    /// log and the bytes.
    pub fn recover_log_to_damage(mut self, recover: bool) -> Self {
        self.settings.recover_log_to_damage = recover;
        self
    }

    /// All settings of the embedded engine.
    pub fn rocksdb_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// The clock that decides what has expired.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Opens the store.
    ///
    /// # Errors
    /// `Unavailable` when it is open elsewhere or its directory cannot be used, `NotFound` when it
    /// does not exist and must not be made, `Unsupported` when a newer Tonnage wrote it,
    /// `Corruption` when it is damaged.
    pub fn open(self) -> Result<Store> {
        let engine: Arc<dyn Engine> = match StoreUrl::parse(&self.url)? {
            StoreUrl::Memory => Arc::new(MemoryEngine::with_clock(self.clock.clone())),
            StoreUrl::RocksDb(path) => {
                Arc::new(RocksEngine::open_with_clock(&path, self.settings, self.clock.clone())?)
            }
        };
        Store::over(engine, self.clock)
    }
}

impl Store {
    /// Opens the store with this URL (`memory:`, `rocksdb:PATH` or a bare path), making it if need
    /// be.
    ///
    /// # Errors
    /// As [`StoreBuilder::open`].
    pub fn open(url: impl AsRef<str>) -> Result<Store> {
        Self::builder(url).open()
    }

    /// Opens a store with other settings than the default ones.
    pub fn builder(url: impl AsRef<str>) -> StoreBuilder {
        StoreBuilder {
            url: url.as_ref().to_string(),
            settings: Settings::default(),
            clock: Arc::new(SystemClock),
        }
    }

    /// A store over an engine that is open already.
    ///
    /// # Errors
    /// What the engine says, and `Corruption` or `Unsupported` for a catalog that cannot be read.
    pub fn over(engine: Arc<dyn Engine>, clock: Arc<dyn Clock>) -> Result<Store> {
        let catalog = Catalog::open(engine.clone())?;
        let pairs = pairs_space(&*engine)?;
        let gate = catalog.gate().clone();
        Ok(Store { inner: Arc::new(Inner { engine, catalog, clock, pairs, gate }) })
    }

    /// Carries out DDL statements, separated by semicolons, one after another.
    ///
    /// # Errors
    /// The first statement that fails; those before it stay carried out.
    pub fn execute(&self, sql: &str) -> Result<Vec<Outcome>> {
        execute(&self.inner, sql)
    }

    /// A table by its path, such as `phones` or `phones.images`.
    ///
    /// # Errors
    /// `NotFound`, naming tables with a name like it.
    pub fn table(&self, path: &str) -> Result<Table> {
        Ok(Table::new(self.inner.clone(), self.inner.catalog.table(path)?))
    }

    /// All tables, by path.
    pub fn tables(&self) -> Vec<Table> {
        self.inner
            .catalog
            .tables()
            .into_iter()
            .map(|entry| Table::new(self.inner.clone(), entry))
            .collect()
    }

    /// Makes an index over the rows that are there and all that come; see [`crate::index`] for how.
    /// The table stays in use. Tells whether it was made now.
    ///
    /// # Errors
    /// `NotFound` for a missing table, `Invalid` for columns that do not fit or a row whose entry
    /// would be too long, `Conflict` for an index of that name, `Cancelled` when it is called off,
    /// `Unavailable` when a bulk put holds it up. The index is then taken back.
    pub fn create_index(
        &self,
        definition: &IndexDefinition,
        options: &CreateIndexOptions,
    ) -> Result<bool> {
        create_index(&self.inner, definition, options)
    }

    /// Drops an index. Tells whether there was one.
    ///
    /// # Errors
    /// `NotFound` when there is none and `if_exists` is off.
    pub fn drop_index(&self, table: &str, name: &str, if_exists: bool) -> Result<bool> {
        drop_index(&self.inner, table, name, if_exists)
    }

    /// The catalog, for callers that make tables from definitions rather than from text.
    pub fn catalog(&self) -> &Catalog {
        &self.inner.catalog
    }

    /// The key/value pairs.
    pub fn kv(&self) -> KeyValue {
        KeyValue::new(self.inner.clone())
    }

    /// Puts the entries of many streams into the store; see [`crate::bulk::put`] for how and for
    /// every rule.
    ///
    /// # Errors
    /// Whatever stopped the load, with the report so far.
    pub fn bulk_put(
        &self,
        streams: Vec<Box<dyn EntryStream>>,
        options: &BulkPutOptions,
    ) -> std::result::Result<BulkPutReport, BulkPutError> {
        crate::bulk::put::run(&self.inner, streams, options)
    }

    /// Opens a load that entries are pushed into, by as many threads as there are: what a server
    /// puts the entries of its clients with.
    ///
    /// # Errors
    /// `Invalid` for options out of their range; what the engine says.
    pub fn load(&self, options: &BulkPutOptions) -> Result<Load> {
        Load::open(&self.inner, options)
    }

    /// Puts rows into many tables in one call. All names are checked first: when a table does not
    /// exist, nothing is written.
    ///
    /// # Errors
    /// `NotFound` naming the missing table; whatever stopped the load, with the report so far. Rows
    /// that do not fit are in the report.
    pub fn multi_put<T, R>(
        &self,
        rows: impl IntoIterator<Item = (T, R)>,
        options: &BulkPutOptions,
    ) -> std::result::Result<MultiPutReport, MultiPutError>
    where
        T: AsRef<str>,
        R: Into<TableRows>,
    {
        let rows = rows
            .into_iter()
            .map(|(table, rows)| (table.as_ref().to_string(), rows.into()))
            .collect();
        multi_put(&self.inner, rows, options)
    }

    /// Gets rows of many tables by whole or partial keys in one call, on the same workers and
    /// within the same memory. The options hold for each table. Each request has an answer of its
    /// own, and a table may be asked more than once.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{BulkGetOptions, Row, Store, WriteOptions};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE heat (at LONG, level DOUBLE, PRIMARY KEY (at))")?;
    /// store.table("heat")?.put(&Row::new().with("at", 1).with("level", 20.5), &WriteOptions::default())?;
    /// let key = || vec![Row::new().with("at", 1)];
    /// let answers = store.multi_get([("heat", key()), ("light", key())], &BulkGetOptions::default())?.into_answers();
    /// assert_eq!(answers[0].as_ref().map(|batches| batches[0].rows.num_rows()).ok(), Some(1));
    /// assert!(answers[1].is_err(), "there is no table light");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for options out of their range. Everything else is the answer to the request that
    /// it concerns.
    pub fn multi_get<T, K>(
        &self,
        keys: impl IntoIterator<Item = (T, K)>,
        options: &BulkGetOptions,
    ) -> Result<MultiGet>
    where
        T: AsRef<str>,
        K: Into<KeySource>,
    {
        let requests = keys
            .into_iter()
            .map(|(table, keys)| (table.as_ref().to_owned(), keys.into()))
            .collect();
        multi_get(&self.inner, requests, options)
    }

    /// Carries out operations on rows of one shard key, of a table and its relatives, all together
    /// or not at all. Of several operations on one row the last decides what is stored; the
    /// conditions of all are judged by what was stored before.
    ///
    /// # Errors
    /// `Invalid` when the rows are not all of one shard key; what [`Table::put`] says of a single
    /// row.
    pub fn atomic_write(
        &self,
        operations: &[RowOperation],
        options: &WriteOptions,
    ) -> Result<Written> {
        atomic_write(&self.inner, operations, options)
    }

    /// Makes everything acknowledged so far durable, whatever durability it was written with.
    ///
    /// # Errors
    /// `Unavailable` when the disk refuses.
    pub fn sync(&self) -> Result<()> {
        self.inner.engine.sync()
    }

    /// Waits until background work has nothing left to do: what is in memory alone is written to
    /// data files, and these are compacted.
    ///
    /// # Errors
    /// What the engine says.
    pub fn settle(&self) -> Result<()> {
        self.inner.engine.settle()
    }

    /// Writes a copy to a directory that does not exist yet; it opens as a store. It is of one
    /// moment, over all data directories, while writing goes on.
    ///
    /// # Errors
    /// `Unsupported` when the engine cannot; `Unavailable` when the disk refuses.
    pub fn checkpoint(&self, directory: &Path) -> Result<()> {
        self.inner.engine.checkpoint(directory)
    }

    /// Reads everything: verifies every checksum, decodes every row, and compares the spaces with
    /// the catalog. Damage is in the report.
    ///
    /// # Errors
    /// When the store could not be read at all.
    pub fn check(&self) -> Result<CheckReport> {
        check(&self.inner)
    }

    /// A reading of the engine's state.
    ///
    /// # Errors
    /// What the engine says.
    pub fn statistics(&self) -> Result<Statistics> {
        self.inner.engine.statistics()
    }

    /// The engine underneath.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.inner.engine
    }
}

impl Inner {
    /// When a row put now ceases to exist that lives this long; no time at all is for ever.
    pub(crate) fn expiry_ms(&self, ttl: Duration) -> u64 {
        if ttl.is_zero() {
            return NEVER_MS;
        }
        // A row with the shortest life still expires, also by a clock that stands at 0.
        self.clock.now_ms().saturating_add(ttl.as_millis().try_into().unwrap_or(u64::MAX)).max(1)
    }

    /// The same for a row of a table, whose own time to live holds when the put gives none.
    pub(crate) fn table_expiry_ms(&self, entry: &TableEntry, ttl: Option<Duration>) -> u64 {
        let ttl = ttl.or_else(|| entry.schema.ttl_ms.map(Duration::from_millis));
        ttl.map_or(NEVER_MS, |ttl| self.expiry_ms(ttl))
    }

    /// The same for a row that is written by itself.
    pub(crate) fn write_expiry_ms(&self, entry: &TableEntry, options: &WriteOptions) -> u64 {
        options.expires_at_ms.unwrap_or_else(|| self.table_expiry_ms(entry, options.ttl))
    }

    /// The path of the table that a key belongs to and its key columns; the pair's key for a
    /// key/value pair.
    pub(crate) fn describe_key(&self, space: SpaceId, key: &[u8]) -> Result<(String, Row)> {
        if space == self.pairs {
            return Ok((String::new(), Row::new().with("key", Key::decode(key)?.to_string())));
        }
        let family = self.catalog.family(space);
        let root = family
            .first()
            .ok_or_else(|| Error::not_found("the table of this key was dropped meanwhile"))?;
        let owner = root.classifier.classify(key)?;
        let entry = family.iter().find(|entry| owner == KeyOwner::Table(entry.schema.table_id));
        let entry =
            entry.ok_or_else(|| Error::not_found("the table of this key was dropped meanwhile"))?;
        let mut rows = tonnage_engine::Rows::new();
        rows.push(key, &[], 0, NEVER_MS, 0);
        let batch = entry.codec.decode(&rows, None, Some(&entry.schema.key))?;
        Ok((entry.schema.path.clone(), Row::from_batch(&batch, 0)?))
    }
}

/// Finds or makes the space of the key/value pairs.
fn pairs_space(engine: &dyn Engine) -> Result<SpaceId> {
    let find = || -> Result<Option<SpaceId>> {
        Ok(engine
            .spaces()?
            .into_iter()
            .find(|space| space.name == PAIRS_SPACE)
            .map(|space| space.id))
    };
    if let Some(space) = find()? {
        return Ok(space);
    }
    match engine.create_space(PAIRS_SPACE, &KeyShape::new([KeyPart::Path])) {
        Err(error) if error.kind() == ErrorKind::Conflict => find()?.ok_or(error),
        made => made,
    }
}
