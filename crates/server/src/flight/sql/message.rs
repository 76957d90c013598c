//! Messages of the protocol: decodes commands, encodes schemas.

use arrow::datatypes::Schema;
use arrow_flight::sql::{Any, Command};
use arrow_flight::{IpcMessage, SchemaAsIpc};
use arrow_ipc::writer::IpcWriteOptions;
use prost::Message;
use tonnage::{Error, Result};

/// The command of Flight SQL that a descriptor or a ticket holds, if it holds one.
///
/// # Errors
/// `Invalid` for one that cannot be read, `Unsupported` for one that there is not.
pub(in crate::flight) fn command_of(bytes: &[u8]) -> Result<Option<Command>> {
    const LEAD: &str = "type.googleapis.com/arrow.flight.protocol.sql.";
    // JSON is a command of Tonnage's own.
    let Ok(any) = Any::decode(bytes) else { return Ok(None) };
    if !any.type_url.starts_with(LEAD) {
        return Ok(None);
    }
    match Command::try_from(any) {
        Ok(Command::Unknown(any)) => {
            Err(Error::unsupported(format!("{} is not offered", name_of(&any.type_url))))
        }
        Ok(command) => Ok(Some(command)),
        Err(error) => Err(Error::invalid(format!("the command cannot be read: {error}"))),
    }
}

fn name_of(type_url: &str) -> &str {
    type_url.rsplit('.').next().unwrap_or(type_url)
}

pub(super) fn wrong_call(command: &Command, call: &str) -> Error {
    Error::unsupported(format!("{call} takes no {}", name_of(command.type_url())))
}

/// A schema as messages of the protocol hold it.
pub(super) fn schema_bytes(schema: &Schema) -> Result<Vec<u8>> {
    let options = IpcWriteOptions::default();
    let IpcMessage(bytes) = SchemaAsIpc::new(schema, &options)
        .try_into()
        .map_err(|error| Error::internal(format!("the schema cannot be written: {error}")))?;
    Ok(bytes.to_vec())
}
