//! Bulk ingestion: a stream of record batches becomes rows of a table, which may be new.
//!
//! | if there is no table | if there is one | ADBC calls it |
//! |---|---|---|
//! | create | fail | create |
//! | fail | append | append |
//! | create | append | create_append |
//! | create | replace | replace |
//!
//! 1. The stream's schema comes first. The table is found, created, or replaced. A new table needs
//!    a primary key: the option `primary_key`, or `tonnage.primary_key` in the schema's metadata.
//! 2. The batches go into a load of their own. An entry that fails stops it.
//! 3. The count is sent once everything is stored, if the client itself ended its stream.
//!
//! A table that is replaced is there until then: the rows go into a table beside it, which takes
//! its place in the end.

use std::sync::{Arc, Mutex};

use arrow::datatypes::{Schema, SchemaRef};
use arrow_flight::FlightData;
use arrow_flight::sql::{CommandStatementIngest, TableExistsOption, TableNotExistOption};
use tokio::runtime::Handle;
use tonnage::internal::sync::lock;
use tonnage::{
    AlreadyExists, BulkPutCallbacks, BulkPutOptions, ColumnDefinition, ColumnType, EntryBatch,
    Error, ErrorKind, ErrorsMax, FailedEntry, OnExisting, Result, Table, TableDefinition,
    TableSchema,
};
use tracing::Span;

use super::names::{CATALOG, SCHEMA};
use super::update;
use crate::auth::{Caller, Right};
use crate::context::ServerContext;
use crate::flight::choice::ExistingChoice;
use crate::flight::client_stream::ClientStream;
use crate::flight::decode::FlightDecoder;
use crate::flight::opened_stream::OpenedStream;
use crate::flight::stream_event::StreamEvent;
use crate::jobs::{JobMembership, JobRequest, StreamOrigin, StreamOutcome};
use crate::metrics::ListenerKind;
use crate::random::random_name;

/// The option, and after `tonnage.` the metadata, that names the key of a new table.
const PRIMARY_KEY: &str = "primary_key";
const ON_EXISTING: &str = "on_existing";

/// Takes a table in.
pub(super) async fn ingest(
    context: &Arc<ServerContext>,
    caller: &Caller,
    command: CommandStatementIngest,
    opened: OpenedStream,
) -> Result<Vec<u8>> {
    let ingest = TableIngest::new(context.clone(), caller.clone(), command)?;
    context.check_open()?;
    let OpenedStream { first, wire, held, .. } = opened;
    let place = context.streams.acquire().await?;
    // From now on the place bounds what the upload has in memory.
    drop(held);
    let span = Span::current();
    let thread = tokio::task::spawn_blocking(move || {
        let _place = place;
        span.in_scope(|| ingest.run(first, wire))
    });
    let count = thread.await;
    let count = count.map_err(|_| Error::internal("the load panicked: see the log"))??;
    Ok(update::update_result(count))
}

struct TableIngest {
    context: Arc<ServerContext>,
    caller: Caller,
    path: String,
    if_missing: TableNotExistOption,
    if_there: TableExistsOption,
    primary_key: Option<String>,
    on_existing: OnExisting,
}

/// The table that is loaded. One that was to replace another is dropped when the load fails.
struct IngestTarget {
    context: Arc<ServerContext>,
    table: Table,
    /// The table whose place it takes in the end.
    replaces: Option<String>,
}

impl IngestTarget {
    /// Everything is stored.
    fn finish(mut self) -> Result<()> {
        let Some(replaced) = &self.replaces else { return Ok(()) };
        self.context.store.catalog().replace_table(replaced, self.table.path())?;
        self.replaces = None;
        Ok(())
    }
}

impl Drop for IngestTarget {
    fn drop(&mut self) {
        if self.replaces.is_some() {
            // One that cannot be dropped does no harm, and its name shows its purpose.
            let _ = self.context.store.catalog().drop_table(self.table.path(), true);
        }
    }
}

