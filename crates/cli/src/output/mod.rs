//! Writes rows to standard output or a file, in every format.
//!
//! `tonnage-files` writes the file formats. The table for people and the JSON array are written
//! here. A file gets its name only when it is complete.

mod outcome;
mod style;
mod table;
mod target;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use clap::{Args, ValueEnum};
use tonnage_files::{Compression, Format, RecordWriter};

use crate::exit::{CliResult, Failure};
use crate::stderr;
pub(crate) use outcome::{describe_changes, describe_count};
pub(crate) use style::{Expanded, TableStyle};
use table::TableWriter;
pub(crate) use target::CompletedFile;
use target::OutputTarget;

/// `--format` and `--output`.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArgs {
    /// Output format [default: by the name of the output file; table at a terminal; else csv]
    #[arg(long, value_enum)]
    pub(crate) format: Option<RowFormat>,
    /// Write to this file, compressed if its name ends in .gz or .zst. It appears when it is
    /// complete, and replaces a file of that name. - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// A drawn table, for people
    Table,
    /// One JSON array of objects
    Json,
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
    /// Apache Parquet
    Parquet,
    /// Arrow IPC (a stream on standard output)
    Arrow,
}

impl RowFormat {
    /// What the name of a file asks for.
    fn of_name(name: &str) -> Option<RowFormat> {
        match Format::of_name(name)? {
            Format::Csv => Some(RowFormat::Csv),
            Format::Tsv => Some(RowFormat::Tsv),
            Format::JsonLines
                if name.to_ascii_lowercase().contains(".json.")
                    || name.to_ascii_lowercase().ends_with(".json") =>
            {
                Some(RowFormat::Json)
            }
            Format::JsonLines => Some(RowFormat::Jsonl),
            Format::Parquet => Some(RowFormat::Parquet),
            Format::ArrowFile | Format::ArrowStream => Some(RowFormat::Arrow),
            Format::Avro => None,
        }
    }

    /// Whether people can read it.
    pub(crate) fn is_text(self) -> bool {
        !matches!(self, RowFormat::Parquet | RowFormat::Arrow)
    }

    /// What it is called on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The ending of files in this format.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            RowFormat::Table => "txt",
            RowFormat::Json => "json",
            RowFormat::Jsonl => "jsonl",
            RowFormat::Csv => "csv",
            RowFormat::Tsv => "tsv",
            RowFormat::Parquet => "parquet",
            RowFormat::Arrow => "arrow",
        }
    }
}

/// Refuses a name of a format that is not written.
fn check_written(path: &Path) -> CliResult<()> {
    let name = path.to_string_lossy();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    if let Some(ending @ ("xlsx" | "xlsm" | "xls" | "ods" | "zip")) = ending.as_deref() {
        return Err(Failure::usage(format!(
            "{}: .{ending} is not written: name a file .csv or .parquet, or give --format",
            path.display()
        )));
    }
    match Format::of_name(&name) {
        Some(format) if !Format::WRITTEN.contains(&format) => Err(Failure::usage(format!(
            "{}: {format} is read, and not written: name a file .parquet or .jsonl, or give --format",
            path.display()
        ))),
        _ => Ok(()),
    }
}

impl OutputArgs {
    /// The file to write to, if it is not standard output.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.output.as_ref().filter(|path| path.as_os_str() != "-")
    }

    /// The format that the name of a file asks for.
    pub(crate) fn format_of(path: &Path) -> Option<RowFormat> {
        RowFormat::of_name(&path.to_string_lossy())
    }

    /// The format, asked for or chosen.
    pub(crate) fn row_format(&self) -> RowFormat {
        let by_name = || self.file().and_then(|path| Self::format_of(path));
        let by_place = || {
            let on_terminal = self.file().is_none() && std::io::stdout().is_terminal();
            if on_terminal { RowFormat::Table } else { RowFormat::Csv }
        };
        self.format.or_else(by_name).unwrap_or_else(by_place)
    }

    /// Opens the output for rows of this schema.
    pub(crate) fn open(&self, schema: SchemaRef) -> CliResult<RowOutput> {
        let (target, compression) = match self.file() {
            Some(path) => {
                if self.format.is_none() {
                    check_written(path)?;
                }
                let is_special = path.metadata().is_ok_and(|metadata| !metadata.is_file());
                if self.format.is_none() && Self::format_of(path).is_none() && !is_special {
                    let name = path.display();
                    stderr::line(format_args!(
                        "tonnage: {name}: the name tells no format, so it is written as csv: --format names another"
                    ));
                }
                (OutputTarget::file(path)?, Compression::of_name(&path.to_string_lossy()))
            }
            None if self.row_format().is_text() => {
                (OutputTarget::stdout_for_text(), Compression::None)
            }
            None => (OutputTarget::stdout(), Compression::None),
        };
        RowOutput::open(self.row_format(), target, compression, schema, TableStyle::default())
    }

    /// Opens the output for plain lines.
    pub(crate) fn open_lines(&self) -> CliResult<LineOutput> {
        Ok(LineOutput(match self.file() {
            Some(path) => OutputTarget::file(path)?,
            None => OutputTarget::stdout_for_text(),
        }))
    }
}

/// Where rows go.
pub(crate) struct RowOutput {
    body: OutputBody,
    rows: u64,
    is_file: bool,
    bytes: Arc<AtomicU64>,
}

enum OutputBody {
    Files(Box<RecordWriter<OutputTarget>>),
    Table(TableWriter, OutputTarget),
    JsonArray { target: OutputTarget, rows: u64 },
}

