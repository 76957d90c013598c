//! Reads CSV and JSON lines.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use arrow::datatypes::{FieldRef, SchemaRef};
use memchr::memchr;
use tonnage_engine::{Error, Result};

use super::block::{Block, UNCACHED_FORMULA};
use super::block_reader::{BlockReader, Splitter};
use super::convert::{Converter, UNCACHED_FORMULA_REASON};
use super::csv::CsvSplitter;
use super::dialect::CsvDialect;
use super::document::DocumentLayout;
use super::generated_key;
use super::json::JsonSplitter;
use super::json_detect::find_shape;
use super::json_sample::JsonColumns;
use super::json_shape::records_alone;
use super::layout::{ColumnLayout, nullable, text_fields, wanted_field};
use crate::batch::ReadBatch;
use crate::format::Format;
use crate::input::Input;
use crate::options::{ExtraColumns, ReadOptions};
use crate::source::Source;
use crate::type_guess::{json_field, reads_as_value};

/// How much of a file of JSON lines is searched for members that no caller named.
const JSON_SAMPLE_BYTES: usize = 1 << 20;

/// The longest header.
const HEADER_BYTES_MAX: usize = 1 << 20;

/// A reader of one source of text.
pub(crate) struct TextReader {
    blocks: BlockReader,
    splitter: Splitter,
    /// The columns of the file.
    columns: usize,
    converter: Arc<Converter>,
    workers: Option<ConverterWorkers>,
    /// Where in the only object of the source there is an array of objects.
    records_at: Option<String>,
    ended: bool,
}

impl TextReader {
    pub(crate) fn open(
        source: &Source,
        input: Input,
        format: Format,
        options: &ReadOptions,
    ) -> Result<TextReader> {
        let mut blocks = BlockReader::of(source, input, options)?;
        let (splitter, columns, layout) = match format {
            Format::JsonLines => open_json(source, &mut blocks, options)?,
            _ if options.documents.is_some() => return Err(no_documents(source, format)),
            _ => open_csv(source, &mut blocks, options)?,
        };
        let records_at = match format {
            // Only a source that was seen whole is known to be a single object.
            Format::JsonLines if blocks.has_ended() => records_alone(blocks.look_ahead(0)),
            _ => None,
        };
        let nulls = options.csv.nulls.iter().map(|text| text.clone().into_bytes()).collect();
        let generated_key =
            generated_key_column(&layout, options).map_err(|error| error.at(source.name()))?;
        let converter = Converter {
            source: source.name().into(),
            layout,
            nulls,
            defaults: options.defaults.clone(),
            start_record: options.start_record,
            generated_key,
        };
        let converter = Arc::new(converter);
        // A parallelism of 1 is the thread of the caller: a worker would be a second one.
        let workers = (options.parallelism > 1)
            .then(|| ConverterWorkers::start(&converter, options.parallelism))
            .transpose()?;
        Ok(TextReader { blocks, splitter, columns, converter, workers, records_at, ended: false })
    }

    pub(crate) fn records_at(&self) -> Option<&str> {
        self.records_at.as_deref()
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.converter.layout.schema)
    }

    /// The byte between the fields of CSV.
    pub(crate) fn delimiter(&self) -> Option<u8> {
        match &self.splitter {
            Splitter::Csv(splitter) => Some(splitter.dialect.delimiter),
            Splitter::Json(_) => None,
        }
    }

    /// The byte around the fields of CSV.
    pub(crate) fn quote(&self) -> Option<u8> {
        match &self.splitter {
            Splitter::Csv(splitter) => splitter.dialect.quote,
            Splitter::Json(_) => None,
        }
    }

    /// The next batch, in the order of the file.
    pub(crate) fn next(&mut self) -> Result<Option<ReadBatch>> {
        loop {
            let converted = match &mut self.workers {
                None => match self.blocks.next(&mut self.splitter, self.columns)? {
                    Some(block) => self.converter.convert(block)?,
                    None => return Ok(None),
                },
                Some(_) => match self.next_from_workers()? {
                    Some(converted) => converted,
                    None => return Ok(None),
                },
            };
            if converted.is_some() {
                return Ok(converted);
            }
        }
    }

    /// Keeps the workers fed, then waits for the oldest block.
    fn next_from_workers(&mut self) -> Result<Option<Option<ReadBatch>>> {
        let Some(workers) = &mut self.workers else { return Ok(None) };
        // Of what comes slowly no block waits for the next.
        while !self.ended
            && workers.has_room()
            && !(self.blocks.came_early() && workers.has_blocks())
        {
            match self.blocks.next(&mut self.splitter, self.columns) {
                Ok(Some(block)) => workers.send(Ok(block))?,
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    workers.send(Err(error))?;
                }
            }
        }
        workers.receive()
    }
}

