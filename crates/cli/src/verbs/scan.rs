//! `tonnage scan`: all rows of a table, or some of each shard key.

use clap::Args;
use tonnage::TableScanOptions;

use crate::args::{Globals, TimeoutArgs};
use crate::exit::{CliResult, Exit};
use crate::fetched_rows::FetchedRows;
use crate::interrupt;
use crate::output::OutputArgs;
use crate::values::DirectionArgs;

/// Read the rows of a table
#[derive(Args)]
pub(crate) struct ScanArgs {
    /// The table
    table: String,
    /// Maximum rows
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Maximum rows under each shard key; 1 with --direction reverse gives the latest of each
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit_per_shard_key: Option<u64>,
    #[command(flatten)]
    direction: DirectionArgs,
    /// Columns to return, comma-separated [default: all]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    columns: Option<Vec<String>>,
    /// Return key columns only
    #[arg(long)]
    keys_only: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    time: TimeoutArgs,
}

impl ScanArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.time.start();
        let connection = globals.connection()?;
        let table = connection.table(&self.table)?;
        let cancel = interrupt::cancel();
        let options = TableScanOptions {
            direction: self.direction.direction(),
            columns: self.columns.clone(),
            keys_only: self.keys_only,
            limit: self.limit,
            limit_per_shard_key: self.limit_per_shard_key,
            cancel: cancel.clone(),
            ..TableScanOptions::default()
        };
        let rows = FetchedRows::from(table.scan(&options)?);
        let mut output = self.output.open(rows.schema)?;
        for batch in rows.batches {
            interrupt::check(&cancel)?;
            output.write(&batch?)?;
        }
        output.finish()?;
        Ok(Exit::Success)
    }
}
