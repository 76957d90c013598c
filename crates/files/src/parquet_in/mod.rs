//! Opens Parquet files.

mod arrow_hint;
mod footer;
mod leaf_types;

use std::fs::File;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, TimeUnit};
use arrow::error::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression as PackedWith;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;

use crate::raw_values::{WIDE_DIGITS, has_nanoseconds, wide_numbers};
use footer::ParquetFooter;
use leaf_types::{ColumnPlace, column_places, declared_field, empty_group, has_int96};

/// So many values of a column show whether its INT96 need nanoseconds.
const PROBED_ROWS: usize = 100_000;

/// A file whose footer was read.
pub(crate) struct ParquetSource {
    file: File,
    footer: ParquetFooter,
    /// The columns with the types that their values have.
    fields: Vec<FieldRef>,
    places: Vec<ColumnPlace>,
}

/// The batches of a file with the types of its decoder.
pub(crate) type ParquetBatches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// Why a file is not read.
pub(crate) enum Unreadable {
    Damaged(ParquetError),
    Unsupported(String),
}

impl From<ParquetError> for Unreadable {
    fn from(error: ParquetError) -> Self {
        Unreadable::Damaged(error)
    }
}

impl From<ArrowError> for Unreadable {
    fn from(error: ArrowError) -> Self {
        Unreadable::Damaged(error.into())
    }
}

impl ParquetSource {
    pub(crate) fn open(file: File) -> Result<ParquetSource, Unreadable> {
        let footer = ParquetFooter::read(&file)?;
        if let Some(name) = empty_group(&footer.told) {
            return Err(Unreadable::Unsupported(format!(
                "the column {name} is a group without fields, which has no values: write the \
                 file without it"
            )));
        }
        // A damaged number of rows costs no bytes without columns, and would be read for ever.
        let decoded = footer.decoded.schema().fields();
        if decoded.is_empty() && footer.rows > 0 {
            let error = ParquetError::General("it has rows without columns".to_owned());
            return Err(error.into());
        }
        // Found by their leaves: a nested group without fields is not part of the decoder's schema.
        let places = column_places(decoded, &footer.told);
        let fields =
            decoded.iter().zip(&places).map(|(field, place)| match footer.wide_column(field) {
                Some(_) => {
                    Arc::new(Field::new(field.name(), DataType::Decimal256(WIDE_DIGITS, 0), true))
                }
                None => declared_field(field, place, &footer.told, TimeUnit::Nanosecond),
            });
        let fields = fields.collect();
        Ok(ParquetSource { file, footer, fields, places })
    }

    /// The columns with the types of their values.
    pub(crate) fn fields(&self) -> &[FieldRef] {
        &self.fields
    }

    /// Whether the decoder leaves values of a column as bytes, which are to be cast to the type of
    /// its field.
    pub(crate) fn gives_bytes(&self, place: usize) -> bool {
        let decoded = self.footer.decoded.schema().field(place);
        decoded.data_type() != self.fields[place].data_type()
            && self.footer.wide_column(decoded).is_none()
    }

    pub(crate) fn rows(&self) -> u64 {
        self.footer.rows
    }

    /// Chooses the unit of the columns of INT96: that of the wanted column, else nanoseconds if
    /// some of the first values need them, else microseconds, which reach as far as all calendars.
    pub(crate) fn choose_units(
        &mut self,
        wanted: impl Fn(usize) -> Option<TimeUnit>,
    ) -> Result<(), Unreadable> {
        for place in 0..self.fields.len() {
            if !has_int96(&self.places[place], &self.footer.told) {
                continue;
            }
            let is_fine = match wanted(place) {
                Some(unit) => unit == TimeUnit::Nanosecond,
                None => self.needs_nanoseconds(place)?,
            };
            if !is_fine {
                let decoded = &self.footer.decoded.schema().fields()[place];
                let (place_of, told) = (&self.places[place], &self.footer.told);
                let unit = TimeUnit::Microsecond;
                self.fields[place] = declared_field(decoded, place_of, told, unit);
            }
        }
        Ok(())
    }