/// Threads that convert blocks. Each has its own two queues and the blocks go round, so that
/// batches come back in order.
struct ConverterWorkers {
    queues: Vec<(SyncSender<Result<Block>>, Receiver<Converted>)>,
    sent: usize,
    received: usize,
}

/// The batch of a block; none if the block precedes the first record to deliver.
type Converted = Result<Option<ReadBatch>>;

/// Blocks that each worker may have: one that it converts and one that is ready.
const BLOCKS_PER_WORKER: usize = 2;

impl ConverterWorkers {
    fn start(converter: &Arc<Converter>, count: usize) -> Result<ConverterWorkers> {
        let mut queues = Vec::with_capacity(count);
        for _ in 0..count {
            let (block_sender, blocks) = sync_channel::<Result<Block>>(BLOCKS_PER_WORKER);
            let (batch_sender, batches) = sync_channel(BLOCKS_PER_WORKER);
            let converter = Arc::clone(converter);
            let work = move || {
                for block in blocks {
                    if batch_sender.send(block.and_then(|block| converter.convert(block))).is_err()
                    {
                        return;
                    }
                }
            };
            // The thread ends by itself when its queue is dropped.
            let thread = thread::Builder::new().name("tonnage-convert".into()).spawn(work);
            thread.map_err(|error| {
                Error::unavailable(format!("no thread for reading: {error}")).with_source(error)
            })?;
            queues.push((block_sender, batches));
        }
        Ok(ConverterWorkers { queues, sent: 0, received: 0 })
    }

    fn has_room(&self) -> bool {
        self.sent - self.received < self.queues.len() * BLOCKS_PER_WORKER
    }

    fn has_blocks(&self) -> bool {
        self.sent > self.received
    }

    fn send(&mut self, block: Result<Block>) -> Result<()> {
        let queue = &self.queues[self.sent % self.queues.len()].0;
        self.sent += 1;
        queue.send(block).map_err(|_| worker_stopped_error())
    }

    fn receive(&mut self) -> Result<Option<Option<ReadBatch>>> {
        if self.received == self.sent {
            return Ok(None);
        }
        let queue = &self.queues[self.received % self.queues.len()].1;
        self.received += 1;
        queue.recv().map_err(|_| worker_stopped_error())?.map(Some)
    }
}

fn worker_stopped_error() -> Error {
    Error::internal("a thread that converts records has stopped unexpectedly")
}

pub(crate) fn open_csv(
    source: &Source,
    blocks: &mut BlockReader,
    options: &ReadOptions,
) -> Result<(Splitter, usize, ColumnLayout)> {
    let dialect = CsvDialect::of(source.name(), options)?;
    refuse_bare_returns(source, blocks, dialect)?;
    blocks.skip_lines(options.csv.skip_lines);
    let Some(first) = first_record(blocks, dialect) else {
        return match blocks.take_failure() {
            Some(error) => Err(error),
            None => empty_csv(source, blocks, dialect, options),
        };
    };
    let names = csv_names(first, blocks, options).map_err(|error| error.at(source.name()))?;
    let columns = names.len();
    let layout = ColumnLayout::of_file(&text_fields(&names), options)
        .map_err(|error| with_doubt(error, &names, options).at(source.name()))?;
    let blank_is_null = options.csv.blank_is_null;
    Ok((Splitter::Csv(CsvSplitter { dialect, columns, blank_is_null }), columns, layout))
}

/// The error of a header whose names cannot be those of columns, if it may be a record instead.
fn with_doubt(error: Error, names: &[String], options: &ReadOptions) -> Error {
    if !options.csv.has_header || !names.iter().any(|name| reads_as_value(name)) {
        return error;
    }
    let message = format!("{}; if they are values, the file has no header", error.message());
    error.with_message(message)
}

