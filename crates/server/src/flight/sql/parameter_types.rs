//! The types of the parameters of a prepared statement, as sent to clients.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

use super::plain::plain_schema;

/// The parameters as sent to a client. A client that always binds milliseconds (the JDBC driver of
/// Flight SQL does, up to 18.3.0 at least) gets milliseconds as the type: it would call its numbers
/// seconds or nanoseconds otherwise.
pub(super) fn parameter_schema(parameters: Vec<Field>, binds_milliseconds: bool) -> SchemaRef {
    let parameters = parameters.into_iter().map(|field| match field.data_type() {
        DataType::Timestamp(_, zone) if binds_milliseconds => {
            let milliseconds = DataType::Timestamp(TimeUnit::Millisecond, zone.clone());
            field.with_data_type(milliseconds)
        }
        DataType::Time32(_) | DataType::Time64(_) if binds_milliseconds => {
            field.with_data_type(DataType::Time32(TimeUnit::Millisecond))
        }
        _ => field,
    });
    plain_schema(&Arc::new(Schema::new(parameters.collect::<Vec<_>>())))
}
