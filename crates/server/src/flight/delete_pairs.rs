//! Deletes a pair and all pairs below its key.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tonnage::{Error, KeyRange, Result, WriteOptions};

use super::choice::{DepthChoice, DurabilityChoice};
use super::command::{ComponentsCommand, parse};
use super::frame;
use super::one_row::{key_of, only_row};
use crate::auth::{Caller, Right};
use crate::context::ServerContext;

/// Which pairs go.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct DeletePairsHeader {
    depth: DepthChoice,
    components: Option<ComponentsCommand>,
    durability: Option<DurabilityChoice>,
    timeout_ms: Option<u64>,
}

/// Deletes them, and says how many there were.
pub(super) fn delete(
    context: &ServerContext,
    caller: &Caller,
    body: &[u8],
) -> Result<Vec<Vec<u8>>> {
    let frames = frame::read(body)?;
    let [frame] = frames.as_slice() else {
        return Err(Error::invalid("give one frame, with one key"));
    };
    let header: DeletePairsHeader = parse("its header", &frame.header)?;
    let key = key_of(only_row(&frame.batches)?)?;
    caller.check_pair(Right::Delete, key.major().first().map_or(&[], Vec::as_slice))?;
    let defaults = context.write_options();
    let options = WriteOptions {
        durability: header.durability.map_or(defaults.durability, Into::into),
        timeout: header.timeout_ms.map(Duration::from_millis).or(defaults.timeout),
        ..defaults
    };
    let range = header.components.map(KeyRange::from);
    let kv = context.store.kv();
    let deleted = kv.delete_subtree_with(&key, header.depth.into(), range.as_ref(), &options)?;
    Ok(vec![json!({"deleted": deleted}).to_string().into_bytes()])
}
