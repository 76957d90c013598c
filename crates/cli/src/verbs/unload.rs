//! `tonnage unload`: a whole table to a file.

use clap::Args;
use tonnage::TableScanOptions;

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
        let place = globals.place()?;
        let table = place.table(&self.table)?;
        let cancel = interrupt::cancel();
        let options = TableScanOptions {
            columns: self.columns.clone(),
            cancel: cancel.clone(),
            ..TableScanOptions::default()
        };
        let read = place.scan(&table, &options)?;
        let mut output = self.output.open(read.schema)?;
        let written = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let seen = written.clone();
        let watch = Console::new(globals).watch(move || {
            let rows = seen.load(std::sync::atomic::Ordering::Relaxed);
            ProgressSample { done: rows, total: None, text: format!("{} rows", grouped(rows)) }
        });
        let started = std::time::Instant::now();
        for batch in read.batches {
            interrupt::check(&cancel)?;
            let batch = batch?;
            output.write(&batch)?;
            written.fetch_add(batch.num_rows() as u64, std::sync::atomic::Ordering::Relaxed);
        }
        let rows = output.finish()?;
        drop(watch);
        let seconds = started.elapsed().as_secs_f64();
        globals.info(format_args!(
            "{}: {} rows in {seconds:.1} s ({} rows/s)",
            table.schema.path,
            grouped(rows),
            grouped((rows as f64 / seconds.max(1e-9)) as u64)
        ));
        Ok(Exit::Success)
    }
}
