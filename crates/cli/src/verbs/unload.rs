//! `tonnage unload`: a whole table to a file.

use arrow::datatypes::SchemaRef;
use clap::Args;
use tonnage::{Table, TableScanOptions};

use crate::args::{Globals, TimeoutArgs};
use crate::display::{Console, ProgressSample};
use crate::exit::{CliResult, Exit};
use crate::interrupt;
use crate::output::OutputArgs;
use crate::values::grouped;

/// Write all rows of a table to a file or to standard output
#[derive(Args)]
pub(crate) struct UnloadArgs {
    /// The table
    table: String,
    /// Columns to return, comma-separated [default: all]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    columns: Option<Vec<String>>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    time: TimeoutArgs,
}

impl UnloadArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.time.start();
        let table = globals.open()?.table(&self.table)?;
        let cancel = interrupt::cancel();
        let schema = columns_of(&table, self.columns.as_deref(), false)?;
        let options = TableScanOptions {
            columns: self.columns.clone(),
            cancel: cancel.clone(),
            ..TableScanOptions::default()
        };
        let mut output = self.output.open(schema)?;
        let written = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let seen = written.clone();
        let watch = Console::new(globals).watch(move || {
            let rows = seen.load(std::sync::atomic::Ordering::Relaxed);
            ProgressSample { done: rows, total: None, text: format!("{} rows", grouped(rows)) }
        });
        let started = std::time::Instant::now();
        for batch in table.scan(&options)? {
            interrupt::check(&cancel)?;
            let batch = batch?;
            output.write(&batch.rows)?;
            written.fetch_add(batch.rows.num_rows() as u64, std::sync::atomic::Ordering::Relaxed);
        }
        let rows = output.finish()?;
        drop(watch);
        let seconds = started.elapsed().as_secs_f64();
        globals.info(format_args!(
            "{}: {} rows in {seconds:.1} s ({} rows/s)",
            table.path(),
            grouped(rows),
            grouped((rows as f64 / seconds.max(1e-9)) as u64)
        ));
        Ok(Exit::Success)
    }
}

/// The schema of the rows that these columns of a table make.
pub(crate) fn columns_of(
    table: &Table,
    columns: Option<&[String]>,
    keys_only: bool,
) -> CliResult<SchemaRef> {
    let schema = table.schema();
    let places = match columns {
        Some(names) => Some(
            names
                .iter()
                .map(|name| schema.require_column(name))
                .collect::<tonnage::Result<Vec<_>>>()?,
        ),
        None if keys_only => Some(schema.key.clone()),
        None => None,
    };
    Ok(table.entry().codec.projected_schema(places.as_deref())?)
}
