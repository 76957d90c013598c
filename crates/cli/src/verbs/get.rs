//! `tonnage get`: the rows of keys.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use clap::Args;
use tonnage::{BulkGetOptions, FieldRange, InterleavedBatch, Row, TableBatch, TableSchema, Value};
use tonnage_client::{AnyBulkGet, AnyTable};
use tonnage_files::{ReadOptions, Source};

use crate::args::{Globals, TimeoutArgs};
use crate::exit::{CliResult, Exit, Failure};
use crate::fetched_rows::{FetchedRows, read_failure};
use crate::keys::Keys;
use crate::output::{OutputArgs, RowFormat};
use crate::values::DirectionArgs;
use crate::verbs::put::json_of;
use crate::{interrupt, keys};

/// Read the rows of whole or partial keys
#[derive(Args)]
pub(crate) struct GetArgs {
    /// The table
    table: String,
    /// Keys: the leading key columns of each, comma-separated; double quotes around a value with a
    /// comma. Write -- before keys that begin with a negative number
    // That there are keys is checked later: the error can then say what else there is.
    #[arg(value_name = "KEY", conflicts_with = "keys", allow_negative_numbers = true)]
    key: Vec<String>,
    /// Read the keys from a file (CSV, JSON lines, Parquet, Arrow) with leading key columns, by
    /// name
    #[arg(long, value_name = "FILE")]
    keys: Option<String>,
    /// Lower bound (inclusive) of the next key column
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    from: Option<String>,
    /// Upper bound (inclusive) of the next key column
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    to: Option<String>,
    /// Return rows of these ancestor and child tables too, comma-separated
    #[arg(long, value_delimiter = ',', value_name = "TABLES")]
    with: Vec<String>,
    /// Maximum rows for each key; 1 with --direction reverse gives the latest of each
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit_per_key: Option<u64>,
    #[command(flatten)]
    direction: DirectionArgs,
    /// Columns to return, comma-separated [default: all]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    columns: Option<Vec<String>>,
    /// Return key columns only
    #[arg(long)]
    keys_only: bool,
    /// Write one file for each table into this directory, for --with in a format that holds one
    /// table
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    output_dir: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    time: TimeoutArgs,
}

