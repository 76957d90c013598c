//! The schema that a file suggests, from a sample of its records.
//!
//! Every cell of the sample narrows what its column can be ([`Guess`]); what is left at the end decides:
//!
//! | all values are | type |
//! |---|---|
//! | whole numbers that fit 64 bits, without leading zeros or a plus | Int64 |
//! | such numbers and others with a point or an exponent | Float64 |
//! | `true` or `false` | Boolean |
//! | points in time with a time of day | Timestamp in seconds, milliseconds, microseconds or nanoseconds, as their fractions need |
//! | JSON objects or arrays | Utf8 marked as JSON |
//! | anything else, or nothing at all | Utf8 |

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, TimeUnit};
use memchr::memchr;
use tonnage_engine::Result;

use crate::input::Input;
use crate::options::ReadOptions;
use crate::reader::RecordReader;
use crate::source::Source;
use crate::text::block::{Cell, CellKind};
use crate::text::blocks::Blocks;
use crate::text::json::decoded_name;
use crate::text::json_array::{ArrayCutter, Cut};
use crate::text::json_scan::{NotJson, scan_object};
use crate::text::reader::{no_documents, open_csv};
use crate::text::{scalar, timestamp};
use crate::{Format, TYPE_JSON, TYPE_KEY};

/// The most bytes of a text file that are looked at.
const SAMPLE_BYTES_MAX: usize = 16 << 20;

/// The schema that the first `sample_records` records of a source suggest, of text at most the first 16 MiB of it. Parquet and
/// Arrow files say what they hold; structs, lists and maps in them become JSON.
///
/// [`ReadOptions::schema`] is not consulted. Broken records are passed over. All columns may be NULL. A source that fails in the
/// middle of the sample suggests what the records before suggest: who reads it comes to the failure.
pub fn infer_schema(source: &Source, options: &ReadOptions, sample_records: usize) -> Result<Schema> {
    let options = ReadOptions { schema: None, start_record: 0, parallelism: 1, ..options.clone() };
    let input = Input::open(source)?;
    match input.format(source, options.format) {
        format if format != Format::JsonLines && options.documents.is_some() => Err(no_documents(source, format)),
        Format::Csv => infer_csv(source, input, &options, sample_records),
        Format::JsonLines => {
            let mut blocks = Blocks::new(source.clone(), input.reader, options.batch_rows, options.record_bytes_max);
            let sample = blocks.look_ahead(SAMPLE_BYTES_MAX);
            let fields = match &options.documents {
                Some(documents) => documents.fields(sample, sample_records),
                None => json_fields(sample, sample_records),
            };
            match blocks.take_failure() {
                Some(error) if fields.is_empty() => Err(error),
                _ => Ok(Schema::new(fields)),
            }
        }
        _ => {
            let schema = RecordReader::open(source, &options)?.schema();
            Ok(Schema::new(schema.fields().iter().map(storable).collect::<Vec<_>>()))
        }
    }
}

/// The field of a Parquet or Arrow file as a table can keep it.
fn storable(field: &FieldRef) -> FieldRef {
    if field.data_type().is_nested() { Arc::new(json_field(field.name())) } else { Arc::clone(field) }
}

fn infer_csv(source: &Source, input: Input, options: &ReadOptions, sample_records: usize) -> Result<Schema> {
    let mut blocks = Blocks::new(source.clone(), input.reader, options.batch_rows, options.record_bytes_max);
    let (mut splitter, columns, layout) = open_csv(source, &mut blocks, options)?;
    let mut guesses = vec![Guess::default(); columns];
    let (mut records, mut bytes) = (0, 0);
    while records < sample_records && bytes < SAMPLE_BYTES_MAX {
        let block = match blocks.next(&mut splitter, columns) {
            Ok(Some(block)) => block,
            Ok(None) => break,
            Err(error) if records == 0 => return Err(error),
            Err(_) => break,
        };
        let rows = block.spans.len().min(sample_records - records);
        for cells in block.cells.chunks(columns).take(rows) {
            for (guess, cell) in guesses.iter_mut().zip(cells) {
                let text = cell.bytes(&block.bytes);
                let is_null = cell.kind() == CellKind::Plain && options.csv.nulls.iter().any(|null| null.as_bytes() == text);
                if !is_null && !text.is_empty() {
                    guess.see(*cell, text);
                }
            }
        }
        records += rows;
        bytes += block.bytes.len();
    }
    let fields = layout.schema.fields().iter().zip(&guesses).map(|(field, guess)| guess.field(field.name()));
    Ok(Schema::new(fields.collect::<Vec<_>>()))
}

