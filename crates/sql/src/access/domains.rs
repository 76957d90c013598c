//! The domain of each column: the values that all conditions together leave.

use std::fmt;

use arrow::error::ArrowError;
use tonnage::{Error, FieldRange, Result, TableSchema, Value};

use super::condition::{ColumnBound, ColumnCondition, ColumnDomain};
use super::value_of;

/// The domain of each column, `None` where no condition is on it.
pub(super) fn column_domains(
    schema: &TableSchema,
    conditions: &[ColumnCondition],
) -> std::result::Result<Vec<Option<ColumnDomain>>, ArrowError> {
    let mut domains: Vec<Option<ColumnDomain>> = vec![None; schema.columns.len()];
    for condition in conditions.iter().filter(|condition| condition.is_decided_by_keys(schema)) {
        domains[condition.column].get_or_insert_default().add(&condition.test)?;
    }
    domains.iter_mut().flatten().try_for_each(ColumnDomain::restrict_values_to_bounds)?;
    Ok(domains)
}

/// The range of a domain, if it has bounds and no list of values.
pub(super) fn domain_range(
    schema: &TableSchema,
    column: usize,
    domains: Option<&ColumnDomain>,
) -> Result<Option<FieldRange>> {
    let Some(ColumnDomain { values: None, low, high, .. }) = domains else { return Ok(None) };
    let end = |bound: &ColumnBound| -> Result<(Value, bool)> {
        Ok((value_of(bound.value.as_ref())?, bound.inclusive))
    };
    let (low, high) = (low.as_ref().map(end).transpose()?, high.as_ref().map(end).transpose()?);
    Ok(Some(FieldRange { column: schema.columns[column].name.clone(), low, high }))
}

/// A failed comparison, which no condition that was accepted should lead to.
pub(super) fn comparison_error(error: ArrowError) -> Error {
    Error::internal(format!("the conditions on the key could not be compared: {error}"))
        .with_source(error)
}

/// A range as SQL would write it.
pub(super) struct RangeText<'a>(pub(super) &'a FieldRange);

impl fmt::Display for RangeText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FieldRange { column, low, high } = self.0;
        if let Some((value, inclusive)) = low {
            write!(f, "{value} {} ", if *inclusive { "<=" } else { "<" })?;
        }
        f.write_str(column)?;
        if let Some((value, inclusive)) = high {
            write!(f, " {} {value}", if *inclusive { "<=" } else { "<" })?;
        }
        Ok(())
    }
}