impl GetArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.time.start();
        self.check_keys()?;
        self.check_output()?;
        let connection = globals.connection()?;
        let table = connection.table(&self.table)?;
        let (path, schema) = (table.path(), table.schema());
        let (keys, given) = self.keys(schema)?;
        let wanted = self.rows_expected(schema)?;
        let options = BulkGetOptions {
            direction: self.direction.direction(),
            columns: self.columns.clone(),
            range: self.range(schema, given)?,
            relatives: self.with.clone(),
            limit_per_key: self.limit_per_key,
            keys_only: self.keys_only,
            cancel: interrupt::cancel(),
            ..BulkGetOptions::default()
        };
        let rows = table.bulk_get(keys.source(), &options)?;
        // With --output-dir one table is written like several, too: only that fills a directory.
        let found = match self.with.is_empty() && self.output_dir.is_none() {
            true => self.write_rows(rows.into())?,
            false => self.write_several(path, rows.into())?,
        };
        // A partial key may find many rows, so only fewer are a miss.
        if found >= wanted {
            return Ok(Exit::Success);
        }
        match found {
            0 => globals.info(format_args!("tonnage: {path}: no row has any of the keys")),
            _ => globals.info(format_args!(
                "tonnage: {path}: no row has {} of the {wanted} keys: {}",
                wanted - found,
                self.keys_without_row(&table)?
            )),
        }
        Ok(Exit::Rejected)
    }

    fn check_keys(&self) -> CliResult<()> {
        if self.keys.is_some() || !self.key.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "there are no keys: give them after {0}, or --keys FILE; `tonnage scan {0}` reads all rows",
            self.table
        )))
    }

    /// How many rows there must be if there is one for each key: as many as there are different
    /// whole keys among the arguments; one, where keys leave columns open; none, where a range may
    /// be empty.
    fn rows_expected(&self, schema: &TableSchema) -> CliResult<u64> {
        if self.from.is_some() || self.to.is_some() {
            return Ok(0);
        }
        let keys = keys::from_arguments(schema, &self.key)?;
        let columns = schema.key_columns().count();
        if keys.is_empty() || keys.iter().any(|key| key.len() < columns) {
            return Ok(1);
        }
        let different: HashSet<_> = keys.iter().map(|key| format!("{key:?}")).collect();
        Ok(different.len() as u64)
    }

    /// The keys among the arguments that no row has, as they were typed. The rows that were written
    /// may lack their key columns, so each key is looked up once more.
    fn keys_without_row(&self, table: &AnyTable) -> CliResult<String> {
        const TOLD_MAX: usize = 10;
        let keys = keys::from_arguments(table.schema(), &self.key)?;
        let options = BulkGetOptions { keys_only: true, ..BulkGetOptions::default() };
        let mut missing = Vec::new();
        let mut seen = HashSet::new();
        for (typed, key) in self.key.iter().zip(keys) {
            // A key that is given twice is told once.
            if !seen.insert(format!("{key:?}")) {
                continue;
            }
            let mut batches = table.bulk_get(Keys::Values(vec![key]).source(), &options)?;
            // An empty batch is not a row.
            let has_row = batches.try_fold(false, |has_row, batch| {
                batch.map(|batch| has_row || batch.rows.num_rows() > 0)
            })?;
            if !has_row && missing.len() == TOLD_MAX {
                missing.push("...");
                break;
            }
            if !has_row {
                missing.push(typed);
            }
        }
        Ok(missing.join(" "))
    }

    /// Rows of several tables do not fit into one file of a format with one set of columns.
    fn check_output(&self) -> CliResult<()> {
        let format = self.output.row_format();
        let holds_one_table = matches!(
            format,
            RowFormat::Csv | RowFormat::Tsv | RowFormat::Parquet | RowFormat::Arrow
        );
        if self.with.is_empty() || self.output_dir.is_some() || !holds_one_table {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "{} holds rows of one table, but --with asks for several: use --format jsonl, json or table, or --output-dir",
            format.ending()
        )))
    }

    /// The keys, and how many columns each gives.
    fn keys(&self, schema: &TableSchema) -> CliResult<(Keys, usize)> {
        if let Some(file) = &self.keys {
            let sources = Source::expand(std::slice::from_ref(file))?;
            let [source] = sources.as_slice() else {
                return Err(Failure::usage(format!(
                    "--keys {file}: it matches {} files, give one",
                    sources.len()
                )));
            };
            return Ok(keys::from_file(schema, source, &ReadOptions::default())?);
        }
        let keys = keys::from_arguments(schema, &self.key)?;
        let given = keys.first().map_or(0, Vec::len);
        Ok((Keys::Values(keys), given))
    }

    /// The range of the first key column that is left open.
    fn range(&self, schema: &TableSchema, given: usize) -> CliResult<Option<FieldRange>> {
        if self.from.is_none() && self.to.is_none() {
            return Ok(None);
        }
        let Some(column) = schema.key_columns().nth(given) else {
            return Err(Failure::usage(format!(
                "--from and --to choose among the rows of a partial key, but the keys give all {given} key columns of {}",
                schema.path
            )));
        };
        let end = |option: &str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => Value::parse_exact(text, column.column_type)
                .map(|value| Some((value, true)))
                .map_err(|error| error.at(format!("{option}, for key column {}", column.name))),
        };
        let (low, high) = (end("--from", &self.from)?, end("--to", &self.to)?);
        Ok(Some(FieldRange { column: column.name.clone(), low, high }))
    }

    fn write_rows(&self, rows: FetchedRows) -> CliResult<u64> {
        let cancel = interrupt::cancel();
        let mut output = self.output.open(rows.schema)?;
        for batch in rows.batches {
            interrupt::check(&cancel)?;
            output.write(&batch?)?;
        }
        output.finish()
    }

    /// Rows of several tables.
    fn write_several(&self, path: &str, rows: FetchedRelated) -> CliResult<u64> {
        match &self.output_dir {
            Some(directory) => self.write_directory(path, rows, directory),
            None if self.output.row_format() == RowFormat::Table => self.write_tables(path, rows),
            None => self.write_labelled(path, rows),
        }
    }

    /// One file for each table. As the other ways to write, it says how many rows of the table
    /// itself there were.
    fn write_directory(
        &self,
        path: &str,
        rows: FetchedRelated,
        directory: &PathBuf,
    ) -> CliResult<u64> {
        let cancel = interrupt::cancel();
        std::fs::create_dir_all(directory).map_err(|error| {
            tonnage::Error::unavailable(format!(
                "--output-dir {}: cannot be made: {error}",
                directory.display()
            ))
        })?;
        let format = self.output.format.unwrap_or(RowFormat::Csv);
        let mut outputs = BTreeMap::new();
        // All files are opened before the first row: a table without rows gets its header, too.
        for (table, schema) in &rows.tables {
            let file = directory.join(format!("{table}.{}", format.ending()));
            let output = OutputArgs { format: Some(format), output: Some(file) };
            outputs.insert(table.clone(), output.open(schema.clone())?);
        }
        let mut own = 0;
        for related in rows.batches {
            interrupt::check(&cancel)?;
            for batch in related?.batches {
                own += own_rows(path, &batch);
                if let Some(output) = outputs.get_mut(&batch.table) {
                    output.write(&batch.rows)?;
                }
            }
        }
        // Files get their names only now: a read that breaks off leaves none of them.
        outputs.into_values().try_for_each(|output| output.finish().map(drop))?;
        Ok(own)
    }

    /// A table for people for each table, that of the keys first.
    fn write_tables(&self, path: &str, rows: FetchedRelated) -> CliResult<u64> {
        let cancel = interrupt::cancel();
        let mut own = 0;
        let mut by_table: BTreeMap<Arc<str>, Vec<RecordBatch>> = BTreeMap::new();
        for related in rows.batches {
            interrupt::check(&cancel)?;
            for batch in related?.batches {
                own += own_rows(path, &batch);
                by_table.entry(batch.table).or_default().push(batch.rows);
            }
        }
        let others = rows.tables.iter().map(|(table, _)| &**table).filter(|table| *table != path);
        for table in std::iter::once(path).chain(others) {
            let batches = by_table.remove(table).unwrap_or_default();
            let Some(first) = batches.first() else { continue };
            crate::output::println(table)?;
            let mut output = self.output.open(first.schema())?;
            batches.iter().try_for_each(|batch| output.write(batch))?;
            output.finish()?;
        }
        Ok(own)
    }

    /// JSON objects that say which table each row is of, parents before their children.
    fn write_labelled(&self, path: &str, rows: FetchedRelated) -> CliResult<u64> {
        let cancel = interrupt::cancel();
        let is_array = self.output.row_format() == RowFormat::Json;
        let mut output = self.output.open_lines()?;
        let (mut count, mut own) = (0_u64, 0);
        for related in rows.batches {
            let InterleavedBatch { batches, order, .. } = related?;
            // `order` names a batch for each row: parents and children of several batches are
            // interleaved.
            let mut taken = vec![0; batches.len()];
            for batch in order.into_iter().map(|batch| batch as usize) {
                interrupt::check(&cancel)?;
                let TableBatch { table, rows, .. } = &batches[batch];
                let row = Row::from_batch(rows, taken[batch])?;
                taken[batch] += 1;
                own += u64::from(&**table == path);
                // A comma precedes each row but the first: which row is the last is unknown.
                let separator = match (is_array, count) {
                    (false, _) => "",
                    (true, 0) => "[\n",
                    (true, _) => ",\n",
                };
                output.bytes(separator.as_bytes())?;
                output.bytes(row_with_table(table, &row).as_bytes())?;
                if !is_array {
                    output.bytes(b"\n")?;
                }
                count += 1;
            }
        }
        if is_array {
            output.bytes(if count == 0 { b"[]\n" } else { b"\n]\n" })?;
        }
        output.finish()?;
        Ok(own)
    }
}

/// Rows of several tables as they come, and the columns of each table by its path.
struct FetchedRelated {
    tables: Vec<(Arc<str>, SchemaRef)>,
    batches: Box<dyn Iterator<Item = CliResult<InterleavedBatch>>>,
}

impl From<AnyBulkGet> for FetchedRelated {
    fn from(rows: AnyBulkGet) -> Self {
        let failed = read_failure(matches!(rows, AnyBulkGet::Remote(_)));
        let tables = rows.schemas().to_vec();
        let batches = rows.into_interleaved().map(move |batch| batch.map_err(failed));
        Self { tables, batches: Box::new(batches) }
    }
}

/// The rows of a batch, if they are of this table.
fn own_rows(path: &str, batch: &TableBatch) -> u64 {
    if *batch.table == *path { batch.rows.num_rows() as u64 } else { 0 }
}

fn row_with_table(table: &str, row: &Row) -> String {
    format!("{{\"table\":{},\"row\":{}}}", serde_json::Value::from(table), json_of(row))
}
