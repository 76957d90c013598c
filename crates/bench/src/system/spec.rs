//! How a system is made: what the command line says of it.

use std::fs;
use std::path::PathBuf;

use tonnage::{Durability, Error, Result, RocksDbSettings};
use tonnage_client::ClientOptions;

use super::target::Target;

const MIB: usize = 1 << 20;

/// A system that is not made yet.
#[derive(Clone, Debug)]
pub struct SystemSpec {
    /// Which system.
    pub target: Target,
    /// Where its data goes: an empty directory. The memory engine leaves it alone.
    pub directory: PathBuf,
    /// Memory for its block cache and memtables together, enforced; its own default when none.
    pub memory_bytes: Option<usize>,
    /// Whether data files are read and written past the operating system's cache.
    pub direct_io: bool,
    /// What an acknowledged single write of a YCSB record survives.
    pub durability: Durability,
    /// Connections to a server, shared by the threads; one when none is given. With Redis each
    /// thread has its own.
    pub connections: Option<usize>,
    /// Who calls a server, and how it is reached.
    pub client: ClientOptions,
}

impl SystemSpec {
    /// Memtables that may be in use at a time.
    pub(super) const MEMTABLES: usize = 3;

    /// A system with its own defaults.
    pub fn new(target: impl Into<Target>, directory: impl Into<PathBuf>) -> Self {
        SystemSpec {
            target: target.into(),
            directory: directory.into(),
            memory_bytes: None,
            direct_io: false,
            durability: Durability::Write,
            connections: None,
            client: ClientOptions::default(),
        }
    }

    /// How RocksDB is set up, in one place, so that systems on it have the very same. Memory is
    /// divided: a sixteenth to each memtable, at least 16 and at most 64 MiB but never more than
    /// half to all of them, and the rest to the cache. Tonnage's defaults when none is given.
    pub(super) fn rocksdb_settings(&self) -> RocksDbSettings {
        let settings = RocksDbSettings { direct_io: self.direct_io, ..RocksDbSettings::default() };
        let Some(memory_bytes) = self.memory_bytes else { return settings };
        let memtable_bytes =
            (memory_bytes / 16).clamp(16 * MIB, 64 * MIB).min(memory_bytes / (2 * Self::MEMTABLES));
        let cache_bytes = memory_bytes - Self::MEMTABLES * memtable_bytes;
        RocksDbSettings { cache_bytes, memtable_bytes, ..settings }
    }

    /// The set-up as names and values for a report: there is none but for RocksDB.
    pub(super) fn shown(&self) -> Vec<(String, String)> {
        if self.target.is_volatile() {
            return Vec::new();
        }
        let settings = self.rocksdb_settings();
        let durability = format!("{:?}", self.durability).to_lowercase();
        [
            ("cache_bytes", settings.cache_bytes.to_string()),
            ("memtable_bytes", format!("{} x {}", Self::MEMTABLES, settings.memtable_bytes)),
            ("direct_io", self.direct_io.to_string()),
            ("durability", durability),
            ("compression", format!("{:?}", settings.compression).to_lowercase()),
            ("background_threads", settings.background_threads.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Makes the directory, or sees that it is empty.
    pub(super) fn claim_directory(&self) -> Result<()> {
        let shown = self.directory.display();
        let unusable = |error| {
            Error::unavailable(format!("{shown} cannot be used: {error}")).with_source(error)
        };
        fs::create_dir_all(&self.directory).map_err(unusable)?;
        if fs::read_dir(&self.directory).map_err(unusable)?.next().is_some() {
            return Err(Error::invalid(format!(
                "{shown} is not empty: a benchmark wants a directory of its own"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::system::SystemKind;

    /// The bytes of the cache and of a memtable.
    fn divided(memory_bytes: usize) -> (usize, usize) {
        let memory_bytes = Some(memory_bytes);
        let spec = SystemSpec { memory_bytes, ..SystemSpec::new(SystemKind::RocksDb, "") };
        let settings = spec.rocksdb_settings();
        (settings.cache_bytes, settings.memtable_bytes)
    }

    #[test]
    fn a_gibibyte_gives_three_memtables_of_64_mib_and_the_rest_to_the_cache() {
        assert_eq!(divided(1 << 30), (832 * MIB, 64 * MIB));
    }

    proptest! {
        #[test]
        fn the_parts_make_the_whole_and_the_cache_has_half(memory_bytes in MIB..(64 << 30)) {
            let (cache_bytes, memtable_bytes) = divided(memory_bytes);
            prop_assert_eq!(cache_bytes + SystemSpec::MEMTABLES * memtable_bytes, memory_bytes);
            prop_assert!(cache_bytes >= memory_bytes / 2);
        }
    }
}
