//! `tonnage load`: files into a table.

mod create;
mod documents;
mod dry_run;

use std::sync::Arc;

use clap::Args;
use documents::DocumentArgs;
use tonnage::{Store, Table};
use tonnage_files::ReadOptions;

use crate::args::Globals;
use crate::exit::{Exit, Failure, Outcome};
use crate::load::{Input, JobArgs, Target};

/// Loads files (CSV, JSON lines or an array, Parquet, Arrow; plain, gzip or zstd) into a table
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LoadArgs {
    /// The table
    table: String,
    #[command(flatten)]
    job: JobArgs,
    /// Makes the table, if there is none, from the columns of the files
    #[arg(long, requires = "primary_key")]
    create: bool,
    /// The primary key of the table to make, as in CREATE TABLE: 'SHARD(MMSI), BaseDateTime'
    #[arg(long, value_name = "COLUMNS", requires = "create")]
    primary_key: Option<String>,
    #[command(flatten)]
    documents: DocumentArgs,
    /// Leaves out columns of the files that the table does not have
    #[arg(long)]
    ignore_columns: bool,
    /// Reads and checks everything, writes nothing
    #[arg(long, conflicts_with_all = ["resume", "durability", "on_existing", "memory", "rate"])]
    dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  tonnage load ships 'ais/*.csv.gz' --create --primary-key 'SHARD(MMSI), BaseDateTime'
  tonnage load phones phones.jsonl --on-existing replace --rejects bad
  tonnage load devices devices.json --document-column doc --create --primary-key model
  tonnage load devices more.jsonl --document-column doc --from model=device.model.name";

impl LoadArgs {
    pub(crate) fn run(&self, globals: &Globals) -> Outcome {
        self.job.check()?;
        if self.dry_run {
            return self.dry_run(globals);
        }
        // A table that cannot be made must not leave an empty store behind: what the files say comes first.
        let definition = self.definition_to_make(globals)?;
        let store = globals.open_or_create(self.create)?;
        let table = self.table_in(&store, definition.as_ref())?;
        let inputs = self.inputs(&table)?;
        self.job.run(globals, &store, inputs, &Target::Table { path: table.path().into(), ttl: self.job.ttl })
    }

    fn definition_to_make(&self, globals: &Globals) -> Outcome<Option<tonnage::TableDefinition>> {
        let Some(key) = self.primary_key.as_ref().filter(|_| self.create) else { return Ok(None) };
        let key = create::parse_key(key)?;
        // With a table that is there already, its columns count and the files need not be looked at twice.
        if let Ok(store) = globals.open()
            && let Ok(table) = store.table(&self.table)
        {
            create::check_key(&table, &key)?;
            return Ok(None);
        }
        let options = ReadOptions { documents: self.documents.options_with_key(&key), ..self.job.read_options()? };
        Ok(Some(create::infer(&self.table, key, &self.job.sources()?, &options)?))
    }

    fn table_in(&self, store: &Store, definition: Option<&tonnage::TableDefinition>) -> Outcome<Table> {
        if let Some(definition) = definition {
            store.catalog().create_table(definition, true)?;
        }
        store.table(&self.table).map_err(|error| {
            let remedy = "make it with `tonnage sql`, or let load make it with --create --primary-key 'COLUMNS'";
            Failure::new(Exit::SetUp, tonnage::Error::not_found(format!("{error}; {remedy}")))
        })
    }

    fn inputs(&self, table: &Table) -> Outcome<Vec<Input>> {
        let schema = table.schema();
        let (schema_wanted, documents) = (Some(schema.arrow_schema()), self.documents.options());
        let options = ReadOptions { schema: schema_wanted, documents, ..self.job.read_options()? };
        let check = |source: &tonnage_files::Source, found: &arrow::datatypes::Schema| {
            create::check_columns(schema, source.name(), found, self.ignore_columns)
        };
        Input::prepare(self.job.sources()?, &options, self.ignore_columns, check)
    }

    fn dry_run(&self, globals: &Globals) -> Outcome {
        let definition = self.definition_to_make(globals)?;
        // The table to be made is made in memory only.
        let store = match &definition {
            Some(_) => Store::open("memory:")?,
            None => globals.open()?,
        };
        let table = self.table_in(&store, definition.as_ref())?;
        let inputs = self.inputs(&table)?;
        if definition.is_some() {
            globals.tell(format_args!("would make\n{};", table.schema().to_ddl()));
        }
        dry_run::run(globals, &self.job, Arc::clone(table.entry()), inputs)
    }
}
