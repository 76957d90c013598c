//! The trace that the shim records: every change below a directory, in the order of effect.

use std::io;
use std::ops::Range;
use std::path::Path;

const MAGIC: u32 = 0x544f_5254;
const HEADER: usize = 37;

/// A trace in memory; its records point into it.
pub(crate) struct Trace {
    bytes: Vec<u8>,
    pub(crate) records: Vec<TraceRecord>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TraceRecord {
    CreateFile {
        inode: u64,
        path: String,
    },
    CreateDirectory {
        inode: u64,
        path: String,
    },
    Write {
        inode: u64,
        offset: u64,
        data: Range<usize>,
    },
    /// The file has this length now.
    Truncate {
        inode: u64,
        len: u64,
    },
    /// The file is at least this long now.
    Grow {
        inode: u64,
        len: u64,
    },
    Rename {
        from: String,
        to: String,
    },
    Link {
        from: String,
        to: String,
    },
    Remove {
        path: String,
    },
    Sync {
        inode: u64,
    },
    /// An fsync that was failed on purpose.
    SyncFailed {
        inode: u64,
    },
    /// A line of the ledger.
    Ledger(Range<usize>),
    /// What came before was there, and durable, when the trace began.
    Begin,
}

impl Trace {
    /// Reads a trace. A last record that was cut short by a kill never took effect.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let bytes = std::fs::read(path)?;
        let mut records = Vec::new();
        let mut at = 0;
        while let Some(header) = bytes.get(at..at + HEADER) {
            let (record, next) = parse(&bytes, header, at + HEADER)?;
            let Some(record) = record else { break };
            records.push(record);
            at = next;
        }
        Ok(Self { bytes, records })
    }

    /// The directory that was watched: the first thing that a trace names.
    pub(crate) fn base(&self) -> io::Result<&str> {
        match self.records.first() {
            Some(TraceRecord::CreateDirectory { path, .. }) => Ok(path),
            _ => Err(io::Error::other("the trace does not begin with its directory")),
        }
    }

    pub(crate) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.bytes[range.clone()]
    }

    /// Whether a record is an acknowledgement in the ledger.
    pub(crate) fn is_acknowledgement(&self, record: &TraceRecord) -> bool {
        matches!(record, TraceRecord::Ledger(line) if self.bytes(line).starts_with(b"ok "))
    }

    /// The number of records up to and including the one that begins the run.
    pub(crate) fn start(&self) -> usize {
        self.records.iter().position(|record| *record == TraceRecord::Begin).map_or(0, |at| at + 1)
    }
}

/// The record whose parts begin at `at`, if they are all there, and where it ends.
fn parse(bytes: &[u8], header: &[u8], at: usize) -> io::Result<(Option<TraceRecord>, usize)> {
    let number = |from: usize| {
        u64::from_le_bytes(header[from..from + 8].try_into().expect("eight bytes were cut out"))
    };
    if header[..4] != MAGIC.to_le_bytes() {
        return Err(io::Error::other("the trace is damaged"));
    }
    let (inode, offset) = (number(5), number(13));
    let middle = at + number(21) as usize;
    let end = middle + number(29) as usize;
    // No damage: the process was killed while the shim wrote its last record.
    if end > bytes.len() {
        return Ok((None, end));
    }
    let text = |range: Range<usize>| String::from_utf8_lossy(&bytes[range]).into_owned();
    let path = || text(at..middle);
    // The kinds are those that the shim writes, `shim/`: keep both in step.
    let record = match header[4] {
        b'C' => TraceRecord::CreateFile { inode, path: path() },
        b'M' => TraceRecord::CreateDirectory { inode, path: path() },
        b'W' => TraceRecord::Write { inode, offset, data: at..middle },
        b'T' => TraceRecord::Truncate { inode, len: offset },
        b'F' => TraceRecord::Grow { inode, len: offset },
        b'R' => TraceRecord::Rename { from: path(), to: text(middle..end) },
        b'L' => TraceRecord::Link { from: path(), to: text(middle..end) },
        b'U' => TraceRecord::Remove { path: path() },
        b'S' => TraceRecord::Sync { inode },
        b'X' => TraceRecord::SyncFailed { inode },
        b'A' => TraceRecord::Ledger(at..middle),
        b'B' => TraceRecord::Begin,
        other => return Err(io::Error::other(format!("the trace has a record of kind {other}"))),
    };
    Ok((Some(record), end))
}

/// A trace built by hand.
#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) struct TraceBuilder(Trace);

    impl TraceBuilder {
        pub(crate) fn new() -> Self {
            let base = TraceRecord::CreateDirectory { inode: 1, path: "/base".into() };
            Self(Trace { bytes: Vec::new(), records: vec![base, TraceRecord::Begin] })
        }

        pub(crate) fn then(mut self, record: TraceRecord) -> Self {
            self.0.records.push(record);
            self
        }

        pub(crate) fn create(self, inode: u64, path: &str) -> Self {
            self.then(TraceRecord::CreateFile { inode, path: path.into() })
        }

        pub(crate) fn write(mut self, inode: u64, offset: u64, data: &[u8]) -> Self {
            let at = self.0.bytes.len();
            self.0.bytes.extend_from_slice(data);
            self.then(TraceRecord::Write { inode, offset, data: at..at + data.len() })
        }

        pub(crate) fn sync(self, inode: u64) -> Self {
            self.then(TraceRecord::Sync { inode })
        }

        pub(crate) fn trace(self) -> Trace {
            self.0
        }
    }
}