/// Keeps why the first entry failed.
#[derive(Default)]
struct FirstFailure(Mutex<Option<String>>);

impl BulkPutCallbacks for FirstFailure {
    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        let mut first = lock(&self.0);
        first.get_or_insert_with(|| match entry.column {
            Some(column) => format!("row {}, column {column}: {}", entry.position, entry.reason),
            None => format!("row {}: {}", entry.position, entry.reason),
        });
        Ok(())
    }
}

impl FirstFailure {
    fn take(&self) -> Option<String> {
        lock(&self.0).take()
    }
}

impl TableIngest {
    fn new(
        context: Arc<ServerContext>,
        caller: Caller,
        command: CommandStatementIngest,
    ) -> Result<TableIngest> {
        super::statement::no_transaction(command.transaction_id.as_deref())?;
        // If it were created all the same, such a table would stay when the client believes it
        // gone.
        if command.temporary {
            return Err(Error::unsupported("there are no temporary tables"));
        }
        check_only("catalog", command.catalog.as_deref(), CATALOG)?;
        check_only("schema", command.schema.as_deref(), SCHEMA)?;
        let definition = command.table_definition_options.unwrap_or_default();
        let mut options = command.options;
        let on_existing = options.remove(ON_EXISTING);
        let primary_key = options.remove(PRIMARY_KEY);
        // An option that is misspelt must not be passed over. The least name makes the message the
        // same each time.
        if let Some(name) = options.keys().min() {
            return Err(Error::invalid(format!(
                "there is no option `{name}`: the options are {PRIMARY_KEY} and {ON_EXISTING}"
            )));
        }
        Ok(TableIngest {
            context,
            caller,
            path: command.table,
            if_missing: definition.if_not_exist(),
            if_there: definition.if_exists(),
            primary_key,
            on_existing: on_existing.as_deref().map_or(Ok(OnExisting::Fail), existing_choice)?,
        })
    }

    fn run(self, first: Box<FlightData>, mut wire: ClientStream) -> Result<u64> {
        let mut decoder = FlightDecoder::default();
        let mut batch = decoder.decode(&first)?;
        let schema = loop {
            if let Some(schema) = decoder.schema() {
                break schema.clone();
            }
            match Handle::current().block_on(wire.next())? {
                StreamEvent::Message(message) => batch = decoder.decode(&message)?,
                StreamEvent::Ended => return Err(Error::invalid("the stream has no schema")),
                StreamEvent::Torn(why) => return Err(Error::cancelled(why)),
            }
        };
        // The table is known before the load takes a place: a wrong request costs nothing.
        let target = self.target(&schema)?;
        let table = &target.table;
        let failure = Arc::new(FirstFailure::default());
        let membership = self.join(failure.clone())?;
        let origin = StreamOrigin {
            user: self.caller.user().map(str::to_owned),
            table: Some(table.path().to_owned()),
            expected_rows: None,
        };
        let stream = membership.begin_stream(table.path(), origin);
        let mut push = |batch| self.push(&membership, table, stream, batch);
        let mut read = || {
            if let Some(batch) = batch.take() {
                push(batch)?;
            }
            self.read(&membership, &mut decoder, &mut wire, &mut push)
        };
        let ending = read();
        let leaving = match &ending {
            Ok(()) => StreamOutcome::Completed,
            Err(error) if error.kind() == ErrorKind::Cancelled => StreamOutcome::Abandoned,
            Err(_) => StreamOutcome::Stopped,
        };
        self.context.metrics.count_stream(leaving.label());
        // The stream leaves its job before any error is sent: the load would never end otherwise.
        let ended = self.context.jobs.leave(membership, stream, leaving);
        let explained = |error: Error| match failure.take() {
            Some(reason) => Error::new(error.kind(), format!("{}: {reason}", self.path)),
            None => error,
        };
        ending.map_err(explained)?;
        let ended = ended.ok_or_else(|| Error::internal("a load of one stream has others"))?;
        let report = ended.result.map_err(|stopped| explained(stopped.error))?;
        // A replaced table gives way only now. Every earlier return drops the one that was filled
        // for it.
        target.finish()?;
        Ok(report.total.inserted
            + match self.on_existing {
                OnExisting::Replace => report.total.existed,
                _ => 0,
            })
    }

