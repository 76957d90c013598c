//! `tonnage load`: files into a table.

mod create;
mod documents;
mod dry_run;

use std::sync::Arc;

use clap::Args;
use documents::DocumentArgs;
use tonnage::{ErrorKind, Store, TableEntry};
use tonnage_files::{ReadOptions, Sample, Source};

use crate::args::{Globals, TimeoutArgs};
use crate::exit::{CliResult, Exit, Failure};
use crate::load::{FileInput, JobArgs, LoadTarget};
use crate::place::Place;
use crate::values;
use create::{PrimaryKey, ToMake};

/// Load files (CSV, JSON lines or an array, Parquet, Arrow; plain, gzip or zstd) into a table
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LoadArgs {
    /// The table
    table: String,
    #[command(flatten)]
    job: JobArgs,
    /// Make the table from the columns of the files if there is none; needs --primary-key, or
    /// --make-key
    #[arg(long)]
    create: bool,
    /// Primary key of the table to make, as in CREATE TABLE: 'SHARD(MMSI), BaseDateTime'
    #[arg(long, value_name = "COLUMNS", requires = "create")]
    primary_key: Option<String>,
    #[command(flatten)]
    documents: DocumentArgs,
    /// Number of records of each file that decide the types of a table to make, from at most 16 MiB
    /// of each of the first eight files; all reads everything first [default: 100,000]
    #[arg(long, value_name = "N|all", value_parser = values::sample, requires = "create")]
    sample: Option<usize>,
    /// Ignore columns that the table does not have, or that have no type in a table to make
    #[arg(long)]
    ignore_columns: bool,
    /// Read and check everything, write nothing
    #[arg(long, conflicts_with_all = ["resume", "durability", "on_existing", "memory", "rate"])]
    dry_run: bool,
    #[command(flatten)]
    time: TimeoutArgs,
}

const EXAMPLES: &str = "\
Examples:
  tonnage load ships 'ais/*.csv.gz' --create --primary-key 'SHARD(MMSI), BaseDateTime'
  tonnage load phones phones.jsonl --on-existing replace --rejects bad
  tonnage load visits visits.csv --create --make-key id
  tonnage load devices devices.json --document-column doc --create --primary-key model
  tonnage load devices more.jsonl --document-column doc --path model=device.model.name
  tonnage load quakes quakes.geojson --records features --create --primary-key id
  curl -s URL | tonnage load --create --primary-key id events -

Timestamps:
  A TIMESTAMP is a moment in UTC. An offset in a file is applied.
  A time without an offset is taken for UTC. Output is UTC without an offset.
  Parquet and Arrow columns with a time zone keep their instants.

Types of a table to make:
  Whole numbers become LONG, numbers with fractions DOUBLE.
  Numbers that a DOUBLE would round become NUMBER or STRING.
  JSON of several kinds becomes JSON.
  Later records must fit: those that do not are rejected.";

