//! The one reader for all formats.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use tonnage_engine::Result;

use crate::batch::ReadBatch;
use crate::columnar::ColumnarReader;
use crate::folders::{FolderColumns, columns_in};
use crate::format::{Compression, Format};
use crate::input::Input;
use crate::options::ReadOptions;
use crate::progress::Progress;
use crate::source::Source;
use crate::text::reader::{TextReader, no_documents};

/// An iterator of the batches of one source.
///
/// After an error it gives nothing more; all records before the damage have been given by then.
pub struct RecordReader {
    body: ReaderBody,
    folders: Option<FolderColumns>,
    format: Format,
    compression: Compression,
    progress: Progress,
    ended: bool,
}

enum ReaderBody {
    Text(Box<TextReader>),
    Columnar(Box<ColumnarReader>),
}

impl RecordReader {
    /// Opens a source, detects what it holds, and reads as much of it as is needed to know its
    /// columns.
    pub fn open(source: &Source, options: &ReadOptions) -> Result<RecordReader> {
        Self::of(source, Input::open(source, options)?, options)
    }

    /// A reader of a source that is open.
    pub(crate) fn of(source: &Source, input: Input, asked: &ReadOptions) -> Result<RecordReader> {
        input.check(source)?;
        let format = input.format(source, asked.format);
        let (compression, progress) = (input.compression, input.progress.clone());
        let asked = input.options(asked);
        let asked = asked.as_ref();
        let own = without_folders(source, asked);
        let options = own.as_ref().unwrap_or(asked);
        let body = match format.is_text() {
            true => ReaderBody::Text(Box::new(TextReader::open(source, input, format, options)?)),
            false if options.documents.is_some() => return Err(no_documents(source, format)),
            false => ReaderBody::Columnar(Box::new(ColumnarReader::open(
                source, input, format, options,
            )?)),
        };
        let folders = FolderColumns::of(source, asked, &body.schema())?;
        Ok(RecordReader { body, folders, format, compression, progress, ended: false })
    }

    /// The schema of all batches: the columns of the file in its order, those that were wanted with
    /// the wanted name, type and metadata. A wanted column that the file lacks is not in it, except
    /// with JSON lines, where every record may have every member, and with an empty CSV file. All
    /// columns may be NULL.
    pub fn schema(&self) -> SchemaRef {
        self.folders.as_ref().map_or_else(|| self.body.schema(), FolderColumns::schema)
    }

    /// The columns that stand in the file itself: all but those that its folders tell.
    pub fn file_schema(&self) -> SchemaRef {
        self.body.schema()
    }

    /// Where in the only object of a JSON source there is an array of objects, as far as it was looked
    /// at; see [`ReadOptions::records`].
    pub fn records_at(&self) -> Option<&str> {
        match &self.body {
            ReaderBody::Text(reader) => reader.records_at(),
            ReaderBody::Columnar(_) => None,
        }
    }

    /// The byte between the fields, if it is CSV.
    pub fn delimiter(&self) -> Option<u8> {
        match &self.body {
            ReaderBody::Text(reader) => reader.delimiter(),
            ReaderBody::Columnar(_) => None,
        }
    }

    /// The byte around fields, if it is CSV that has one.
    pub fn quote(&self) -> Option<u8> {
        match &self.body {
            ReaderBody::Text(reader) => reader.quote(),
            ReaderBody::Columnar(_) => None,
        }
    }

    /// The format that is being read.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How the source is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// A handle to watch the reader from elsewhere.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }
}

impl ReaderBody {
    fn schema(&self) -> SchemaRef {
        match self {
            ReaderBody::Text(reader) => reader.schema(),
            ReaderBody::Columnar(reader) => reader.schema(),
        }
    }
}

/// The options for a file whose folders tell some of the wanted columns: JSON would deliver them as
/// NULL.
fn without_folders(source: &Source, options: &ReadOptions) -> Option<ReadOptions> {
    let schema = options.schema.as_ref().filter(|_| options.folders)?;
    let told = columns_in(source.name(), &options.renames);
    let is_own = |name: &String| !told.iter().any(|(column, _)| column.eq_ignore_ascii_case(name));
    let own = schema.fields().iter().filter(|field| is_own(field.name())).cloned();
    let schema = Some(Arc::new(Schema::new(own.collect::<Vec<_>>())));
    Some(ReadOptions { schema, ..options.clone() })
}

impl Iterator for RecordReader {
    type Item = Result<ReadBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = match &mut self.body {
            ReaderBody::Text(reader) => reader.next(),
            ReaderBody::Columnar(reader) => reader.next(),
        };
        let next = match (next, &self.folders) {
            (Ok(Some(read)), Some(folders)) => folders.add_to(read).map(Some),
            (next, _) => next,
        };
        self.ended = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}