/// Calls `take` with the places of the first JSON records in `bytes`.
pub(crate) fn each_json_record(bytes: &[u8], sample_records: usize, mut take: impl FnMut(usize, usize)) {
    let (mut start, mut array) = (0, ArrayCutter::fits(bytes).then(ArrayCutter::new));
    for _ in 0..sample_records {
        let (from, to) = match &mut array {
            _ if start >= bytes.len() => return,
            None => (start, memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length)),
            Some(cutter) => match cutter.next(bytes, start, false) {
                Cut::Element(from, to) | Cut::Refused(from, to, _) => (from, to),
                Cut::Nothing(_) => return,
            },
        };
        take(from, to);
        start = to + usize::from(array.is_none());
    }
}

/// The members of the JSON objects in `bytes`, in the order in which they first appear.
pub(crate) fn json_fields(bytes: &[u8], sample_records: usize) -> Vec<FieldRef> {
    let mut columns: Vec<(String, Guess)> = Vec::new();
    let mut places = HashMap::new();
    each_json_record(bytes, sample_records, |start, end| {
        // A broken record tells what it can: the reader will reject it in its turn.
        let _ = scan_object(bytes, start, end, |member| {
            let name = decoded_name(&member);
            let place = *places.entry(name.to_lowercase()).or_insert_with(|| {
                columns.push((name.into_owned(), Guess::default()));
                columns.len() - 1
            });
            if member.value.kind() != CellKind::Missing {
                columns[place].1.see(member.value, member.value.bytes(bytes));
            }
            Ok::<(), NotJson>(())
        });
    });
    columns.iter().map(|(name, guess)| Arc::new(guess.field(name))).collect()
}

/// What a column can still be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guess {
    whole: bool,
    fractional: bool,
    /// `NaN` or `inf`, which are numbers only in company.
    unusual: bool,
    boolean: bool,
    time: bool,
    nested: bool,
    text: bool,
    fraction_digits: u32,
}

impl Guess {
    pub(crate) fn see(&mut self, cell: Cell, text: &[u8]) {
        match cell.kind() {
            CellKind::Missing => {}
            CellKind::Number if scalar::whole::<i64>(text).is_ok() => self.whole = true,
            CellKind::Number if text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') => self.text = true,
            CellKind::Number => self.fractional = true,
            CellKind::Bool => self.boolean = true,
            CellKind::Nested => self.nested = true,
            CellKind::String if text.first().is_some_and(u8::is_ascii_digit) => self.see_time(text),
            CellKind::String | CellKind::StringEscaped => self.text = true,
            _ => self.see_text(text),
        }
    }

    fn see_text(&mut self, text: &[u8]) {
        if self.text {
            return;
        }
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        match digits {
            [b'0'..=b'9', ..] if is_number(digits) => match scalar::whole::<i64>(text) {
                Ok(_) => self.whole = true,
                // Too long for 64 bits: a double would lose its last digits.
                Err(_) if digits.iter().all(u8::is_ascii_digit) => self.text = true,
                Err(_) => self.fractional = true,
            },
            [b'.', b'0'..=b'9', ..] if scalar::double(text).is_ok() => self.fractional = true,
            [b'0'..=b'9', ..] => self.see_time(text),
            b"NaN" | b"nan" | b"inf" => self.unusual = true,
            _ if text.eq_ignore_ascii_case(b"true") || text.eq_ignore_ascii_case(b"false") => self.boolean = true,
            _ => self.text = true,
        }
    }

    fn see_time(&mut self, text: &[u8]) {
        match timestamp::parse(text) {
            Some(instant) if instant.has_time => {
                self.time = true;
                self.fraction_digits = self.fraction_digits.max(instant.fraction_digits);
            }
            _ => self.text = true,
        }
    }

    pub(crate) fn field(&self, name: &str) -> Field {
        let number = self.whole || self.fractional;
        let kinds = [number, self.boolean, self.time, self.nested, self.text].iter().filter(|seen| **seen).count();
        let data_type = match kinds {
            1 if self.nested => return json_field(name),
            1 if number && (self.fractional || self.unusual) => DataType::Float64,
            _ if kinds != 1 || self.unusual || self.text => DataType::Utf8,
            _ if number => DataType::Int64,
            _ if self.boolean => DataType::Boolean,
            _ => DataType::Timestamp(unit_for(self.fraction_digits), None),
        };
        Field::new(name, data_type, true)
    }
}

/// Digits that are meant as a number: no zero leads them, as it does in postal codes and the like.
fn is_number(digits: &[u8]) -> bool {
    let leading_zero = digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit();
    !leading_zero
        && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
        && scalar::double(digits).is_ok()
}

fn unit_for(fraction_digits: u32) -> TimeUnit {
    match fraction_digits {
        0 => TimeUnit::Second,
        1..=3 => TimeUnit::Millisecond,
        4..=6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    }
}

pub(crate) fn json_field(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true).with_metadata(HashMap::from([(TYPE_KEY.to_owned(), TYPE_JSON.to_owned())]))
}
