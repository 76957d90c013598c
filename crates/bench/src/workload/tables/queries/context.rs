//! What all queries on one system share.

use crate::measure::Watcher;
use crate::system::{BulkOptions, System};
use crate::workload::tables::TablesOptions;

/// All queries on one system.
#[derive(Clone, Copy)]
pub(in crate::workload::tables) struct Queries<'a> {
    pub(in crate::workload::tables) options: &'a TablesOptions,
    pub(in crate::workload::tables) system: &'a dyn System,
    pub(in crate::workload::tables) watcher: &'a dyn Watcher,
}

impl Queries<'_> {
    pub(super) fn bulk_options(&self) -> BulkOptions<'static> {
        BulkOptions {
            durability: self.options.run.durability,
            memory_bytes_max: None,
            parallelism: None,
            overwrite: false,
            progress: &|_, _| {},
        }
    }
}
