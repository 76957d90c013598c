//! Reads Parquet, Arrow IPC and Avro, whose columns have types already.

use std::fs::File;
use std::io::{Read, Seek};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use arrow::error::ArrowError;
use tonnage_engine::{Error, Result};

use crate::arrow_file::ArrowFile;
use crate::arrow_stream::ArrowBatches;
use crate::avro::AvroBatches;
use crate::batch::ReadBatch;
use crate::cast::ColumnCast;
use crate::catch_panic::catch_panic;
use crate::format::{Compression, Format};
use crate::input::Input;
use crate::options::ReadOptions;
use crate::parquet_in::{ParquetSource, Unreadable};
use crate::progress::Progress;
use crate::readahead::BlockingReader;
use crate::source::Source;
use crate::text::layout::{ColumnLayout, wanted_field};
use crate::writer::parquet::as_written;

/// The batches of a file in its own types.
type FileBatches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>;

/// A reader of one source of columns.
pub(crate) struct ColumnarReader {
    source: Source,
    batches: FileBatches,
    cast: ColumnCast,
    /// The rest of a batch that is larger than what was asked for.
    rest: Option<RecordBatch>,
    rows_max: usize,
    next_record: u64,
    start_record: u64,
    progress: Progress,
    /// How many rows the file has, where it says so.
    rows_total: Option<u64>,
    failed: bool,
}

/// A file that is open, with the columns that are to be read.
struct OpenedFile {
    batches: FileBatches,
    layout: ColumnLayout,
    /// Its columns in its own types, those of the layout.
    file_schema: SchemaRef,
    /// For each whether the batches have bytes in place of values of its type.
    gives_bytes: Vec<bool>,
    rows_total: Option<u64>,
    /// The number of the first row that `batches` gives.
    first_record: u64,
}

impl ColumnarReader {
    pub(crate) fn open(
        source: &Source,
        input: Input,
        format: Format,
        options: &ReadOptions,
    ) -> Result<ColumnarReader> {
        let progress = input.progress.clone();
        let opened = match format {
            Format::Parquet => open_parquet(source, seekable(source, input)?, options)?,
            Format::Avro => open_avro(source, input, options)?,
            Format::ArrowFile => open_arrow_file(source, input, options)?,
            _ => open_arrow(source, input, options)?,
        };
        // Arrow is counted as it is read; in a Parquet file the reader jumps to and fro, so its
        // rows tell how far it is.
        if opened.rows_total.is_some() {
            progress.set(0);
        }
        Ok(ColumnarReader {
            source: source.clone(),
            batches: opened.batches,
            cast: ColumnCast::new(source, opened.layout, opened.file_schema, opened.gives_bytes),
            rest: None,
            // Batches without rows would never use up the file.
            rows_max: options.batch_rows.max(1),
            next_record: opened.first_record,
            start_record: options.start_record,
            progress,
            rows_total: opened.rows_total,
            failed: false,
        })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.cast.schema()
    }

    pub(crate) fn next(&mut self) -> Result<Option<ReadBatch>> {
        while let Some(batch) = self.next_rows()? {
            let first_record = self.next_record;
            self.next_record += batch.num_rows() as u64;
            self.update_progress();
            let early = (self.start_record.saturating_sub(first_record))
                .min(batch.num_rows() as u64) as usize;
            let batch = batch.slice(early, batch.num_rows() - early);
            if batch.num_rows() > 0 {
                return self.cast.apply(batch, first_record + early as u64).map(Some);
            }
        }
        Ok(None)
    }

    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let batch = match self.rest.take() {
            Some(batch) => batch,
            None if self.failed => return Ok(None),
            None => match catch_decoder_panic(|| self.batches.next().transpose()).transpose() {
                None => return Ok(None),
                Some(Ok(batch)) => batch,
                Some(Err(error)) => {
                    self.failed = true;
                    let place =
                        format!("the file is damaged at record {} or after it", self.next_record);
                    return Err(damaged_error(&self.source, &place, error));
                }
            },
        };
        if batch.num_rows() > self.rows_max {
            self.rest = Some(batch.slice(self.rows_max, batch.num_rows() - self.rows_max));
        }
        Ok(Some(batch.slice(0, batch.num_rows().min(self.rows_max))))
    }

    fn update_progress(&self) {
        if let (Some(rows), Some(bytes)) = (self.rows_total, self.progress.bytes_total()) {
            let part = self.next_record as f64 / rows.max(1) as f64;
            self.progress.set((bytes as f64 * part) as u64);
        }
    }
}

