//! Deletes a large object.

use serde_json::json;
use tonnage::Result;

use crate::auth::Caller;
use crate::context::ServerContext;
use crate::flight::command::parse;
use crate::flight::lob_command::DeleteLobCommand;

/// Deletes a large object, and says whether there was one.
///
/// # Errors
/// What the caller may not do; a key that is none; what the store says.
pub(crate) fn delete(
    context: &ServerContext,
    caller: &Caller,
    body: &[u8],
) -> Result<Vec<Vec<u8>>> {
    let command: DeleteLobCommand = parse("the action's body", body)?;
    command.check(caller)?;
    let options = command.options(context.write_options());
    let deleted = context.store.kv().delete_lob_with(&command.key()?, &options)?;
    Ok(vec![json!({"deleted": deleted}).to_string().into_bytes()])
}
