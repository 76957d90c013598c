//! `tonnage unload`: writes a table, or the rows that fit a condition, to one file or many.

mod part_files;
mod partition_folders;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use clap::Args;
use tonnage::{Cancel, TableScanOptions, TableSchema};
use tonnage_client::{Answer as ServedAnswer, AnyTable, Connection};
use tonnage_sql::{Answer, Request, Sql, SqlOptions, SqlTokenKind, SqlTokens};

use crate::args::{Globals, TimeoutArgs};
use crate::config::ConfigArgs;
use crate::display::{Console, ProgressAs, ProgressSample, Watch};
use crate::exit::{CliResult, Exit, Failure};
use crate::fetched_rows::FetchedRows;
use crate::output::{OutputArgs, RowFormat, describe_count};
use crate::values::{self, grouped};
use crate::{interrupt, plain};
use part_files::{CompressAs, PartFileOptions, PartFiles};

/// Write the rows of a table to a file, to standard output, or to many files
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UnloadArgs {
    /// The table
    table: String,
    /// Columns to return, comma-separated [default: all]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    columns: Option<Vec<String>>,
    /// Rows to write: a condition in SQL, such as 'knots > 20' [default: all]
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    #[command(flatten)]
    output: OutputArgs,
    /// Write several files side by side into this directory: part-00000.csv and so on
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    output_dir: Option<PathBuf>,
    /// Begin another file where one has come to about this size, such as 256M
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, requires = "output_dir")]
    split_size: Option<usize>,
    /// Write the rows of each value of these columns into a folder of its own, without the columns:
    /// DIR/country=FR/part-00000.csv
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", requires = "output_dir")]
    split_by: Vec<String>,
    /// Compress the files of --output-dir
    #[arg(long, value_enum, default_value_t, requires = "output_dir")]
    compress: CompressAs,
    /// Number of files to write in parallel [default: the number of cores]
    #[arg(long, value_name = "N", requires = "output_dir", value_parser = clap::value_parser!(u16).range(1..=256))]
    parallelism: Option<u16>,
    /// How progress is shown on standard error
    #[arg(long, value_enum, default_value_t)]
    progress: ProgressAs,
    #[command(flatten)]
    time: TimeoutArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

const EXAMPLES: &str = "\
Examples:
  tonnage unload ships -o ships.parquet
  tonnage unload ships --where 'knots > 20' --format jsonl | jq .name
  tonnage unload ships --output-dir out --format parquet --split-size 256M
  tonnage unload ships --output-dir out --split-by flag,year --compress gzip

The files of --output-dir have the rows in no order. A folder is named column=value; `tonnage load
--folders` reads its name as a column again.";

