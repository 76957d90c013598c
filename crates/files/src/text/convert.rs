//! Turns the cells of a block into Arrow arrays, one column at a time.
//!
//! 1. If the block is not valid UTF-8 as a whole, the records at fault are found and left out
//!    (rare).
//! 2. Each column is built by a loop for its type. A value that does not fit is noted as a fault
//!    and NULL takes its place.
//! 3. If there were faults, their rows are filtered out of the finished columns (rare).
//!
//! A good batch pays one comparison per value for the ability to reject single records.
//!
//! Numbers are stored as they are written or not at all: a decimal column rejects digits that it
//! would have to round.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, FixedSizeBinaryArray,
    PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow::buffer::{BooleanBuffer, MutableBuffer, NullBuffer, OffsetBuffer};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{CastOptions, cast_with_options, filter_record_batch};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Field, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, Time64NanosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type, i256,
};
use tonnage_engine::{Error, Result};

use super::block::{Block, Cell, CellKind, TextSpan, UNCACHED_FORMULA};
use super::decimal::{decimal, whole, wide_decimal};
use super::dialect::CsvDialect;
use super::generated_key;
use super::json_check::{is_json, unescape};
use super::layout::ColumnLayout;
use super::scalar::{self, Reason};
use super::{time_of_day, timestamp};
use crate::batch::{Origin, ReadBatch};
use crate::defaults::{ColumnDefaults, MakeDefaults};
use crate::rejected::RejectedRecord;
use crate::type_name::{is_binary_field, is_json_field, type_name};

pub(crate) const UNCACHED_FORMULA_REASON: &str = "its formula has no value in the workbook: open it in Excel or LibreOffice, save it, and load it again";

/// How many bytes of a value a message quotes.
const QUOTED_BYTES_MAX: usize = 80;

/// Converts the blocks of one source.
#[derive(Clone, Debug)]
pub(crate) struct Converter {
    pub(crate) source: Arc<str>,
    pub(crate) layout: ColumnLayout,
    /// The unquoted texts that mean NULL.
    pub(crate) nulls: Vec<Vec<u8>>,
    /// What members that are not there hold.
    pub(crate) defaults: ColumnDefaults,
    /// Records before this one are not delivered.
    pub(crate) start_record: u64,
    /// The column of generated keys, if there is one.
    pub(crate) generated_key: Option<usize>,
}

/// A value that does not fit: its column (in the layout) and why.
type CellFaults = BTreeMap<usize, (usize, String)>;

