//! Estimates how large a batch becomes when it is aligned with a table.
//!
//! An array of text holds 2 GiB. A dictionary that is spelled out, or a long default for many rows,
//! soon exceeds that, however small the batch is that it comes from.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use tonnage_engine::{Error, Result};

use super::TableCodec;

impl TableCodec {
    /// About how many bytes the rows of a batch take in the table's own columns.
    pub(crate) fn bytes_of(&self, batch: &RecordBatch) -> usize {
        self.columns_of(batch).map(|(_, bytes)| bytes).fold(0, usize::saturating_add)
    }

    /// Whether no column of a batch is longer than an array can be.
    pub(crate) fn has_room(&self, batch: &RecordBatch) -> bool {
        self.columns_of(batch).all(|(_, bytes)| bytes <= self.limits.column_bytes_max)
    }

    /// # Errors
    /// `Invalid` when a column of a batch would be longer than an array can be.
    pub(super) fn check_room(&self, batch: &RecordBatch) -> Result<()> {
        let bytes_max = self.limits.column_bytes_max;
        match self.columns_of(batch).find(|(_, bytes)| *bytes > bytes_max) {
            None => Ok(()),
            Some((name, bytes)) => Err(Error::invalid(format!(
                "table {}, column '{name}': {} rows would take {bytes} bytes, {bytes_max} is the most: give fewer rows at a time",
                self.schema.path,
                batch.num_rows()
            ))),
        }
    }

    /// The columns of a batch and those that are filled with defaults, by name, each with its
    /// bytes.
    fn columns_of<'a>(&'a self, batch: &'a RecordBatch) -> impl Iterator<Item = (&'a str, usize)> {
        let fields = batch.schema_ref().fields();
        let given = fields
            .iter()
            .zip(batch.columns())
            .map(|(field, array)| (field.name().as_str(), spelled_out(array)));
        let defaults = self.schema.columns.iter().zip(&self.default_bytes);
        let filled = defaults.filter_map(move |(column, default)| {
            let is_given =
                || fields.iter().any(|field| field.name().eq_ignore_ascii_case(&column.name));
            let bytes = default.as_ref()?.len().saturating_mul(batch.num_rows());
            (!is_given()).then_some((column.name.as_str(), bytes))
        });
        given.chain(filled)
    }
}

/// The bytes of the cells of an array, those of a dictionary as often as they come.
fn spelled_out(array: &ArrayRef) -> usize {
    match array.as_any_dictionary_opt() {
        Some(dictionary) if !dictionary.values().is_empty() => {
            let lens = lens_of(dictionary.values());
            dictionary
                .normalized_keys()
                .into_iter()
                .map(|key| lens.get(key).copied().unwrap_or(0))
                .sum()
        }
        _ => array.to_data().get_slice_memory_size().unwrap_or(0),
    }
}

/// The bytes of each value; of values of fixed width about as many.
fn lens_of(values: &dyn Array) -> Vec<usize> {
    let of = |lens: &mut dyn Iterator<Item = usize>| lens.collect();
    match values.data_type() {
        DataType::Utf8 => {
            of(&mut values.as_string::<i32>().iter().map(|cell| cell.map_or(0, str::len)))
        }
        DataType::LargeUtf8 => {
            of(&mut values.as_string::<i64>().iter().map(|cell| cell.map_or(0, str::len)))
        }
        DataType::Utf8View => {
            of(&mut values.as_string_view().iter().map(|cell| cell.map_or(0, str::len)))
        }
        DataType::Binary => {
            of(&mut values.as_binary::<i32>().iter().map(|cell| cell.map_or(0, <[u8]>::len)))
        }
        DataType::LargeBinary => {
            of(&mut values.as_binary::<i64>().iter().map(|cell| cell.map_or(0, <[u8]>::len)))
        }
        DataType::BinaryView => {
            of(&mut values.as_binary_view().iter().map(|cell| cell.map_or(0, <[u8]>::len)))
        }
        _ => vec![values.get_array_memory_size() / values.len().max(1); values.len()],
    }
}