    fn join(&self, failure: Arc<FirstFailure>) -> Result<JobMembership> {
        let options = BulkPutOptions {
            on_existing: self.on_existing,
            errors_max: ErrorsMax::Count(0),
            ..BulkPutOptions::default()
        };
        let terms = format!("on_existing {:?}", self.on_existing);
        let request = JobRequest { name: None, user: None, terms, shares: false };
        self.context.jobs.join(&self.context.store, request, options, failure)
    }

    fn read(
        &self,
        membership: &JobMembership,
        decoder: &mut FlightDecoder,
        wire: &mut ClientStream,
        push: &mut impl FnMut(arrow::array::RecordBatch) -> Result<()>,
    ) -> Result<()> {
        loop {
            // A push would notice the cancelled load, but an idle client may never send a row.
            let arrival = Handle::current().block_on(async {
                tokio::select! {
                    arrival = wire.next() => arrival,
                    () = membership.job.cancelled.cancelled() => {
                        Err(Error::unavailable("the job was cancelled"))
                    }
                }
            })?;
            // There is no marker in this protocol: only an end by the client itself tells that all
            // rows came.
            match arrival {
                StreamEvent::Message(message) => {
                    if let Some(batch) = decoder.decode(&message)? {
                        push(batch)?;
                    }
                }
                StreamEvent::Ended => return Ok(()),
                StreamEvent::Torn(why) => return Err(Error::cancelled(why)),
            }
        }
    }

    fn push(
        &self,
        membership: &JobMembership,
        table: &Table,
        stream: usize,
        batch: arrow::array::RecordBatch,
    ) -> Result<()> {
        let rows = batch.num_rows() as u64;
        let path: Arc<str> = table.path().into();
        membership.load.push(stream, EntryBatch::rows(path, batch))?;
        self.context.metrics.rows_in(ListenerKind::flight, rows);
        Ok(())
    }