impl LoadArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.time.start();
        let sources = self.job.sources()?;
        if self.dry_run {
            return self.dry_run(globals, sources);
        }
        // A table that cannot be made must not leave an empty store behind: what the files say
        // comes first.
        let made = self.table_to_make(globals, &sources)?;
        let place = globals.place_or_create(self.create)?;
        let table = self.table_in(&place, made.as_ref().map(|made| &made.definition))?;
        let inputs = self.inputs(sources, &table)?;
        let exit = self.job.run(
            globals,
            &place,
            inputs,
            &LoadTarget::Table { path: table.schema.path.as_str().into(), ttl: self.job.ttl },
        )?;
        if let (Exit::Rejected, Some(made)) = (exit, &made) {
            made.note_sample(globals);
        }
        Ok(exit)
    }

    fn table_to_make(&self, globals: &Globals, sources: &[Source]) -> CliResult<Option<ToMake>> {
        let numbered = self.documents.numbered_key();
        if !self.create {
            return match numbered {
                None => Ok(None),
                Some(_) => Err(Failure::usage(
                    "--make-key goes with --document-column, or with --create: the store numbers the rows of a table that was made so by itself",
                )),
            };
        }
        let key = match (&self.primary_key, numbered) {
            (Some(key), _) => create::parse_key(key)?,
            (None, Some(column)) => PrimaryKey::of(column),
            (None, None) => {
                return Err(Failure::usage(
                    "--create needs the key of the table: --primary-key 'COLUMNS', or --make-key COLUMN for a number that the store gives to each row",
                ));
            }
        };
        // With a table that is there already, its columns count and the files need not be looked at
        // twice.
        if let Some(table) = self.table_there(globals)? {
            create::check_key(&table.schema, &key)?;
            return Ok(None);
        }
        let options = ReadOptions {
            documents: self.documents.options_with_key(&key),
            ..self.job.read_options()?
        };
        let sample = Sample {
            records: self.sample.unwrap_or(Sample::default().records),
            ..Sample::default()
        };
        let sample = if self.sample == Some(usize::MAX) { Sample::ALL } else { sample };
        let ignore = self.ignore_columns;
        let made = ToMake::infer(&self.table, key, sources, &options, &sample, ignore, numbered)?;
        made.notes.iter().for_each(|note| globals.info(note));
        Ok(Some(made))
    }

    /// The table, if it is there already. A server that cannot be asked is a failure, since what it
    /// has is not known; a store that cannot be opened is told of when it is made.
    fn table_there(&self, globals: &Globals) -> CliResult<Option<Arc<TableEntry>>> {
        match globals.place() {
            Err(failure) if globals.is_server() => Err(failure),
            Err(_) => Ok(None),
            Ok(place) => match place.table(&self.table) {
                Ok(table) => Ok(Some(table)),
                Err(failure) if failure.error.kind() == ErrorKind::NotFound => Ok(None),
                Err(failure) if globals.is_server() => Err(failure),
                Err(_) => Ok(None),
            },
        }
    }

    fn table_in(
        &self,
        place: &Place,
        definition: Option<&tonnage::TableDefinition>,
    ) -> CliResult<Arc<TableEntry>> {
        if let Some(definition) = definition {
            place.create_table(definition)?;
        }
        place.table(&self.table).map_err(|failure| match failure.error.kind() {
            ErrorKind::NotFound => {
                let remedy = "make it with `tonnage sql`, or let load make it with --create --primary-key 'COLUMNS'";
                let message = format!("{}; {remedy}", failure.error);
                Failure::new(Exit::Usage, tonnage::Error::not_found(message))
            }
            _ => failure,
        })
    }

    fn inputs(&self, sources: Vec<Source>, table: &TableEntry) -> CliResult<Vec<FileInput>> {
        let schema = &table.schema;
        let (schema_wanted, documents) = (Some(schema.arrow_schema()), self.documents.options());
        let options = ReadOptions { schema: schema_wanted, documents, ..self.job.read_options()? };
        let check = |source: &Source, found: &arrow::datatypes::Schema| {
            create::check_columns(schema, source.name(), found, self.ignore_columns)
        };
        FileInput::prepare(sources, &options, self.ignore_columns, check)
    }

    fn dry_run(&self, globals: &Globals, sources: Vec<Source>) -> CliResult {
        let made = self.table_to_make(globals, &sources)?;
        let definition = made.as_ref().map(|made| &made.definition);
        // The table to be made is made in memory only.
        let place = match definition {
            Some(_) => Place::Store(Store::open("memory:")?),
            None => globals.place()?,
        };
        let table = self.table_in(&place, definition)?;
        let inputs = self.inputs(sources, &table)?;
        if definition.is_some() {
            globals.info(format_args!("would make\n{};", table.schema.to_ddl()));
        }
        dry_run::run(globals, &self.job, table, inputs)
    }
}
