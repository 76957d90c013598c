//! The rows of many regions: [`tonnage::Index::bulk_get_within`] through the server.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tonnage::{IndexScanOptions, Result, RowsWithin};

use super::command::{MESSAGE_BYTES, MESSAGE_ROWS};
use super::row_sender::RowSender;
use super::stamp_columns::StampColumns;
use super::within_command::WithinCommand;
use crate::context::ServerContext;

/// A read by places whose index is known.
pub(crate) struct WithinCall {
    rows: RowsWithin,
    stamps: StampColumns,
    schema: SchemaRef,
}

impl WithinCall {
    /// Finds the index, and checks what is asked of it.
    ///
    /// # Errors
    /// `NotFound` for a table or an index that there is not, `Invalid` for regions, columns or
    /// options.
    pub(crate) fn new(context: &ServerContext, command: &WithinCommand) -> Result<Self> {
        let regions = command.regions()?;
        let table = context.store.table(&command.table)?;
        let index = match &command.index {
            Some(name) => table.index(name)?,
            None => table.place_index()?,
        };
        let options = IndexScanOptions {
            columns: command.columns.clone(),
            limit: command.limit,
            batch_rows_max: MESSAGE_ROWS,
            batch_bytes_max: MESSAGE_BYTES,
            consistency: Some(command.consistency.into()),
            timeout: command.timeout(),
            // A row that is not looked up has no version.
            index_only: !command.versions,
            ..IndexScanOptions::default()
        };
        let rows = index.bulk_get_within(regions, &options)?;
        let stamps = StampColumns { versions: command.versions, origins: command.origins };
        let schema = stamps.schema(rows.schema());
        Ok(Self { rows, stamps, schema })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows, with what comes along with each.
    pub(crate) fn rows(self) -> impl Iterator<Item = Result<RecordBatch>> {
        let stamps = self.stamps;
        self.rows.map(move |batch| stamps.rows(&batch?))
    }

    /// Reads and sends all rows. Blocks.
    pub(super) fn run(self, mut sender: RowSender) {
        let sent = send(self.rows(), &mut sender);
        sender.end(sent);
    }
}

fn send(rows: impl Iterator<Item = Result<RecordBatch>>, sender: &mut RowSender) -> Result<()> {
    for batch in rows {
        if !sender.send(&batch?)? {
            break;
        }
    }
    Ok(())
}
