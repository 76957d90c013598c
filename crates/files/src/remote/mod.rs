//! Files behind HTTP, and in object storage.
//!
//! - `file` is where a file is, and who may read it.
//! - `reader` reads a file front to back, and goes on where a connection broke.
//! - `request` asks, again where that may help, and says in plain words what the answer is.
//! - `storage` knows what `s3://` and `gs://` addresses stand for, and lists buckets.
//! - `signature` signs requests as S3 wants them signed.

mod file;
mod reader;
mod request;
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
