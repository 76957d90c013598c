//! The files in which the rejected records of one input are kept.
//!
//! A file is named after its input, with a number if the name is taken. Only files that an earlier
//! load kept of the same input are overwritten: the directory may hold rejected records of other
//! inputs, or the input itself. A resumed load appends to its files.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tonnage_files::{Format, RejectedRecord};

use super::stream::StreamState;

/// Endings of files in which others stand.
const PACKED: [&str; 4] = ["xlsx", "xlsm", "xls", "zip"];

/// The files of one input.
pub(super) struct RejectFiles {
    records: BufWriter<File>,
    /// Whether a record is one line, whatever it was: elements of a JSON array may stand on many.
    has_lines: bool,
    reasons: BufWriter<File>,
}

impl RejectFiles {
    /// Makes the files, or opens those of an earlier run of this load. The first number to try tells
    /// inputs of one name apart; `used` are the names that this load has taken.
    pub(super) fn open(
        directory: &Path,
        state: &StreamState,
        first: usize,
        used: &mut HashSet<PathBuf>,
    ) -> io::Result<Self> {
        // The columns that the folders of the input tell are in no record.
        let directory = &directory.join(state.column_folders());
        std::fs::create_dir_all(directory)?;
        let name = state.file_name();
        let stem = name.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ending = match (state.format.is_text(), name.extension()) {
            // Records of a sheet or an archive are kept as text.
            (true, Some(ending))
                if PACKED.iter().any(|packed| ending.eq_ignore_ascii_case(packed)) =>
            {
                format!(".{}", state.format)
            }
            (true, Some(ending)) => format!(".{}", ending.to_string_lossy()),
            (true, None) => String::new(),
            // Rows of a Parquet or Arrow file are kept as JSON.
            (false, _) => ".jsonl".to_owned(),
        };
        let numbered = |number: usize| match number {
            1 => stem.clone(),
            _ => format!("{stem}-{number}"),
        };
        let reasons_of = |name: &str| directory.join(format!("{name}.reasons.jsonl"));
        let records_of = |name: &str| directory.join(format!("{name}{ending}"));
        let mut number = first;
        let name = loop {
            let name = numbered(number);
            if !used.contains(&directory.join(&name)) {
                let is_free = match kept_of(&reasons_of(&name))? {
                    None => !records_of(&name).exists(),
                    Some(kept) => kept == state.name,
                };
                if is_free {
                    break name;
                }
            }
            number += 1;
        };
        used.insert(directory.join(&name));
        let open = |path: &Path| match state.is_resumed() {
            true => opened_at_end(path),
            false => File::create(path),
        };
        let mut records = BufWriter::new(open(&records_of(&name))?);
        if let Some(header) = &state.header
            && records.get_ref().metadata()?.len() == 0
        {
            writeln!(records, "{header}")?;
        }
        let reasons = BufWriter::new(open(&reasons_of(&name))?);
        Ok(Self { records, has_lines: state.format == Format::JsonLines, reasons })
    }

    pub(super) fn add(&mut self, record: &RejectedRecord) -> io::Result<()> {
        if !record.original.is_empty() {
            let is_end = |byte: &u8| self.has_lines && matches!(byte, b'\n' | b'\r');
            let text: Vec<u8> = record
                .original
                .iter()
                .map(|byte| if is_end(byte) { b' ' } else { *byte })
                .collect();
            self.records.write_all(&text)?;
            self.records.write_all(b"\n")?;
        }
        let reason = json!({
            "file": record.source,
            "record": record.record,
            "line": record.line,
            "column": record.column,
            "reason": record.reason,
        });
        writeln!(self.reasons, "{reason}")
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.records.flush()?;
        self.reasons.flush()
    }

    /// The same, onto the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.records.get_ref().sync_data()?;
        self.reasons.get_ref().sync_data()
    }
}

/// The input whose reasons a file holds; none if there is no such file, and no input for a file that
/// is none.
fn kept_of(reasons: &Path) -> io::Result<Option<String>> {
    let file = match File::open(reasons) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut line = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut line)?;
    let reason: Value = serde_json::from_slice(&line).unwrap_or_default();
    Ok(Some(reason["file"].as_str().unwrap_or_default().to_owned()))
}

/// A file to continue with. A line that its writer did not finish is ended.
fn opened_at_end(path: &Path) -> io::Result<File> {
    let mut file = File::options().read(true).append(true).create(true).open(path)?;
    if file.metadata()?.len() > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}
