//! The store: what a program opens, and the start of every other handle.

mod builder;
#[cfg(test)]
mod column_model_tests;
mod limits;
mod url;

pub use builder::{OpenCluster, StoreBuilder};

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tonnage_engine::{
    Capability, Clock, Deadline, Durability, Engine, Error, ErrorKind, KeyPart, KeyShape, Levels,
    Result, SpaceId, Statistics, SystemClock,
};
use tonnage_rocksdb::Settings;

use crate::backup::{BackupOptions, BackupReport, BackupRepository};
use crate::budget::Budget;
use crate::bulk::get::{BulkGetOptions, KeySource, MultiGet, MultiGetRequest, multi_get};
use crate::bulk::put::multi::{MultiPutError, MultiPutReport, TableRows, multi_put};
use crate::bulk::put::{BulkPutError, BulkPutOptions, BulkPutReport, EntryStream, Load};
use crate::catalog::Catalog;
use crate::check::{CheckOptions, CheckReport, check};
use crate::columns::ColumnStatistics;
use crate::columns::live_columns::LiveColumns;
use crate::ddl::{DdlOutcome, execute};
use crate::index::{
    BackgroundCleaner, CreateIndexOptions, IndexDefinition, create_index, drop_index,
};
use crate::inner::Inner;
use crate::kv::KeyValue;
use crate::levels::{check_acks, check_consistency};
use crate::lob::{clean_unneeded, find_space};
use crate::namespaces;
use crate::read::ReadAhead;
use crate::single_calls::{WriteOptions, WriteResult};
use crate::table::{ExchangeResult, RowOperation, Table, atomic_write, write_each};
use crate::terms::check_timeout;
use crate::version_clock::VersionClock;
use limits::StoreLimits;

/// The name of the space that holds the key/value pairs.
const PAIRS_SPACE: &str = "pairs";