impl Converter {
    /// The batch of a block; none if all of it precedes the first record to deliver.
    pub(crate) fn convert(&self, mut block: Block) -> Result<Option<ReadBatch>> {
        if block.first_record + u64::from(block.records) <= self.start_record {
            return Ok(None);
        }
        // Dropped before anything is converted: faults of early records were reported by an earlier
        // run.
        self.drop_early_records(&mut block);
        let mut rejected = self.reject_broken(&mut block);
        let mut faults = CellFaults::new();
        let mut columns = Vec::with_capacity(self.layout.places.len());
        for (column, (field, place)) in
            self.layout.schema.fields().iter().zip(&self.layout.places).enumerate()
        {
            if self.generated_key == Some(column) {
                columns.push(generated_key::keys(field, &block)?);
                continue;
            }
            let empty_is_value = matches!(field.data_type(), DataType::Utf8 | DataType::Binary)
                && !is_json_field(field);
            let cells =
                BlockColumn { block: &block, place: *place, nulls: &self.nulls, empty_is_value };
            let given = cells.array(field, &mut |row, reason| {
                faults.entry(row).or_insert_with(|| (column, reason));
            })?;
            columns.push(match self.defaults.of(field.name()) {
                Some(make) => cells.with_defaults(given, make)?,
                None => given,
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(block.spans.len()));
        let mut batch =
            RecordBatch::try_new_with_options(Arc::clone(&self.layout.schema), columns, &options)
                .map_err(internal)?;
        if !faults.is_empty() {
            batch = self.reject_faulty(batch, faults, &mut block, &mut rejected)?;
        }
        // Broken records and those with a fault were gathered one after the other.
        rejected.sort_by_key(|rejected| rejected.record);
        let first_record = block.first_record.max(self.start_record);
        let records = block.first_record + u64::from(block.records) - first_record;
        Ok(Some(ReadBatch {
            batch,
            first_record,
            records,
            rejected,
            origin: Origin::text(Arc::clone(&self.source), block),
        }))
    }

    /// Forgets what precedes the first record to deliver.
    fn drop_early_records(&self, block: &mut Block) {
        let Some(early) =
            self.start_record.checked_sub(block.first_record).filter(|early| *early > 0)
        else {
            return;
        };
        let rows = block.spans.partition_point(|span| u64::from(span.record) < early);
        block.spans.drain(..rows);
        block.cells.drain(..rows * block.columns);
        block.faults.retain(|fault| u64::from(fault.span.record) >= early);
    }

    /// Takes out what the splitter refused, and records that are not UTF-8.
    fn reject_broken(&self, block: &mut Block) -> Vec<RejectedRecord> {
        let faults = std::mem::take(&mut block.faults);
        let mut rejected: Vec<RejectedRecord> = faults
            .into_iter()
            .map(|fault| {
                block.rejected(
                    &self.source,
                    fault.span,
                    fault.column.map(String::from),
                    fault.reason,
                )
            })
            .collect();
        if std::str::from_utf8(&block.bytes).is_ok() {
            return rejected;
        }
        let columns = block.columns;
        let (spans, cells) = (std::mem::take(&mut block.spans), std::mem::take(&mut block.cells));
        for (row, span) in spans.into_iter().enumerate() {
            let cells = &cells[row * columns..][..columns];
            let Err(error) = std::str::from_utf8(block.text(span)) else {
                block.spans.push(span);
                block.cells.extend_from_slice(cells);
                continue;
            };
            let text_of = |cell: &Cell| cell.bytes(&block.bytes);
            let is_wrong = |cell: &Cell| std::str::from_utf8(text_of(cell)).is_err();
            let is_uncached = |cell: &Cell| text_of(cell) == UNCACHED_FORMULA;
            // A formula in an unwanted column does no harm.
            if cells.iter().any(is_uncached)
                && cells.iter().all(|cell| !is_wrong(cell) || is_uncached(cell))
                && !self.layout.places.iter().any(|place| is_wrong(&cells[*place]))
            {
                block.spans.push(span);
                block.cells.extend_from_slice(cells);
                continue;
            }
            // Wanted columns go first: `column_at` knows the names of no others.
            let wanted = self.layout.places.iter().find(|place| is_wrong(&cells[**place])).copied();
            let place = wanted.or_else(|| cells.iter().position(is_wrong));
            let reason = match place.filter(|place| is_uncached(&cells[*place])) {
                Some(_) => UNCACHED_FORMULA_REASON.to_owned(),
                None => format!(
                    "invalid UTF-8 at byte {} of the record: if the file is Latin-1 or the like, give its encoding",
                    error.valid_up_to()
                ),
            };
            let column = place.and_then(|place| self.column_at(place));
            rejected.push(block.rejected(&self.source, span, column, reason));
        }
        rejected
    }

    fn reject_faulty(
        &self,
        batch: RecordBatch,
        faults: CellFaults,
        block: &mut Block,
        rejected: &mut Vec<RejectedRecord>,
    ) -> Result<RecordBatch> {
        let good: BooleanBuffer =
            (0..batch.num_rows()).map(|row| !faults.contains_key(&row)).collect();
        let spans = std::mem::take(&mut block.spans);
        block.spans = spans
            .iter()
            .enumerate()
            .filter(|(row, _)| good.value(*row))
            .map(|(_, span)| *span)
            .collect();
        for (row, (column, reason)) in faults {
            let span: TextSpan = spans[row];
            let name = self.layout.schema.field(column).name().clone();
            rejected.push(block.rejected(&self.source, span, Some(name), reason));
        }
        filter_record_batch(&batch, &BooleanArray::new(good, None)).map_err(internal)
    }

    fn column_at(&self, place: usize) -> Option<String> {
        let column = self.layout.places.iter().position(|at| *at == place)?;
        Some(self.layout.schema.field(column).name().clone())
    }
}

fn internal(error: arrow::error::ArrowError) -> Error {
    Error::internal(format!("a batch could not be put together: {error}")).with_source(error)
}

/// One column of a block.
struct BlockColumn<'a> {
    block: &'a Block,
    place: usize,
    nulls: &'a [Vec<u8>],
    /// Whether quotes around nothing are an empty value (of text and bytes) or NULL (of everything
    /// else).
    empty_is_value: bool,
}

/// Called for every value that does not fit, with the row and the reason.
type OnFault<'a> = &'a mut dyn FnMut(usize, String);

impl BlockColumn<'_> {
    fn array(&self, field: &Field, faults: OnFault<'_>) -> Result<ArrayRef> {
        // The type is matched once a column, and each arm has its own loop over the rows. Guards go
        // before the types that they narrow.
        Ok(match field.data_type() {
            DataType::Int8 => self.primitive::<Int8Type>(whole, faults),
            DataType::Int16 => self.primitive::<Int16Type>(whole, faults),
            DataType::Int32 => self.primitive::<Int32Type>(whole, faults),
            DataType::Int64 => self.primitive::<Int64Type>(whole, faults),
            DataType::UInt8 => self.primitive::<UInt8Type>(whole, faults),
            DataType::UInt16 => self.primitive::<UInt16Type>(whole, faults),
            DataType::UInt32 => self.primitive::<UInt32Type>(whole, faults),
            DataType::UInt64 => self.primitive::<UInt64Type>(whole, faults),
            DataType::Float32 => self.primitive::<Float32Type>(scalar::float, faults),
            DataType::Float64 => self.primitive::<Float64Type>(scalar::double, faults),
            DataType::Decimal128(precision, scale) if *scale >= 0 => {
                self.decimals(*precision, *scale, faults)?
            }
            DataType::Decimal256(precision, scale) if *scale >= 0 => {
                self.wide_decimals(*precision, *scale, faults)?
            }
            DataType::Boolean => self.booleans(faults),
            DataType::Timestamp(unit, zone) => self.timestamps(*unit, zone.clone(), faults),
            DataType::Binary => self.binaries(faults)?,
            DataType::FixedSizeBinary(width) if *width != 16 || is_binary_field(field) => {
                self.fixed_binaries(*width, faults)?
            }
            DataType::FixedSizeBinary(_) => self.uuids(faults)?,
            DataType::Date32 => self.dates(faults),
            DataType::Time64(TimeUnit::Nanosecond) => {
                self.primitive::<Time64NanosecondType>(time_of_day::nanoseconds, faults)
            }
            DataType::Utf8 if is_json_field(field) => self.json(faults)?,
            // No text is a fault: `reject_broken` has left none that is not UTF-8.
            DataType::Utf8 => self.texts()?,
            _ => self.cast(field, faults)?,
        })
    }

