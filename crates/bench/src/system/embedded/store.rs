//! The store under test, and what clients share of it.

use std::sync::OnceLock;

use tonnage::{Error, Result, Store, Table};
use tonnage_sql::{Sql, SqlOptions};

use crate::system::{SystemKind, SystemSpec};

/// Tonnage embedded, on either engine.
pub(in crate::system) struct Embedded {
    pub(in crate::system) spec: SystemSpec,
    pub(in crate::system) store: Store,
    /// The table of YCSB's records, once there is one.
    pub(in crate::system) records: OnceLock<Table>,
    /// The session that statements run in, once there was one: it has threads of its own.
    sql: OnceLock<Sql>,
}

impl Embedded {
    pub(in crate::system) fn open(spec: &SystemSpec) -> Result<Self> {
        let url = match (spec.kind, spec.directory.to_str()) {
            (SystemKind::TonnageMemory, _) => "memory:".to_owned(),
            (_, Some(directory)) => format!("rocksdb:{directory}"),
            (_, None) => return Err(Error::invalid("the directory's name is not text")),
        };
        let store = Store::builder(url).rocksdb_settings(spec.rocksdb_settings()).open()?;
        let (records, sql) = (OnceLock::new(), OnceLock::new());
        Ok(Embedded { spec: spec.clone(), store, records, sql })
    }

    pub(super) fn sql(&self) -> Result<&Sql> {
        if let Some(sql) = self.sql.get() {
            return Ok(sql);
        }
        let options = SqlOptions { durability: self.spec.durability, ..SqlOptions::default() };
        let sql = Sql::new(self.store.clone(), options)?;
        Ok(self.sql.get_or_init(|| sql))
    }
}
