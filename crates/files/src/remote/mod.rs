//! Files over HTTP and in object storage.
//!
//! - `file` is the address of a file.
//! - `reader` reads a file front to back, and resumes where a connection broke.
//! - `request` sends requests, retries where that may help, and explains refusals in plain words.
//! - `storage` finds the objects that an address names: `s3` and `azure` find the `bucket`, whose
//!   keys come from its `listing`.
//! - `access` authenticates a request: `signature` signs it for S3, `shared_key` for Azure.
//!   `profile` and `azure_account` find the credentials.

mod access;
mod azure;
mod azure_account;
mod bucket;
mod file;
mod listing;
mod profile;
mod reader;
mod request;
mod s3;
mod shared_key;
mod signature;
mod storage;

use std::io;

use tonnage_engine::Result;

use crate::readahead::ReadAhead;
use crate::stop_token::StopToken;
pub(crate) use file::{RemoteFile, StorageObject};
use reader::RemoteReader;

/// Opens a file from its first byte, with its size where the server tells it. A thread reads ahead,
/// so that a waiting reader can be stopped: a read that got nothing for a while answers
/// [`WouldBlock`](io::ErrorKind::WouldBlock).
pub(crate) fn open(file: &RemoteFile, stop: &StopToken) -> io::Result<(ReadAhead, Option<u64>)> {
    let reader = RemoteReader::open(file, stop)?;
    let bytes = reader.bytes_total();
    Ok((ReadAhead::start_stoppable(reader, stop.clone())?, bytes))
}

/// What a name of object storage means, if it is one.
pub(crate) fn objects(name: &str) -> Option<Result<Vec<StorageObject>>> {
    storage::is_storage(name).then(|| storage::expand(name))
}
