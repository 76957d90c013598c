//! Detects that a file was rewritten under the same name.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// What is read at either end.
const END_BYTES: u64 = 64 << 10;

/// The size, the time of the last change, a checksum over the first and the last 64 KiB, and a
/// checksum of how it is read: by other options a file has other records, and other ones are rejected.
///
/// A change in the middle that keeps the size shows by the time alone, and a program may set that
/// back. A checksum over all would read every file twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    bytes: u64,
    modified_ns: Option<u64>,
    checksum: u32,
    #[serde(default)]
    reading: u32,
}

impl Fingerprint {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let modified =
            metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let mut ends = Vec::new();
        file.by_ref().take(END_BYTES).read_to_end(&mut ends)?;
        if metadata.len() > END_BYTES {
            file.seek(SeekFrom::Start(metadata.len() - END_BYTES))?;
            file.take(END_BYTES).read_to_end(&mut ends)?;
        }
        let modified_ns = modified.map(|since| since.as_nanos() as u64);
        let checksum = crc32fast::hash(&ends);
        Ok(Self { bytes: metadata.len(), modified_ns, checksum, reading: 0 })
    }

    /// The same for a file that is read in this way.
    pub(super) fn read_as(self, reading: &str) -> Self {
        Self { reading: crc32fast::hash(reading.as_bytes()), ..self }
    }
}
