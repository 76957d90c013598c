//! How a memory budget is divided: in one place, so that systems on RocksDB have the very same.

use tonnage::RocksDbSettings;

/// Memtables that may be in use at a time.
pub(super) const MEMTABLES: usize = 3;

const MIB: usize = 1 << 20;

/// Memory for cached blocks and for recent writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryBudget {
    pub(super) cache_bytes: usize,
    /// Of one memtable.
    pub(super) memtable_bytes: usize,
}

impl MemoryBudget {
    /// Divides memory: a sixteenth to each memtable, at least 16 and at most 64 MiB but never more
    /// than half to all of them, and the rest to the cache. Tonnage's defaults when no budget is
    /// given.
    pub(super) fn of(memory_bytes: Option<usize>) -> Self {
        let Some(memory_bytes) = memory_bytes else {
            let RocksDbSettings { cache_bytes, memtable_bytes, .. } = RocksDbSettings::default();
            return MemoryBudget { cache_bytes, memtable_bytes };
        };
        let memtable_bytes =
            (memory_bytes / 16).clamp(16 * MIB, 64 * MIB).min(memory_bytes / (2 * MEMTABLES));
        MemoryBudget { cache_bytes: memory_bytes - MEMTABLES * memtable_bytes, memtable_bytes }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_gibibyte_gives_three_memtables_of_64_mib_and_the_rest_to_the_cache() {
        assert_eq!(
            MemoryBudget::of(Some(1 << 30)),
            MemoryBudget { cache_bytes: 832 * MIB, memtable_bytes: 64 * MIB }
        );
    }

    proptest! {
        #[test]
        fn the_parts_make_the_whole_and_the_cache_has_half(memory_bytes in MIB..(64 << 30)) {
            let budget = MemoryBudget::of(Some(memory_bytes));
            prop_assert_eq!(budget.cache_bytes + MEMTABLES * budget.memtable_bytes, memory_bytes);
            prop_assert!(budget.cache_bytes >= memory_bytes / 2);
        }
    }
}
