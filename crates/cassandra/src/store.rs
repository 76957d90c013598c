//! The open store, which the engine, its scans and its loads share.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use scylla::statement::Consistency;
use tokio::sync::OnceCell;
use tonnage_engine::sync::{read, write};
use tonnage_engine::{
    Capability, Clock, Deadline, Error, ErrorKind, KeyShape, Result, ShardId, SpaceId, SpaceInfo,
    prefixed_shard,
};

use crate::address::Address;
use crate::blocking::{DriverRuntime, with_deadline};
use crate::bucket::Bucket;
use crate::catalog::KeyspaceCatalog;
use crate::cluster::Cluster;
use crate::known_headers::KnownHeaders;
use crate::limits::capability;
use crate::partition_locks::PartitionLocks;
use crate::table::SpaceTable;
use crate::time::ClusterTime;

/// How long a drop may take between its table and its row, and how often others check meanwhile.
const DROP_TIME: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// An open store.
pub(crate) struct ClusterStore {
    pub(crate) cluster: Cluster,
    pub(crate) capability: Capability,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) time: ClusterTime,
    pub(crate) partition_locks: PartitionLocks,
    pub(crate) known: KnownHeaders,
    catalog: KeyspaceCatalog,
    /// Set once it was noted that this process stores rows that only one copy has.
    single_copies: OnceCell<()>,
    buckets: u32,
    tables: RwLock<HashMap<SpaceId, Arc<SpaceTable>>>,
    hosts: String,
    /// The last to go: connections live on it.
    pub(crate) runtime: DriverRuntime,
}

impl ClusterStore {
    pub(crate) fn open(address: &Address, clock: Arc<dyn Clock>) -> Result<Arc<Self>> {
        let runtime = DriverRuntime::start()?;
        let (cluster, catalog, buckets, time, capability) = runtime.wait(async {
            let mut cluster = Cluster::connect(address).await?;
            // First of all: it finds the home of the store, which every later request uses.
            let catalog = KeyspaceCatalog::open(&mut cluster, address).await?;
            let buckets = catalog.buckets(&cluster, address.buckets).await?;
            let time = ClusterTime::new(u64::from(catalog.next_writer(&cluster).await?));
            // Before any row is written: versions and stamps follow the clocks of the nodes.
            time.measure(&cluster).await?;
            let shards = catalog.shards(&cluster).await?;
            let capability = capability(&cluster, shards).await?;
            Ok::<_, Error>((cluster, catalog, buckets, time, capability))
        })?;
        Ok(Arc::new(Self {
            cluster,
            capability,
            clock,
            time,
            partition_locks: PartitionLocks::new(),
            known: KnownHeaders::new(),
            catalog,
            single_copies: OnceCell::new(),
            buckets,
            tables: RwLock::default(),
            hosts: address.hosts.join(","),
            runtime,
        }))
    }

    /// The nodes that the store was opened with.
    pub(crate) fn hosts(&self) -> &str {
        &self.hosts
    }

    /// The partition of a shard key.
    #[inline]
    pub(crate) fn bucket(&self, shard_key: &[u8]) -> Bucket {
        Bucket::of(shard_key, self.buckets)
    }

    /// The shard of a shard key: which partition of an index has the entries of its rows.
    #[inline]
    pub(crate) fn shard(&self, shard_key: &[u8]) -> ShardId {
        ShardId(self.bucket(shard_key).0 % self.capability.shards)
    }

    /// The length of the shard key of a key that is to be looked up or stored.
    ///
    /// # Errors
    /// `Invalid` for a key that is too short or too long, or names a shard that there is not.
    pub(crate) fn shard_key_len(&self, table: &SpaceTable, key: &[u8]) -> Result<usize> {
        if table.is_shard_prefixed() {
            prefixed_shard(key, self.capability.shards)
                .map_err(|error| error.at(table.display_name()))?;
        }
        table.shard_key_len(key, self.capability.key_bytes_max)
    }