/// Lines that end in a carriage return alone would all be one line.
fn refuse_bare_returns(
    source: &Source,
    blocks: &mut BlockReader,
    dialect: CsvDialect,
) -> Result<()> {
    let head = blocks.look_ahead(64 << 10);
    if memchr(b'\n', head).is_some() {
        return Ok(());
    }
    // One in quotes is part of a field, and so is one after the escape character.
    let (mut is_quoted, mut is_escaped) = (false, false);
    let bare = head.iter().position(|byte| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        is_escaped = Some(*byte) == dialect.escape;
        is_quoted ^= Some(*byte) == dialect.quote;
        *byte == b'\r' && !is_quoted
    });
    // At the very end it may be the first half of a line end.
    let is_bare = bare.is_some_and(|at| at + 1 < head.len());
    match is_bare {
        true => Err(Error::invalid(format!(
            "{}: its lines end in carriage returns alone, as on old Macs: convert it, for instance with tr '\\r' '\\n'",
            source.name()
        ))),
        false => Ok(()),
    }
}

/// A source without a first record: empty, or with a header that is not a record.
fn empty_csv(
    source: &Source,
    blocks: &mut BlockReader,
    dialect: CsvDialect,
    options: &ReadOptions,
) -> Result<(Splitter, usize, ColumnLayout)> {
    if !blocks.look_ahead(1).trim_ascii().is_empty() {
        return Err(Error::invalid(format!(
            "{}: line {} is not a CSV header: a quote is not closed or it is too long",
            source.name(),
            options.csv.skip_lines.saturating_add(1)
        )));
    }
    let layout = ColumnLayout::of_nothing(options);
    let columns = layout.places.len().max(1);
    // Blank lines are all there is, and no record of anything.
    let splitter = CsvSplitter { dialect, columns, blank_is_null: false };
    Ok((Splitter::Csv(splitter), columns, layout))
}

/// The first record of a CSV file.
pub(crate) struct FirstRecord {
    fields: Vec<String>,
    /// The place of a formula without a value among them.
    uncached: Option<usize>,
    /// The place of one that is not UTF-8.
    not_utf8: Option<usize>,
    bytes: usize,
    lines: u32,
}

/// Looks at the first record without taking it; none if there is none, or if it is broken.
fn first_record(blocks: &mut BlockReader, dialect: CsvDialect) -> Option<FirstRecord> {
    let mut bytes_wanted = 64 << 10;
    loop {
        blocks.look_ahead(bytes_wanted);
        let at_end = blocks.is_at_end();
        let bytes = blocks.look_ahead(0);
        let mut block = Block::new(0, 1, 0);
        // Neither the number of fields nor a header is known yet, so nothing is taken.
        let splitter = CsvSplitter { dialect, columns: 0, blank_is_null: false };
        let used = splitter.split(bytes, at_end, 1, &mut block);
        if !block.faults.is_empty() {
            return None;
        }
        if !block.spans.is_empty() {
            let texts = block.cells.iter().map(|cell| {
                let text = super::convert::plain_text(*cell, cell.bytes(bytes), dialect);
                String::from_utf8_lossy(&text).into_owned()
            });
            let fields = texts.collect();
            let place = |is_it: &dyn Fn(&[u8]) -> bool| {
                block.cells.iter().position(|cell| is_it(cell.bytes(bytes)))
            };
            return Some(FirstRecord {
                fields,
                uncached: place(&|text| text == UNCACHED_FORMULA),
                not_utf8: place(&|text| std::str::from_utf8(text).is_err()),
                bytes: used,
                lines: block.lines,
            });
        }
        if blocks.has_ended() {
            return None;
        }
        // A slow source is asked for as much again; another has shown that the record is longer.
        if !blocks.came_early() {
            if bytes_wanted > HEADER_BYTES_MAX {
                return None;
            }
            bytes_wanted *= 2;
        }
    }
}

