//! What a file holds, told by its name or by its first bytes.

use std::fmt;
use std::str::FromStr;

use tonnage_engine::{Error, Result};

/// The mark that some programs put before UTF-8 text.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// How records are written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Comma-separated values (or another delimiter, see [`CsvOptions`](crate::CsvOptions)), the
    /// first line naming the columns.
    Csv,
    /// One JSON object per line, or one array of JSON objects.
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC with a footer (Feather version 2).
    ArrowFile,
    /// Arrow IPC as a stream.
    ArrowStream,
}

/// How a whole file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// gzip, one member or several.
    Gzip,
    /// Zstandard, one frame or several.
    Zstd,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] =
        [Format::Csv, Format::JsonLines, Format::Parquet, Format::ArrowFile, Format::ArrowStream];

    /// The format that the first bytes tell; what is nothing else is taken for CSV.
    pub(crate) fn of_content(head: &[u8]) -> Format {
        if head.starts_with(b"PAR1") {
            return Format::Parquet;
        }
        if head.starts_with(b"ARROW1") {
            return Format::ArrowFile;
        }
        if head.starts_with(&[0xff; 4]) {
            return Format::ArrowStream;
        }
        let text = head.strip_prefix(BOM).unwrap_or(head);
        match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[') => Format::JsonLines,
            _ => Format::Csv,
        }
    }

    /// The format that the ending of a name tells, with or without `.gz` or `.zst` behind it.
    pub fn of_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let stem = Compression::strip(&name);
        match stem.rsplit_once('.')?.1 {
            "csv" | "tsv" => Some(Format::Csv),
            "jsonl" | "ndjson" | "json" => Some(Format::JsonLines),
            "parquet" => Some(Format::Parquet),
            "arrow" | "feather" | "ipc" => Some(Format::ArrowFile),
            "arrows" => Some(Format::ArrowStream),
            _ => None,
        }
    }

    /// The name of the format as options spell it.
    pub fn label(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::JsonLines => "jsonl",
            Format::Parquet => "parquet",
            Format::ArrowFile => "arrow",
            Format::ArrowStream => "arrow-stream",
        }
    }

    /// Whether records of this format are lines of text.
    pub fn is_text(self) -> bool {
        matches!(self, Format::Csv | Format::JsonLines)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Format> {
        match text.to_ascii_lowercase().as_str() {
            "csv" | "tsv" => Ok(Format::Csv),
            "jsonl" | "ndjson" | "json" => Ok(Format::JsonLines),
            "parquet" => Ok(Format::Parquet),
            "arrow" | "feather" | "ipc" => Ok(Format::ArrowFile),
            "arrow-stream" | "arrows" => Ok(Format::ArrowStream),
            _ => Err(Error::invalid(format!(
                "{text}: unknown format; known are csv, jsonl, parquet, arrow, arrow-stream"
            ))),
        }
    }
}

impl Compression {
    /// The compression that the ending of a name tells.
    pub fn of_name(name: &str) -> Compression {
        let name = name.to_ascii_lowercase();
        if name.ends_with(".gz") {
            Compression::Gzip
        } else if name.ends_with(".zst") || name.ends_with(".zstd") {
            Compression::Zstd
        } else {
            Compression::None
        }
    }

    /// The compression that the first bytes tell.
    pub(crate) fn of_magic(magic: &[u8]) -> Compression {
        if magic.starts_with(&[0x1f, 0x8b]) {
            Compression::Gzip
        } else if magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Compression::Zstd
        } else {
            Compression::None
        }
    }

    fn strip(name: &str) -> &str {
        [".gz", ".zst", ".zstd"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
    }
}
