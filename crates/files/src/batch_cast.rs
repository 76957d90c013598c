//! Casts a program's record batches as those of a file are cast.
//!
//! Arrow tables and data frames come with types of their own. They go into the columns of a table by
//! the rules of Parquet and Arrow files: a value is stored exactly, or its row is rejected.

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use tonnage_engine::{Error, Result};

use crate::batch::ReadBatch;
use crate::cast::ColumnCast;
use crate::options::ReadOptions;
use crate::source::Source;
use crate::text::layout::ColumnLayout;

/// Casts batches of one schema, one after another.
///
/// ```
/// use std::sync::Arc;
/// use arrow::array::{ArrayRef, Float64Array, RecordBatch};
/// use arrow::datatypes::{DataType, Field, Schema};
/// use tonnage_files::{BatchCast, ReadOptions};
///
/// let heights: ArrayRef = Arc::new(Float64Array::from(vec![1.25, 0.1255]));
/// let batch = RecordBatch::try_from_iter([("height", heights)])?;
/// let wanted = Schema::new(vec![Field::new("height", DataType::Decimal128(6, 3), true)]);
/// let options = ReadOptions { schema: Some(wanted.into()), ..ReadOptions::default() };
///
/// let mut cast = BatchCast::new("heights", &batch.schema(), &options)?;
/// let read = cast.next(batch)?;
/// assert_eq!((read.batch.num_rows(), read.rejected[0].record), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BatchCast {
    cast: ColumnCast,
    /// For each column that is wanted its place in the batches.
    places: Vec<usize>,
    next_record: u64,
}

impl BatchCast {
    /// A cast of batches of this schema to the one of the options. Messages show the name.
    ///
    /// # Errors
    /// `Invalid` for a schema that names a column twice.
    pub fn new(name: &str, schema: &Schema, options: &ReadOptions) -> Result<BatchCast> {
        let layout =
            ColumnLayout::of_file(schema.fields(), options).map_err(|error| error.at(name))?;
        let places = layout.places.clone();
        let own = schema.project(&places).map_err(mismatch)?;
        let source = Source::memory(name, *b"");
        // A program hands over values, never the bytes of some.
        let gives_bytes = vec![false; places.len()];
        let cast = ColumnCast::new(&source, layout, own.into(), gives_bytes);
        Ok(BatchCast { cast, places, next_record: 0 })
    }

    /// The schema of the batches that come out: the wanted types, where there is a way to them.
    pub fn schema(&self) -> SchemaRef {
        self.cast.schema()
    }

    /// The next batch. Rows with a value that does not fit its column are among the rejected ones.
    ///
    /// # Errors
    /// `Invalid` for a batch with fewer columns than the schema.
    pub fn next(&mut self, batch: RecordBatch) -> Result<ReadBatch> {
        let first_record = self.next_record;
        self.next_record += batch.num_rows() as u64;
        let batch = batch.project(&self.places).map_err(mismatch)?;
        self.cast.apply(batch, first_record)
    }
}

fn mismatch(error: ArrowError) -> Error {
    Error::invalid(format!("the batch does not have the columns of its schema: {error}"))
        .with_source(error)
}