impl UnloadArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.time.start();
        // Usage is checked before a store is opened, which may take long.
        self.check_of_many()?;
        let connection = globals.connection()?;
        let table = connection.table(&self.table)?;
        let cancel = interrupt::cancel();
        let started = Instant::now();
        let read = self.read(&connection, &table, &cancel)?;
        let (written, files) = match &self.output_dir {
            None => (self.write_one(globals, read, &cancel)?, None),
            Some(directory) => {
                let (rows, files) = self.write_parts(globals, read, directory, &cancel)?;
                (rows, Some(files))
            }
        };
        let seconds = started.elapsed().as_secs_f64();
        let files = match files {
            None => String::new(),
            Some(1) => " in 1 file".to_owned(),
            Some(files) => format!(" in {} files", grouped(files)),
        };
        // The clock may see no time pass for a few rows: their rate must not become infinite.
        globals.info(format_args!(
            "{}: {}{files} in {seconds:.1} s ({} rows/s)",
            table.path(),
            describe_count(written),
            grouped((written as f64 / seconds.max(1e-9)) as u64)
        ));
        Ok(Exit::Success)
    }

    /// What is for several files asks for their directory. With --output instead, the parser of
    /// options does not see to it.
    fn check_of_many(&self) -> CliResult<()> {
        let given = [
            ("--split-size", self.split_size.is_some()),
            ("--split-by", !self.split_by.is_empty()),
            ("--compress", self.compress != CompressAs::None),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given && self.output_dir.is_none()) {
            Some((option, _)) => Err(Failure::usage(format!(
                "{option} is for the files of --output-dir: give that instead of --output, or leave {option} out"
            ))),
            None => Ok(()),
        }
    }

    fn read(
        &self,
        connection: &Connection,
        table: &AnyTable,
        cancel: &Cancel,
    ) -> CliResult<FetchedRows> {
        let Some(condition) = &self.condition else {
            let options = TableScanOptions {
                columns: self.columns.clone(),
                cancel: cancel.clone(),
                ..TableScanOptions::default()
            };
            // A plain scan does without the SQL layer.
            return Ok(table.scan(&options)?.into());
        };
        let statement = self.statement(table.schema(), condition)?;
        match connection {
            Connection::Embedded(store) => {
                let sql = Sql::new(store.clone(), SqlOptions::default())?;
                match sql.execute(Request::new(statement).cancel(cancel))? {
                    Answer::Rows(rows) => Ok(FetchedRows::of_query(rows.schema().clone(), rows)),
                    // An answer without rows shows that the text was not a condition.
                    _ => Err(no_condition(condition)),
                }
            }
            Connection::Remote(store) => match store.sql(&statement)? {
                ServedAnswer::Rows(rows) => Ok(FetchedRows::of_query(rows.schema().clone(), rows)),
                _ => Err(no_condition(condition)),
            },
        }
    }

    /// The query for the rows that fit a condition.
    fn statement(&self, table: &TableSchema, condition: &str) -> CliResult<String> {
        // What closes the bracket early would be another statement.
        if !is_one_expression(condition) {
            return Err(no_condition(condition));
        }
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let columns = match &self.columns {
            None => "*".to_owned(),
            Some(names) => {
                let names = names.iter().map(|name| {
                    let column = &table.columns[table.require_column(name)?];
                    Ok(quoted(&column.name))
                });
                names.collect::<tonnage::Result<Vec<_>>>()?.join(", ")
            }
        };
        let path: Vec<_> = table.path.split('.').map(quoted).collect();
        Ok(format!("SELECT {columns} FROM {} WHERE ({condition}\n)", path.join(".")))
    }

    fn write_one(&self, globals: &Globals, read: FetchedRows, cancel: &Cancel) -> CliResult<u64> {
        let mut output = self.output.open(read.schema)?;
        let written = Arc::new(AtomicU64::new(0));
        let watch = self.watch(globals, &written);
        for batch in read.batches {
            interrupt::check(cancel)?;
            let batch = batch?;
            output.write(&batch)?;
            written.fetch_add(batch.num_rows() as u64, Relaxed);
        }
        let rows = output.finish()?;
        drop(watch);
        Ok(rows)
    }

    fn write_parts(
        &self,
        globals: &Globals,
        read: FetchedRows,
        directory: &Path,
        cancel: &Cancel,
    ) -> CliResult<(u64, u64)> {
        // No file name tells the format here, as that of --output does.
        let format = self.output.format.unwrap_or(RowFormat::Csv);
        if format == RowFormat::Table {
            return Err(Failure::usage(
                "--format table is for people: files of it are not written",
            ));
        }
        let written = Arc::new(AtomicU64::new(0));
        let parts = PartFiles::new(
            &PartFileOptions {
                directory: directory.to_owned(),
                format,
                compress: self.compress,
                split_bytes: self.split_size,
                split_by: self.split_by.clone(),
            },
            &read.schema,
            written.clone(),
        )?;
        let watch = self.watch(globals, &written);
        let threads = self.parallelism.map_or_else(tonnage::cores, usize::from);
        let files = parts.write(read.batches, threads, cancel)?;
        // The progress is removed before the caller prints its line.
        drop(watch);
        Ok((written.load(Relaxed), files))
    }

    fn watch(&self, globals: &Globals, written: &Arc<AtomicU64>) -> Option<Watch> {
        let seen = written.clone();
        Console::showing(globals, self.progress).watch(move || {
            let rows = seen.load(Relaxed);
            let text = describe_count(rows);
            ProgressSample { done: rows, total: None, text, figures: vec![("rows", rows)] }
        })
    }
}

/// Whether a text is not empty, closes its quotes, and ends no statement.
fn is_one_expression(text: &str) -> bool {
    let tokens = SqlTokens::read(text);
    let mut said = tokens.tokens().iter().filter(|token| token.kind != SqlTokenKind::Comment);
    tokens.open().is_none()
        && !tokens.tokens().is_empty()
        && !said.any(|token| token.kind == SqlTokenKind::End)
}

fn no_condition(condition: &str) -> Failure {
    let condition = plain::lines(condition);
    Failure::usage(format!(
        "--where {condition}: it is not a condition: write one as after WHERE, such as 'knots > 20'"
    ))
}
