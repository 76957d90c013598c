//! What all queries on one system share.

use crate::measure::Watcher;
use crate::system::{BulkOptions, System};
use crate::workload::tables::TablesOptions;

/// All queries on one system.
#[derive(Clone, Copy)]
pub(super) struct Queries<'a> {
    pub(super) options: &'a TablesOptions,
    pub(super) system: &'a dyn System,
    pub(super) watcher: &'a dyn Watcher,
}

impl Queries<'_> {
    pub(super) fn bulk_options(&self) -> BulkOptions<'static> {
        BulkOptions::quiet(self.options.run.durability)
    }
}