    /// The values, with defaults for the members that are not there.
    fn with_defaults(&self, given: ArrayRef, make: &MakeDefaults) -> Result<ArrayRef> {
        let absent: BooleanBuffer =
            (0..self.rows()).map(|row| self.cell(row).is_absent()).collect();
        if absent.count_set_bits() == 0 {
            return Ok(given);
        }
        zip(&BooleanArray::new(absent, None), &make(self.rows())?, &given).map_err(internal)
    }

    fn rows(&self) -> usize {
        self.block.spans.len()
    }

    #[inline]
    fn cell(&self, row: usize) -> Cell {
        self.block.cells[row * self.block.columns + self.place]
    }

    #[inline]
    fn is_null(&self, cell: Cell, text: &[u8]) -> bool {
        match cell.kind() {
            CellKind::Missing => true,
            CellKind::Plain => self.nulls.iter().any(|null| null == text),
            CellKind::Quoted => text.is_empty() && !self.empty_is_value,
            _ => false,
        }
    }

    /// Calls `value` with the text of each cell that is not NULL; false from it, or NULL, leaves
    /// the row null.
    #[inline]
    fn each(
        &self,
        faults: OnFault<'_>,
        mut value: impl FnMut(usize, &[u8]) -> std::result::Result<(), Reason>,
    ) -> Option<NullBuffer> {
        let mut valid = ValidityBits::new(self.rows());
        for row in 0..self.rows() {
            let cell = self.cell(row);
            let text = cell.bytes(&self.block.bytes);
            if self.is_null(cell, text) {
                valid.clear(row);
                continue;
            }
            // Only text with escapes is copied: all else is read in place in the block.
            let result = match cell.kind() {
                CellKind::PlainEscaped | CellKind::QuotedEscaped | CellKind::StringEscaped => {
                    value(row, &plain_text(cell, text, self.block.dialect))
                }
                CellKind::Nested => Err("is a nested value"),
                CellKind::Plain => value(row, text).or_else(|reason| match text.trim_ascii() {
                    // Blanks around a value are not part of it, but they are rare.
                    bare if bare.len() < text.len() && !bare.is_empty() => value(row, bare),
                    _ => Err(reason),
                }),
                _ => value(row, text),
            };
            if let Err(reason) = result {
                valid.clear(row);
                faults(row, describe(text, reason));
            }
        }
        valid.finish()
    }

