//! `tonnage load`: files into a table.

mod create;
mod documents;
mod dry_run;
mod mapping;
mod type_hints;

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use clap::Args;
use tonnage::{ErrorKind, Store, TableEntry, TableSchema};
use tonnage_client::Connection;
use tonnage_files::{
    ColumnDefaults, InferredSchema, ReadOptions, Sample, Source, folder_column_names,
    infer_common_schema,
};

use crate::args::{Globals, TimeoutArgs};
use crate::config::ConfigArgs;
use crate::exit::{CliResult, Exit, Failure};
use crate::load::{
    FileInput, JobArgs, LoadTarget, Mapping, RowMapping, storable, with_header_option,
};
use crate::values;
use create::{NewTablePlan, PrimaryKey};
use documents::DocumentArgs;
use mapping::MappingArgs;

/// Load files (CSV, JSON lines or an array, Parquet, Arrow, Avro, Excel; plain, gzip, zstd, xz or
/// zip) into a table
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LoadArgs {
    /// The table
    table: String,
    #[command(flatten)]
    job: JobArgs,
    /// Make the table from the columns of the files if there is none; needs --primary-key, or
    /// --make-key. The files of a child table such as orders.lines have the key columns of its
    /// parent, which must be there, and --primary-key names those after them
    #[arg(long)]
    create: bool,
    /// Primary key of the table to make, as in CREATE TABLE: 'SHARD(MMSI), BaseDateTime'
    #[arg(long, value_name = "COLUMNS", requires = "create")]
    primary_key: Option<String>,
    #[command(flatten)]
    documents: DocumentArgs,
    #[command(flatten)]
    mapping: MappingArgs,
    /// Number of records of each file that decide the types of a table to make, and of fields that
    /// expressions read, from at most 16 MiB of each of the first eight files; all reads everything
    /// first [default: 100,000]
    #[arg(long, value_name = "N|all", value_parser = values::sample)]
    sample: Option<usize>,
    /// Ignore columns that the table does not have, or that have no type in a table to make
    #[arg(long)]
    ignore_columns: bool,
    /// Read and check everything, write nothing
    #[arg(long, conflicts_with_all = ["resume", "durability", "on_existing", "memory", "rate"])]
    dry_run: bool,
    #[command(flatten)]
    time: TimeoutArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

const EXAMPLES: &str = "\
Examples:
  tonnage load ships 'ais/*.csv.gz' --create --primary-key 'SHARD(MMSI), BaseDateTime'
  tonnage load phones phones.jsonl --on-existing replace --rejects bad
  tonnage load visits visits.csv --create --make-key id
  tonnage load devices devices.json --document-column doc --create --primary-key model
  tonnage load devices more.jsonl --document-column doc --path model=device.model.name
  tonnage load ships ais.csv --where 'knots > 0' --map 'at=to_timestamp(epoch)'
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
  A sample decides. Later records that do not fit the types are rejected, and a DOUBLE rounds later
  numbers; --sample all looks at all records first.";

impl LoadArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.time.start();
        let mapping = self.mapping.mapping()?;
        let mapping = mapping.as_ref();
        if self.sample.is_some() && !self.create && mapping.is_none() {
            return Err(Failure::usage("--sample goes with --create, --map or --where"));
        }
        self.job.check_destinations()?;
        let sources = self.job.sources()?;
        if self.dry_run {
            return self.dry_run(globals, sources, mapping);
        }
        // A refused load must not leave an empty table, nor an empty store: what the files say
        // comes first.
        let made = self.table_to_make(globals, &sources, mapping)?;
        let (connection, table, inputs) = match &made {
            Some(made) => {
                let inputs = self.inputs_of_new_table(globals, made, sources, mapping)?;
                let connection = globals.connection_or_create(true)?;
                let table = self.table_in(&connection, Some(&made.definition))?;
                (connection, table, inputs)
            }
            None => {
                let connection = globals.connection_or_create(self.create)?;
                let table = self.table_in(&connection, None)?;
                let inputs = self.inputs(sources, &table, mapping)?;
                (connection, table, inputs)
            }
        };
        let path = table.schema.path.as_str();
        let target = LoadTarget::Table { path: path.into(), ttl: self.job.ttl };
        let end = self.job.run(globals, &connection, inputs, &target).inspect_err(|failure| {
            // Refused where only the store itself could tell, before any row.
            if made.is_some() && failure.exit == Exit::Usage {
                drop_if_empty(&connection, path);
            }
        })?;
        // Only values speak against the sample: a record that is broken would fit no types.
        if let (Exit::Rejected, true, Some(made)) = (end.exit, end.rejected_values, &made) {
            made.note_sample(globals);
        }
        // What existed in a new table came with this load.
        if made.is_some() && end.existed > 0 {
            globals.info(create::repeated_keys_note(&table.schema, end.existed));
        }
        Ok(end.exit)
    }

    fn table_to_make(
        &self,
        globals: &Globals,
        sources: &[Source],
        mapping: Option<&Mapping>,
    ) -> CliResult<Option<NewTablePlan>> {
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
            (None, None) if self.documents.makes_keys() => {
                return Err(Failure::usage(
                    "--create with --document-column needs the key of the table: give --primary-key and --make-key the same column",
                ));
            }
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
        let ignore = self.ignore_columns;
        // Asked for before the files are read, which takes long with --sample all.
        let parent = self.parent(globals)?;
        let parent = parent.as_ref().map(|parent| parent.schema.as_ref());
        let found = self.infer(sources, &options)?;
        let made = NewTablePlan::of(&self.table, key, &found, ignore, numbered, mapping, parent)?;
        made.notes.iter().for_each(|note| globals.info(note));
        Ok(Some(made))
    }

    /// What the files suggest.
    fn infer(&self, sources: &[Source], options: &ReadOptions) -> CliResult<InferredSchema> {
        Ok(infer_common_schema(sources, options, &self.sample()).map_err(with_header_option)?)
    }

    /// The parent of the table, if its path names one.
    fn parent(&self, globals: &Globals) -> CliResult<Option<Arc<TableEntry>>> {
        let Some((parent, _)) = self.table.rsplit_once('.') else { return Ok(None) };
        let found = globals.connection().and_then(|connection| Ok(connection.table(parent)?));
        match found {
            Err(failure) if failure.error.kind() == ErrorKind::NotFound => {
                Err(Failure::usage(format!(
                    "{}: there is no table {parent}, whose child it is: make that first",
                    self.table
                )))
            }
            parent => Ok(Some(parent?.entry().clone())),
        }
    }

    /// How much of the files is looked at for types.
    fn sample(&self) -> Sample {
        match self.sample {
            Some(usize::MAX) => Sample::ALL,
            Some(records) => Sample { records, ..Sample::default() },
            None => Sample::default(),
        }
    }

    /// The table, if it is there already. A server that cannot be asked is a failure, since what it
    /// has is not known; a store that cannot be opened is reported when it is created.
    fn table_there(&self, globals: &Globals) -> CliResult<Option<Arc<TableEntry>>> {
        match globals.connection() {
            Err(failure) if globals.is_server() => Err(failure),
            Err(_) => Ok(None),
            Ok(connection) => match connection.table(&self.table) {
                Ok(table) => Ok(Some(table.entry().clone())),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) if globals.is_server() => Err(error.into()),
                Err(_) => Ok(None),
            },
        }
    }

    /// The inputs of a table that is to be created, checked against one in memory.
    fn inputs_of_new_table(
        &self,
        globals: &Globals,
        made: &NewTablePlan,
        sources: Vec<Source>,
        mapping: Option<&Mapping>,
    ) -> CliResult<Vec<FileInput>> {
        let in_memory = Connection::Embedded(self.store_in_memory(globals)?);
        let table = self.table_in(&in_memory, Some(&made.definition))?;
        self.job.check(globals, &in_memory, &table.schema.path)?;
        self.inputs(sources, &table, mapping)
    }

    fn table_in(
        &self,
        connection: &Connection,
        definition: Option<&tonnage::TableDefinition>,
    ) -> CliResult<Arc<TableEntry>> {
        if let Some(definition) = definition {
            connection.create_table(definition, true)?;
        }
        let table = connection.table(&self.table).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                let remedy = "make it with `tonnage sql`, or let load make it with --create --primary-key 'COLUMNS'";
                let message = format!("{error}; {remedy}");
                Failure::new(Exit::Usage, tonnage::Error::not_found(message))
            }
            _ => error.into(),
        });
        Ok(table?.entry().clone())
    }

    fn inputs(
        &self,
        sources: Vec<Source>,
        table: &TableEntry,
        mapping: Option<&Mapping>,
    ) -> CliResult<Vec<FileInput>> {
        let (schema, ignore) = (&table.schema, self.ignore_columns);
        let documents = self.documents.options();
        // A field that only an expression reads is not a column, whatever its name.
        let is_field = |name: &str| mapping.is_some_and(|mapping| mapping.fills(name));
        let makers = schema.default_makers().filter(|(name, _)| !is_field(name));
        let defaults = ColumnDefaults::new(makers);
        let mut options = ReadOptions { documents, defaults, ..self.job.read_options()? };
        // A file of one column has the key alone then, which is never NULL: a blank line is none.
        let is_numbered = schema.key_columns().any(|column| column.identity.is_some());
        options.csv.blank_is_null = is_numbered || mapping.is_some() || options.folders;
        if !options.csv.has_header && options.csv.columns.is_none() {
            let names = self.names_without_header(schema, &sources, &options);
            options.csv.columns = Some(names);
        }
        // Without a mapping the reader makes the types of the table itself, in one step.
        let Some(mapping) = mapping else {
            options.schema = Some(schema.arrow_schema());
            let check = |source: &Source, found: &Schema| {
                create::check_columns(schema, source.name(), found, ignore)?;
                self.check_resumed(schema, source, found, None).map(|()| None)
            };
            return FileInput::prepare(sources, &options, ignore, check);
        };
        options.schema = Some(self.fields_for(mapping, &sources, table, &options)?);
        let has = |name: &str| schema.column_index(name).is_some();
        // As above, every file is checked before the first row of any is stored.
        let check = |source: &Source, found: &Schema| {
            let rows = mapping
                .plan(found, |name, is_read| has(name) || !is_read && !ignore)
                .map_err(|failure| Failure { error: failure.error.at(source.name()), ..failure })?;
            create::check_mapped(table, source.name(), mapping, &rows, ignore)?;
            self.check_resumed(schema, source, rows.schema(), Some(&rows))?;
            Ok(Some(rows))
        };
        FileInput::prepare(sources, &options, ignore, check)
    }

    /// The names of the fields of a file that has no header: the columns of the table but the key
    /// that the store numbers and what the folders tell. The schema of the reader would name
    /// others, for columns that `--map` fills are not in it.
    fn names_without_header(
        &self,
        schema: &TableSchema,
        sources: &[Source],
        options: &ReadOptions,
    ) -> Vec<String> {
        let folders = folder_column_names(sources, options);
        let elsewhere = || folders.iter().map(String::as_str).chain(self.documents.numbered_key());
        let is_field = |name: &&String| !elsewhere().any(|own| own.eq_ignore_ascii_case(name));
        schema.columns.iter().map(|column| &column.name).filter(is_field).cloned().collect()
    }

    fn check_resumed(
        &self,
        schema: &TableSchema,
        source: &Source,
        found: &Schema,
        rows: Option<&RowMapping>,
    ) -> CliResult<()> {
        if self.job.resume.is_none() || self.dry_run {
            return Ok(());
        }
        create::check_resumed(schema, source.name(), found)?;
        match rows {
            Some(rows) => create::check_mapping_resumed(schema, source.name(), rows),
            None => Ok(()),
        }
    }

    /// The fields that are wanted of the files: columns of the table that no expression fills, and
    /// others that expressions read, of the types that their values suggest.
    fn fields_for(
        &self,
        mapping: &Mapping,
        sources: &[Source],
        table: &TableEntry,
        options: &ReadOptions,
    ) -> CliResult<SchemaRef> {
        let columns = table.schema.arrow_schema();
        let own = columns.fields().iter().filter(|field| !mapping.fills(field.name()));
        let mut fields: Vec<_> = own.cloned().collect();
        let is_known =
            |name: &str| table.schema.column_index(name).is_some() && !mapping.fills(name);
        if mapping.names_others(is_known) {
            let found = self.infer(sources, options)?.schema;
            let others = found.fields().iter();
            let others =
                others.filter(|field| mapping.may_read(field.name()) && !is_known(field.name()));
            fields.extend(others.filter_map(|field| storable(field)).map(Arc::new));
        }
        Ok(Arc::new(Schema::new(fields)))
    }

    fn dry_run(
        &self,
        globals: &Globals,
        sources: Vec<Source>,
        mapping: Option<&Mapping>,
    ) -> CliResult {
        let made = self.table_to_make(globals, &sources, mapping)?;
        let definition = made.as_ref().map(|made| &made.definition);
        // The new table is created in memory only.
        let connection = match definition {
            Some(_) => Connection::Embedded(self.store_in_memory(globals)?),
            None => globals.connection()?,
        };
        let table = self.table_in(&connection, definition)?;
        let inputs = self.inputs(sources, &table, mapping)?;
        if definition.is_some() {
            globals.info(format_args!("would make\n{};", table.schema.to_ddl()));
        }
        dry_run::run(globals, &self.job, table, inputs)
    }

    /// A store that has the tables above the one to make.
    fn store_in_memory(&self, globals: &Globals) -> CliResult<Store> {
        let store = Store::open("memory:")?;
        for (end, _) in self.table.match_indices('.') {
            store.execute(&globals.connection()?.table(&self.table[..end])?.schema().to_ddl())?;
        }
        Ok(store)
    }
}

/// Drops a new table, unless another has put rows there. It is no loss if it stays, so errors are
/// not reported.
fn drop_if_empty(connection: &Connection, path: &str) {
    let rows = connection.table(path).and_then(|table| table.count());
    if rows.is_ok_and(|rows| rows == 0) {
        let _ = connection.drop_table(path, true);
    }
}
