//! Files behind HTTP, and in object storage.
//!
//! - `file` is where a file is.
//! - `reader` reads a file front to back, and goes on where a connection broke.
//! - `request` asks, again where that may help, and says in plain words what the answer is.
//! - `storage` tells which objects an address stands for: `s3` and `azure` find the `bucket`, whose
//!   keys come from its `listing`.
//! - `access` shows that a request may read: `signature` signs it as S3 wants, `shared_key` as
//!   Azure does. `profile` and `azure_account` find the credentials.

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

use std::io::{self, Read};

use tonnage_engine::Result;

use crate::readahead::{ReadAhead, Waiting};
use crate::stop::Stop;
pub(crate) use file::{Object, RemoteFile};
use reader::RemoteReader;

/// Opens a file from its first byte, with its size where the server tells it. A thread reads
/// ahead, so that whoever waits can be stopped.
pub(crate) fn open(
    file: &RemoteFile,
    stop: &Stop,
) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
    let reader = RemoteReader::open(file, stop)?;
    let bytes = reader.bytes_total();
    let ahead = ReadAhead::start_stoppable(reader, stop.clone())?;
    Ok((Box::new(Waiting(ahead)), bytes))
}

/// What a name of object storage stands for, if it is one.
pub(crate) fn objects(name: &str) -> Option<Result<Vec<Object>>> {
    storage::is_storage(name).then(|| storage::expand(name))
}
