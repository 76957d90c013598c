//! Tonnage inside this process, through its library.

mod bulk;
mod client;
mod queries;
mod store;

use std::sync::PoisonError;

use tonnage::arrow::array::RecordBatch;
use tonnage::{Result, Statistics};

pub(super) use self::store::Embedded;
use super::bulk_put;
use super::feeds::field_name;
use super::{
    BulkDone, BulkOptions, Client, Feature, Gauges, KeySource, PairSource, RecordShape,
    RecordSource, RowSource, System,
};

impl System for Embedded {
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
        let fields: String =
            (0..shape.fields).map(|number| format!("{} BINARY, ", field_name(number))).collect();
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
        bulk_put::put_records(&self.putter(), shape, sources, options)
    }

    fn bulk_put_pairs(
        &self,
        sources: Vec<Box<dyn PairSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk_put::put_pairs(&self.putter(), sources, options)
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
        bulk_put::put_rows(&self.putter(), table, sources, options)
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