/// The names of the columns. A header is taken out of the blocks.
fn csv_names(
    first: FirstRecord,
    blocks: &mut BlockReader,
    options: &ReadOptions,
) -> Result<Vec<String>> {
    // Without a header these are values, and the record is rejected in its turn.
    if let Some(place) = first.uncached.filter(|_| options.csv.has_header) {
        return Err(Error::invalid(format!(
            "the name of column {}: {UNCACHED_FORMULA_REASON}",
            place + 1
        )));
    }
    if let Some(place) = first.not_utf8.filter(|_| options.csv.has_header) {
        return Err(Error::invalid(format!(
            "the name of column {} is not UTF-8: if the file is Latin-1 or the like, give its encoding",
            place + 1
        )));
    }
    if options.csv.has_header {
        blocks.skip_header(first.bytes, first.lines);
        let name = |(place, name): (usize, String)| match name.trim() {
            // A column of a table must have a name.
            "" => format!("column_{}", place + 1),
            name => name.to_owned(),
        };
        let names: Vec<_> = first.fields.into_iter().enumerate().map(name).collect();
        options.renames.check(names.iter().map(String::as_str))?;
        return Ok(options.renames.of_all(&names.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    let told = options.csv.columns.clone().or_else(|| {
        let schema = options.schema.as_ref()?;
        Some(schema.fields().iter().map(|field| field.name().clone()).collect())
    });
    match told {
        Some(names) if names.len() == first.fields.len() => Ok(names),
        Some(names) => Err(Error::invalid(format!(
            "the first record has {} fields, but {} columns are named and there is no header; name one column for each field",
            first.fields.len(),
            names.len()
        ))),
        None => Ok((1..=first.fields.len()).map(|place| format!("column_{place}")).collect()),
    }
}

/// The form of a wanted column in text: nested values are JSON there.
fn text_field(field: &FieldRef) -> FieldRef {
    match field.data_type().is_nested() {
        true => Arc::new(json_field(field.name())),
        false => nullable(field),
    }
}

/// The column of generated keys.
fn generated_key_column(layout: &ColumnLayout, options: &ReadOptions) -> Result<Option<usize>> {
    let Some(name) =
        options.documents.as_ref().and_then(|documents| documents.generated_key.as_ref())
    else {
        return Ok(None);
    };
    let fields = layout.schema.fields();
    let Some(column) = fields.iter().position(|field| field.name().eq_ignore_ascii_case(name))
    else {
        return Err(Error::invalid(format!("there is no column {name} to make keys for")));
    };
    generated_key::check(&fields[column]).map(|()| Some(column))
}

pub(crate) fn no_documents(source: &Source, format: Format) -> Error {
    let message = "documents are read from JSON, one object per line or one array of objects; leave out the document column";
    Error::invalid(format!("{}: is {format}: {message}", source.name()))
}

fn open_json(
    source: &Source,
    blocks: &mut BlockReader,
    options: &ReadOptions,
) -> Result<(Splitter, usize, ColumnLayout)> {
    let shape = find_shape(source, blocks, options)?;
    let bytes = blocks.look_ahead(JSON_SAMPLE_BYTES);
    // Not called where a schema names all fields: there the sample is spared.
    let found = || {
        let mut columns = JsonColumns::of(options);
        columns.sample_text(shape.clone(), bytes);
        columns.into_columns().into_iter().map(|(name, column)| Arc::new(column.field(&name)))
    };
    if let Some(documents) = &options.documents {
        let fields: Vec<_> = match &options.schema {
            Some(schema) => schema.fields().iter().map(text_field).collect(),
            None => found().collect(),
        };
        let layout =
            ColumnLayout::of_file(&fields, options).map_err(|error| error.at(source.name()))?;
        let documents =
            DocumentLayout::new(documents, &fields).map_err(|error| error.at(source.name()))?;
        return Ok((
            Splitter::Json(JsonSplitter::of_documents(shape, documents)),
            fields.len(),
            layout,
        ));
    }
    let mut fields: Vec<_> =
        options.schema.iter().flat_map(|schema| schema.fields()).map(text_field).collect();
    let skip_unmentioned = options.schema.is_some() && options.unmentioned == ExtraColumns::Skip;
    // Found members are known to the splitter even if they are not wanted: it refuses unknown ones.
    if !skip_unmentioned {
        fields.extend(found().filter(|field| wanted_field(options, field.name()).is_none()));
    }
    let layout =
        ColumnLayout::of_file(&fields, options).map_err(|error| error.at(source.name()))?;
    let names = fields.iter().map(|field| field.name().clone()).collect();
    Ok((
        Splitter::Json(JsonSplitter::new(shape, names, options.renames.clone(), skip_unmentioned)),
        fields.len(),
        layout,
    ))
}
