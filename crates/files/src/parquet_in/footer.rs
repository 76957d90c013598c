//! The footer of a Parquet file, prepared for the decoder.
//!
//! 1. The counts of rows in it are held against each other.
//! 2. Types that the decoder would change, such as INT96, become plain bytes (`leaf_types`).
//! 3. The Arrow schema that some writers embed is left out as far as it cannot be followed.

use std::fs::File;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use arrow::error::ArrowError;
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    FileMetaData, KeyValue, PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions,
    ParquetMetaDataReader, ParquetStatisticsPolicy,
};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor};

use super::arrow_hint::{ArrowHint, WideColumn};
use super::leaf_types::as_bytes;

/// A footer that was read.
pub(super) struct ParquetFooter {
    /// What the decoder is to see.
    pub(super) decoded: ArrowReaderMetadata,
    /// The types as they stand in the file.
    pub(super) told: SchemaDescPtr,
    hint: ArrowHint,
    pub(super) rows: u64,
}

impl ParquetFooter {
    pub(super) fn read(file: &File) -> Result<ParquetFooter> {
        let metadata = read_metadata(file, None)?;
        let rows = count_rows(&metadata)?;
        let told = metadata.file_metadata().schema_descr_ptr();
        let metadata = match as_bytes(told.root_schema())? {
            None => metadata,
            // Read once more: each column chunk keeps the type of its column.
            Some(root) => {
                read_metadata(file, Some(Arc::new(SchemaDescriptor::new(Arc::new(root)))))?
            }
        };
        let hint = ArrowHint::of(metadata.file_metadata().key_value_metadata());
        let metadata = Arc::new(with_rows_and_hint(metadata, rows, &hint));
        let decoded = match hint.is_readable() {
            true => ArrowReaderMetadata::try_new(Arc::clone(&metadata), options(false)),
            false => Err(ArrowError::SchemaError(String::new()).into()),
        };
        // The types of Parquet are enough: the embedded schema only refines them.
        let decoded = decoded.or_else(|_| ArrowReaderMetadata::try_new(metadata, options(true)))?;
        Ok(ParquetFooter { decoded, told, hint, rows: rows as u64 })
    }

    /// Whether the bytes of a column are whole numbers of 128 bits, and of which kind.
    pub(super) fn wide_column(&self, decoded: &Field) -> Option<&WideColumn> {
        let is_wide = decoded.data_type() == &DataType::FixedSizeBinary(16);
        self.hint.wide(decoded.name()).filter(|_| is_wide)
    }
}

fn options(skips_hint: bool) -> ArrowReaderOptions {
    ArrowReaderOptions::new().with_skip_arrow_metadata(skips_hint)
}

fn read_metadata(file: &File, schema: Option<SchemaDescPtr>) -> Result<ParquetMetaData> {
    // Statistics are not used, and those of INT96 are not statistics of bytes.
    let mut options = ParquetMetaDataOptions::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll);
    if let Some(schema) = schema {
        options.set_schema(schema);
    }
    ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Skip)
        .with_metadata_options(Some(options))
        .parse_and_finish(file)
}

/// The rows of all row groups. Some writers left 0 as the sum of the file: parquet-rs 0.3.0 did.
fn count_rows(metadata: &ParquetMetaData) -> Result<i64> {
    let mut rows = 0_i64;
    for group in metadata.row_groups() {
        let own = group.num_rows();
        let sum = rows.checked_add(own).filter(|_| own >= 0);
        rows = sum.ok_or_else(|| damaged(format!("a row group counts {own} rows")))?;
        // A column that is not repeated has a value or a NULL for each row. With fewer in one
        // column the values of different rows would come together.
        let flat = group.columns().iter().filter(|chunk| chunk.column_descr().max_rep_level() == 0);
        if let Some(chunk) = flat.into_iter().find(|chunk| chunk.num_values() != own) {
            return Err(damaged(format!(
                "the column {} has {} values in a row group of {own} rows",
                chunk.column_path().string(),
                chunk.num_values()
            )));
        }
    }
    match metadata.file_metadata().num_rows() {
        told if told == rows || told == 0 => Ok(rows),
        told => Err(damaged(format!("its footer counts {told} rows, and its row groups {rows}"))),
    }
}

/// The metadata with the count of rows that was found, and with an embedded schema that the decoder
/// can follow.
fn with_rows_and_hint(metadata: ParquetMetaData, rows: i64, hint: &ArrowHint) -> ParquetMetaData {
    let file = metadata.file_metadata();
    if file.num_rows() == rows && hint.mended().is_none() {
        return metadata;
    }
    let mut pairs = file.key_value_metadata().cloned();
    if let (Some(pairs), Some(mended)) = (&mut pairs, hint.mended()) {
        pairs.retain(|pair| pair.key != ARROW_SCHEMA_META_KEY);
        pairs.push(KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), mended.to_owned()));
    }
    let file = FileMetaData::new(
        file.version(),
        rows,
        file.created_by().map(str::to_owned),
        pairs,
        file.schema_descr_ptr(),
        file.column_orders().cloned(),
    );
    ParquetMetaData::new(file, metadata.row_groups().to_vec())
}

fn damaged(what: String) -> ParquetError {
    ParquetError::General(format!("{what}: write the file again"))
}
