//! What calls over many tables have in common.

use tonnage::{Error, Result};

/// Largest body of an action, as the server takes it.
const BODY_BYTES_MAX: usize = 64 << 20;

/// Refuses a body that the server would refuse, before it is sent.
///
/// # Errors
/// `Invalid`, with the remedy.
pub(crate) fn check_body(body: Vec<u8>) -> Result<Vec<u8>> {
    match body.len() > BODY_BYTES_MAX {
        true => Err(Error::invalid(format!(
            "the call has {} bytes, {BODY_BYTES_MAX} are the most: use bulk_put or bulk_get",
            body.len()
        ))),
        false => Ok(body),
    }
}