    fn needs_nanoseconds(&self, place: usize) -> Result<bool, Unreadable> {
        // Unknown compression is reported when the columns to read are known.
        let mask = self.mask(&[place]);
        if codec_unknown(self.footer.decoded.metadata(), &mask).is_some() {
            return Ok(false);
        }
        let reader = self.builder(&[place])?.with_limit(PROBED_ROWS).build()?;
        for batch in reader {
            // Damage is reported once the records before it have been read.
            let Ok(batch) = batch else { return Ok(false) };
            if has_nanoseconds(batch.column(0), self.fields[place].data_type()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn mask(&self, places: &[usize]) -> ProjectionMask {
        let roots = places.iter().map(|place| self.places[*place].root);
        ProjectionMask::roots(self.footer.decoded.parquet_schema(), roots)
    }

    fn builder(&self, places: &[usize]) -> Result<Builder, Unreadable> {
        let file = self.file.try_clone().map_err(ParquetError::from)?;
        let builder = Builder::new_with_metadata(file, self.footer.decoded.clone());
        Ok(builder.with_projection(self.mask(places)))
    }

    /// The columns at some positions, from a row on.
    pub(crate) fn batches(
        &self,
        places: &[usize],
        batch_rows: usize,
        skipped: u64,
    ) -> Result<ParquetBatches, Unreadable> {
        // Found before a page is read: the decoder would fail at its first batch, without a remedy.
        if let Some(codec) = codec_unknown(self.footer.decoded.metadata(), &self.mask(places)) {
            return Err(Unreadable::Unsupported(format!(
                "its pages are packed with {codec}, which is not read: write it with zstd, snappy \
                 or gzip"
            )));
        }
        let builder = self.builder(places)?.with_batch_size(batch_rows.max(1));
        let reader = builder.with_offset(skipped as usize).build()?;
        // Converted to numbers at once, so that all that follows sees a type of Arrow.
        let schema = self.footer.decoded.schema();
        let wide = places.iter().map(|place| self.footer.wide_column(schema.field(*place)));
        let wide: Vec<_> = wide.map(|column| column.map(|column| column.is_signed)).collect();
        match wide.iter().any(Option::is_some) {
            true => Ok(Box::new(reader.map(move |batch| with_numbers(&batch?, &wide)))),
            false => Ok(Box::new(reader)),
        }
    }
}

type Builder = ParquetRecordBatchReaderBuilder<File>;

/// The batch with numbers for the bytes of whole numbers of 128 bits.
fn with_numbers(batch: &RecordBatch, wide: &[Option<bool>]) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let columns = batch.columns().iter().zip(schema.fields()).zip(wide);
    let columns = columns.map(|((column, field), is_signed)| {
        let numbers = is_signed.and_then(|is_signed| wide_numbers(column, is_signed));
        let numbers = numbers.unwrap_or_else(|| Arc::clone(column));
        (Field::new(field.name(), numbers.data_type().clone(), true), numbers)
    });
    let (fields, columns): (Vec<_>, Vec<_>) = columns.unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// What packs the pages of the columns to read, if that cannot be unpacked.
fn codec_unknown(metadata: &ParquetMetaData, mask: &ProjectionMask) -> Option<&'static str> {
    let groups = metadata.row_groups().iter();
    let mut chunks = groups.flat_map(|group| {
        let columns = group.columns().iter().enumerate();
        columns.filter(|(leaf, _)| mask.leaf_included(*leaf)).map(|(_, chunk)| chunk)
    });
    chunks.find_map(|chunk| match chunk.compression() {
        PackedWith::BROTLI(_) => Some("brotli"),
        PackedWith::LZO => Some("lzo"),
        _ => None,
    })
}