    /// The table to load: found, created, or replaced.
    fn target(&self, schema: &SchemaRef) -> Result<IngestTarget> {
        let store = &self.context.store;
        let found = match store.table(&self.path) {
            Ok(table) => Some(table),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let replaces = self.if_there == TableExistsOption::Replace;
        // Rights are checked before the answer shows whether the table exists.
        self.caller.check_put(&self.path, self.on_existing)?;
        if found.is_none() || replaces {
            self.caller.check_table(Right::Define, &self.path)?;
        }
        match (found, self.if_there) {
            (Some(table), TableExistsOption::Append | TableExistsOption::Unspecified) => {
                for field in schema.fields() {
                    table.schema().require_column(field.name())?;
                }
                Ok(self.target_at(table))
            }
            (Some(_), TableExistsOption::Fail) => Err(AlreadyExists::error(format!(
                "table {} exists already: append to it, or replace it",
                self.path
            ))),
            // The new table is filled under another name: readers have the old one until then.
            (Some(table), TableExistsOption::Replace) => {
                let mut definition = self.definition(schema, Some(&table))?;
                definition.path = replacement_path(&self.path)?;
                let mut target = self.create(&definition)?;
                target.replaces = Some(self.path.clone());
                Ok(target)
            }
            (None, _) if self.if_missing == TableNotExistOption::Create => {
                let definition = self.definition(schema, None)?;
                self.create(&definition)
            }
            (None, _) => Err(Error::not_found(format!(
                "there is no table {}: make it, or ingest with mode create",
                self.path
            ))),
        }
    }

    fn create(&self, definition: &TableDefinition) -> Result<IngestTarget> {
        self.context.store.catalog().create_table(definition, false)?;
        self.context.store.table(&definition.path).map(|table| self.target_at(table))
    }

    fn target_at(&self, table: Table) -> IngestTarget {
        IngestTarget { context: self.context.clone(), table, replaces: None }
    }

    /// The key columns that the table has from the one above it.
    fn inherited_key(&self) -> Vec<String> {
        let parent = self.path.rsplit_once('.').map(|(parent, _)| parent);
        let parent = parent.and_then(|parent| self.context.store.table(parent).ok());
        let names =
            |table: Table| table.schema().key_columns().map(|column| column.name.clone()).collect();
        parent.map(names).unwrap_or_default()
    }

    /// A table for these columns. One that is replaced leaves its key to the new one.
    fn definition(&self, schema: &Schema, replaced: Option<&Table>) -> Result<TableDefinition> {
        let named = self
            .primary_key
            .clone()
            .or_else(|| schema.metadata().get(&format!("tonnage.{PRIMARY_KEY}")).cloned());
        let old = || {
            let table = replaced?;
            Some(table.schema().key_columns().map(|column| column.name.clone()).collect())
        };
        let split =
            |names: String| names.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>();
        let key = named.map(split).or_else(old).ok_or_else(|| {
            Error::invalid(format!(
                "table {} would have no primary key: name its columns in the option \
                 {PRIMARY_KEY}, or as tonnage.{PRIMARY_KEY} in the metadata of the schema \
                 (pyarrow: table.replace_schema_metadata({{\"tonnage.{PRIMARY_KEY}\": \"id\"}}))",
                self.path
            ))
        })?;
        // The shard key and the time to live stay with the key that they were declared for.
        let kept = replaced.map(Table::schema).filter(|old| has_key(old, &key));
        // A child has its parent's key columns already: its definition names its own alone.
        let inherited = self.inherited_key();
        let is_inherited = |name: &str| inherited.iter().any(|key| key.eq_ignore_ascii_case(name));
        let own = schema.fields().iter().filter(|field| !is_inherited(field.name()));
        let columns = own.map(|field| {
            let column_type = ColumnType::of_arrow(field).ok_or_else(|| {
                Error::invalid(format!(
                    "column {} is {}, which no table can hold: cast it",
                    field.name(),
                    tonnage_files::type_name(field)
                ))
            })?;
            let mut column = ColumnDefinition::new(field.name(), column_type);
            column.nullable = !key.iter().any(|name| name.eq_ignore_ascii_case(field.name()));
            Ok(column)
        });
        Ok(TableDefinition {
            path: self.path.clone(),
            columns: columns.collect::<Result<_>>()?,
            key: key.iter().filter(|name| !is_inherited(name)).cloned().collect(),
            shard_key_len: kept.filter(|old| old.ancestors.is_empty()).map(|old| old.shard_key_len),
            ttl_ms: kept.and_then(|old| old.ttl_ms),
        })
    }
}

/// A name that no table has, for one that is to take the place of another.
fn replacement_path(path: &str) -> Result<String> {
    Ok(format!("{path}_replacing_{}", random_name()?))
}

/// Whether a table has exactly these key columns.
fn has_key(schema: &TableSchema, names: &[String]) -> bool {
    let own = schema.key_columns();
    own.len() == names.len()
        && own.zip(names).all(|(column, name)| column.name.eq_ignore_ascii_case(name))
}

fn check_only(what: &str, given: Option<&str>, only: &str) -> Result<()> {
    match given {
        Some(name) if !name.is_empty() && name != only => {
            Err(Error::not_found(format!("there is no {what} `{name}`, only `{only}`")))
        }
        _ => Ok(()),
    }
}

fn existing_choice(text: &str) -> Result<OnExisting> {
    let choice: Option<ExistingChoice> = serde_json::from_value(text.into()).ok();
    choice.map(OnExisting::from).ok_or_else(|| {
        Error::invalid(format!(
            "{ON_EXISTING} is `{text}`: give keep, replace, blind_replace or fail"
        ))
    })
}
