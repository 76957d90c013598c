//! Rows of several tables in one stream: a parent's with those of its children.
//!
//! A stream of Flight has one schema. So it has one column for each table: a struct of the table's
//! columns, named by the table's path. Each row is of one table: its column has a value, the others
//! are NULL. Any reader of Arrow reads that, in the order of the keys.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, StructArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use tonnage::{Error, InterleavedBatch, Result};

/// The schema of such a stream: the columns of each table by its path.
pub(super) fn schema(tables: &[(String, SchemaRef)]) -> SchemaRef {
    let fields = tables.iter().map(|(path, columns)| {
        let columns = columns.fields().clone();
        Field::new(path, DataType::Struct(columns), true)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The rows of an interleaved batch, each in the column of its table.
///
/// # Errors
/// `Internal` for columns of another table.
pub(super) fn batch(
    interleaved: &InterleavedBatch,
    schema: &SchemaRef,
    rows_of: impl Fn(&tonnage::TableBatch) -> Result<RecordBatch>,
) -> Result<RecordBatch> {
    let columns = schema.fields().iter().map(|field| {
        let DataType::Struct(wanted) = field.data_type() else {
            return Err(Error::internal("a table without columns"));
        };
        let place =
            interleaved.batches.iter().position(|batch| &*batch.table == field.name().as_str());
        match place {
            None => {
                Ok(Arc::new(StructArray::new_null(wanted.clone(), interleaved.order.len())) as _)
            }
            Some(place) => {
                scatter(&rows_of(&interleaved.batches[place])?, place, interleaved, wanted)
            }
        }
    });
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    RecordBatch::try_new(schema.clone(), columns).map_err(|error| batch_error(&error))
}

/// The rows of one table at their places among the rows of all.
fn scatter(
    rows: &RecordBatch,
    place: usize,
    interleaved: &InterleavedBatch,
    wanted: &Fields,
) -> Result<ArrayRef> {
    let mut next = 0;
    let sources = interleaved.order.iter().map(|of| {
        (*of as usize == place).then(|| {
            next += 1;
            next - 1
        })
    });
    let sources: UInt32Array = sources.collect();
    let cells = rows.columns().iter().map(|column| take(column.as_ref(), &sources, None));
    let cells = cells.collect::<std::result::Result<Vec<_>, _>>();
    let cells = cells.map_err(|error| batch_error(&error))?;
    // A column that is never NULL in its table is NULL where the row is of another one.
    StructArray::try_new(wanted.clone(), cells, sources.nulls().cloned())
        .map(|rows| Arc::new(rows) as ArrayRef)
        .map_err(|error| batch_error(&error))
}

fn batch_error(error: &arrow::error::ArrowError) -> Error {
    Error::internal(format!("rows of several tables: {error}"))
}