    /// The table of a space.
    ///
    /// # Errors
    /// `NotFound` for a space that does not exist.
    pub(crate) async fn table(&self, space: SpaceId) -> Result<Arc<SpaceTable>> {
        if let Some(table) = self.known(space) {
            return Ok(table);
        }
        let spaces = self.catalog.spaces(&self.cluster).await?;
        let info = spaces.into_iter().find(|info| info.id == space);
        let table =
            SpaceTable::new(self.cluster.keyspace(), info.ok_or_else(|| no_such_space(space))?);
        Ok(self.remember(table))
    }

    /// The same by a deadline: a process that sees a space first asks the cluster for it.
    pub(crate) async fn table_by(
        &self,
        space: SpaceId,
        deadline: Deadline,
    ) -> Result<Arc<SpaceTable>> {
        match self.known(space) {
            Some(table) => Ok(table),
            None => with_deadline(deadline, "a space", self.table(space)).await,
        }
    }

    fn known(&self, space: SpaceId) -> Option<Arc<SpaceTable>> {
        let tables = read(&self.tables);
        tables.get(&space).cloned()
    }

    fn remember(&self, table: SpaceTable) -> Arc<SpaceTable> {
        let mut tables = write(&self.tables);
        Arc::clone(tables.entry(table.id()).or_insert_with(|| Arc::new(table)))
    }

    fn forget(&self, space: SpaceId) {
        let mut tables = write(&self.tables);
        tables.remove(&space);
    }

    /// The error of a request to a table. A table that is gone was dropped by another process.
    pub(crate) fn explain(&self, table: &SpaceTable, error: Error) -> Error {
        if error.kind() != ErrorKind::NotFound {
            return error.at(table.display_name());
        }
        self.forget(table.id());
        no_such_space(table.id())
    }

    /// Notes, before the first of them, that rows are stored that only one copy has.
    pub(crate) async fn note_single_copies(&self) -> Result<()> {
        let note = || self.catalog.note_single_copies(&self.cluster);
        self.single_copies.get_or_try_init(note).await.copied()
    }

    /// The level at which a read sees every row that any copy has.
    pub(crate) async fn level_of_every_copy(&self) -> Result<Consistency> {
        Ok(match self.catalog.has_single_copies(&self.cluster).await? {
            true => Consistency::All,
            false => self.cluster.quorum_scope().majority(),
        })
    }

    pub(crate) async fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        self.catalog.spaces(&self.cluster).await
    }

    /// Whether a space is dropped, of whose table a node says that there is none. A node that was
    /// away may not have heard of the table yet. A drop takes the table first: so its end is waited
    /// for.
    pub(crate) async fn is_dropped(&self, space: SpaceId) -> Result<bool> {
        let until = Instant::now() + DROP_TIME;
        loop {
            if self.spaces().await?.iter().all(|info| info.id != space) {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    pub(crate) async fn create_space(&self, name: &str, shape: &KeyShape) -> Result<SpaceId> {
        let info = self.catalog.create(&self.cluster, name, shape).await?;
        let id = info.id;
        self.remember(SpaceTable::new(self.cluster.keyspace(), info));
        Ok(id)
    }

    pub(crate) async fn drop_space(&self, space: SpaceId) -> Result<()> {
        let spaces = self.catalog.spaces(&self.cluster).await?;
        let info = spaces.into_iter().find(|info| info.id == space);
        let info = info.ok_or_else(|| no_such_space(space))?;
        self.forget(space);
        self.catalog.remove(&self.cluster, &info).await?;
        // Another process may have found it in the list while its table was dropped.
        self.forget(space);
        Ok(())
    }
}

#[cold]
pub(crate) fn no_such_space(space: SpaceId) -> Error {
    Error::not_found(format!(
        "there is no space with the number {}: it was dropped, or is of another store",
        space.0
    ))
}
