//! The schema of the columns that are requested from a table.

use arrow::datatypes::SchemaRef;
use tonnage::TableEntry;

use crate::exit::CliResult;

/// The schema of the rows that these columns of a table make.
pub(crate) fn columns_of(
    table: &TableEntry,
    columns: Option<&[String]>,
    keys_only: bool,
) -> CliResult<SchemaRef> {
    let schema = &table.schema;
    let places = match columns {
        Some(names) => Some(
            names
                .iter()
                .map(|name| schema.require_column(name))
                .collect::<tonnage::Result<Vec<_>>>()?,
        ),
        None if keys_only => Some(schema.key.clone()),
        None => None,
    };
    Ok(table.codec.projected_schema(places.as_deref())?)
}
