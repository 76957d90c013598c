//! The input files of a load, opened and checked before anything is written.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use tonnage_files::{ExtraColumns, Format, ReadOptions, RecordReader, Source};

use super::fingerprint::Fingerprint;
use super::mapping::RowMapping;
use super::option_names::with_header_option;
use crate::exit::{CliResult, Failure};

/// One file to load.
pub(crate) struct FileInput {
    pub(super) source: Source,
    pub(super) options: ReadOptions,
    pub(super) format: Format,
    /// All columns of the file, the byte between them and the one around them, for the header of
    /// rejected records.
    pub(super) columns: SchemaRef,
    pub(super) delimiter: Option<u8>,
    pub(super) quote: Option<u8>,
    /// What makes rows of its records, if they are not rows as they are.
    pub(super) mapping: Option<Arc<RowMapping>>,
    /// A pipe is open already: it can be read only once.
    pub(super) reader: Option<RecordReader>,
    /// The size of the file, if it is one.
    pub(super) bytes: Option<u64>,
    /// What tells the file from another of its name, if it is one. Taken before the file is read.
    pub(super) fingerprint: Option<Fingerprint>,
}

impl FileInput {
    /// Open every source. `check` accepts its columns and returns the mapping to rows, if there is
    /// one. With `ignore_unknown`, columns that are not wanted are not even read.
    pub(crate) fn prepare(
        sources: Vec<Source>,
        options: &ReadOptions,
        ignore_unknown: bool,
        check: impl Fn(&Source, &Schema) -> CliResult<Option<RowMapping>>,
    ) -> CliResult<Vec<FileInput>> {
        let prepare = |source: Source| {
            let skip = ReadOptions { unmentioned: ExtraColumns::Skip, ..options.clone() };
            // The reader of a pipe is kept for the load, so it skips columns from the start. A file
            // is opened again.
            let first_look = if source.reads_once() && ignore_unknown { &skip } else { options };
            // Taken before the file is read: a file that changes meanwhile is another one for the
            // next run.
            let looks = source.path().and_then(|path| Fingerprint::of(path).ok());
            let reader = RecordReader::open(&source, first_look).map_err(with_header_option)?;
            let checked = check(&source, &reader.schema());
            let mapping =
                checked.map_err(|failure| with_hint(failure, &reader, options))?.map(Arc::new);
            let fingerprint =
                looks.map(|looks| looks.read_as(&reading(options, mapping.as_deref())));
            let columns = reader.file_schema();
            Ok(FileInput {
                delimiter: reader.delimiter(),
                quote: reader.quote(),
                format: reader.format(),
                bytes: reader.progress().bytes_total(),
                reader: source.reads_once().then_some(reader),
                options: if ignore_unknown { skip } else { options.clone() },
                columns,
                mapping,
                fingerprint,
                source,
            })
        };
        sources.into_iter().map(prepare).collect()
    }

    pub(super) fn name(&self) -> &str {
        self.source.name()
    }
}

/// How a file is read, as far as that decides which records it has and what becomes of them.
fn reading(options: &ReadOptions, mapping: Option<&RowMapping>) -> String {
    let ReadOptions { format, csv, documents, records, renames, folders, encoding, .. } = options;
    let mapping = mapping.map(RowMapping::text);
    format!("{:?}", (format, csv, documents, records, renames, folders, encoding, mapping))
}

/// The failure of a file whose columns do not fit, and where else its records may be.
fn with_hint(failure: Failure, reader: &RecordReader, options: &ReadOptions) -> Failure {
    let hint = match reader.records_at() {
        Some(at) => records_hint(at),
        None if has_foreign_header(reader, options) => {
            "; if its first line is a record, give --no-header".to_owned()
        }
        None => return failure,
    };
    let message = format!("{}{hint}", failure.error.message());
    Failure { error: failure.error.restated().with_message(message), ..failure }
}

/// Whether a header of CSV names several columns, and none that is wanted. A single one is more
/// often a line that another delimiter splits.
fn has_foreign_header(reader: &RecordReader, options: &ReadOptions) -> bool {
    let (found, Some(wanted)) = (reader.file_schema(), &options.schema) else { return false };
    let is_wanted =
        |name: &str| wanted.fields().iter().any(|wanted| wanted.name().eq_ignore_ascii_case(name));
    options.csv.has_header
        && reader.delimiter().is_some()
        && found.fields().len() > 1
        && !found.fields().iter().any(|field| is_wanted(field.name()))
}

/// How the array of objects in a document becomes records.
pub(crate) fn records_hint(at: &str) -> String {
    format!("; {at} is an array of objects: --records {at} makes rows of them")
}
