//! `tonnage stats`: the statistics of the engine.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use clap::Args;
use tonnage::Error;

use crate::args::Globals;
use crate::exit::{CliResult, Exit};
use crate::output::OutputArgs;

/// Show the state of the store: rows (estimated), bytes, files, pending work
#[derive(Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    output: OutputArgs,
}

impl StatsArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let connection = globals.connection()?;
        let (tables, statistics) = (connection.table_paths()?.len(), connection.statistics()?);
        let (mut places, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new());
        // A figure is a row and not a column: each engine has figures of its own among the details.
        let mut add = |place: &str, name: &str, value: u64| {
            places.push(place.to_owned());
            names.push(name.to_owned());
            values.push(value);
        };
        // Tables belong to no shard, so their number has a key of its own.
        add("store", "tables", tables as u64);
        for shard in statistics.shards {
            add(&shard.location, "rows_estimate", shard.rows_estimate);
            add(&shard.location, "disk_bytes", shard.disk_bytes);
            add(&shard.location, "files", shard.files);
            add(&shard.location, "memtable_bytes", shard.memtable_bytes);
            add(&shard.location, "cache_bytes", shard.cache_bytes);
            add(&shard.location, "compaction_pending_bytes", shard.compaction_pending_bytes);
            shard.details.iter().for_each(|(name, value)| add(&shard.location, name, *value));
        }
        let columns: [(&str, ArrayRef); 3] = [
            ("place", Arc::new(StringArray::from(places))),
            ("figure", Arc::new(StringArray::from(names))),
            ("value", Arc::new(UInt64Array::from(values))),
        ];
        let batch = RecordBatch::try_from_iter(columns).map_err(|error| {
            Error::internal("the figures cannot be put together").with_source(error)
        })?;
        let mut output = self.output.open(batch.schema())?;
        output.write(&batch)?;
        output.finish()?;
        Ok(Exit::Success)
    }
}
