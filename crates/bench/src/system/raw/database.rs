//! The database under test, and its errors.

use std::path::Path;

use rocksdb::{Cache, ColumnFamily, ColumnFamilyDescriptor, DB};
use tonnage::{Durability, Error, Result};

use super::options;
use crate::system::SystemSpec;
use crate::system::budget::Budget;

const RECORDS: &str = "records";
const PAIRS: &str = "pairs";

/// RocksDB in one directory.
pub(in crate::system) struct Raw {
    pub(super) db: DB,
    pub(super) cache: Cache,
    pub(super) settings: Vec<(String, String)>,
    pub(super) durability: Durability,
}

impl Raw {
    pub(in crate::system) fn open(spec: &SystemSpec) -> Result<Self> {
        let budget = Budget::of(spec.memory_bytes);
        let cache = Cache::new_hyper_clock_cache(budget.cache_bytes, 0);
        let families = [RECORDS, PAIRS]
            .map(|name| ColumnFamilyDescriptor::new(name, options::family(budget, &cache)));
        let db = DB::open_cf_descriptors(
            &options::database(spec.direct_io),
            Path::new(&spec.directory),
            families,
        );
        Ok(Raw {
            db: db.map_err(translate)?,
            cache,
            settings: options::shown(spec, budget),
            durability: spec.durability,
        })
    }

    pub(super) fn records(&self) -> &ColumnFamily {
        self.db.cf_handle(RECORDS).expect("opened with this column family")
    }

    pub(super) fn pairs(&self) -> &ColumnFamily {
        self.db.cf_handle(PAIRS).expect("opened with this column family")
    }

    /// A property of both column families together.
    pub(super) fn property(&self, name: &str) -> Result<u64> {
        [self.records(), self.pairs()].into_iter().try_fold(0, |sum, family| {
            Ok(sum + self.db.property_int_value_cf(family, name).map_err(translate)?.unwrap_or(0))
        })
    }
}

/// What RocksDB says went wrong.
pub(super) fn translate(error: rocksdb::Error) -> Error {
    use rocksdb::ErrorKind as Kind;
    let text = format!("raw RocksDB: {error}");
    let error_kind = match error.kind() {
        Kind::Corruption => tonnage::ErrorKind::Corruption,
        Kind::InvalidArgument | Kind::NotSupported => tonnage::ErrorKind::Internal,
        _ => tonnage::ErrorKind::Unavailable,
    };
    Error::new(error_kind, text).with_source(error)
}
