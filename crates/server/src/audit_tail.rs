//! The last lines of the audit log, read from its end.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value as Json;
use tonnage::{Error, Result};

/// Bytes that are read at a time.
const BLOCK_BYTES: u64 = 64 << 10;
/// Bytes that one call reads at most.
const READ_BYTES_MAX: u64 = 16 << 20;

/// Some lines of the log, the latest first.
pub(crate) struct AuditTail {
    pub(crate) lines: Vec<Json>,
    /// Where the lines before these end; nothing at the beginning of the log.
    pub(crate) before: Option<u64>,
}

impl AuditTail {
    /// Reads at most `limit` lines that end at or before a place, or at the end of the log.
    ///
    /// # Errors
    /// `Unavailable` for a log that cannot be read.
    pub(crate) fn read(path: &Path, before: Option<u64>, limit: usize) -> Result<Self> {
        let failed = |error: std::io::Error| {
            Error::unavailable(format!("the audit log cannot be read: {error}"))
        };
        let mut file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let end = before.map_or(length, |before| before.min(length));
        let (mut start, mut bytes) = (end, Vec::new());
        // The first line found may be cut off, unless it is that of the log.
        while start > 0 && lines_in(&bytes) <= limit && end - start < READ_BYTES_MAX {
            let block = BLOCK_BYTES.min(start);
            start -= block;
            let mut earlier = vec![0; block as usize];
            file.seek(SeekFrom::Start(start)).map_err(failed)?;
            file.read_exact(&mut earlier).map_err(failed)?;
            earlier.append(&mut bytes);
            bytes = earlier;
        }
        Ok(Self::of_bytes(&bytes, start, limit))
    }

    fn of_bytes(bytes: &[u8], start: u64, limit: usize) -> Self {
        let (mut lines, mut end) = (Vec::new(), bytes.len());
        // A line that is being written has no end yet.
        while end > 0 && bytes[end - 1] != b'\n' {
            end -= 1;
        }
        while end > 0 && lines.len() < limit {
            let text = &bytes[..end - 1];
            let begin = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
            if begin == 0 && start > 0 {
                break;
            }
            // What others wrote into the log is shown as it is.
            let text = &text[begin..];
            let line = serde_json::from_slice(text);
            lines.push(line.unwrap_or_else(|_| String::from_utf8_lossy(text).into_owned().into()));
            end = begin;
        }
        let before = start + end as u64;
        Self { lines, before: (before > 0).then_some(before) }
    }
}

fn lines_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A log of so many lines, with one that is not JSON and one that is being written.
    fn log(lines: usize) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for line in 0..lines {
            writeln!(file, "{{\"n\":{line},\"object\":\"{}\"}}", "x".repeat(line % 700)).unwrap();
        }
        writeln!(file, "by hand").unwrap();
        write!(file, "{{\"n\":").unwrap();
        file
    }

    #[test]
    fn pages_go_back_to_the_beginning() {
        let file = log(3_000);
        let mut tail = AuditTail::read(file.path(), None, 100).unwrap();
        assert_eq!(tail.lines[0], "by hand");
        let mut numbers: Vec<u64> =
            tail.lines[1..].iter().map(|line| line["n"].as_u64().unwrap()).collect();
        while let Some(before) = tail.before {
            tail = AuditTail::read(file.path(), Some(before), 170).unwrap();
            numbers.extend(tail.lines.iter().map(|line| line["n"].as_u64().unwrap()));
        }
        assert!(numbers.into_iter().eq((0..3_000).rev()));
    }

    #[test]
    fn an_empty_log_has_no_lines() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let tail = AuditTail::read(file.path(), None, 10).unwrap();
        assert!(tail.lines.is_empty() && tail.before.is_none());
        assert!(AuditTail::read(Path::new("/nowhere/audit.log"), None, 10).is_err());
    }
}
