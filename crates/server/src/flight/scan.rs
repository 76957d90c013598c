//! Scans: all rows of a table, in parts that clients fetch side by side, or all pairs.

use arrow::datatypes::SchemaRef;
use arrow_flight::{FlightDescriptor, FlightEndpoint, FlightInfo, Ticket};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use tonnage::{Error, Part, Result, Table, TableScanOptions, cores};

use super::command::ScanCommand;
use super::pairs::{self, KeyForm};
use super::row_sender::RowSender;
use super::stamp_columns::StampColumns;
use crate::context::ServerContext;

/// Parts that a table may be cut into.
const PARTS_MAX: usize = 1_024;

/// A scan whose target is known.
pub(crate) enum ScanCall {
    Rows { table: Table, command: ScanCommand, schema: SchemaRef },
    Pairs { command: ScanCommand, schema: SchemaRef },
}

impl ScanCall {
    /// Finds the table, and checks what is asked of it.
    ///
    /// # Errors
    /// `NotFound` for a table that there is not, `Invalid` for columns, parts or options.
    pub(crate) fn new(context: &ServerContext, command: ScanCommand) -> Result<ScanCall> {
        if !(1..=PARTS_MAX).contains(&command.parts) || command.part >= command.parts {
            return Err(Error::invalid(format!(
                "part {} of {}: parts lie between 1 and {PARTS_MAX}, and are counted from 0",
                command.part, command.parts
            )));
        }
        // Parts are read apart from each other: none knows how many rows the others gave.
        if command.limit.is_some() && command.parts > 1 {
            return Err(Error::invalid("a scan with a limit has one part"));
        }
        let is_narrowed = command.range.is_some()
            || command.limit.is_some()
            || command.limit_per_shard_key.is_some()
            || command.parts > 1;
        if command.bounds.is_some() && is_narrowed {
            return Err(Error::invalid(
                "`bounds` are a part of the whole table: leave out `range`, limits and `parts`",
            ));
        }
        let table = match (&command.table, command.pairs) {
            (Some(path), false) => context.store.table(path)?,
            (None, true) => {
                command.pair_options()?;
                let schema = pairs::schema(KeyForm::Components, command.versions);
                return Ok(ScanCall::Pairs { command, schema });
            }
            _ => return Err(Error::invalid("give either `table` or `\"pairs\": true`")),
        };
        let capability = context.store.capability();
        let counts_apart = capability.shards != 1 || capability.shared;
        if counts_apart && !command.known_versions.is_empty() {
            return Err(Error::unsupported(
                "`known_versions`: versions tell rows apart only in a store with one data directory",
            ));
        }
        // Built again when rows are read. Here an error can still be the answer of the call.
        command.options(table.schema())?;
        let columns = match &command.columns {
            Some(names) => {
                let places = names.iter().map(|name| table.schema().require_column(name));
                Some(places.collect::<Result<Vec<_>>>()?)
            }
            None if command.keys_only => Some(table.schema().key.clone()),
            None => None,
        };
        let schema = table.entry().codec.projected_schema(columns.as_deref())?;
        let schema = stamps(&command).schema(&schema);
        Ok(ScanCall::Rows { table, command, schema })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        match self {
            ScanCall::Rows { schema, .. } | ScanCall::Pairs { schema, .. } => schema,
        }
    }

    /// Reads and sends all rows. Blocks.
    pub(crate) fn run(self, mut sender: RowSender) {
        let sent = match self {
            ScanCall::Rows { table, command, .. } => send_rows(&table, &command, &mut sender),
            ScanCall::Pairs { command, schema } => send_pairs(&command, &schema, &mut sender),
        };
        sender.end(sent);
    }
}

fn send_rows(table: &Table, command: &ScanCommand, sender: &mut RowSender) -> Result<()> {
    let options = command.options(table.schema())?;
    // Kept until the rows are read.
    let mut cut = None;
    let rows = match (&command.bounds, command.parts) {
        (Some(bounds), _) => Some(table.scan_part(&options, part_of_bounds(bounds)?)?),
        (None, 1) => Some(table.scan(&options)?),
        (None, parts) => {
            let cut = cut.insert(sender.context().table_cuts.of(table, &options, parts)?);
            cut.part(command.part).map(|part| table.scan_part(&options, part)).transpose()?
        }
    };
    for batch in rows.into_iter().flatten() {
        let batch = batch?;
        let rows = stamps(command).rows(&batch)?;
        let rows = command.known_versions.leave(rows, &batch.versions)?;
        if !sender.send(&rows)? {
            break;
        }
    }
    Ok(())
}

fn stamps(command: &ScanCommand) -> StampColumns {
    StampColumns { versions: command.versions, origins: false }
}

/// The part that a ticket holds.
fn part_of_bounds(bounds: &str) -> Result<Part> {
    let bytes = BASE64_STANDARD.decode(bounds);
    bytes.map(Part::from_bytes).map_err(|error| {
        Error::invalid(format!("`bounds` are not those of a ticket of GetFlightInfo: {error}"))
    })
}

fn send_pairs(command: &ScanCommand, schema: &SchemaRef, sender: &mut RowSender) -> Result<()> {
    let mut left = command.limit.unwrap_or(u64::MAX);
    if left == 0 {
        return Ok(());
    }
    for found in sender.context().store.kv().scan(&command.pair_options()?)? {
        let batch = pairs::batch(&found?, KeyForm::Components, schema)?;
        let taken = left.min(batch.num_rows() as u64);
        left -= taken;
        if !sender.send(&batch.slice(0, taken as usize))? || left == 0 {
            break;
        }
    }
    Ok(())
}

/// What there is to know of a table: its schema, and a ticket for each part.
///
/// # Errors
/// `Internal` when the schema cannot be written.
pub(crate) fn info(table: &Table) -> Result<FlightInfo> {
    let path = table.path();
    // Each ticket holds its part: the store may cut elsewhere when the next one is fetched.
    let parts = table.cut(&TableScanOptions::default(), cores())?;
    let ticket = |part: &Part| {
        let bounds = BASE64_STANDARD.encode(part.as_bytes());
        Ticket::new(json!({"scan": {"table": path, "bounds": bounds}}).to_string())
    };
    let estimate = i64::try_from(table.rows_estimate()?).unwrap_or(i64::MAX);
    let info = FlightInfo::new()
        .try_with_schema(&table.schema().arrow_schema())
        .map_err(|error| Error::internal(format!("the schema of {path}: {error}")))?
        .with_descriptor(FlightDescriptor::new_path(vec![path.to_owned()]))
        .with_total_bytes(-1)
        .with_app_metadata(json!({"rows_estimate": estimate}).to_string())
        .with_total_records(-1);
    Ok(parts.iter().fold(info, |info, part| {
        info.with_endpoint(FlightEndpoint::new().with_ticket(ticket(part)))
    }))
}
