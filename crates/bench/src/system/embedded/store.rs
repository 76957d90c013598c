//! The store under test, and what clients share of it.

use std::sync::{OnceLock, PoisonError, RwLock};

use tonnage::{
    BulkPutOptions, Counts, Durability, EntryStream, Error, Result, RocksDbSettings, Store, Table,
};
use tonnage_sql::{Sql, SqlOptions};

use crate::system::budget::Budget;
use crate::system::{SystemKind, SystemSpec};

/// Tonnage embedded, on either engine.
pub(in crate::system) struct Embedded {
    pub(super) name: &'static str,
    pub(super) is_durable: bool,
    pub(super) settings: Vec<(String, String)>,
    pub(super) store: Store,
    pub(super) durability: Durability,
    /// The table of YCSB's records, once there is one.
    pub(super) records: RwLock<Option<Table>>,
    /// The session that statements run in, once there was one: it has threads of its own.
    sql: OnceLock<Sql>,
}

impl Embedded {
    pub(in crate::system) fn open(spec: &SystemSpec) -> Result<Self> {
        let (store, settings) = match spec.kind {
            SystemKind::TonnageMemory => (Store::open("memory:")?, Vec::new()),
            _ => open_on_disk(spec)?,
        };
        Ok(Embedded {
            name: spec.kind.name(),
            is_durable: spec.kind != SystemKind::TonnageMemory,
            settings,
            store,
            durability: spec.durability,
            records: RwLock::new(None),
            sql: OnceLock::new(),
        })
    }

    /// The store itself, for a server of it.
    pub(in crate::system) fn store(&self) -> Store {
        self.store.clone()
    }

    pub(in crate::system) fn table(&self, path: &str) -> Result<Table> {
        self.store.table(path)
    }

    pub(in crate::system) fn durability(&self) -> Durability {
        self.durability
    }

    /// Puts streams into the store.
    pub(super) fn putter(
        &self,
    ) -> impl Fn(Vec<Box<dyn EntryStream>>, &BulkPutOptions) -> Result<Counts> + '_ {
        |streams, options| Ok(self.store.bulk_put(streams, options)?.total)
    }

    pub(super) fn sql(&self) -> Result<&Sql> {
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
    pub(super) fn records(&self) -> Result<Table> {
        let records = self.records.read().unwrap_or_else(PoisonError::into_inner).clone();
        records.ok_or_else(|| Error::invalid("there are no records yet: call create_records first"))
    }
}

fn open_on_disk(spec: &SystemSpec) -> Result<(Store, Vec<(String, String)>)> {
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