/// The reason is part of the message: as its source it would be printed twice.
fn damaged_error(source: &Source, what: &str, error: impl std::error::Error) -> Error {
    let reason = error.to_string();
    Error::corruption(format!("{}: {what}: {}", source.name(), strip_error_kind(&reason)))
}

/// The reason alone: Arrow and Parquet say the kind of their error before it, as
/// `Parquet argument error: External: `, which tells a user nothing.
fn strip_error_kind(reason: &str) -> &str {
    let reason = match reason.split_once(" error: ") {
        Some((kind, rest)) if !kind.contains(':') => rest,
        _ => reason,
    };
    reason.strip_prefix("External: ").unwrap_or(reason)
}

/// A file that can be read from any place: the source itself if it is a plain file, else a copy in
/// an unnamed file that vanishes with the reader. A Parquet file has its directory at the end.
fn seekable(source: &Source, input: Input) -> Result<File> {
    if let (Some(path), Compression::None) = (source.path(), input.compression) {
        let file = File::open(path).map_err(|error| source.io_error("cannot be opened", error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Ok(file);
        }
    }
    let no_copy = |error| {
        Error::unavailable(format!("{}: no room for an unpacked copy: {error}", source.name()))
    };
    let mut copy = tempfile::tempfile().map_err(no_copy)?;
    let mut reader = BlockingReader(input.reader);
    let mut chunk = vec![0; 256 << 10];
    loop {
        let bytes =
            reader.read(&mut chunk).map_err(|error| source.io_error("cannot be read", error))?;
        if bytes == 0 {
            break;
        }
        std::io::Write::write_all(&mut copy, &chunk[..bytes]).map_err(no_copy)?;
    }
    copy.rewind().map_err(no_copy)?;
    Ok(copy)
}

fn open_parquet(source: &Source, file: File, options: &ReadOptions) -> Result<OpenedFile> {
    let no_parquet = |error: Unreadable| match error {
        Unreadable::Damaged(error) => {
            damaged_error(source, "is not a readable Parquet file", error)
        }
        Unreadable::Unsupported(why) => Error::unsupported(format!("{}: {why}", source.name())),
    };
    let mut file = catch_decoder_panic(|| ParquetSource::open(file)).map_err(no_parquet)?;
    // Renamed before the layout is built: wanted columns are known by their new names.
    let named = rename_fields(file.fields(), options).map_err(|error| error.at(source.name()))?;
    let wanted = |place: usize| {
        let field = wanted_field(options, named[place].name())?;
        match field.data_type() {
            DataType::Timestamp(unit, _) => Some(*unit),
            _ => None,
        }
    };
    catch_decoder_panic(|| file.choose_units(wanted)).map_err(no_parquet)?;
    // Kept as they are read: the layout knows seconds that were written as milliseconds.
    let own: Vec<_> = file.fields().to_vec();
    let fields: Vec<_> = own.iter().map(as_written).collect();
    let fields = rename_fields(&fields, options).map_err(|error| error.at(source.name()))?;
    let layout =
        ColumnLayout::of_file(&fields, options).map_err(|error| error.at(source.name()))?;
    let (rows, skipped) = (file.rows(), options.start_record.min(file.rows()));
    let batches = catch_decoder_panic(|| file.batches(&layout.places, options.batch_rows, skipped));
    Ok(OpenedFile {
        batches: batches.map_err(no_parquet)?,
        file_schema: project(&Schema::new(own), &layout),
        gives_bytes: layout.places.iter().map(|place| file.gives_bytes(*place)).collect(),
        layout,
        rows_total: Some(rows),
        first_record: skipped,
    })
}

fn open_arrow(source: &Source, input: Input, options: &ReadOptions) -> Result<OpenedFile> {
    let comes_slowly = input.comes_slowly;
    let reader = Box::new(BlockingReader(input.reader));
    let unpacked_max = options.unpacked_bytes_max;
    let opened = catch_decoder_panic(|| ArrowBatches::open(reader, comes_slowly, unpacked_max));
    let (batches, schema) = opened.map_err(|error| no_arrow(source, error))?;
    open_stream(source, batches, &schema, options)
}

fn open_arrow_file(source: &Source, input: Input, options: &ReadOptions) -> Result<OpenedFile> {
    let progress = input.progress.clone();
    let file = seekable(source, input)?;
    let unpacked_max = options.unpacked_bytes_max;
    let opened = catch_decoder_panic(|| ArrowFile::open(file, unpacked_max, progress));
    let (batches, schema) = opened.map_err(|error| no_arrow(source, error))?;
    open_stream(source, batches, &schema, options)
}

/// Why an Arrow file or stream cannot be opened.
fn no_arrow(source: &Source, error: ArrowError) -> Error {
    // Polars 2.1 writes such numbers, which no other program knows.
    if error.to_string().contains("Int type with bit width of 128") {
        return Error::unsupported(format!(
            "{}: it has whole numbers of 128 bits, for which Arrow has no type: write them as \
             decimals of 38 digits, or write Parquet",
            source.name()
        ));
    }
    damaged_error(source, "is not a readable Arrow file or stream", error)
}

fn open_avro(source: &Source, input: Input, options: &ReadOptions) -> Result<OpenedFile> {
    let comes_slowly = input.comes_slowly;
    let reader = Box::new(BlockingReader(input.reader));
    let opened = catch_decoder_panic(|| AvroBatches::open(reader, comes_slowly));
    let (batches, schema) =
        opened.map_err(|error| damaged_error(source, "is not a readable Avro file", error))?;
    open_stream(source, batches, &schema, options)
}

/// A file whose batches come one after another, with all their columns.
fn open_stream(
    source: &Source,
    batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send + 'static,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<OpenedFile> {
    let fields =
        rename_fields(schema.fields(), options).map_err(|error| error.at(source.name()))?;
    let layout =
        ColumnLayout::of_file(&fields, options).map_err(|error| error.at(source.name()))?;
    let places = layout.places.clone();
    let batches = batches.map(move |batch| with_columns(batch?)?.project(&places));
    Ok(OpenedFile {
        file_schema: project(schema, &layout),
        gives_bytes: vec![false; layout.places.len()],
        layout,
        batches: Box::new(batches),
        rows_total: None,
        first_record: 0,
    })
}

/// A batch, unless it has rows and no columns: a damaged number of rows then costs no bytes, and
/// would be read for ever.
fn with_columns(batch: RecordBatch) -> std::result::Result<RecordBatch, ArrowError> {
    match batch.num_columns() == 0 && batch.num_rows() > 0 {
        true => Err(no_columns()),
        false => Ok(batch),
    }
}

fn no_columns() -> ArrowError {
    ArrowError::ParseError("it has rows without columns".to_owned())
}

/// The fields of a file with the names that its columns are to have.
fn rename_fields(fields: &[FieldRef], options: &ReadOptions) -> Result<Vec<FieldRef>> {
    let renames = &options.renames;
    renames.check(fields.iter().map(|field| field.name().as_str()))?;
    let names: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
    let renamed = renames.of_all(&names).into_iter().zip(fields).map(|(name, field)| {
        match *field.name() == name {
            true => Arc::clone(field),
            false => Arc::new(field.as_ref().clone().with_name(name)),
        }
    });
    Ok(renamed.collect())
}

/// Runs code of the decoders, which panic on some damaged files, and makes an error of a panic.
fn catch_decoder_panic<T, E: From<ArrowError>>(
    work: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    catch_panic(work, |panic| ArrowError::ExternalError(panic.into()).into())
}

fn project(schema: &Schema, layout: &ColumnLayout) -> SchemaRef {
    let fields: Vec<_> =
        layout.places.iter().map(|place| Arc::clone(&schema.fields()[*place])).collect();
    Arc::new(Schema::new(fields))
}