/// A store: tables and key/value pairs over one engine.
///
/// Cloning is cheap, and all clones are the same store. It closes when the last of them, and of its
/// tables and results, is gone.
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
            open_cluster: None,
            settings: Settings::default(),
            clock: Arc::new(SystemClock),
            clean_in_background: true,
            limits: StoreLimits::default(),
            levels: Levels::default(),
        }
    }

    /// A store over an engine that is open already.
    ///
    /// # Errors
    /// What the engine says, and `Corruption` or `Unsupported` for a catalog that cannot be read.
    pub fn over(engine: Arc<dyn Engine>, clock: Arc<dyn Clock>) -> Result<Store> {
        Self::over_with(engine, clock, true, StoreLimits::default(), Levels::default())
    }

    fn over_with(
        engine: Arc<dyn Engine>,
        clock: Arc<dyn Clock>,
        clean_in_background: bool,
        limits: StoreLimits,
        levels: Levels,
    ) -> Result<Store> {
        check_acks(Some(levels.acks), Durability::None, engine.capability())?;
        check_consistency(Some(levels.consistency))?;
        let catalog = Catalog::open_as_member(engine.clone())?;
        let pairs = pairs_space(&*engine)?;
        let gate = catalog.gate().clone();
        let version_clock = VersionClock::open(&*engine)?;
        let cleaner = BackgroundCleaner::new(engine.clone(), gate.clone(), clean_in_background);
        if let Some(space) = find_space(&*engine)? {
            // What writers left that a crash cut short. What cannot be deleted stays until `check`.
            cleaner.run_first(move |engine, give_up| {
                let _ = clean_unneeded(engine, space, give_up);
            });
        }
        let inner = Inner {
            engine,
            levels,
            catalog,
            clock,
            version_clock,
            pairs,
            gate,
            lobs: OnceLock::new(),
            cleaner,
            columns: LiveColumns::new(limits.segments),
            ahead: ReadAhead::new(limits.read_ahead_bytes),
            threads: Budget::new(limits.threads),
            load_memory: Budget::new(limits.load_memory_bytes),
        };
        let inner = Arc::new(inner);
        // The thread holds the store weakly: else the store would never be closed.
        if let Some(members) = inner.catalog.members() {
            let inner = Arc::downgrade(&inner);
            let follow = move || inner.upgrade().map_or(Ok(false), |inner| inner.catalog.follow());
            members.watch(Box::new(follow));
        }
        Ok(Store { inner })
    }

    /// The names of all namespaces, in order. Tables in one have its name and a colon before their own.
    ///
    /// # Errors
    /// What the engine says.
    pub fn namespaces(&self) -> Result<Vec<String>> {
        namespaces::list(&*self.inner.engine)
    }

    /// Makes a namespace. Returns whether there was none of that name.
    ///
    /// # Errors
    /// `Invalid` for a name that no table could have, or with a colon.
    pub fn create_namespace(&self, name: &str) -> Result<bool> {
        namespaces::create(&*self.inner.engine, name)
    }

    /// Forgets a namespace. Returns whether there was one of that name. Its tables stay.
    ///
    /// # Errors
    /// What the engine says.
    pub fn drop_namespace(&self, name: &str) -> Result<bool> {
        namespaces::remove(&*self.inner.engine, name)
    }

    /// Keeps from now on when rows are written, in all later openings, too. [`Table::written_ms`]
    /// reads it. Costs an empty row for each 100 ms of writing, and no byte of a row.
    ///
    /// # Errors
    /// What the engine says.
    pub fn keep_write_times(&self) -> Result<()> {
        self.inner.version_clock.keep(&*self.inner.engine)
    }

    /// Has what is kept as columns take at most so much memory from now on.
    #[doc(hidden)]
    pub fn bound_columns(&self, memory_bytes: usize) {
        self.inner.columns.bound(memory_bytes);
    }

    /// What is kept as columns, and where the rows of scans came from.
    #[doc(hidden)]
    pub fn column_statistics(&self) -> ColumnStatistics {
        self.inner.columns.statistics()
    }

    /// What reads hold that their readers have not asked for yet.
    #[cfg(test)]
    pub(crate) fn bytes_ahead(&self) -> usize {
        self.inner.ahead.bytes()
    }

    /// Carries out DDL statements, separated by semicolons, one after another.
    ///
    /// # Errors
    /// The first statement that fails; those before it stay carried out.
    pub fn execute(&self, sql: &str) -> Result<Vec<DdlOutcome>> {
        execute(&self.inner, sql, Deadline::NONE)
    }

    /// The same, for no longer than `timeout` in all.
    ///
    /// # Errors
    /// As [`Store::execute`]; `TimedOut`, naming what was waited for: the statement that waited did
    /// nothing, and those before it stay carried out.
    pub fn execute_within(&self, sql: &str, timeout: Duration) -> Result<Vec<DdlOutcome>> {
        check_timeout(Some(timeout))?;
        execute(&self.inner, sql, Deadline::after(timeout))
    }

    /// A table by its path, such as `phones` or `phones.images`.
    ///
    /// # Errors
    /// `NotFound`, naming tables with a name like it; see [`Store::hide_table_names`].
    pub fn table(&self, path: &str) -> Result<Table> {
        Ok(Table::new(self.inner.clone(), self.inner.catalog.table(path)?))
    }

    /// A table by its path, as far as this process knows. It learns of a table that another process
    /// created within about a second; [`Store::table`] asks at once.
    pub fn known_table(&self, path: &str) -> Option<Table> {
        Some(Table::new(self.inner.clone(), self.inner.catalog.find(path)?))
    }

    /// Leaves the names of other tables out of errors from now on. By default the error for a table
    /// that does not exist lists those that do. A server whose users may not know of all tables
    /// calls this.
    pub fn hide_table_names(&self) {
        self.inner.catalog.hide_names();
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

    /// Makes an index over the rows that are there and all that come. The table stays in use.
    /// Answers whether it was created now.
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

    /// Drops an index. Returns whether there was one.
    ///
    /// # Errors
    /// `NotFound` when there is none and `if_exists` is off.
    pub fn drop_index(&self, table: &str, name: &str, if_exists: bool) -> Result<bool> {
        drop_index(&self.inner, table, name, if_exists, Deadline::NONE)
    }

    /// The catalog, for callers that make tables from definitions rather than from text.
    pub fn catalog(&self) -> &Catalog {
        &self.inner.catalog
    }

    /// The key/value pairs.
    pub fn kv(&self) -> KeyValue {
        KeyValue::new(self.inner.clone())
    }

    /// Puts the entries of many streams into the store.
    ///
    /// - Each entry is inserted, existed already, or failed.
    ///   [`BulkPutCallbacks`](crate::BulkPutCallbacks) hear of the latter two. One that does not fit
    ///   its table fails alone, with its stream, its position and the reason.
    /// - A stream is complete when all of its entries are as durable as
    ///   [`BulkPutOptions::durability`] asks for.
    /// - Tables may be altered meanwhile. Rows of one that is dropped fail.
    /// - Whatever ends the load early (a stream that fails or panics, a callback, too many errors,
    ///   a timeout, a cancel), what was put before is stored, and the error carries the report so
    ///   far.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::sync::Arc;
    /// use tonnage::{BulkPutOptions, Row, Store, row_stream};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE heat (sensor LONG, at LONG, PRIMARY KEY (sensor, at))")?;
    /// let heat: Arc<str> = "heat".into();
    /// let row = |sensor: i64, at: i64| Row::new().with("sensor", sensor).with("at", at);
    /// let streams = [("north", 1), ("south", 2)].map(|(name, sensor)| {
    ///     let heat = heat.clone();
    ///     row_stream(name, (0..1_000).map(move |at| Ok((heat.clone(), row(sensor, at)))))
    /// });
    /// let report = store.bulk_put(streams.into(), &BulkPutOptions::default())?;
    /// assert_eq!((report.total.inserted, report.total.failed), (2_000, 0));
    /// # Ok(())
    /// # }
    /// ```
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
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use tonnage::{BulkPutOptions, Row, Store};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE heat (at LONG, PRIMARY KEY (at))")?;
    /// store.execute("CREATE TABLE wind (at LONG, PRIMARY KEY (at))")?;
    /// let rows = || vec![Row::new().with("at", 1), Row::new().with("at", 2)];
    /// let tables = [("heat", rows()), ("wind", rows())];
    /// let put = store.multi_put(tables, &BulkPutOptions::default())?;
    /// assert_eq!(put.report.total.inserted, 4);
    /// # Ok(())
    /// # }
    /// ```
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
    /// let row = Row::new().with("at", 1).with("level", 20.5);
    /// store.table("heat")?.put(&row, &WriteOptions::default())?;
    /// let keys = || vec![Row::new().with("at", 1)];
    /// let requests = [("heat", keys()), ("light", keys())];
    /// let answers = store.multi_get(requests, &BulkGetOptions::default())?.into_answers();
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
            .map(|(table, keys)| MultiGetRequest::new(table.as_ref(), keys))
            .collect();
        multi_get(&self.inner, requests, options)
    }

    /// The same, where each request may have options of its own: a range, columns, a limit.
    ///
    /// # Errors
    /// As [`Store::multi_get`]. Options of a request that do not fit are the answer to it.
    pub fn multi_get_requests(
        &self,
        requests: impl IntoIterator<Item = MultiGetRequest>,
        options: &BulkGetOptions,
    ) -> Result<MultiGet> {
        multi_get(&self.inner, requests.into_iter().collect(), options)
    }

    /// Carries out operations on rows of one shard key, of a table and its relatives, all together
    /// or not at all. Of several operations on one row the last decides what is stored; the
    /// conditions of all are judged by what was stored before.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{Row, RowOperation, Store, WriteOptions};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE cart (user LONG, item LONG, PRIMARY KEY (SHARD(user), item))")?;
    /// let item = |item| Row::new().with("user", 7).with("item", item);
    /// let swap = [RowOperation::put("cart", item(2)), RowOperation::delete("cart", item(1))];
    /// store.atomic_write(&swap, &WriteOptions::default())?;
    /// assert!(store.table("cart")?.get(&item(2))?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` when the rows are not all of one shard key; what [`Table::put`] says of a single
    /// row.
    pub fn atomic_write(
        &self,
        operations: &[RowOperation],
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        atomic_write(&self.inner, operations, options)
    }

    /// Carries out those operations whose conditions hold, on rows of one shard key, of a table and
    /// its relatives. They appear together, at one point in time. The others leave no trace, and
    /// stop none. Each answer says whether its operation was carried out, and which row it found.
    ///
    /// All conditions are judged by what was stored before, and each row found is of that time. Of
    /// several operations on one row the last that is carried out decides what is stored. The rows
    /// found are in memory together. A condition that did not hold may come to hold just before the
    /// others are written.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{Condition, Row, RowOperation, Store, WriteOptions};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE berths (port STRING, n LONG, ship STRING, PRIMARY KEY (SHARD(port), n))")?;
    /// let berth = |n: i64, ship: &str| {
    ///     let row = Row::new().with("port", "Delft").with("n", n).with("ship", ship);
    ///     RowOperation::put("berths", row).when(Condition::IfAbsent)
    /// };
    /// store.write_each(&[berth(1, "ARGO")], &WriteOptions::default())?;
    /// let answers =
    ///     store.write_each(&[berth(1, "PEQUOD"), berth(2, "PEQUOD")], &WriteOptions::default())?;
    /// assert!(!answers[0].result.is_stored() && answers[0].previous.is_some());
    /// assert!(answers[1].result.is_stored() && answers[1].previous.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Store::atomic_write`]; then nothing was carried out.
    pub fn write_each(
        &self,
        operations: &[RowOperation],
        options: &WriteOptions,
    ) -> Result<Vec<ExchangeResult>> {
        write_each(&self.inner, operations, options)
    }

    /// Closes the store: makes everything durable, waits until nothing is left of its reads, loads
    /// and handles, and frees its directory. Without it a store closes when the last handle is
    /// gone.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use std::time::Duration;
    ///
    /// let store = tonnage::Store::open("memory:")?;
    /// let pairs = store.kv();
    /// assert!(store.clone().close(Duration::ZERO).is_err(), "the pairs are in use");
    /// drop(pairs);
    /// store.close(Duration::from_secs(5))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Unavailable` when others hold the store longer than that: it closes with the last of them.
    /// Whatever [`Store::sync`] says; the store is closed all the same.
    pub fn close(self, patience: Duration) -> Result<()> {
        let synced = self.sync();
        let engine = Arc::downgrade(&self.inner.engine);
        let deadline = Instant::now().checked_add(patience);
        let has_time = || deadline.is_none_or(|deadline| Instant::now() < deadline);
        let mut inner = self.inner;
        loop {
            match Arc::try_unwrap(inner) {
                Ok(last) => {
                    drop(last);
                    break;
                }
                Err(shared) if has_time() => inner = shared,
                Err(_) => return Err(in_use()),
            }
            std::thread::sleep(LOOK_EVERY);
        }
        // Reads hold the engine alone.
        while engine.strong_count() > 0 {
            if !has_time() {
                return Err(in_use());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        synced
    }

    /// What the engine can do, and its limits.
    pub fn capability(&self) -> &Capability {
        self.inner.engine.capability()
    }

    /// The levels of calls that ask for none: those that the store was opened with.
    pub fn levels(&self) -> Levels {
        self.inner.levels
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

    /// The same, for no longer than `timeout`. What is in memory alone is written in any case.
    ///
    /// # Errors
    /// As [`Store::settle`]; `TimedOut`: background work continues, and may be waited for again.
    pub fn settle_within(&self, timeout: Duration) -> Result<()> {
        check_timeout(Some(timeout))?;
        self.inner.engine.settle_by(Deadline::after(timeout))
    }

    /// Writes a copy to a directory that does not exist yet; it opens as a store. It is of one
    /// point in time, over all data directories, while writes continue.
    ///
    /// # Errors
    /// `Unsupported` when the engine cannot; `Unavailable` when the disk refuses.
    pub fn checkpoint(&self, directory: &Path) -> Result<()> {
        self.inner.engine.checkpoint(directory)
    }

    /// Makes a backup of one point in time, over all data directories, while writes continue. Files
    /// that the repository has are not copied again.
    ///
    /// # Errors
    /// `Conflict` when the repository has backups of another store; `Unsupported` when the engine
    /// cannot; `Unavailable` when a disk refuses or the repository is in use; `Cancelled` when it
    /// is called off. What was copied is kept for the next backup.
    pub fn backup(
        &self,
        repository: &BackupRepository,
        options: &BackupOptions,
    ) -> Result<BackupReport> {
        crate::backup::make(&self.inner, repository, options)
    }

    /// Reads everything: verifies every checksum, decodes every row, and compares the spaces with
    /// the catalog. Damage is in the report.
    ///
    /// # Errors
    /// When the store could not be read at all.
    pub fn check(&self) -> Result<CheckReport> {
        self.check_with(&CheckOptions::default())
    }

    /// The same with a timeout, or to be called off.
    ///
    /// # Errors
    /// As [`Store::check`]; `TimedOut`, `Cancelled`, without a report.
    pub fn check_with(&self, options: &CheckOptions) -> Result<CheckReport> {
        check(&self.inner, options)
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

/// How often a closing call checks whether others still hold the store.
const LOOK_EVERY: Duration = Duration::from_millis(1);

#[cold]
fn in_use() -> Error {
    Error::unavailable(
        "the store is in use: tables, reads, loads or other handles on it are alive; it closes with the last of them",
    )
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

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("catalog", &self.inner.catalog).finish_non_exhaustive()
    }
}