    fn primitive<T: ArrowPrimitiveType>(
        &self,
        parse: impl Fn(&[u8]) -> std::result::Result<T::Native, Reason>,
        faults: OnFault<'_>,
    ) -> ArrayRef {
        let mut values = vec![T::Native::default(); self.rows()];
        let nulls = self.each(faults, |row, text| {
            values[row] = parse(text)?;
            Ok(())
        });
        Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
    }

    fn timestamps(&self, unit: TimeUnit, zone: Option<Arc<str>>, faults: OnFault<'_>) -> ArrayRef {
        let mut values = vec![0_i64; self.rows()];
        let nulls = self.each(faults, |row, text| {
            values[row] = timestamp::ticks(text, unit)?;
            Ok(())
        });
        match unit {
            TimeUnit::Second => Arc::new(
                PrimitiveArray::<TimestampSecondType>::new(values.into(), nulls)
                    .with_timezone_opt(zone),
            ),
            TimeUnit::Millisecond => Arc::new(
                PrimitiveArray::<TimestampMillisecondType>::new(values.into(), nulls)
                    .with_timezone_opt(zone),
            ),
            TimeUnit::Microsecond => Arc::new(
                PrimitiveArray::<TimestampMicrosecondType>::new(values.into(), nulls)
                    .with_timezone_opt(zone),
            ),
            TimeUnit::Nanosecond => Arc::new(
                PrimitiveArray::<TimestampNanosecondType>::new(values.into(), nulls)
                    .with_timezone_opt(zone),
            ),
        }
    }

    fn decimals(&self, precision: u8, scale: i8, faults: OnFault<'_>) -> Result<ArrayRef> {
        let mut values = vec![0_i128; self.rows()];
        let nulls = self.each(faults, |row, text| {
            values[row] = decimal(text, precision, scale)?;
            Ok(())
        });
        let values = PrimitiveArray::<Decimal128Type>::new(values.into(), nulls);
        Ok(Arc::new(values.with_precision_and_scale(precision, scale).map_err(internal)?))
    }

