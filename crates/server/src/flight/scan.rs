//! Scans: all rows of a table, in parts that clients fetch side by side.

use arrow::datatypes::SchemaRef;
use arrow_flight::{FlightDescriptor, FlightEndpoint, FlightInfo, Ticket};
use serde_json::json;
use tonnage::{Error, Result, Table, TableScanOptions, cores};

use super::command::{MESSAGE_ROWS, ScanCommand};
use super::rows::RowSender;
use crate::context::Context;

/// Parts that a table may be cut into.
const PARTS_MAX: usize = 1_024;

/// A scan whose table is known.
pub(crate) struct Scan {
    table: Table,
    command: ScanCommand,
    schema: SchemaRef,
}

impl Scan {
    /// Finds the table, and checks what is asked of it.
    ///
    /// # Errors
    /// `NotFound` for a table that there is not, `Invalid` for columns or parts.
    pub(crate) fn new(context: &Context, command: ScanCommand) -> Result<Scan> {
        if !(1..=PARTS_MAX).contains(&command.parts) || command.part >= command.parts {
            return Err(Error::invalid(format!(
                "part {} of {}: parts lie between 1 and {PARTS_MAX}, and are counted from 0",
                command.part, command.parts
            )));
        }
        if command.limit.is_some() && command.parts > 1 {
            return Err(Error::invalid("a scan with a limit has one part"));
        }
        let table = context.store.table(&command.table)?;
        let names = command.columns.as_deref();
        let columns = names.map(|names| {
            names.iter().map(|name| table.schema().require_column(name)).collect::<Result<Vec<_>>>()
        });
        let schema = table.entry().codec.projected_schema(columns.transpose()?.as_deref())?;
        Ok(Scan { table, command, schema })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Reads and sends all rows. Blocks.
    pub(crate) fn run(self, mut sender: RowSender) {
        if let Err(error) = self.send_all(&mut sender) {
            sender.fail(&error);
        }
    }

    fn send_all(self, sender: &mut RowSender) -> Result<()> {
        let options = TableScanOptions {
            columns: self.command.columns.clone(),
            limit: self.command.limit,
            batch_rows_max: MESSAGE_ROWS,
            ..TableScanOptions::default()
        };
        let rows = match self.command.parts {
            1 => Some(self.table.scan(&options)?),
            parts => {
                // There may be fewer parts than asked for: the later ones are then empty.
                self.table.scan_parts(&options, parts)?.into_iter().nth(self.command.part)
            }
        };
        for batch in rows.into_iter().flatten() {
            if !sender.send(&batch?.rows)? {
                break;
            }
        }
        Ok(())
    }
}

/// What there is to know of a table: its schema, and a ticket for each part.
///
/// # Errors
/// `Internal` when the schema cannot be written.
pub(crate) fn info(table: &Table) -> Result<FlightInfo> {
    let path = table.path();
    let parts = cores();
    let ticket = |part: usize| {
        let command = json!({"scan": {"table": path, "part": part, "parts": parts}});
        Ticket::new(command.to_string())
    };
    let estimate = i64::try_from(table.rows_estimate()?).unwrap_or(i64::MAX);
    let info = FlightInfo::new()
        .try_with_schema(&table.schema().arrow_schema())
        .map_err(|error| Error::internal(format!("the schema of {path}: {error}")))?
        .with_descriptor(FlightDescriptor::new_path(vec![path.to_owned()]))
        .with_total_bytes(-1)
        .with_app_metadata(json!({"rows_estimate": estimate}).to_string())
        .with_total_records(-1);
    Ok((0..parts).fold(info, |info, part| {
        info.with_endpoint(FlightEndpoint::new().with_ticket(ticket(part)))
    }))
}
