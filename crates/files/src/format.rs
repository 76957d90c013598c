//! Detects the format of a file by its name or by its first bytes.

use std::fmt;
use std::str::FromStr;

use tonnage_engine::{Error, Result};

use crate::avro;

/// The mark that some programs put before UTF-8 text.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// How records are written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Comma-separated values (or another delimiter, see [`CsvOptions`](crate::CsvOptions)), the
    /// first line naming the columns.
    Csv,
    /// The same with tabs. Readers say that they read [`Format::Csv`].
    Tsv,
    /// One JSON object per line, or one array of JSON objects.
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC with a footer (Feather version 2).
    ArrowFile,
    /// Arrow IPC as a stream.
    ArrowStream,
    /// An Avro object container file; it is read, not written.
    Avro,
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
    /// xz, one stream or several; it is read, not written.
    Xz,
    /// A member of a zip archive, or a sheet of a workbook; it is read, not written.
    Zip,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 7] = [
        Format::Csv,
        Format::Tsv,
        Format::JsonLines,
        Format::Parquet,
        Format::ArrowFile,
        Format::ArrowStream,
        Format::Avro,
    ];

    /// The formats that are written as well.
    pub const WRITTEN: [Format; 6] = [
        Format::Csv,
        Format::Tsv,
        Format::JsonLines,
        Format::Parquet,
        Format::ArrowFile,
        Format::ArrowStream,
    ];

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
        if head.starts_with(avro::MAGIC) {
            return Format::Avro;
        }
        let text = head.strip_prefix(BOM).unwrap_or(head);
        match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[') => Format::JsonLines,
            _ => Format::Csv,
        }
    }

    /// The format that the extension of a name shows, with or without a final `.gz`, `.zst` or
    /// `.xz`. What follows the path of a URL is ignored.
    pub fn of_name(name: &str) -> Option<Format> {
        let name = without_query(name).to_ascii_lowercase();
        let stem = Compression::strip(&name);
        match stem.rsplit_once('.')?.1 {
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            "jsonl" | "ndjson" | "json" => Some(Format::JsonLines),
            "parquet" => Some(Format::Parquet),
            "arrow" | "feather" | "ipc" => Some(Format::ArrowFile),
            "arrows" => Some(Format::ArrowStream),
            "avro" => Some(Format::Avro),
            _ => None,
        }
    }

    /// The name of the format as options spell it.
    pub fn label(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::JsonLines => "jsonl",
            Format::Parquet => "parquet",
            Format::ArrowFile => "arrow",
            Format::ArrowStream => "arrow-stream",
            Format::Avro => "avro",
        }
    }

    /// Whether records of this format are lines of text.
    pub fn is_text(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv | Format::JsonLines)
    }
}

/// A name without what follows the path of a URL.
fn without_query(name: &str) -> &str {
    match name.contains("://") {
        true => name.split(['?', '#']).next().unwrap_or(name),
        false => name,
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
            "csv" => Ok(Format::Csv),
            "tsv" => Ok(Format::Tsv),
            "jsonl" | "ndjson" | "json" => Ok(Format::JsonLines),
            "parquet" => Ok(Format::Parquet),
            "arrow" | "feather" | "ipc" => Ok(Format::ArrowFile),
            "arrow-stream" | "arrows" => Ok(Format::ArrowStream),
            "avro" => Ok(Format::Avro),
            _ => {
                let known = Format::ALL.map(Format::label).join(", ");
                Err(Error::invalid(format!("{text}: unknown format; known are {known}")))
            }
        }
    }
}

impl Compression {
    /// The compression that the ending of a name tells.
    pub fn of_name(name: &str) -> Compression {
        let name = without_query(name).to_ascii_lowercase();
        if name.ends_with(".gz") {
            Compression::Gzip
        } else if name.ends_with(".zst") || name.ends_with(".zstd") {
            Compression::Zstd
        } else if name.ends_with(".xz") {
            Compression::Xz
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
        } else if magic.starts_with(b"\xfd7zX") {
            Compression::Xz
        } else {
            Compression::None
        }
    }

    fn strip(name: &str) -> &str {
        let endings = [".gz", ".zst", ".zstd", ".xz"];
        endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
    }
}