    fn wide_decimals(&self, precision: u8, scale: i8, faults: OnFault<'_>) -> Result<ArrayRef> {
        let mut values = vec![i256::ZERO; self.rows()];
        let nulls = self.each(faults, |row, text| {
            values[row] = wide_decimal(text, precision, scale)?;
            Ok(())
        });
        let values = PrimitiveArray::<Decimal256Type>::new(values.into(), nulls);
        Ok(Arc::new(values.with_precision_and_scale(precision, scale).map_err(internal)?))
    }

    fn booleans(&self, faults: OnFault<'_>) -> ArrayRef {
        let mut values = vec![false; self.rows()];
        let nulls = self.each(faults, |row, text| {
            values[row] = scalar::boolean(text)?;
            Ok(())
        });
        Arc::new(BooleanArray::new(values.into(), nulls))
    }

    fn dates(&self, faults: OnFault<'_>) -> ArrayRef {
        let mut values = vec![0_i32; self.rows()];
        let nulls = self.each(faults, |row, text| {
            values[row] = timestamp::day(text)?;
            Ok(())
        });
        Arc::new(PrimitiveArray::<Date32Type>::new(values.into(), nulls))
    }

    fn fixed_binaries(&self, width: i32, faults: OnFault<'_>) -> Result<ArrayRef> {
        let len = usize::try_from(width).unwrap_or(0);
        let mut values = vec![0_u8; self.rows() * len];
        let mut bytes = Vec::with_capacity(len);
        let nulls = self.each(faults, |row, text| {
            bytes.clear();
            scalar::bytes(text, &mut bytes)?;
            if bytes.len() != len {
                return Err("has not as many bytes as the column");
            }
            values[row * len..][..len].copy_from_slice(&bytes);
            Ok(())
        });
        let array = FixedSizeBinaryArray::try_new(width, values.into(), nulls);
        Ok(Arc::new(array.map_err(internal)?))
    }

    fn uuids(&self, faults: OnFault<'_>) -> Result<ArrayRef> {
        let mut values = vec![0_u8; self.rows() * 16];
        let nulls = self.each(faults, |row, text| {
            values[row * 16..][..16].copy_from_slice(&scalar::uuid(text)?);
            Ok(())
        });
        Ok(Arc::new(FixedSizeBinaryArray::try_new(16, values.into(), nulls).map_err(internal)?))
    }

    fn binaries(&self, faults: OnFault<'_>) -> Result<ArrayRef> {
        let mut values = Vec::new();
        let mut lengths = vec![0; self.rows()];
        let nulls = self.each(faults, |row, text| {
            let start = values.len();
            let result = scalar::bytes(text, &mut values);
            if result.is_err() {
                values.truncate(start);
            }
            lengths[row] = values.len() - start;
            result
        });
        Ok(Arc::new(
            BinaryArray::try_new(OffsetBuffer::from_lengths(lengths), values.into(), nulls)
                .map_err(internal)?,
        ))
    }

    fn texts(&self) -> Result<ArrayRef> {
        let mut values = Vec::with_capacity(self.rows() * 8);
        let mut offsets = Vec::with_capacity(self.rows() + 1);
        let mut valid = ValidityBits::new(self.rows());
        offsets.push(0_i32);
        for row in 0..self.rows() {
            let cell = self.cell(row);
            let text = cell.bytes(&self.block.bytes);
            if self.is_null(cell, text) {
                valid.clear(row);
            } else if matches!(
                cell.kind(),
                CellKind::PlainEscaped | CellKind::QuotedEscaped | CellKind::StringEscaped
            ) {
                values.extend_from_slice(&plain_text(cell, text, self.block.dialect));
            } else {
                values.extend_from_slice(text);
            }
            // A block is far smaller than 2 GiB.
            offsets.push(values.len() as i32);
        }
        let array =
            StringArray::try_new(OffsetBuffer::new(offsets.into()), values.into(), valid.finish())
                .map_err(internal)?;
        Ok(Arc::new(array))
    }

