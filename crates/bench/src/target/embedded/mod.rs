//! Tonnage inside this process, through its library.

mod bulk;
mod client;
mod feeds;
mod queries;

use std::sync::{OnceLock, PoisonError, RwLock};

use tonnage::arrow::array::RecordBatch;
use tonnage::{Durability, Error, Result, RocksDbSettings, Statistics, Store, Table};
use tonnage_sql::{Sql, SqlOptions};

use super::budget::Budget;
use super::{
    BulkDone, BulkOptions, Client, Feature, Gauges, KeySource, PairSource, RecordShape,
    RecordSource, RowSource, Target, TargetKind, TargetSpec,
};

/// Tonnage embedded, on either engine.
pub(super) struct Embedded {
    name: &'static str,
    is_durable: bool,
    settings: Vec<(String, String)>,
    store: Store,
    durability: Durability,
    /// The table of YCSB's records, once there is one.
    records: RwLock<Option<Table>>,
    /// The session that statements run in, once there was one: it has threads of its own.
    sql: OnceLock<Sql>,
}

impl Embedded {
    pub(super) fn open(spec: &TargetSpec) -> Result<Self> {
        let (store, settings) = match spec.kind {
            TargetKind::TonnageMemory => (Store::open("memory:")?, Vec::new()),
            _ => open_on_disk(spec)?,
        };
        Ok(Embedded {
            name: spec.kind.name(),
            is_durable: spec.kind != TargetKind::TonnageMemory,
            settings,
            store,
            durability: spec.durability,
            records: RwLock::new(None),
            sql: OnceLock::new(),
        })
    }

    fn sql(&self) -> Result<&Sql> {
        if let Some(sql) = self.sql.get() {
            return Ok(sql);
        }
        let sql = Sql::new(
            self.store.clone(),
            SqlOptions { durability: self.durability, ..SqlOptions::default() },
        )?;
        Ok(self.sql.get_or_init(|| sql))
    }

    /// The table of YCSB's records.
    fn records(&self) -> Result<Table> {
        let records = self.records.read().unwrap_or_else(PoisonError::into_inner).clone();
        records.ok_or_else(|| Error::invalid("there are no records yet: call create_records first"))
    }
}

fn open_on_disk(spec: &TargetSpec) -> Result<(Store, Vec<(String, String)>)> {
    let budget = Budget::of(spec.memory_bytes);
    let settings = RocksDbSettings {
        cache_bytes: budget.cache_bytes,
        memtable_bytes: budget.memtable_bytes,
        direct_io: spec.direct_io,
        ..RocksDbSettings::default()
    };
    let mut shown = budget.settings().to_vec();
    shown.push(("direct_io".to_owned(), spec.direct_io.to_string()));
    shown.push(("durability".to_owned(), format!("{:?}", spec.durability).to_lowercase()));
    shown.push(("compression".to_owned(), format!("{:?}", settings.compression).to_lowercase()));
    shown.push(("background_threads".to_owned(), settings.background_threads.to_string()));
    let directory = spec
        .directory
        .to_str()
        .ok_or_else(|| Error::invalid("the directory's name is not text"))?;
    let store = Store::builder(format!("rocksdb:{directory}")).rocksdb_settings(settings).open()?;
    Ok((store, shown))
}

impl Target for Embedded {
    fn name(&self) -> &str {
        self.name
    }

    fn settings(&self) -> Vec<(String, String)> {
        self.settings.clone()
    }

    fn offers(&self, feature: Feature) -> bool {
        match feature {
            Feature::Tables | Feature::MultiTable | Feature::Queries => true,
            Feature::Durable => self.is_durable,
        }
    }

    /// A table with a text key and a BINARY column for each field: text columns would have each
    /// value checked for being text.
    fn create_records(&self, shape: &RecordShape) -> Result<()> {
        let fields: String = (0..shape.fields)
            .map(|number| format!("{} BINARY, ", feeds::field_name(number)))
            .collect();
        self.store.execute(&format!(
            "CREATE TABLE {} (id STRING, {fields}PRIMARY KEY (id))",
            shape.table
        ))?;
        let table = self.store.table(&shape.table)?;
        *self.records.write().unwrap_or_else(PoisonError::into_inner) = Some(table);
        Ok(())
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(client::EmbeddedClient::new(self)))
    }

    fn bulk_put_records(
        &self,
        shape: &RecordShape,
        sources: Vec<Box<dyn RecordSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk::put_records(&self.store, shape, sources, options)
    }

    fn bulk_put_pairs(
        &self,
        sources: Vec<Box<dyn PairSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk::put_pairs(&self.store, sources, options)
    }

    fn bulk_get_pairs(&self, keys: Box<dyn KeySource>, options: &BulkOptions) -> Result<BulkDone> {
        bulk::get_pairs(&self.store, keys, options)
    }

    fn define(&self, statement: &str) -> Result<()> {
        self.store.execute(statement).map(drop)
    }

    fn bulk_put_rows(
        &self,
        table: &str,
        sources: Vec<Box<dyn RowSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk::put_rows(&self.store, table, sources, options)
    }

    fn bulk_get_rows(
        &self,
        table: &str,
        keys: Box<dyn RowSource>,
        children: &[&str],
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk::get_rows(&self.store.table(table)?, keys, children, options)
    }

    fn multi_put(
        &self,
        rows: Vec<(String, RecordBatch)>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk::multi_put(&self.store, rows, options)
    }

    fn multi_get(
        &self,
        keys: Vec<(String, RecordBatch)>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk::multi_get(&self.store, keys, options)
    }

    fn multi_query(
        &self,
        statements: &[&str],
        sink: &mut dyn FnMut(usize, &RecordBatch) -> Result<()>,
    ) -> Result<()> {
        queries::multi_query(self.sql()?, statements, sink)
    }

    fn sync(&self) -> Result<()> {
        self.store.sync()
    }

    fn settle(&self) -> Result<()> {
        self.store.settle()
    }

    fn gauges(&self) -> Result<Gauges> {
        Ok(gauges(&self.store.statistics()?))
    }
}

fn gauges(statistics: &Statistics) -> Gauges {
    let holds_up = |(name, value): &(String, u64)| {
        *value > 0 && ["is_write_stopped", "actual_delayed_write_rate"].contains(&name.as_str())
    };
    Gauges {
        disk_bytes: statistics.disk_bytes(),
        memtable_bytes: statistics.shards.iter().map(|shard| shard.memtable_bytes).sum(),
        cache_bytes: statistics.shards.iter().map(|shard| shard.cache_bytes).sum(),
        compaction_pending_bytes: statistics.compaction_pending_bytes(),
        stalled: statistics.shards.iter().flat_map(|shard| &shard.details).any(holds_up),
    }
}