impl RowOutput {
    /// Rows for a reader at a terminal.
    pub(crate) fn on_screen(
        format: RowFormat,
        screen: Box<dyn Write + Send>,
        schema: SchemaRef,
        style: TableStyle,
    ) -> CliResult<Self> {
        Self::open(format, OutputTarget::Screen(screen), Compression::None, schema, style)
    }

    fn open(
        format: RowFormat,
        target: OutputTarget,
        compression: Compression,
        schema: SchemaRef,
        style: TableStyle,
    ) -> CliResult<Self> {
        let (is_file, bytes) = (target.is_file(), target.bytes());
        // A reader of a pipe cannot jump to the footer of an Arrow file.
        let arrow = if is_file { Format::ArrowFile } else { Format::ArrowStream };
        let files = |format, target| {
            RecordWriter::new(format, target, schema.clone(), compression).map(Box::new)
        };
        let body = match format {
            RowFormat::Table => OutputBody::Table(TableWriter::new(schema.clone(), style), target),
            // The brackets of the array go to the target directly, past the writers that compress.
            RowFormat::Json if compression != Compression::None => {
                return Err(Failure::usage(
                    "a JSON array is not written compressed: use --format jsonl",
                ));
            }
            RowFormat::Json => OutputBody::JsonArray { target, rows: 0 },
            RowFormat::Jsonl => OutputBody::Files(files(Format::JsonLines, target)?),
            RowFormat::Csv => OutputBody::Files(files(Format::Csv, target)?),
            RowFormat::Tsv => OutputBody::Files(files(Format::Tsv, target)?),
            RowFormat::Parquet => OutputBody::Files(files(Format::Parquet, target)?),
            RowFormat::Arrow => OutputBody::Files(files(arrow, target)?),
        };
        Ok(RowOutput { body, rows: 0, is_file, bytes })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> CliResult<()> {
        self.rows += batch.num_rows() as u64;
        match &mut self.body {
            OutputBody::Files(writer) => writer.write(batch).map_err(Failure::stopped),
            OutputBody::Table(table, target) => table.write(batch, target),
            OutputBody::JsonArray { target, rows } => {
                for line in
                    json_lines(batch)?.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
                {
                    target.write_all(if *rows == 0 { b"[\n" } else { b",\n" })?;
                    target.write_all(line)?;
                    *rows += 1;
                }
                Ok(())
            }
        }
    }

    /// How many rows it has.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// About how many bytes its file has by now, with what is still held.
    pub(crate) fn bytes(&self) -> u64 {
        let held = match &self.body {
            OutputBody::Files(writer) => writer.held_bytes(),
            _ => 0,
        };
        self.bytes.load(Relaxed) + held as u64
    }

    /// Shows what came before an error, if anything did. A file that is not whole gets no name.
    pub(crate) fn finish_partial(self) -> CliResult<()> {
        if self.is_file || self.rows == 0 { Ok(()) } else { self.finish().map(drop) }
    }

    /// Writes what is still held, and makes the output whole. Returns how many rows it has.
    pub(crate) fn finish(self) -> CliResult<u64> {
        let rows = self.rows();
        self.close()?.map_or(Ok(()), CompletedFile::publish)?;
        Ok(rows)
    }

    /// The same for one of several files, which get their names together.
    pub(crate) fn close(self) -> CliResult<Option<CompletedFile>> {
        let target = match self.body {
            OutputBody::Files(writer) => writer.finish().map_err(Failure::stopped)?,
            OutputBody::Table(table, mut target) => {
                table.finish(&mut target)?;
                target
            }
            OutputBody::JsonArray { mut target, rows } => {
                target.write_all(if rows == 0 { b"[]\n" } else { b"\n]\n" })?;
                target
            }
        };
        target.close()
    }
}

/// A batch as JSON lines.
fn json_lines(batch: &RecordBatch) -> CliResult<Vec<u8>> {
    let mut writer =
        RecordWriter::new(Format::JsonLines, Vec::new(), batch.schema(), Compression::None)?;
    writer.write(batch)?;
    Ok(writer.finish()?)
}

/// Where lines go that are not rows.
pub(crate) struct LineOutput(OutputTarget);

impl LineOutput {
    pub(crate) fn stdout() -> Self {
        Self(OutputTarget::stdout())
    }

    /// A file that appears when it is whole, or standard output.
    pub(crate) fn to(output: Option<&Path>) -> CliResult<Self> {
        match output.filter(|path| path.as_os_str() != "-") {
            Some(path) => OutputTarget::file(path).map(Self),
            None => Ok(Self::stdout()),
        }
    }

    pub(crate) fn line(&mut self, text: impl std::fmt::Display) -> CliResult<()> {
        Ok(writeln!(self.0, "{text}")?)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> CliResult<()> {
        Ok(self.0.write_all(bytes)?)
    }

    pub(crate) fn finish(self) -> CliResult<()> {
        self.0.finish()
    }
}

/// One line on standard output.
pub(crate) fn println(text: impl std::fmt::Display) -> CliResult<()> {
    let mut output = LineOutput::stdout();
    output.line(text)?;
    output.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_output_tells_the_format() {
        let format =
            |name: &str| OutputArgs { format: None, output: Some(name.into()) }.row_format();
        assert_eq!(format("a.parquet"), RowFormat::Parquet);
        assert_eq!(format("a.csv.gz"), RowFormat::Csv);
        assert_eq!(format("a.TSV.gz"), RowFormat::Tsv);
        assert_eq!(format("a.json"), RowFormat::Json);
        assert_eq!(format("a.jsonl.zst"), RowFormat::Jsonl);
        assert_eq!(format("a"), RowFormat::Csv);
    }
}