    /// JSON text, unchanged: from JSON lines with the quotes of its strings, from CSV checked.
    fn json(&self, faults: OnFault<'_>) -> Result<ArrayRef> {
        let mut values = Vec::new();
        let mut lengths = vec![0; self.rows()];
        let mut valid = ValidityBits::new(self.rows());
        for (row, length) in lengths.iter_mut().enumerate() {
            let cell = self.cell(row);
            let text = cell.bytes(&self.block.bytes);
            if self.is_null(cell, text) {
                valid.clear(row);
                continue;
            }
            let start = values.len();
            match cell.kind() {
                CellKind::PlainEscaped | CellKind::QuotedEscaped => {
                    values.extend_from_slice(&plain_text(cell, text, self.block.dialect));
                }
                _ => values.extend_from_slice(cell.json_text(&self.block.bytes)),
            }
            let from_csv = cell.kind().is_csv();
            // The splitter of JSON has checked its values already.
            if from_csv && !is_json(&values[start..]) {
                // The bytes are taken back: the offsets of later rows are counted from lengths.
                values.truncate(start);
                valid.clear(row);
                faults(row, describe(text, "is not JSON"));
            }
            *length = values.len() - start;
        }
        let array = StringArray::try_new(
            OffsetBuffer::from_lengths(lengths),
            values.into(),
            valid.finish(),
        )
        .map_err(internal)?;
        Ok(Arc::new(array))
    }

    /// Any other type, which no column of a table has: by way of text and Arrow's own casts.
    fn cast(&self, field: &Field, faults: OnFault<'_>) -> Result<ArrayRef> {
        let texts = self.texts()?;
        let options = CastOptions { safe: true, ..CastOptions::default() };
        let name = type_name(field);
        // What Arrow says of it is about its own types.
        let values = cast_with_options(&texts, field.data_type(), &options)
            .map_err(|_| Error::unsupported(format!("text cannot be read as {name}")))?;
        for row in 0..self.rows() {
            if values.is_null(row) && texts.is_valid(row) {
                faults(
                    row,
                    describe(
                        self.cell(row).bytes(&self.block.bytes),
                        &format!("is not a value of {name}"),
                    ),
                );
            }
        }
        Ok(values)
    }
}

/// The text of a cell that has escapes in it.
#[cold]
pub(crate) fn plain_text(cell: Cell, text: &[u8], dialect: CsvDialect) -> Vec<u8> {
    match cell.kind() {
        CellKind::StringEscaped => unescape(text).unwrap_or_default().into_bytes(),
        kind => dialect.plain_text(kind == CellKind::QuotedEscaped, text),
    }
}

/// A value with what is wrong with it.
pub(crate) fn describe(text: &[u8], reason: &str) -> String {
    let quoted = String::from_utf8_lossy(&text[..text.len().min(QUOTED_BYTES_MAX)]);
    let more = if text.len() > QUOTED_BYTES_MAX { "..." } else { "" };
    format!("`{quoted}{more}` {reason}")
}

/// Which rows have a value; costs nothing as long as all have.
struct ValidityBits {
    rows: usize,
    bits: Option<MutableBuffer>,
}

impl ValidityBits {
    fn new(rows: usize) -> Self {
        Self { rows, bits: None }
    }

    #[inline]
    fn clear(&mut self, row: usize) {
        let bits = self.bits.get_or_insert_with(|| {
            MutableBuffer::new(self.rows.div_ceil(8)).with_bitset(self.rows.div_ceil(8), true)
        });
        bits.as_slice_mut()[row / 8] &= !(1 << (row % 8));
    }

    fn finish(self) -> Option<NullBuffer> {
        let bits = self.bits?;
        Some(NullBuffer::new(BooleanBuffer::new(bits.into(), 0, self.rows)))
    }
}
