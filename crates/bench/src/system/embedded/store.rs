//! The store under test, and what clients share of it.

use std::sync::OnceLock;

use tonnage::{Durability, Error, Result, RocksDbSettings, Store, Table};
use tonnage_sql::{Sql, SqlOptions};

use crate::system::budget::MemoryBudget;
use crate::system::{SystemKind, SystemSpec};

/// Tonnage embedded, on either engine.
pub(in crate::system) struct Embedded {
    pub(super) name: &'static str,
    pub(super) settings: Vec<(String, String)>,
    pub(in crate::system) store: Store,
    pub(in crate::system) durability: Durability,
    /// The table of YCSB's records, once there is one.
    pub(super) records: OnceLock<Table>,
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
            settings,
            store,
            durability: spec.durability,
            records: OnceLock::new(),
            sql: OnceLock::new(),
        })
    }

    pub(super) fn sql(&self) -> Result<&Sql> {
        if let Some(sql) = self.sql.get() {
            return Ok(sql);
        }
        let options = SqlOptions { durability: self.durability, ..SqlOptions::default() };
        let sql = Sql::new(self.store.clone(), options)?;
        Ok(self.sql.get_or_init(|| sql))
    }
}

fn open_on_disk(spec: &SystemSpec) -> Result<(Store, Vec<(String, String)>)> {
    let budget = MemoryBudget::of(spec.memory_bytes);
    let settings = RocksDbSettings {
        cache_bytes: budget.cache_bytes,
        memtable_bytes: budget.memtable_bytes,
        direct_io: spec.direct_io,
        ..RocksDbSettings::default()
    };
    let compression = format!("{:?}", settings.compression).to_lowercase();
    let shown = spec.shown(budget, &compression, settings.background_threads);
    let directory = spec.directory.to_str();
    let directory = directory.ok_or_else(|| Error::invalid("the directory's name is not text"))?;
    let store = Store::builder(format!("rocksdb:{directory}")).rocksdb_settings(settings).open()?;
    Ok((store, shown))
}
